import { SluiceError, describe } from '../gateway/base/errors.js'
import { readOptions } from '../gateway/base/options.js'
import { optionsOfForm } from './form-options.js'
import { servePost } from './serve-post.js'

/**
 * @typedef {{connect: (options: any) => {test: (context: {signal: AbortSignal}) => Promise<string>, close: () => Promise<void>}}} Module
 *   what can be tried: a database server, a broker, a device
 * @typedef {{ok: boolean, text: string}} Outcome  `text` says in a sentence or two what is there, or what is wrong and what to do
 */

const TIME_LIMIT_MS = 15_000

/**
 * Answers POST sluice-servers/TYPE/test, of those who may deploy: tries what a form is to reach. Its body is `{id, options}`: the id of the
 * config node, deployed or not, and its options as they stand in the form. The answer is an Outcome; it comes within 15 s, and holds no
 * option's value but those that the module reports.
 * @param {import('./node.js').RED} RED
 * @param {string} type  of the config node
 * @param {object} schema
 * @param {() => Promise<Module>} load
 */
export function serveTests (RED, type, schema, load) {
  servePost(RED, `/sluice-servers/${type}/test`, async (request, response) => {
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    response.json(await outcomeOf(async () => {
      const options = readOptions(schema, optionsOfForm(RED, type, schema, request.body ?? {}))
      return test(await load(), options, AbortSignal.any([gone.signal, AbortSignal.timeout(TIME_LIMIT_MS)]))
    }))
  })
}

/** @param {() => Promise<string>} work @returns {Promise<Outcome>} */
async function outcomeOf (work) {
  try {
    return { ok: true, text: await work() }
  } catch (error) {
    return { ok: false, text: error instanceof SluiceError ? error.message : describe(error) }
  }
}

/** @param {Module} module @param {object} options @param {AbortSignal} signal */
async function test ({ connect }, options, signal) {
  const server = connect(options)
  try {
    return await Promise.race([server.test({ signal }), endOf(signal)])
  } finally {
    server.close().catch(() => {}) // the outcome is known already
  }
}

/** @param {AbortSignal} signal @returns {Promise<never>} */
async function endOf (signal) {
  await new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  throw new SluiceError('SLUICE_SERVER_SILENT', `There was no answer within ${TIME_LIMIT_MS / 1000} s.`, {
    fix: 'Check host and port, and the firewalls on the way.'
  })
}

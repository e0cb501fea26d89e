import { describe } from '../../base/errors.js'
import { addressOf } from '../../../broker/connection/target.js'
import { preflight } from '../../../broker/preflight/preflight.js'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { phrase, said } from '../../stats/phrases.js'

/**
 * @typedef {import('../finding.js').Finding} Finding
 * @typedef {import('../subject.js').Subject} Subject
 * @typedef {import('../../../broker/preflight/preflight.js').Finding} Told
 */

const GRADES = { error: problem, warning, info: note }

/** What `sluice preflight` finds out, of every broker in the flow. @type {import('../finding.js').Check} */
export const broker = {
  name: 'broker',
  title: 'Brokers',
  limitMs: 90_000,
  async find (subject) {
    const flow = await subject.flow
    const gateway = await subject.gatewayId() ?? undefined
    const found = (flow?.ofType('sluice-broker') ?? []).map(async node => {
      const { options, problems } = await /** @type {NonNullable<typeof flow>} */ (flow).optionsOf(node)
      if (problems.length > 0) return [] // which the check of the flow tells
      const where = `${nameOf(node)}, ${options.url}`
      if (subject.state === 'stopped' && await isEmbedded(subject, options.url)) {
        return [note(said`Not checked: it is the embedded broker, which runs with the gateway.`, where)]
      }
      return asked(options, gateway, where)
    })
    return (await Promise.all(found)).flat()
  }
}

/** @param {Record<string, any>} options @param {string|undefined} gateway @param {string} where @returns {Promise<Finding[]>} */
async function asked (options, gateway, where) {
  try {
    const { broker: reached, findings } = await preflight(options, { gateway })
    const told = findings.map(({ level, text, fix }) =>
      GRADES[level](phrase(text), where, fix ? phrase(fix) : level === 'info' ? '' : CONNECT_FIX))
    return reached === null ? told : [ok(`${reached.name} ${reached.version}, MQTT ${reached.protocol}.`, where), ...told]
  } catch (error) {
    return [problem(describe(error), where, CONNECT_FIX)]
  }
}

const CONNECT_FIX = said`Correct it in the broker node and deploy, or start the broker.`

/** @param {Subject} subject @param {string} url */
async function isEmbedded (subject, url) {
  const flow = await subject.flow
  const { target: { host, port = 1883 } } = addressOf(url)
  for (const node of flow?.ofType('sluice-embedded-broker') ?? []) {
    const { options } = await /** @type {NonNullable<typeof flow>} */ (flow).optionsOf(node)
    if (options.port === port && /^(localhost|127\.|::1$)/.test(String(host))) return true
  }
  return false
}

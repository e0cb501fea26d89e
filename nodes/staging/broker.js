import { gatewayId } from '../../broker/gateway-id.js'
import { preflight } from '../../broker/preflight/preflight.js'
import { connect } from '../../broker/preflight/trial.js'
import { serveTests } from '../connection-test.js'
import { dataDir, defineNode } from '../node.js'
import { schema } from './broker.schema.js'
import { serveTopicTries } from './try-topics.js'

/**
 * Holds the `options` of a connection for the nodes that refer to it; null where they are wrong. `check()` tries once, when the first of
 * them has connected, what about this broker breaks the promise, and reports it in the log.
 * @param {import('../node.js').RED} RED
 */
export default function (RED) {
  serveTopicTries(RED)
  serveTests(RED, 'sluice-broker', schema, async () => {
    const gateway = await gatewayId(dataDir(RED))
    return { connect: options => connect(options, gateway) }
  })
  defineNode(RED, 'sluice-broker', schema, (node, options) => {
    node.options = options
    node.check = () => {
      node.checked ??= check(RED, node, options)
      return node.checked
    }
  })
}

/**
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {import('../../broker/connection/connection.js').BrokerOptions} options
 * @returns {Promise<string|null>} what breaks the promise, in short
 */
async function check (RED, node, options) {
  const { broker, findings } = await preflight(options, { gateway: await gatewayId(dataDir(RED)) })
  if (broker === null) {
    node.checked = undefined // it went away meanwhile: the next to connect asks again
    return null
  }
  for (const { level, text, fix } of findings) {
    if (level !== 'info') node.warn(`${text} ${fix}`.trim())
  }
  const failures = findings.filter(({ level }) => level === 'error')
  const errors = failures.filter(({ code }) => code !== 'not-checked') // a busy broker has no flaw: the next to connect asks again
  if (errors.length < failures.length) node.checked = undefined
  return errors.length > 0 ? `the broker breaks the promise: ${errors.map(({ code }) => code).join(', ')}` : null
}

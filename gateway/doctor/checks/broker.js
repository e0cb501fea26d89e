import { describe } from '../../base/errors.js'
import { addressOf } from '../../../broker/connection/target.js'
import { titleOf } from '../../../broker/preflight/finding.js'
import { preflight } from '../../../broker/preflight/preflight.js'
import { placesOf } from '../../kafka/brokers.js'
import { brokerIdOf } from '../../../broker/stage-options.js'
import { nameOf } from '../flow.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/**
 * @typedef {import('../finding.js').Finding} Finding
 * @typedef {import('../subject.js').Subject} Subject
 * @typedef {import('../../../broker/preflight/finding.js').Report} Report
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
      return asked(() => preflight(options, { gateway }), where)
    })
    const clusters = (flow?.ofType('sluice-kafka-server') ?? []).map(async node => {
      if (!flow || !await isStagedIn(flow, node.id)) return []
      const { options, problems } = await flow.optionsOf(node)
      if (problems.length > 0) return []
      const { preflight: kafkaPreflight } = await import('../../../broker/kafka/preflight.js')
      const where = `${nameOf(node)}, ${placesOf(/** @type {any} */ (options))}`
      return asked(() => kafkaPreflight(options, { gateway }), where)
    })
    return (await Promise.all([...found, ...clusters])).flat()
  }
}

/** @param {import('../flow.js').Flow} flow @param {string} id  of a config node */
async function isStagedIn (flow, id) {
  const nodes = STAGES.flatMap(type => flow.ofType(type))
  return (await Promise.all(nodes.map(node => flow.optionsOf(node)))).some(({ options }) => brokerIdOf(options) === id)
}

/** @param {() => Promise<Report>} ask @param {string} where @returns {Promise<Finding[]>} */
async function asked (ask, where) {
  try {
    const { broker: reached, findings } = await ask()
    const told = findings.map(({ level, phrases: { text, fix } }) =>
      GRADES[level](text, where, fix || (level === 'info' ? '' : CONNECT_FIX)))
    return reached === null ? told : [ok(`${titleOf(reached)}.`, where), ...told]
  } catch (error) {
    return [problem(describe(error), where, CONNECT_FIX)]
  }
}

const STAGES = ['sluice-stage-in', 'sluice-stage-out']
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

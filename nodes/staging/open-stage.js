import { join } from 'node:path'
import { Stage } from '../../broker/out/stage.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { stats } from '../../gateway/stats/stats.js'
import { dataDir, logOf } from '../node.js'
import { nameOf } from '../names.js'
import { brokerOf, openConnection } from './connection.js'
import { leaseRequiredSinks } from './required-sinks.js'

/**
 * @typedef {import('../../broker/out/stage.js').StageOptions} StageOptions
 * @typedef {Pick<StageOptions, 'maxBytes'|'whenFull'|'fsync'|'fsyncIntervalMs'|'recordRows'|'ledger'>} SpoolOptions
 */

/**
 * The spool of a node, and the connection of its own that sends it.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {{broker: string, gauge?: () => import('../../gateway/stats/reader.js').Gauge} & SpoolOptions} options  `gauge`: what the node
 *   adds to that of the spool
 */
export async function openStage (RED, node, { broker, gauge = () => ({}), ...options }) {
  const { requiredSinks, release } = await leaseRequiredSinks(RED, node, broker)
  const link = await openConnection(RED, node, { broker, role: 'out' }).catch(async error => {
    await release()
    throw error
  })
  const { gateway, connection } = link
  const stage = await Stage.open({
    folder: join(dataDir(RED), 'spool', node.id),
    name: node.id,
    gateway,
    client: connection.client,
    requiredSinks,
    log: logOf(node),
    ...options
  }).catch(async error => {
    await closeAll(() => connection.close(), release)
    throw error
  })
  const dropGauge = stats.gauge(`spool ${nameOf(RED, node)}`, () => {
    const { requiredSinks: required, spoolBytes, ...state } = stage.state
    return { ...state, ...brokerOf(link), onDiskBytes: spoolBytes, requiredSinks: required.join(', '), ...gauge() }
  }, node.id)
  const dropSpooled = stats.spooled(node.id, () => stage.balances, () => stage.remoteBalances)
  return { stage, link, close: () => closeAll(dropGauge, dropSpooled, () => stage.close(() => connection.close()), release) }
}

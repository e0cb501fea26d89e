import { join } from 'node:path'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { onFlows } from '../flow-events.js'
import { dataDir, logOf } from '../node.js'
import { Shared } from '../shared.js'
import { configsOf, wiredSinks } from '../sinks/wired.js'

/** @type {Map<string, Shared<Awaited<ReturnType<typeof open>>>>} by file */
const shared = new Map()

/**
 * The sinks that all spools for one broker wait for, as the flows say at every deploy and the broker tells.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 * @param {string} broker  id of its node
 */
export async function leaseRequiredSinks (RED, node, broker) {
  const path = join(dataDir(RED), 'required-sinks', `${encodeURIComponent(broker)}.json`)
  const one = shared.get(path) ?? new Shared(() => open(RED, path, broker, logOf(node)))
  shared.set(path, one)
  const { thing, release } = await one.lease()
  return { requiredSinks: thing.requiredSinks, release }
}

/**
 * @param {import('../node.js').RED} RED
 * @param {string} path
 * @param {string} broker
 * @param {import('../../gateway/base/log.js').Log} log
 */
async function open (RED, path, broker, log) {
  const gateway = await gatewayId(dataDir(RED))
  const requiredSinks = await RequiredSinks.open({ path, gateway, log })
  const wire = () => requiredSinks.wire(wiredSinks(configsOf(RED), gateway, broker))
  wire()
  const stopListening = onFlows(RED, 'flows:started', wire)
  return {
    requiredSinks,
    close () {
      stopListening()
      return requiredSinks.close()
    }
  }
}

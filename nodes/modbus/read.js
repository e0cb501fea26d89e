import { openModbusRead } from '../../gateway/modbus/source.js'
import { defineSource } from '../sources/source.js'
import { leaseDevice } from './lease.js'
import { schema } from './read.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSource(RED, 'sluice-modbus-read', schema, async (options, context) => {
    const { release, ...lease } = await leaseDevice(RED, options.device)
    try {
      const source = openModbusRead(options, { ...context, ...lease })
      return { ...source, close: () => source.close().finally(release) }
    } catch (error) {
      release()
      throw error
    }
  })
}

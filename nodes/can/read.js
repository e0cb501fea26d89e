import { openCanRead } from '../../gateway/can/read.js'
import { located } from '../sources/located.js'
import { defineSource } from '../sources/source.js'
import { leaseBus } from './lease.js'
import { schema } from './read.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineSource(RED, 'sluice-can-read', schema, async (options, context) => {
    const { bus, release } = await leaseBus(RED, options.bus)
    try {
      const source = openCanRead({ ...options, dbcFile: located(options.dbcFile) }, { ...context, bus })
      return { ...source, close: () => source.close().finally(release) }
    } catch (error) {
      release()
      throw error
    }
  })
}

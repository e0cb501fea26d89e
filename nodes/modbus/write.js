import { SluiceError } from '../../gateway/base/errors.js'
import { ModbusWriter } from '../../gateway/modbus/writer.js'
import { defineNode, failed, handlesInput, throttledStatus } from '../node.js'
import { sentence } from '../status.js'
import { leaseDevice } from './lease.js'
import { schema } from './write.schema.js'

/** @param {import('../node.js').RED} RED */
export default function (RED) {
  defineNode(RED, 'sluice-modbus-write', schema, async (node, options) => {
    const show = throttledStatus(node)
    const closing = new AbortController()
    const leasing = leaseDevice(RED, options.device)
    const opening = leasing.then(lease => new ModbusWriter(options, lease))
    node.on('close', (/** @type {() => void} */ done) => {
      closing.abort(new SluiceError('SLUICE_MODBUS_CLOSED', 'The node was closed.'))
      leasing.then(({ release }) => release(), () => {}).finally(done)
    })

    handlesInput(node, async (message, send) => {
      const writer = await opening
      try {
        const confirmed = await writer.write(message.payload, { signal: closing.signal })
        send({ ...message, payload: confirmed })
        refuseUnconfirmed(confirmed)
        show({ fill: 'green', shape: 'dot', text: sentence(`written and confirmed: ${Object.keys(confirmed).join(', ')}`) })
      } catch (error) {
        show(failed(error))
        throw error
      }
    })
    await opening
    const ready = /** @type {const} */ ({ fill: 'grey', shape: 'dot', text: 'nothing written yet' })
    node.status(options.allowed ? ready : { fill: 'grey', shape: 'ring', text: 'writing is not allowed' })
  })
}

/** @param {Record<string, import('../../gateway/modbus/writer.js').Confirmation>} confirmed */
function refuseUnconfirmed (confirmed) {
  const others = Object.entries(confirmed).filter(([, { ok }]) => !ok)
  if (others.length === 0) return
  const texts = others.map(([name, { written, readBack }]) => `"${name}" was written as ${written} and reads back as ${readBack}`)
  throw new SluiceError('SLUICE_MODBUS_WRITE_UNCONFIRMED', `${texts.join('; ')}.`)
}

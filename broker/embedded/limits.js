import { SluiceError } from '../../gateway/base/errors.js'

/** More than any CONNECT has, its will of 64 KiB included. */
const FIRST_PACKET_BYTES = 2 ** 18

/**
 * Ends a client's connection as soon as it announces too large a packet, before memory is taken for it.
 * @param {any} client  of Aedes, the parts used here that its types leave out included
 * @param {number} maxBytes
 */
export function limitPackets (client, maxBytes) {
  const parser = client._parser
  const parseLength = parser._parseLength
  parser._parseLength = function () {
    const isRead = parseLength.call(this)
    const bytes = this.packet.length
    if (bytes <= (client.connected ? maxBytes : Math.min(maxBytes, FIRST_PACKET_BYTES))) return isRead
    const text = `It sends a packet of ${bytes} bytes, more than the embedded broker takes.`
    client.emit('error', new SluiceError('SLUICE_BROKER_PACKET', text, { fix: 'Have it send less at once, or raise the limit.' }))
    return false
  }
}

/** CONNACK's "server unavailable". */
export function tooManyClients () {
  const error = new SluiceError('SLUICE_BROKER_CLIENTS', 'The embedded broker has as many clients as it may.', {
    fix: 'Raise its limit, or end clients that are not needed; sessions of clients that are away count until the broker restarts.'
  })
  return Object.assign(error, { returnCode: 3 })
}

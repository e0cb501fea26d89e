/**
 * @typedef {import('mqtt').MqttClient} MqttClient
 *
 * @callback Read  is given each new connection, before anything has come
 * @param {MqttClient} client
 * @param {MqttClient['stream']} stream  whose `data` it reads
 * @param {(bytes: Buffer) => void} pass  gives MQTT.js what it is to read
 * @returns {void}
 */

/**
 * Has something else read what comes to a client of MQTT.js that has not connected yet, and connects it. MQTT.js builds a stream for each
 * connection, writes to it, and pipes it into its parser: only that pipe is another one.
 * @param {MqttClient} client  made with `manualConnect`
 * @param {Read} read
 */
export function divert (client, read) {
  const diverted = /** @type {{streamBuilder: (client: MqttClient) => any, options: {}}} */ (/** @type {unknown} */ (client))
  const { streamBuilder } = diverted
  diverted.streamBuilder = () => {
    const stream = streamBuilder(client)
    stream.pipe = (/** @type {import('node:stream').Writable} */ parser) => {
      read(client, stream, bytes => { parser.write(bytes) })
      return parser
    }
    return stream
  }
  client.options.manualConnect = false // with which MQTT.js may connect again once it has ended
  client.connect()
}

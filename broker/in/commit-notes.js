import { topicsOf } from '../topics.js'

/** @typedef {import('./stream.js').Stream} Stream */

/**
 * What the spools are to be told of the sinks' databases, gathered until it is sent: a copy of the databases' word, so an older one does no
 * harm.
 */
export class CommitNotes {
  /** @type {Map<string, {stream: Stream, sink: string}>} */
  #due = new Map()

  /** Something has changed. @param {Stream} stream @param {string} sink */
  add (stream, sink) {
    this.#due.set(JSON.stringify([stream.gateway, stream.source, sink]), { stream, sink })
  }

  /**
   * @param {import('mqtt').MqttClient} client
   * @param {(sink: string) => boolean} hasTold  a sink whose database has not answered yet only says that it is there: the spools wait for
   *   it
   */
  send (client, hasTold) {
    for (const { stream, sink } of this.#due.values()) {
      const epochs = hasTold(sink) ? stream.storedRanges(sink) : null
      client.publish(topicsOf(stream.gateway, stream.source).commit(sink), JSON.stringify({ clientId: client.options.clientId, epochs }), { qos: 1, retain: true })
    }
    this.#due.clear()
  }
}

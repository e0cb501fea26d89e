import { topicsOf } from '../topics.js'

/** @typedef {import('./stream.js').Stream} Stream */

/**
 * What the sinks' databases have stored, gathered until it is published to the spools: a copy of what the databases report, so an older
 * one does no harm.
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
   * @param {(sink: string) => boolean} isReady  a sink whose database has not reported yet only announces itself: the spools wait for it
   */
  publish (client, isReady) {
    const { clientId } = client.options
    for (const { stream, sink } of this.#due.values()) {
      const epochs = isReady(sink) ? stream.storedRanges(sink) : null
      client.publish(topicsOf(stream.gateway, stream.source).commit(sink), JSON.stringify({ clientId, epochs }), { qos: 1, retain: true })
    }
    this.#due.clear()
  }
}

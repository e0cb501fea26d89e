import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { Stage } from '../../broker/out/stage.js'
import { connected } from '../../broker/preflight/probing.js'
import { consumerTopics, isForTopic } from '../../broker/topics.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { addHashes, hashOf } from '../../gateway/batch/hashes.js'
import { Batch } from '../../gateway/batch/batch.js'
import { peekIdentity } from '../../gateway/messages/codecs/arrow/arrow.js'

/** @typedef {{topic: string, payload: Buffer, retain: boolean}} Message */
/** @typedef {{url: string, protocolVersion: '5'|'3.1.1', stop: () => Promise<void>}} Broker */

/** @returns {Promise<Broker>} */
export async function embedded (port = 0) {
  const { port: listening, close } = await startEmbeddedBroker({ port })
  return { url: `mqtt://127.0.0.1:${listening}`, protocolVersion: '3.1.1', stop: close }
}

/** @param {number} value @param {string} [source] @param {number} [rows] */
export function batchOf (value, source = 'press', rows = 1) {
  return new Batch({
    source,
    time: BigInt64Array.from({ length: rows }, (_, i) => 1_700_000_000_000_000_000n + BigInt(value * 1_000_000 + i)),
    fields: [{ name: 'value', type: 'float64' }],
    columns: [Float64Array.from({ length: rows }, (_, i) => value + i / rows)]
  })
}

/** @param {Message[]} messages */
export function seqsOf (messages) {
  return messages.map(({ payload }) => peekIdentity(payload)?.seq)
}

/**
 * What the database that has stored these says, consecutive records merged.
 * @param {Message[]} messages
 * @param {{store?: string, merged?: boolean}} [options]
 */
export function commitOf (messages, { store = 's1', merged = true } = {}) {
  /** @type {Record<string, Record<string, [number, number, number][]>>} */
  const sources = {}
  for (const { payload } of messages) {
    const { source, epoch, seq } = /** @type {import('../../gateway/batch/batch.js').Identity} */ (peekIdentity(payload))
    const ranges = (sources[source] ??= {})[epoch] ??= []
    const last = ranges.at(-1)
    if (merged && last?.[1] === seq - 1) ranges.splice(-1, 1, [last[0], seq, addHashes(last[2], hashOf(payload))])
    else ranges.push([seq, seq, hashOf(payload)])
  }
  return { store, label: 'history', sources }
}

/** A broker, the sending half of staging, and an observer that hears and says what it likes. */
export class StageRig {
  /** @type {string[]} */
  logged = []
  /** @type {Set<() => Promise<void>>} */
  #closing = new Set()
  #note = (/** @type {string} */ text) => { this.logged.push(text) }

  /** @param {Broker} broker @param {string} folder @param {import('../../broker/connection/connection.js').Connection} observer */
  constructor (broker, folder, observer) {
    this.broker = broker
    this.folder = folder
    this.observer = observer
  }

  /** @param {Broker} [broker] */
  static async create (broker) {
    const started = broker ?? await embedded()
    return new StageRig(started, await mkdtemp(join(tmpdir(), 'sluice-stage-')), await observe(started))
  }

  /**
   * @param {Partial<import('../../broker/out/stage.js').StageOptions> & {wired?: import('../../broker/out/required-sinks.js').WiredSink[]}}
   *   [options]
   */
  async openStage ({ wired = [], ...options } = {}) {
    const log = { info: () => {}, warn: this.#note, error: this.#note }
    const requiredSinks = await RequiredSinks.open({ path: join(this.folder, 'required-sinks', 'b.json'), gateway: 'gw', log })
    requiredSinks.wire(wired)
    const connection = connect(this.broker, { clientId: 'sluice-gw-out', clean: false, sessionExpirySeconds: 600 })
    const { client } = connection
    const stage = await Stage.open({
      folder: join(this.folder, 'spool'), name: 'out', gateway: 'gw', client, requiredSinks, log, fsync: 'system',
      headIntervalMs: 300, ...options
    })
    const close = async () => {
      if (!this.#closing.delete(close)) return
      await closeAll(() => stage.close(() => connection.close({ patienceMs: 200 })), () => requiredSinks.close())
    }
    this.#closing.add(close)
    return { stage, requiredSinks, connection, close }
  }

  /** Collects messages. @param {string} filter */
  async listen (filter) {
    /** @type {Message[]} */
    const heard = []
    const { client } = this.observer
    client.on('message', (topic, payload, { retain }) => {
      if (isForTopic(filter, topic)) heard.push({ topic, payload, retain })
    })
    await client.subscribeAsync(filter, { qos: 1 })
    return heard
  }

  /** @param {string} topic @param {unknown} message @param {boolean} [retain] */
  async tell (topic, message, retain = false) {
    await this.observer.client.publishAsync(topic, Buffer.isBuffer(message) ? message : JSON.stringify(message), { qos: 1, retain })
  }

  /** A remote reader announces its sinks. @param {string} consumer @param {object} [more] */
  announce (consumer, more = {}) {
    const list = { gateway: '+', source: '+', sinks: [{ sink: 'db', label: 'history', committed: false }], ...more }
    return this.tell(consumerTopics(consumer).sinks('in'), list, true)
  }

  /** @param {string} consumer @param {unknown} commit @param {string} [sink] */
  commit (consumer, commit, sink = 'db') {
    return this.tell(consumerTopics(consumer).commit(sink, 'gw'), commit)
  }

  /** The broker starts again on its port, and has forgotten everything. */
  async restartBroker () {
    await this.observer.close()
    await this.broker.stop()
    this.broker = await embedded(Number(new URL(this.broker.url).port))
    this.observer = await observe(this.broker)
  }

  async stop () {
    await this.observer.close()
    for (const close of this.#closing) await close()
    await this.broker.stop()
    await rm(this.folder, { recursive: true })
  }
}

/** @param {Broker} broker */
async function observe (broker) {
  const observer = connect(broker, { clientId: 'observer' })
  await connected(observer)
  return observer
}

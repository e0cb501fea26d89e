import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { connectKafka } from '../../broker/kafka/connection.js'
import { Consumer } from '../../broker/in/consumer.js'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { Stage } from '../../broker/out/stage.js'
import { Batch, identityKey } from '../../gateway/batch/batch.js'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { Deliveries } from '../../gateway/flow/deliveries.js'
import { SinkRegistry } from '../../gateway/flow/sinks.js'

/**
 * @typedef {import('../../broker/in/contract.js').Delivery} Delivery
 * @typedef {import('../../broker/client.js').BrokerConnection} BrokerConnection
 * @typedef {import('../../broker/kafka/connection.js').KafkaClientOptions} KafkaClientOptions
 * @typedef {{url: string, protocolVersion: '5'|'3.1.1'}|{kafka: Record<string, unknown>}} TestedBroker  with the options of the connection
 */

const silent = { info () {}, warn () {}, error () {} }

/** A fake of a database that keeps the sink contract: rows and commit records together, a record refused the second time. */
export class FakeDatabase {
  /** @type {number[]} */
  rows = []
  /** @type {Map<string, import('../../gateway/batch/batch.js').Identity & {stored: number}>} */
  records = new Map()
  store = randomUUID()
  /** Set to hold writes back. @type {Promise<void>|null} */
  busy = null
  duplicates = 0
  readings = 0

  /** @param {string} id */
  constructor (id) {
    this.id = id
    this.name = id
  }

  /** @param {Batch} batch */
  async write (batch) {
    await (this.busy ?? new Promise(resolve => setImmediate(resolve)))
    if (batch.identity) {
      const key = identityKey(batch.identity)
      if (this.records.has(key)) {
        this.duplicates++
        return
      }
      this.records.set(key, { ...batch.identity, stored: batch.rows })
    }
    this.rows.push(.../** @type {Float64Array} */ (batch.columns[0] ?? []))
  }

  async committed () {
    this.readings++
    const records = Array.from(this.records.values(), ({ gateway, source, epoch, seq, hash = 0, rows = 1, before = 0, stored }) => {
      return { gateway, source, epoch, first: seq, last: seq, hash, staged: rows, stored, dead: 0, before }
    })
    return { store: this.store, records: records.sort((a, b) => parseInt(a.epoch, 10) - parseInt(b.epoch, 10) || a.first - b.first) }
  }

  async compact () {}
}

/** @param {number} value @param {string} [source] */
export function batchOf (value, source = 'press') {
  return new Batch({
    source,
    time: new BigInt64Array([1_700_000_000_000_000_000n + BigInt(value)]),
    fields: [{ name: 'value', type: 'float64' }],
    columns: [new Float64Array([value])]
  })
}

/** @param {...string} ids @returns {import('../../broker/in/contract.js').WiredSink[]} */
export function wired (...ids) {
  return ids.map(id => ({ id, sink: id, label: id }))
}

/** Stage, broker and consumers of one gateway, each of which can go away and come back. */
export class Pipeline {
  registry = new SinkRegistry()
  deliveries = new Deliveries()
  produced = 0
  /** @type {(() => Promise<void>)[]} */
  #closing = []

  /** @param {TestedBroker} broker @param {string} folder */
  constructor (broker, folder) {
    this.broker = broker
    this.folder = folder
  }

  /** @param {TestedBroker} broker */
  static async create (broker) {
    return new Pipeline(broker, await mkdtemp(join(tmpdir(), 'sluice-delivery-')))
  }

  /** @param {Partial<import('../../broker/out/stage.js').StageOptions>} [options] */
  async openStage (options = {}) {
    const { name = 'out', gateway = 'gw' } = options
    const connection = this.#connect({ clientId: name })
    const { client } = connection
    const path = join(this.folder, name, 'required-sinks.json')
    const requiredSinks = await RequiredSinks.open({ path, gateway, log: silent, endDelayMs: 0 })
    const stage = await Stage.open({
      folder: join(this.folder, name, 'spool'),
      name,
      gateway,
      client,
      requiredSinks,
      log: silent,
      fsync: 'system',
      headIntervalMs: 300,
      ...options
    })
    return this.#closable(stage, async () => {
      await stage.close(() => connection.close({ patienceMs: 200 }))
      await requiredSinks.close()
    })
  }

  /** Appends `count` batches, numbered on. @param {Stage} stage @param {number} count */
  async produce (stage, count) {
    const from = this.produced
    this.produced += count
    return Promise.all(Array.from({ length: count }, (_, i) => stage.append(batchOf(from + i))))
  }

  /**
   * A consumer of another gateway, whose flow leads straight to its sinks, unless `flow` says otherwise.
   * @param {string[]} ids  of its sinks
   * @param {Partial<import('../../broker/in/consumer.js').ConsumerOptions> & {
   *   flow?: (delivery: Delivery) => void, kafka?: Pick<KafkaClientOptions, 'group'|'onShare'|'onDouble'>
   * }} [options]
   */
  async openConsumer (ids, { flow, reader = 'in', kafka = {}, ...options } = {}) {
    const window = options.window ?? 500
    const receiveMaximum = Math.min(50, window)
    const connection = this.#connect({ clientId: reader, receiveMaximum, group: reader, ...kafka })
    const consumer = new Consumer({
      client: connection.client,
      consumer: 'reading',
      reader,
      sinks: wired(...ids),
      registry: this.registry,
      deliveries: { open: delivery => this.deliveries.open({ ...delivery, quietMs: 50 }), close: key => this.deliveries.close(key) },
      window,
      quietMs: 500,
      readIntervalMs: 100,
      log: silent,
      emit: flow ?? (delivery => { for (const sink of delivery.sinks.keys()) this.store(delivery, sink) }),
      decode: packet => decodeMessage(Buffer.from(packet.payload)).batches[0],
      onThirdParty: async () => {},
      onRefused: async () => {},
      ...options
    })
    connection.receive((packet, ack) => consumer.receive(packet, ack))
    return this.#closable(consumer, async () => {
      consumer.close()
      await connection.close({ patienceMs: 200 })
    })
  }

  /** @param {KafkaClientOptions} options @returns {BrokerConnection} */
  #connect (options) {
    const { broker } = this
    if ('kafka' in broker) return connectKafka(broker.kafka, options)
    return connect(broker, { clean: false, sessionExpirySeconds: 600, ...options })
  }

  /** What a sink node does. @param {Delivery} delivery @param {string} sink @param {Batch} [batch] */
  async store ({ attemptId, batch: staged }, sink, batch = staged) {
    const piece = { identified: batch.identity !== null, part: null }
    if (!this.deliveries.accept(attemptId, sink, piece)) return
    try {
      await this.registry.get(sink)?.write(batch)
      this.deliveries.settle(attemptId, sink, piece)
    } catch {
      this.deliveries.release(attemptId, sink, piece)
    }
  }

  /** @param {FakeDatabase} database */
  addSink (database) {
    return this.registry.add(database)
  }

  async close () {
    for (const close of this.#closing.splice(0).reverse()) await close()
    await rm(this.folder, { recursive: true })
  }

  /** @template T @param {T} thing @param {() => Promise<void>} close */
  #closable (thing, close) {
    const once = async () => {
      const at = this.#closing.indexOf(once)
      if (at >= 0) this.#closing.splice(at, 1)
      await close()
    }
    this.#closing.push(once)
    return { it: thing, close: once }
  }
}

/**
 * Waits for a condition, and fails with what it looked like at the end.
 * @param {() => unknown} condition
 * @param {() => string} [describe]
 */
export async function until (condition, describe = () => String(condition), ms = 20_000) {
  const deadline = Date.now() + ms
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${describe()}`)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

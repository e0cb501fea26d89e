import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '../../broker/connection/connection.js'
import { Consumer } from '../../broker/in/consumer.js'
import { deferAcks } from '../../broker/in/deferred-acks.js'
import { Stage } from '../../broker/out/stage.js'
import { Batch, identityKey } from '../../gateway/batch/batch.js'
import { RangeSet } from '../../gateway/batch/ranges.js'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { Deliveries } from '../../gateway/flow/deliveries.js'
import { SinkRegistry } from '../../gateway/flow/sinks.js'

/** @typedef {import('../../broker/in/contract.js').Delivery} Delivery */

const silent = { info () {}, warn () {}, error () {} }

/** A fake of a database that keeps the sink contract: rows and commit records together, a record refused the second time. */
export class FakeDatabase {
  /** @type {number[]} */
  rows = []
  /** @type {Map<string, import('../../gateway/batch/batch.js').Identity>} */
  records = new Map()
  /** Set to hold writes back. @type {Promise<void>|null} */
  busy = null
  duplicates = 0

  /** @param {string} name */
  constructor (name) {
    this.name = name
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
      this.records.set(key, batch.identity)
    }
    this.rows.push(.../** @type {Float64Array} */ (batch.columns[0] ?? []))
  }

  async committed () {
    /** @type {Map<string, any>} */
    const epochs = new Map()
    for (const { gateway, source, epoch, seq } of this.records.values()) {
      const key = `${gateway}/${source}/${epoch}`
      if (!epochs.has(key)) epochs.set(key, { gateway, source, epoch, set: new RangeSet() })
      epochs.get(key).set.add(seq)
    }
    return [...epochs.values()].map(({ set, ...rest }) => ({ ...rest, ranges: set.ranges }))
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

/** Stage, broker and consumers of one gateway, each of which can go away and come back. */
export class Pipeline {
  registry = new SinkRegistry()
  deliveries = new Deliveries()
  produced = 0
  /** @type {(() => Promise<void>)[]} */
  #closing = []

  /** @param {{url: string, protocolVersion: '5'|'3.1.1'}} broker @param {string} folder */
  constructor (broker, folder) {
    this.broker = broker
    this.folder = folder
  }

  /** @param {{url: string, protocolVersion: '5'|'3.1.1'}} broker */
  static async create (broker) {
    return new Pipeline(broker, await mkdtemp(join(tmpdir(), 'sluice-delivery-')))
  }

  /** @param {Partial<import('../../broker/out/stage.js').StageOptions>} [options] */
  async openStage (options = {}) {
    const connection = connect(this.broker, { clientId: 'out', clean: false, sessionExpirySeconds: 600 })
    const folder = join(this.folder, 'spool')
    const { client } = connection
    const stage = await Stage.open({ folder, gateway: 'gw', client, log: silent, fsync: 'system', headIntervalMs: 300, ...options })
    return this.#closable(stage, async () => {
      await stage.close()
      await connection.close({ patienceMs: 200 })
    })
  }

  /** Appends `count` batches, numbered on. @param {Stage} stage @param {number} count */
  async produce (stage, count) {
    const from = this.produced
    this.produced += count
    return Promise.all(Array.from({ length: count }, (_, i) => stage.append(batchOf(from + i))))
  }

  /**
   * A consumer whose flow leads straight to its sinks, unless `flow` says otherwise.
   * @param {string[]} sinks
   * @param {Partial<import('../../broker/in/consumer.js').ConsumerOptions> & {flow?: (delivery: Delivery) => void, id?: string}} [options]
   */
  async openConsumer (sinks, { flow, id = 'in', ...options } = {}) {
    const window = options.window ?? 500
    const connection = connect(this.broker, { clientId: id, clean: false, sessionExpirySeconds: 600, receiveMaximum: Math.min(50, window) })
    const consumer = new Consumer({
      client: connection.client,
      sinks,
      registry: this.registry,
      deliveries: { open: delivery => this.deliveries.open({ ...delivery, quietMs: 50 }), close: key => this.deliveries.close(key) },
      window,
      quietMs: 500,
      log: silent,
      emit: flow ?? (delivery => { for (const sink of sinks) this.store(delivery, sink) }),
      decode: packet => decodeMessage(Buffer.from(packet.payload)).batches[0],
      onThirdParty: async () => {},
      onRefused: async () => {},
      ...options
    })
    deferAcks(connection.client, (packet, ack) => consumer.receive(/** @type {any} */ (packet), ack))
    return this.#closable(consumer, async () => {
      consumer.close()
      await connection.close({ patienceMs: 200 })
    })
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

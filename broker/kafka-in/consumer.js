import { EventEmitter } from 'node:events'
import { identityKey } from '../../gateway/batch/batch.js'
import { describe } from '../../gateway/base/errors.js'
import { GroupMember } from '../../gateway/kafka/group.js'
import { HeldDeliveries } from '../in/held-deliveries.js'
import { Readings } from '../in/readings.js'
import { Streams } from '../in/streams.js'
import { Tracker } from './tracker.js'
import { identified, isEpochOf, unitsOf } from './units.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/kafka/group.js').Assigned} Assigned
 * @typedef {import('../../gateway/kafka/group.js').KafkaMessage} KafkaMessage
 * @typedef {import('../../gateway/kafka/group.js').Place} Place
 * @typedef {import('../../gateway/kafka/group.js').Stream} KafkaStream
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {import('../in/contract.js').WiredSink} WiredSink
 * @typedef {import('../in/stream.js').Stream} Source
 *
 * @typedef {object} KafkaConsumerOptions
 * @property {import('../../gateway/kafka/client.js').Cluster} cluster
 * @property {string} group
 * @property {string[]|RegExp} topics
 * @property {'earliest'|'latest'} [begin]  where there is nothing yet that says where to go on
 * @property {string} reader  id of the node
 * @property {WiredSink[]} [sinks]  that must store each batch, until `wire` says otherwise
 * @property {import('../in/contract.js').Sinks} registry
 * @property {import('../in/contract.js').Deliveries} deliveries
 * @property {(delivery: import('../in/contract.js').Delivery) => void} emit  into the flow
 * @property {(message: KafkaMessage, topic: string) => {batches: Batch[], refused: Refused[]}} decode  never throws for what is in it
 * @property {(topic: string, refused: Refused[]) => Promise<void>} onRefused  resolves once they are kept, or counted
 * @property {number} [window]  batches held at once
 * @property {number} [windowBytes]
 * @property {number} [overdueMs]  a batch that no sink has anything of for so long is emitted again
 * @property {number} [stillMs]  sinks that do nothing for so long with what is held, while there is no room for more, hold up the others
 * @property {number} [attempts]  after so many it is parked
 * @property {number} [sessionMs]
 * @property {import('../../gateway/base/log.js').Log} [log]
 *
 * @typedef {{isOver: boolean, tracker: Tracker, reached: bigint}} Reading
 */

const LOOK_MS = 250
const COMPACT_MS = 60_000
/** So long nothing is tried again that a sink has let go. */
const POSTPONED_MS = 10_000
const ROW_BYTES = 16

const DEFAULTS = {
  begin: 'earliest',
  sinks: [],
  window: 100,
  windowBytes: 2 ** 26,
  overdueMs: 30_000,
  stillMs: 10_000,
  attempts: 3,
  log: console
}

/**
 * Reads topics for sinks, as a member of a consumer group; each sample is stored exactly once, without any transaction of Kafka's. What is
 * read becomes batches whose identity all members agree on (`units.js`), so that the commit records of the sinks' databases refuse what is
 * stored already, whoever has stored it. The group's offset follows what all sinks have committed: it only spares reading again.
 *
 * Before it begins with a partition, the databases are read. One that lacks what the group has committed was set back: then all is read
 * again that the brokers still have, and what is stored is left out.
 *
 * Event: `changed` (see `state`).
 */
export class KafkaConsumer extends EventEmitter {
  #options
  #streams = new Streams()
  #readings
  #held
  /** @type {WiredSink[]} */
  #sinks = []
  /** The cluster's id. */
  #gateway = ''
  /** What was read of databases before that was known. @type {Map<string, () => void>} */
  #unread = new Map()
  /** @type {Map<KafkaStream, Reading>} */
  #open = new Map()
  /** @type {GroupMember} */
  #member
  /** @type {Promise<void>} */
  #restarting = Promise.resolve()
  /** Resolves when there may be more room, or a sink more. @type {PromiseWithResolvers<void>} */
  #changed = Promise.withResolvers()
  #closed = false
  #timers
  /** @type {Error|null} */
  problem = null
  counters = { duplicates: 0, refused: 0, lost: 0, setBack: 0 }

  /** @param {KafkaConsumerOptions} options */
  constructor (options) {
    super()
    const all = this.#options = { ...DEFAULTS, ...options }
    const { registry, log } = all
    this.#readings = new Readings({
      registry,
      intervalMs: COMPACT_MS,
      log,
      onRead: (id, { records }, { number }) => this.#onRead(id, records, number),
      onChange: () => this.#onChange()
    })
    const readings = this.#readings
    this.#held = new HeldDeliveries({
      get areReady () { return readings.areAll },
      mark: (id, record) => readings.mark(id, record),
      labelOf: id => readings.labelOf(id)
    }, {
      ...all,
      onCommitted: (source, id, identity) => source.storedBy(id).add(identity, readings.number),
      onDone: () => this.#onChange()
    })
    this.#timers = [setInterval(() => this.#look(), LOOK_MS), setInterval(() => this.#compact(), COMPACT_MS)]
    this.wire(all.sinks)
    this.#member = this.#join()
  }

  get state () {
    const { duplicates, refused, lost, setBack } = this.counters
    return {
      sinks: this.#held.sinks.length,
      waitingFor: this.heldUpBy.map(({ label }) => label),
      partitions: this.#open.size,
      held: this.#held.size,
      heldBytes: this.#held.bytes,
      duplicates,
      refused,
      lost,
      setBack,
      ...this.#held.counters
    }
  }

  /** Those that a batch waits for. @returns {string[]} ids */
  get sinks () { return this.#held.sinks }

  /** The sinks that keep all others behind this node waiting. */
  get heldUpBy () {
    const ids = this.#readings.areAll ? this.#held.heldUpBy : this.#readings.missing
    return ids.map(id => ({ id, label: this.#sinks.find(sink => sink.id === id)?.label ?? id }))
  }

  /**
   * The sinks behind the node, from now on. What a disabled one lacks is not committed, and comes again once it is enabled.
   * @param {WiredSink[]} sinks
   */
  wire (sinks) {
    const isOther = JSON.stringify(sinks) !== JSON.stringify(this.#sinks)
    this.#sinks = sinks
    const { enabled = [], disabled = [] } = Object.groupBy(sinks, ({ isDisabled }) => isDisabled ? 'disabled' : 'enabled')
    const ids = enabled.map(({ id }) => id)
    this.#held.wire(ids)
    this.#readings.wire(ids, disabled.map(({ id }) => id))
    for (const source of this.#streams) source.unpark()
    if (this.#member && isOther) this.#restart() // what was parked, or a sink lacks that was disabled, comes again
    this.#onChange()
  }

  /** What the flow has under way may be lost, by no fault of its own. */
  doubt () { this.#held.doubt() }

  /** What only another attempt can bring goes into the flow again. */
  emitWaiting () { this.#held.emitWaiting() }

  /** Stops at once; what is not settled comes again. */
  async close () {
    this.#closed = true
    for (const timer of this.#timers) clearInterval(timer)
    this.#readings.close()
    this.#onChange()
    await this.#restarting
    await this.#member.close()
    this.#held.close()
  }

  #join () {
    const { cluster, group, topics, sessionMs } = this.#options
    return new GroupMember(cluster, {
      group,
      topics,
      sessionMs,
      onAssigned: assigned => this.#onAssigned(assigned),
      onRevoked: streams => {
        for (const stream of streams) this.#end(stream)
      },
      onRecords: (stream, messages, next) => this.#onRecords(stream, messages, next),
      onGap: (stream, from, to) => this.#onGap(stream, from, to),
      onProblem: problem => {
        this.problem = problem
        this.emit('changed')
      }
    })
  }

  /** All is read again from where the group has committed to, or from where the databases say. */
  #restart () {
    this.#restarting = this.#restarting.then(async () => {
      if (this.#closed) return
      await this.#member.close()
      if (!this.#closed) this.#member = this.#join()
    })
  }

  /** @param {Assigned[]} assigned @returns {Promise<(Place|undefined)[]>} */
  async #onAssigned (assigned) {
    await this.#ready()
    await this.#learnCluster()
    return assigned.map(each => this.#begin(each))
  }

  async #learnCluster () {
    if (this.#gateway !== '') return
    const client = this.#options.cluster.client()
    try {
      this.#gateway = (await client.cluster()).id
    } finally {
      await client.close()
    }
    for (const read of this.#unread.values()) read()
    this.#unread.clear()
  }

  /** @param {Assigned} assigned @returns {Place|undefined} */
  #begin ({ stream, committed, first, end }) {
    const stored = this.#held.sinks.map(id => this.#newestOf(stream, id)).filter(newest => newest !== null)
    const noted = committed?.note ? BigInt(committed.note) : null
    const isSetBack = noted !== null && noted >= first && stored.some(newest => newest < noted)
    if (isSetBack) {
      this.counters.setBack++
      this.#options.log.warn(`A database lacks what it had stored of ${nameOf(stream)}: it is read again from offset ${first}.`)
    }
    const { begin } = this.#options
    const unknown = begin === 'latest' && stored.length === 0 ? end : first
    const place = isSetBack ? { offset: first } : committed ?? { offset: unknown }
    const tracker = new Tracker(noted, (next, note) => {
      const reading = this.#open.get(stream)
      if (reading) reading.reached = next
      this.#member.commit(stream, next, note === null ? '' : String(note))
    })
    this.#open.set(stream, { isOver: false, tracker, reached: place.offset })
    this.emit('changed')
    return place
  }

  /** The offset of the newest unit of a stream of which a sink's database has something. @param {KafkaStream} stream @param {string} id */
  #newestOf (stream, id) {
    const isIts = isEpochOf(stream)
    let newest = null
    for (const source of this.#streams.of(this.#gateway)) {
      for (const { epoch, last } of source.storedBy(id).ends()) {
        if (isIts(epoch) && (newest === null || last > newest)) newest = BigInt(last)
      }
    }
    return newest
  }

  /** @param {KafkaStream} stream */
  #end (stream) {
    const reading = this.#open.get(stream)
    if (reading) reading.isOver = true
    this.#open.delete(stream)
    this.#onChange()
  }

  /** @param {KafkaStream} stream @param {KafkaMessage[]} messages @param {bigint} next */
  async #onRecords (stream, messages, next) {
    const reading = this.#open.get(stream)
    if (!reading) return
    for (const unit of unitsOf(messages)) {
      await this.#ready(() => reading.isOver)
      if (reading.isOver || this.#closed) return
      this.#take(stream, reading, unit)
    }
    reading.tracker.begin(next, 0)
  }

  /** @param {KafkaStream} stream @param {Reading} reading @param {import('./units.js').Unit} unit */
  #take (stream, reading, unit) {
    const { decode, onRefused } = this.#options
    /** @type {Batch[]} */
    const batches = []
    /** @type {Refused[]} */
    const refused = []
    for (const message of unit.messages) {
      if (message.value === null) continue // says that a key is gone
      const content = decode(message, stream.topic)
      batches.push(...content.batches)
      refused.push(...content.refused)
    }
    const its = identified(stream, unit, batches, this.#gateway).filter(batch => this.#admits(batch, refused))
    const done = reading.tracker.begin(unit.next, its.length + Number(refused.length > 0), its.length > 0 ? unit.first : null)
    if (refused.length > 0) {
      this.counters.refused += refused.length
      onRefused(stream.topic, refused).then(done, error => this.#options.log.error(describe(error)))
    }
    for (const batch of its) this.#hold(batch, reading, done)
  }

  /** Whether there is a place for its source. @param {Batch} batch @param {Refused[]} refused */
  #admits (batch, refused) {
    try {
      this.#streams.check(this.#gateway, batch.source)
      return true
    } catch (error) {
      refused.push({ index: -1, reason: describe(error), value: batch.slice(0, 1).toObjects()[0], count: batch.rows })
      return false
    }
  }

  /** @param {Batch} batch @param {Reading} reading @param {() => void} done */
  #hold (batch, reading, done) {
    const identity = /** @type {import('../../gateway/batch/batch.js').Identity} */ (batch.identity)
    const source = this.#streams.get(identity.gateway, identity.source)
    const has = (/** @type {{id: string}} */ { id }) => source.storedBy(id).has(identity.epoch, identity.seq)
    const isStored = () => this.#sinks.every(has)
    if (isStored()) {
      this.counters.duplicates++
      return done()
    }
    // Stored by those that run; what a disabled one lacks is not behind.
    if (this.#held.sinks.every(id => has({ id }))) return
    const ack = () => {
      if (isStored()) done()
      else if (!source.isParked(identity.epoch, identity.seq)) setTimeout(() => this.#holdAgain(batch, reading, done), POSTPONED_MS).unref()
    }
    const id = `${this.#options.reader}:${identityKey(identity)}`
    if (this.#held.redelivered(id, ack)) return
    this.#held.hold(id, batch, source, { bytes: ROW_BYTES * (1 + batch.values + batch.rows), ack })
  }

  /** What a sink had let go. @param {Batch} batch @param {Reading} reading @param {() => void} done */
  #holdAgain (batch, reading, done) {
    const { gateway, source, epoch, seq } = /** @type {import('../../gateway/batch/batch.js').Identity} */ (batch.identity)
    const its = this.#streams.get(gateway, source)
    if (this.#sinks.every(({ id }) => its.storedBy(id).has(epoch, seq))) done()
    else if (!reading.isOver && !this.#closed) this.#hold(batch, reading, done)
  }

  /** @param {KafkaStream} stream @param {bigint} from @param {bigint} to */
  #onGap (stream, from, to) {
    this.counters.lost += Number(to - from)
    this.#options.log.error(`${nameOf(stream)}: the brokers have removed offsets ${from} to ${to - 1n} before they were read. ` +
      'What was in them and not stored is lost: raise the retention of the topic.')
    this.#open.get(stream)?.tracker.begin(to, 0)
    this.emit('changed')
  }

  /** @param {string} id @param {import('../../gateway/databases/sink.js').CommitRecord[]} records @param {number} number */
  #onRead (id, records, number) {
    if (this.#gateway === '') return this.#unread.set(id, () => this.#onRead(id, records, number))
    const gone = this.#streams.read(id, records.filter(({ gateway }) => gateway === this.#gateway), number)
    this.#held.recorded(id)
    if (gone === 0) return
    this.counters.setBack += gone
    this.#options.log.warn(`The database of sink "${this.#readings.labelOf(id)}" was set back: it lacks ${gone} batches that were stored.`)
    this.#restart()
  }

  #onChange () {
    if (this.#readings?.areAll) this.#held?.emitWaiting()
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
    this.emit('changed')
  }

  /** Until all sinks have been read and there is room, or it is over. @param {() => boolean} [isOver] */
  async #ready (isOver = () => false) {
    const isReady = () => this.#held.sinks.length > 0 && this.#readings.areAll && this.#held.hasRoom(0)
    while (!isReady() && !this.#closed && !isOver()) await this.#changed.promise
  }

  #look () {
    this.#held.emitOverdue()
    this.emit('changed')
  }

  /** Records below what is dealt with are merged: nothing comes any more into the gaps between them. */
  #compact () {
    const heads = [...this.#open].flatMap(([stream, { reached }]) => {
      const isIts = isEpochOf(stream)
      return this.#streams.of(this.#gateway).flatMap(source => {
        const epochs = new Set(this.#held.sinks.flatMap(id => source.storedBy(id).ends().map(({ epoch }) => epoch)))
        return [...epochs].filter(isIts).map(epoch => {
          return { gateway: this.#gateway, source: source.source, epoch, first: Number(reached), last: Number(reached), isSparse: true }
        })
      })
    })
    if (heads.length === 0) return
    for (const handle of this.#readings) {
      handle.compact(heads).catch(error => {
        this.#options.log.warn(`Sink "${handle.name}" could not compact its commit records: ${describe(error)}`)
      })
    }
  }
}

/** @param {KafkaStream} stream */
function nameOf ({ topic, partition }) {
  return `partition ${partition} of topic ${topic}`
}

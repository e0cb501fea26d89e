import { EventEmitter } from 'node:events'
import { identityKey } from '../../gateway/batch/batch.js'
import { describe } from '../../gateway/base/errors.js'
import { QuietLog } from '../../gateway/base/log.js'
import { GroupMember } from '../../gateway/kafka/group.js'
import { countOf } from '../../gateway/messages/refusals.js'
import { anotherOf } from '../in/clash.js'
import { HeldDeliveries } from '../in/held-deliveries.js'
import { Readings } from '../in/readings.js'
import { Streams } from '../in/streams.js'
import { OpenStreams, nameOf } from './open-streams.js'
import { identified } from './units.js'

/**
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('../../gateway/kafka/group.js').Assigned} Assigned
 * @typedef {import('../../gateway/kafka/group.js').KafkaMessage} KafkaMessage
 * @typedef {import('../../gateway/kafka/group.js').Place} Place
 * @typedef {import('../../gateway/kafka/group.js').Stream} KafkaStream
 * @typedef {import('../../gateway/messages/mapping/mapper.js').Content} Content
 * @typedef {import('../../gateway/messages/refusals.js').Refused} Refused
 * @typedef {import('../in/contract.js').WiredSink} WiredSink
 * @typedef {import('./open-streams.js').Reading} Reading
 *
 * @typedef {object} KafkaConsumerOptions
 * @property {import('../../gateway/kafka/client.js').Cluster} cluster
 * @property {string} group
 * @property {string[]|RegExp} topics
 * @property {'earliest'|'latest'} [begin]  where there is nothing yet that says where to go on
 * @property {string} reader  id of the node
 * @property {string} [own]  the own gateway
 * @property {WiredSink[]} [sinks]  that must store each batch, until `wire` says otherwise
 * @property {import('../in/contract.js').Sinks} registry
 * @property {import('../in/contract.js').Deliveries} deliveries
 * @property {(delivery: import('../in/contract.js').Delivery) => void} emit  into the flow
 * @property {(message: KafkaMessage, topic: string) => Content} decode  never throws for what is in it
 * @property {(topic: string, refused: Refused[]) => Promise<void>} onRefused  resolves once they are kept, or counted
 * @property {number} [window]  batches held at once
 * @property {number} [windowBytes]
 * @property {number} [overdueMs]  a batch that no sink has anything of for so long is emitted again
 * @property {number} [stillMs]  sinks that do nothing for so long with what is held, while there is no room for more, hold up the others
 * @property {number} [attempts]  after so many it is parked
 * @property {number} [compactMs]  how often databases are read, and their commit records merged
 * @property {number} [sessionMs]
 * @property {import('../../gateway/base/log.js').Log} [log]
 *
 * @typedef {object} Taken
 * @property {Reading} reading
 * @property {number} bytes  of the messages that it was read from
 * @property {() => void} done
 * @property {() => void} never
 */

const LOOK_MS = 250
/** So long nothing is tried again that a sink has let go. */
const POSTPONED_MS = 10_000
const ROW_BYTES = 16
/** Values that are refused and kept at once. */
const MAX_KEPT = 1000

const DEFAULTS = {
  begin: /** @type {'earliest'|'latest'} */ ('earliest'),
  sinks: [],
  window: 100,
  windowBytes: 2 ** 26,
  overdueMs: 30_000,
  stillMs: 10_000,
  attempts: 3,
  compactMs: 60_000,
  log: console
}

/**
 * Reads topics for sinks, as a member of a consumer group; each sample is stored exactly once, without any transaction of Kafka's. What is
 * read becomes batches whose identity all members agree on (`units.js`), so that the commit records of the sinks' databases refuse what is
 * stored already, whoever has stored it. The group's offset follows what all sinks have committed: it only spares reading again.
 *
 * Before it begins with a partition, the databases are read. Where it begins, and begins again, is in `open-streams.js`.
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
  #open
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
  #duplicates = 0
  #refused = 0
  #clashes = 0
  #quietLog
  /** How many were parked when all was read the last time. */
  #parked = 0

  /** @param {KafkaConsumerOptions} options */
  constructor (options) {
    super()
    const all = this.#options = { ...DEFAULTS, ...options }
    const { registry, compactMs, log } = all
    this.#quietLog = new QuietLog(log, () => performance.now())
    this.#readings = new Readings({
      registry,
      intervalMs: compactMs,
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
    this.#open = new OpenStreams({
      begin: all.begin,
      sources: () => this.#streams.of(this.#gateway),
      sinks: () => this.#held.sinks,
      commit: (stream, offset, note) => this.#member.commit(stream, offset, note),
      log
    })
    this.#timers = [setInterval(() => this.#look(), LOOK_MS), setInterval(() => this.#compact(), compactMs)]
    this.wire(all.sinks)
    this.#member = this.#join()
  }

  get state () {
    return {
      sinks: this.#held.sinks.length,
      waitingFor: this.heldUpBy.map(({ label }) => label),
      partitions: this.#open.size,
      held: this.#held.size,
      heldBytes: this.#held.bytes,
      duplicates: this.#duplicates,
      refused: this.#refused,
      clashes: this.#clashes,
      ...this.#open.counters,
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
    const hasParked = this.#held.counters.parked > this.#parked
    if (this.#member && (isOther || hasParked)) this.#restart() // what was parked, or a sink lacks that was disabled, comes again
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
    const { cluster, group, topics, sessionMs, own, reader } = this.#options
    return new GroupMember(cluster, {
      group,
      name: own && `sluice-${own}-kafka-in-${reader}`,
      onDouble: () => {
        this.#clashes++
        this.#quietLog.say('warn', 'double', `SLUICE_BROKER_TAKEN_OVER: ${anotherOf(own ?? '')}`)
        this.emit('changed')
      },
      topics,
      sessionMs,
      onAssigned: assigned => this.#onAssigned(assigned),
      onRevoked: streams => {
        for (const stream of streams) this.#open.end(stream)
        this.#onChange()
      },
      areWhole: true,
      hasRoom: stream => {
        const reading = this.#open.get(stream)
        return this.#ready(() => reading?.isOver ?? true)
      },
      onBroken: (stream, broken) => this.#onBroken(stream, broken),
      onRecords: (stream, messages, next) => this.#onRecords(stream, messages, next),
      onGap: (stream, from, to) => {
        this.#open.lose(stream, from, to)
        this.emit('changed')
      },
      onProblem: problem => {
        this.problem = problem
        this.emit('changed')
      }
    })
  }

  /** All is read again from where the group has committed to, or from where the databases say. */
  #restart () {
    this.#parked = this.#held.counters.parked
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
    if (assigned.some(each => this.#open.lacks(each))) { // others may have stored it since
      this.#readings.readAnew()
      await this.#ready()
    }
    return assigned.map(each => this.#open.begin(each))
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

  /** @param {KafkaStream} stream @param {KafkaMessage[]} messages  of a unit @param {bigint} next */
  #onRecords (stream, messages, next) {
    const reading = this.#open.get(stream)
    if (!reading || reading.isOver || this.#closed) return
    /** @type {Refused[]} */
    const refused = []
    const [first] = messages
    const its = first ? identified(stream, first, this.#read(stream, messages, refused), this.#gateway) : []
    const admitted = its.filter(batch => this.#admits(batch, refused))
    const noted = admitted.length > 0 ? first.within.first : null
    const { done, never } = reading.tracker.begin(next, admitted.length + Number(refused.length > 0), noted)
    if (refused.length > 0) this.#refuse(stream, refused, done)
    const bytes = messages.reduce((sum, { value }) => sum + (value?.length ?? 0), 0) / admitted.length
    for (const batch of admitted) if (this.#hold(batch, { reading, bytes, done, never })) this.#duplicates++
  }

  /** What messages have that can be stored. @param {KafkaStream} stream @param {KafkaMessage[]} messages @param {Refused[]} refused */
  * #read ({ topic }, messages, refused) {
    for (const message of messages) {
      if (message.value === null) continue // says that a key is gone
      const content = this.#options.decode(message, topic)
      for (const each of content.refused) refused.push(each)
      yield * content.batches
    }
  }

  /** @param {KafkaStream} stream @param {import('../../gateway/kafka/fetcher.js').Broken} broken */
  #onBroken (stream, { first, next, bytes, reason }) {
    const { done } = this.#open.get(stream)?.tracker.begin(next, 1) ?? {}
    const what = `the record batch at offset ${first} of ${nameOf(stream)} cannot be read: ${reason}`
    if (done) this.#refuse(stream, [{ index: -1, reason: what, value: bytes, count: Number(next - first) }], done)
  }

  /** @param {KafkaStream} stream @param {Refused[]} refused @param {() => void} done */
  async #refuse ({ topic }, refused, done) {
    this.#refused += countOf(refused)
    try {
      for (let at = 0; at < refused.length; at += MAX_KEPT) await this.#options.onRefused(topic, refused.slice(at, at + MAX_KEPT))
      done()
    } catch (error) {
      this.#options.log.error(describe(error))
    }
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

  /** @param {Batch} batch @param {Taken} taken @returns {boolean} whether it was stored already */
  #hold (batch, taken) {
    const identity = /** @type {Identity} */ (batch.identity)
    const { epoch, seq } = identity
    const source = this.#streams.get(identity.gateway, identity.source)
    const has = (/** @type {string} */ id) => source.storedBy(id).has(epoch, seq)
    /** Whether no sink that runs lacks it; it is behind only where none that is disabled does. */
    const isOver = () => {
      if (this.#sinks.every(({ id }) => has(id))) taken.done()
      else if (source.isParked(epoch, seq) || this.#held.sinks.every(has)) taken.never()
      else return false
      return true
    }
    if (isOver()) return true
    const ack = () => {
      if (!isOver()) setTimeout(() => this.#holdAgain(batch, taken), POSTPONED_MS).unref() // a sink has let it go
    }
    const id = `${this.#options.reader}:${identityKey(identity)}`
    if (!this.#held.redelivered(id, ack)) {
      this.#held.hold(id, batch, source, { bytes: Math.max(taken.bytes, ROW_BYTES * (1 + batch.values + batch.rows)), ack })
    }
    return false
  }

  /** @param {Batch} batch @param {Taken} taken */
  #holdAgain (batch, taken) {
    if (!taken.reading.isOver && !this.#closed) this.#hold(batch, taken)
  }

  /** @param {string} id @param {import('../../gateway/databases/sink.js').CommitRecord[]} records @param {number} number */
  #onRead (id, records, number) {
    if (this.#gateway === '') return this.#unread.set(id, () => this.#onRead(id, records, number))
    const gone = this.#streams.read(id, records.filter(({ gateway }) => gateway === this.#gateway), number)
    this.#held.recorded(id)
    if (gone === 0) return
    this.#open.setBack(gone)
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
    const { heads } = this.#open
    if (heads.length > 0) this.#readings.compact(heads)
  }
}

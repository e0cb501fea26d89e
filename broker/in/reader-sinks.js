import { emptyBalance } from '../../gateway/stats/balance.js'
import { consumerTopics } from '../topics.js'
import { Commits } from './commits.js'
import { Readings } from './readings.js'

/**
 * @typedef {import('./contract.js').WiredSink} WiredSink
 * @typedef {import('./stream.js').Stream} Stream
 * @typedef {import('../../gateway/batch/batch.js').Identity} Identity
 * @typedef {import('../../gateway/databases/sink.js').Committed} Committed
 *
 * @typedef {object} ReaderSinksOptions
 * @property {import('../client.js').BrokerClient} client
 * @property {string} consumer
 * @property {string} reader
 * @property {string} gateway
 * @property {string} source
 * @property {import('./contract.js').Sharing} members
 * @property {string} [own]  the own gateway
 * @property {(message: import('../local.js').LocalCommit) => void} publishLocally
 * @property {import('./contract.js').Sinks} registry
 * @property {number} readIntervalMs
 * @property {(gateway: string, source: string) => boolean} isMeant  whether the reader reads it
 * @property {(id: string) => void} onRead
 * @property {() => void} onNews  there is something to read, or to answer, in the next tick
 * @property {() => void} onChange
 * @property {import('../../gateway/base/log.js').Log} log
 */

/**
 * The sinks behind a reader: announces them, keeps what their databases have up to date, and answers the heads with it.
 */
export class ReaderSinks {
  /** @type {WiredSink[]} */
  all = []
  /** Batches that a database had, and has no more. */
  setBack = 0
  /** The last of each sink, by id. @type {Map<string, import('./commits.js').Reading>} */
  #read = new Map()
  /** Those whose databases have had a record. @type {Set<string>} */
  #committed = new Set()
  /** Those to be read again. @type {Set<string>} */
  #unread = new Set()
  /** The list as it was published last. */
  #listed = ''
  #streams
  #readings
  #commits
  #topics
  #options

  /** @param {import('./streams.js').Streams} streams @param {ReaderSinksOptions} options */
  constructor (streams, options) {
    const { registry, consumer, log, readIntervalMs, onChange } = options
    this.#streams = streams
    this.#options = options
    this.#topics = consumerTopics(consumer)
    this.#commits = new Commits(streams, (sink, gateway, commit) => this.#answer(sink, gateway, commit))
    this.#readings = new Readings({ registry, intervalMs: readIntervalMs, log, onRead: this.#onRead, onChange })
  }

  /** Those that are to run, and have not been read. @returns {string[]} ids */
  get missing () { return this.#readings.missing }

  get areReady () { return this.#readings.areAll }

  /** Merges commit records. */
  compact () { this.#readings.compact(this.#streams.heads()) }

  /** Of each sink and source. Of a sink that has not been read, no more is known than what the spools hold: it may lack that. */
  get balances () {
    return this.all.flatMap(({ id, label }) => Array.from(this.#streams).flatMap(stream => {
      const { gateway, source, heldRows } = stream
      const isRead = this.#read.has(id)
      if (!isRead && heldRows === 0) return []
      const balance = isRead ? stream.balance(id) : { ...emptyBalance(), produced: heldRows, inFlight: heldRows }
      return [{ id, sink: this.#options.registry.get(id)?.name ?? label, gateway, source, ...balance }]
    }))
  }

  /** Of all sinks and sources, in rows. */
  get losses () {
    const losses = { lost: 0, parked: 0 }
    for (const { id } of this.all) {
      if (!this.#read.has(id)) continue
      for (const stream of this.#streams) {
        const { lost, parked } = stream.balance(id)
        losses.lost += lost
        losses.parked += parked
      }
    }
    return losses
  }

  /** @param {string} id */
  labelOf (id) { return this.all.find(sink => sink.id === id)?.label ?? id }

  /** @param {WiredSink[]} sinks */
  wire (sinks) {
    for (const { id } of this.all) {
      if (sinks.some(sink => sink.id === id)) continue
      this.#streams.forget(id)
      this.#read.delete(id)
    }
    this.all = sinks
    const { enabled = [], disabled = [] } = Object.groupBy(sinks, ({ isDisabled }) => isDisabled ? 'disabled' : 'enabled')
    this.#readings.wire(enabled.map(({ id }) => id), disabled.map(({ id }) => id))
    this.#announce()
  }

  /** @param {string} id @param {import('../../gateway/batch/batch.js').Batch} record  see `Readings` */
  mark (id, record) { return this.#readings.mark(id, record) }

  /** A sink has committed a batch. @param {string} id @param {Stream} stream @param {Identity} identity */
  committed (id, stream, identity) {
    stream.storedBy(id).add(identity, this.#readings.number)
    if (this.#unread.has(id)) return
    this.#unread.add(id)
    this.#options.onNews()
  }

  /** All sinks have a batch that came: its spool does not know that. @param {string} gateway */
  sent (gateway) {
    for (const { id } of this.all) this.#ask(id, gateway)
    this.#options.onNews()
  }

  /** @param {string} gateway @param {boolean} hasLeft  something has left a spool that some sink is not known to have */
  heard (gateway, hasLeft) {
    for (const { id } of this.all) {
      this.#ask(id, gateway)
      if (hasLeft) this.#unread.add(id)
    }
    this.tick() // at once: a spool that has just connected sends what it does not know to be stored
  }

  /** The reader reads others than before: of those it is not known what is stored. */
  readAnew () { this.#readings.readAnew() }

  connected () {
    this.#listed = ''
    this.#announce()
    this.#readings.readAll()
    for (const { id } of this.all) this.#commits.read(id, { isForced: true })
  }

  tick () {
    for (const { id } of this.all) {
      if (this.#unread.has(id) || this.#commits.isWaiting(id, this.#read.get(id)?.beganMs ?? Infinity)) this.#readings.readSoon(id)
    }
    this.publish()
  }

  /** Answers what is due. */
  publish () {
    this.#commits.publish(this.all, (id, gateway) => {
      const isReachable = gateway === this.#options.own || this.#options.client.connected
      return isReachable && this.#readings.isCurrent(id) ? this.#read.get(id) : undefined
    })
  }

  /** @param {{removed: boolean}} options  the reader is gone for good */
  close ({ removed }) {
    this.publish()
    this.#readings.close()
    if (removed) this.clear(this.#options.reader)
  }

  /** A reader is gone for good: no spool waits for its sinks any more. @param {string} reader */
  clear (reader) {
    const { client } = this.#options
    if (client.connected) client.publish(this.#topics.sinks(reader), '', { qos: 1, retain: true })
  }

  /**
   * A gateway waits for an answer: what was read long before may not be there any more.
   * @param {string} id
   * @param {string} gateway
   */
  #ask (id, gateway) {
    this.#commits.add(id, gateway, { isForced: true, sinceMs: performance.now() - this.#options.readIntervalMs })
  }

  /** @param {string} id @param {Committed} committed @param {{number: number, beganMs: number}} reading */
  #onRead = (id, { store, records }, { number, beganMs }) => {
    const { log, isMeant, onRead } = this.#options
    const before = this.#read.get(id)?.store
    this.#read.set(id, { store, number, beganMs })
    if (records.length > 0) this.#committed.add(id)
    const gone = this.#streams.read(id, records.filter(({ gateway, source }) => isMeant(gateway, source)), number)
    this.setBack += gone
    const isOther = before !== undefined && before !== store
    if (isOther || gone > 0) {
      log.warn(`The database of sink "${this.labelOf(id)}" ${isOther ? 'is another than before' : 'was set back'}: ${gone} batches that ` +
        'were stored are not in it. They are requested from the spools.')
    }
    if (![...this.#streams].some(stream => stream.storedBy(id).hasUnread)) this.#unread.delete(id)
    this.#commits.read(id)
    onRead(id)
    this.#announce()
    this.publish()
  }

  /** The list of all, retained, so that the spools of every gateway wait for them. */
  #announce () {
    const { client, reader, gateway, source, members } = this.#options
    const sinks = this.all.map(({ id, sink, label }) => ({ sink, label, committed: this.#committed.has(id) }))
    const list = JSON.stringify({ gateway, source, member: members.place, sinks })
    if (!client.connected || list === this.#listed) return
    this.#listed = list
    client.publish(this.#topics.sinks(reader), list, { qos: 1, retain: true })
  }

  /** @param {WiredSink} wired @param {string} gateway @param {import('../control-messages.js').Commit} commit */
  #answer ({ id, sink }, gateway, commit) {
    const { client, consumer, own, publishLocally } = this.#options
    if (gateway === own) {
      const outcomes = Object.keys(commit.sources).map(source => [source, this.#streams.get(gateway, source).outcomes(id)])
      publishLocally({ consumer, sink, gateway, commit, outcomes: Object.fromEntries(outcomes) })
    } else client.publish(this.#topics.commit(sink, gateway), JSON.stringify(commit), { qos: 1 })
  }
}

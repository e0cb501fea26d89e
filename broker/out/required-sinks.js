import { hash } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { rm } from 'node:fs/promises'
import { describe } from '../../gateway/base/errors.js'
import { replaceFile } from '../../gateway/base/files.js'
import { readSinks } from '../control-messages.js'
import { level, unlevel } from '../topics.js'
import { forgetRequests, loadSaved } from './required-sinks-file.js'

/**
 * @typedef {object} WiredSink  of a stage in of this gateway
 * @property {string} consumer
 * @property {string} sink
 * @property {string} label
 * @property {string} [node]  its id
 * @property {string} gateway  which its stage in reads, `+` all
 * @property {string} source  likewise
 * @property {string} [route]  its stage in, the address of its broker and the one of the spools: as long as these stay, they are one broker
 *
 * @typedef {object} RemoteSink  of a reader that has announced itself on the broker
 * @property {string} reader  `<consumer>/<reader>`, as levels
 * @property {string} key
 * @property {string} label
 * @property {string} gateway
 * @property {string} source
 * @property {string} list  digest of the list that it was in
 * @property {boolean} committed  once is for ever
 * @property {number} waitedMs  how long this gateway has run since it was heard of, uncommitted
 * @property {number} [endedMs]  likewise, since its list no longer has it
 *
 * @typedef {{consumer: string, name: string, announced: SinkList|null, list: string}} Heard  list of a reader; null: it has no sinks for us
 * @typedef {Heard & {refused: number}} Crowded
 * @typedef {import('../control-messages.js').SinkList} SinkList
 * @typedef {{key: string, label: string, node?: string, covers: (source: string) => boolean}} Requirement  as a spool asks for it;
 *   `node`: of one that is wired in this gateway
 */

const MAX_REMOTE_SINKS = 1000
/** So that no consumer takes the room of others. */
const MAX_SINKS_OF_CONSUMER = 100
const MAX_CROWDED = 100
const MAX_FORGOTTEN = 1000
const UNCOMMITTED_MS = 24 * 3_600_000
/** A list may lack a sink that another reader's has a moment later, or be an old one of a broker that was set back. */
const END_DELAY_MS = 600_000
const TICK_MS = 5000
const SAVE_WAITED_MS = 3_600_000

/** What names a sink among all. @param {string} consumer @param {string} sink */
export function sinkKey (consumer, sink) {
  return `${level(consumer)}/${level(sink)}`
}

/**
 * The sinks that must have stored a batch before it may leave the spools of this gateway, on one broker: those that are wired in it, and
 * those that others have announced there, for all sources, also future ones, that their readers subscribe to.
 *
 * Events: `changed`; `removed` (key): the sink is no longer required; `ghost` (consumer, reader): the list of a reader that is gone;
 * `readBy` (reader): a stage in of this gateway has heard a spool of it over the broker.
 */
export class RequiredSinks extends EventEmitter {
  /** @type {(WiredSink & {key: string})[]} */
  #wired = []
  /** @type {RemoteSink[]} */
  #remote = []
  /** No longer required, although a list has them, until the list changes. @type {Map<string, string>} place → digest of the list */
  #forgotten = new Map()
  /** Lists of which some sinks find no room; '' for all beyond what is remembered of those. @type {Map<string, Crowded>} */
  #crowded = new Map()
  /** @type {Requirement[]} */
  #all = []
  /** @type {Promise<void>} */
  #saving = Promise.resolve()
  #unsavedMs = 0
  /** @type {NodeJS.Timeout|undefined} */
  #timer
  #tickedMs
  #options
  /** Keys of those that are in the file. @type {string[]} */
  saved = []

  /**
   * @param {object} options
   * @param {string} options.path  of its file
   * @param {string} options.gateway
   * @param {import('../../gateway/base/log.js').Log} [options.log]
   * @param {(consumer: string, reader: string) => boolean} [options.isGone]  whether a reader was one of this gateway, and is no more
   * @param {number} [options.endDelayMs]  how long a remote sink is waited for that its list no longer has
   * @param {() => number} [options.nowMs]  monotonic: a clock that is set makes nothing older
   */
  constructor ({ log = console, isGone = () => false, endDelayMs = END_DELAY_MS, nowMs = () => performance.now(), ...options }) {
    super()
    this.setMaxListeners(0)
    this.#options = { log, isGone, endDelayMs, nowMs, ...options }
    this.#tickedMs = nowMs()
  }

  /** @param {ConstructorParameters<typeof RequiredSinks>[0]} options */
  static async open (options) {
    const sinks = new RequiredSinks(options)
    await sinks.load()
    sinks.#timer = setInterval(() => sinks.tick(), TICK_MS).unref()
    return sinks
  }

  /** What a spool asks; it changes only with `changed`. */
  get all () { return this.#all }

  get wired () { return this.#wired }

  /** Whether sinks are announced that find no room here: then nobody knows what they lack, and nothing may leave the spools. */
  get isCrowded () { return this.#crowded.size > 0 }

  /** Sinks that find no room. */
  get refused () { return [...this.#crowded.values()].reduce((sum, { refused }) => sum + refused, 0) }

  async load () {
    const { wired, remote, forgotten } = await loadSaved(this.#options)
    this.#wired = wired
    this.#remote = remote
    this.#forgotten = new Map(forgotten)
    await this.#obeyRequests()
    this.#update()
    this.saved = this.#all.map(({ key }) => key)
  }

  /** What the flows say now, all of it. @param {WiredSink[]} sinks */
  wire (sinks) {
    this.#wired = sinks.map(sink => ({ ...sink, key: sinkKey(sink.consumer, sink.sink) }))
    for (const sink of this.#remote) {
      const [consumer, reader] = sink.reader.split('/').map(unlevel)
      if (this.#options.isGone(consumer, reader)) sink.endedMs ??= 0
    }
    this.#update({ save: true })
  }

  /**
   * A list from the broker. Those under the gateway's own name are for others: here the wiring counts.
   * @param {string} consumer
   * @param {string} reader
   * @param {Buffer} payload
   * @throws {SluiceError} SLUICE_PROTOCOL
   */
  heard (consumer, reader, payload) {
    if (consumer === this.#options.gateway) return
    const announced = readSinks(payload)
    const isGone = announced !== null && this.#options.isGone(consumer, reader)
    if (isGone) this.emit('ghost', consumer, reader)
    const isMeant = announced !== null && !isGone && this.#isMine(announced.gateway)
    const list = hash('sha256', payload).slice(0, 24)
    if (this.#take({ consumer, name: sinkKey(consumer, reader), announced: isMeant ? announced : null, list })) this.#update({ save: true })
  }

  /** @param {Heard} heard @returns {boolean} whether it is news */
  #take ({ consumer, name, announced, list }) {
    const wasCrowded = this.isCrowded
    const before = this.#remote.filter(sink => sink.reader === name)
    const listed = before.filter(({ endedMs }) => endedMs === undefined)
    const after = (announced?.sinks ?? []).map(({ sink, label, committed }) => {
      const key = sinkKey(consumer, sink)
      const known = before.find(each => each.key === key)
      const { gateway, source } = /** @type {SinkList} */ (announced)
      return {
        reader: name, key, label, gateway, source, list, committed: committed || known?.committed === true, waitedMs: known?.waitedMs ?? 0
      }
    }).filter(sink => this.#forgotten.get(placeOf(sink)) !== list)
    const isSaid = listed.length === after.length && listed.every(sink => sink.list === list)
    if (!this.#crowded.delete(name) && isSaid) return false

    const ending = before.filter(sink => !after.some(each => isSame(each, sink))).map(sink => ({ ...sink, endedMs: sink.endedMs ?? 0 }))
    const others = [...this.#remote.filter(sink => sink.reader !== name), ...ending]
    const ofConsumer = others.filter(({ reader }) => reader.startsWith(`${level(consumer)}/`)).length
    const room = Math.max(0, Math.min(MAX_REMOTE_SINKS - others.length, MAX_SINKS_OF_CONSUMER - ofConsumer))
    const isNew = (/** @type {RemoteSink} */ { key }) => !before.some(sink => sink.key === key)
    const taken = after.toSorted((a, b) => Number(isNew(a)) - Number(isNew(b))).slice(0, room) // what is known stays so
    const refused = after.length - taken.length
    if (refused > 0) {
      this.#crowded.set(this.#crowded.size < MAX_CROWDED ? name : '', { consumer, name, announced, list, refused })
      if (!wasCrowded) this.#warnOfCrowd(name)
    }
    this.#remote = [...others, ...taken]
    for (const sink of after) this.#forgotten.delete(placeOf(sink))
    return true
  }

  /** A stage in of this gateway has heard a spool of it over the broker. @param {string} reader  id of its node */
  readBy (reader) { this.emit('readBy', reader) }

  /** It has stored something: it never expires. @param {string} key */
  committed (key) {
    const news = this.#remote.filter(sink => sink.key === key && !sink.committed)
    for (const sink of news) sink.committed = true
    if (news.length > 0) this.#save()
  }

  /** @param {string} key  of a remote sink: what is wired is required until the flow no longer has it */
  forget (key) {
    this.#drop(sink => sink.key === key)
  }

  /** Now and then: who has waited too long, and what the command line asks for. */
  tick () {
    const now = this.#options.nowMs()
    const elapsedMs = now - this.#tickedMs
    this.#tickedMs = now
    const uncommitted = this.#remote.filter(({ committed }) => !committed)
    for (const sink of uncommitted) sink.waitedMs += elapsedMs
    for (const sink of this.#remote) if (sink.endedMs !== undefined) sink.endedMs += elapsedMs
    const isOver = (/** @type {RemoteSink} */ { endedMs = -1 }) => endedMs >= this.#options.endDelayMs
    if (this.#remote.some(isOver)) this.#remove(isOver)
    const expired = this.#drop(sink => !sink.committed && sink.waitedMs >= UNCOMMITTED_MS)
    for (const { key, label } of expired) {
      const text = `The sink "${label}" (${key}) was announced 24 h ago and has never stored anything: it is no longer waited for.`
      this.#warn('SLUICE_SINK_EXPIRED', text)
    }
    if (uncommitted.length > 0) this.#unsavedMs += elapsedMs
    if (this.#unsavedMs >= SAVE_WAITED_MS) this.#save()
    return this.#obeyRequests().catch(error => this.#options.log.warn(`Cannot read what sinks are to be forgotten: ${describe(error)}`))
  }

  async close () {
    clearInterval(this.#timer)
    this.#save()
    await this.#saving
  }

  /** @param {(sink: RemoteSink) => boolean} isDropped */
  #drop (isDropped) {
    const dropped = this.#remote.filter(isDropped)
    if (dropped.length === 0) return dropped
    for (const sink of dropped) this.#forgotten.set(placeOf(sink), sink.list)
    for (const place of [...this.#forgotten.keys()].slice(0, -MAX_FORGOTTEN)) this.#forgotten.delete(place)
    this.#remove(isDropped)
    return dropped
  }

  /** What found no room may find it then. @param {(sink: RemoteSink) => boolean} isRemoved */
  #remove (isRemoved) {
    this.#remote = this.#remote.filter(sink => !isRemoved(sink))
    for (const [name, crowded] of [...this.#crowded]) if (name !== '') this.#take(crowded)
    this.#update({ save: true })
  }

  /** What `sluice sinks forget` has left beside the file. */
  async #obeyRequests () {
    for (const { key, path } of await forgetRequests(this.#options.path)) {
      this.forget(key)
      await this.#saving
      await rm(path, { force: true })
    }
  }

  #update ({ save = false } = {}) {
    const before = new Set(this.#all.map(({ key }) => key))
    /** @type {Map<string, (WiredSink|RemoteSink)[]>} */
    const byKey = new Map()
    for (const sink of [...this.#wired, ...this.#remote]) {
      if (this.#isMine(sink.gateway)) byKey.set(sink.key, [...byKey.get(sink.key) ?? [], sink])
    }
    this.#all = Array.from(byKey, ([key, sinks]) => {
      const sources = new Set(sinks.map(({ source }) => source))
      const [{ label, node }] = /** @type {WiredSink[]} */ (sinks) // those that are wired come first
      return { key, label, node, covers: (/** @type {string} */ source) => sources.has('+') || sources.has(source) }
    })
    if (save) this.#save()
    for (const key of before) if (!byKey.has(key)) this.emit('removed', key)
    this.emit('changed')
  }

  /** One after another, as the sinks are then. */
  #save () {
    this.#unsavedMs = 0
    this.#saving = this.#saving.then(async () => {
      /** @type {import('./required-sinks-file.js').Saved} */
      const saved = { wired: this.#wired, remote: this.#remote, forgotten: [...this.#forgotten] }
      const keys = this.#all.map(({ key }) => key)
      await replaceFile(this.#options.path, JSON.stringify(saved))
      this.saved = keys
    }).catch(error => this.#options.log.error(`SLUICE_REQUIRED_SINKS: The list of required sinks cannot be saved: ${describe(error)}`))
  }

  /** @param {string} gateway  that a reader reads */
  #isMine (gateway) { return gateway === '+' || gateway === this.#options.gateway }

  /** @param {string} name  of the reader */
  #warnOfCrowd (name) {
    const text = `More than ${MAX_REMOTE_SINKS} sinks, or ${MAX_SINKS_OF_CONSUMER} of one consumer, are announced on the broker. Those ` +
      `of ${name} are not all known, so the spools release nothing.`
    this.#warn('SLUICE_REQUIRED_SINKS', text)
  }

  /** @param {`SLUICE_${string}`} code @param {string} text */
  #warn (code, text) {
    this.#options.log.warn(`${code}: ${text}`)
  }
}

/** Whether they ask for the same: a reader that subscribes to something else is another. @param {RemoteSink} a @param {RemoteSink} b */
function isSame (a, b) {
  return a.key === b.key && a.gateway === b.gateway && a.source === b.source
}

/** Of a sink behind one of its readers. @param {{reader: string, key: string}} sink */
function placeOf ({ reader, key }) {
  return `${reader}\n${key}`
}

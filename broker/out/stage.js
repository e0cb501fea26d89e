import { EventEmitter } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { closeAll } from '../../gateway/base/close-all.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { contentType, decode, encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { Ration } from '../../gateway/stats/monitor/ration.js'
import { readResend } from '../control-messages.js'
import { anotherOf } from '../in/clash.js'
import { readHead } from '../in/head.js'
import { localCommits, localReaders } from '../local.js'
import { Spool } from '../spool/spool.js'
import { gatewayTopics } from '../topics.js'
import { Alarms } from './alarms.js'
import { Commits } from './commits.js'
import { headMessage } from './head-message.js'
import { Heads } from './heads.js'
import { Hearing } from './hearing.js'
import { numberingOf } from './numbering.js'
import { Resends } from './resends.js'
import { Restaging } from './restaging.js'
import { Sender } from './sender.js'
import { Suspension } from './suspension.js'

/**
 * @typedef {object} StageOptions
 * @property {string} folder  of its spool
 * @property {string} name  of its spool in this gateway: the id of its node
 * @property {string} gateway
 * @property {import('../client.js').BrokerClient} client  with a fixed id and a persistent session
 * @property {import('./required-sinks.js').RequiredSinks} requiredSinks  on that broker
 * @property {number} [maxBytes]
 * @property {'block'|'drop-oldest'} [whenFull]
 * @property {import('../spool/spool.js').FsyncPolicy} [fsync]
 * @property {number} [fsyncIntervalMs]
 * @property {number} [recordRows]  beyond, a batch is cut
 * @property {number} [headIntervalMs]  how often it publishes what the spool holds, while that changes
 * @property {string} [ledger]
 * @property {import('../../gateway/base/log.js').Log} [log]
 * @property {import('../spool/segment.js').WriteAt} [write]  for tests that need a disk to fail
 */

/** Of a core, for what sinks of other gateways lack. */
const REMOTE_SHARE = 0.002
/** Required until the broker has been heard, and while it has more sinks than find room: it may know of some that this gateway does not. */
const UNKNOWN = { key: '', covers: () => true }

/**
 * The way into staging: a spool, what sends it to the broker, and what learns there what may be released. What an earlier run left in the
 * spool is sent too.
 *
 * Events: `full` and `room`: appending waits, goes on; `dropped` and `lost` (source, {batches, rows}).
 */
export class Stage extends EventEmitter {
  #options
  #isHeard
  #resends = new Resends()
  #stopped = false
  #numbering
  #ration = new Ration(REMOTE_SHARE)
  /** @type {import('../../gateway/stats/ledger.js').Line[]} */
  #remoteBalances = []

  /** @param {StageOptions} options */
  static async open ({ log = console, ...options }) {
    const { folder, name, gateway, maxBytes, whenFull, fsync, fsyncIntervalMs, recordRows, requiredSinks, ledger, write } = options
    const isHeard = { yet: false }
    const required = () => isHeard.yet && !requiredSinks.isCrowded ? requiredSinks.all : [...requiredSinks.all, UNKNOWN]
    try {
      if (ledger) await mkdir(ledger, { recursive: true })
      const spool = await Spool.open({
        folder, name, gateway, encode, decode, maxBytes, whenFull, fsync, fsyncIntervalMs, recordRows, ledger, log, write,
        required
      })
      return new Stage({ ...options, log }, spool, isHeard, await numberingOf(spool, log))
    } catch (error) {
      throw new SluiceError('SLUICE_SPOOL_OPEN', `The spool cannot be opened: ${describe(error)}.`, {
        cause: error, fix: `Check that ${folder} can be created and written to, and that its disk works.`
      })
    }
  }

  /**
   * @param {StageOptions & {log: import('../../gateway/base/log.js').Log}} options
   * @param {Spool} spool
   * @param {{yet: boolean}} isHeard  whether the broker has been heard
   * @param {import('../../gateway/batch/numbering.js').Numbering} numbering
   */
  constructor (options, spool, isHeard, numbering) {
    super()
    const { client, gateway, name, requiredSinks, headIntervalMs: intervalMs, log } = options
    const alarms = new Alarms(log)
    const restaging = new Restaging(spool, this.#changed)
    this.#options = options
    this.#isHeard = isHeard
    this.#numbering = numbering
    this.spool = spool
    this.alarms = alarms
    this.suspension = new Suspension(() => spool.startEpochs())
    const head = (/** @type {number} */ maxBytes) => headMessage(spool.head, maxBytes)
    this.heads = new Heads({ client, topic: gatewayTopics(gateway).head(name), head, intervalMs, alarms, log })
    this.sender = new Sender({ client, gateway, spool, resends: this.#resends, alarms, contentType, restaging, log })
    this.commits = new Commits({
      gateway, spool, requiredSinks, alarms, onDoubt: () => this.heads.ask(), restaging, delivered: this.sender.tooBig.delivered, log
    })
    const stops = [
      localCommits.on(local => {
        if (local.gateway === gateway) this.commits.hearLocal(local)
        this.heads.changed()
      }),
      localReaders.on(({ spool: heard, reader }) => { if (heard === name) requiredSinks.readBy(reader) })
    ]
    this.stopListening = () => { for (const stop of stops) stop() }
    for (const event of ['full', 'room', 'dropped', 'lost']) spool.on(event, (...details) => this.emit(event, ...details))
    for (const event of ['accepted', 'dropped', 'lost']) spool.on(event, () => this.heads.changed())
    this.hearing = new Hearing({ client, gateway, spool: name, log, heard: this.#heard() })
  }

  /**
   * Resolves when the batch is produced: in the spool, under the identities returned.
   * @param {import('../../gateway/batch/batch.js').Batch} batch
   */
  append (batch) {
    this.suspension.check()
    const numbered = this.#numbering.numbered(batch)
    return this.spool.append(numbered).catch(error => {
      this.#numbering.forget(numbered)
      throw error
    })
  }

  /** Why the spool waits now; null when it does not. @returns {string|null} */
  get blocked () { return this.spool.blocked }

  get state () {
    const { bytes, unstoredBytes, batches, waiting, blocked, isRefusing, counters } = this.spool
    const { requiredSinks, maxBytes = 2 ** 30 } = this.#options
    return {
      connected: this.hearing.isReady,
      spoolBytes: bytes,
      unstoredBytes,
      spoolBatches: batches,
      maxBytes,
      waiting,
      ...counters,
      blocked,
      isRefusing,
      ...this.alarms.counts,
      tooBig: this.alarms.counts.tooBig + this.sender.tooBig.guessed,
      requiredSinks: requiredSinks.saved,
      unwaitedSinks: requiredSinks.refused
    }
  }

  /** Of each sink of this gateway, and each source: known whether anybody reads for the sink or not. */
  get balances () { return this.#balancesOf(this.#options.requiredSinks.all.filter(({ node }) => node !== undefined)) }

  /** Likewise of those of other gateways, by their keys. They may be very many: it is what was so at the last look, which are not dear. */
  get remoteBalances () {
    this.#ration.begin(false)
    if (this.#ration.isDue) {
      this.#remoteBalances = this.#ration.spend(() => {
        return this.#balancesOf(this.#options.requiredSinks.all.filter(({ node }) => node === undefined))
      })
    }
    this.#ration.end()
    return this.#remoteBalances
  }

  /** @param {import('./required-sinks.js').Requirement[]} sinks @returns {import('../../gateway/stats/ledger.js').Line[]} */
  #balancesOf (sinks) {
    const { gateway } = this.#options
    return sinks.flatMap(({ node, label, ...sink }) => {
      return this.spool.balances(sink).map(balance => ({ id: node ?? sink.key, sink: label, gateway, ...balance }))
    })
  }

  /** Sends and says nothing more. */
  #stop () {
    if (this.#stopped) return
    this.#stopped = true
    this.stopListening()
    this.suspension.close()
    this.hearing.close()
    this.commits.close()
    this.heads.close()
    this.sender.close()
  }

  /**
   * What was handed over is written down. The connection is its owner's to end, and ends first: a disk that is full may hold the spool up,
   * and what is opened next connects under the same id. Rejects when something cannot be closed well, once all has been tried.
   * @param {() => Promise<unknown>} disconnect
   */
  async close (disconnect) {
    this.#stop()
    await closeAll(disconnect, () => this.spool.close())
  }

  #changed = () => {
    this.heads.changed()
    this.sender.wake()
  }

  /** @returns {import('./hearing.js').Heard} */
  #heard () {
    const { requiredSinks } = this.#options
    return {
      head: payload => this.spool.heard(readHead(payload)),
      sinks: (consumer, reader, payload) => requiredSinks.heard(consumer, reader, payload),
      commit: (consumer, sink, payload) => this.commits.hear(consumer, sink, payload),
      resend: (consumer, reader, payload) => this.#resend(consumer, reader, payload),
      other: () => this.alarms.raise('clashes', 'SLUICE_BROKER_TAKEN_OVER', anotherOf(this.#options.gateway)),
      broken: (error, topic) => this.alarms.raise('impossible', 'SLUICE_PROTOCOL', `A message on ${topic} was ignored: ${describe(error)}`),
      ready: how => {
        this.#isHeard.yet = true
        this.heads.start()
        this.commits.start()
        this.sender.start(how)
      },
      gone: () => {
        this.heads.stop()
        this.commits.stop()
        this.sender.stop()
      }
    }
  }

  /** @param {string} consumer @param {string} reader @param {Buffer} payload */
  #resend (consumer, reader, payload) {
    const { sources, undelivered } = readResend(payload)
    const held = new Map(this.spool.head.sources.map(({ source, epochs }) => [source, new Map(epochs.map(each => [each.epoch, each]))]))
    this.#resends.add(consumer, reader, sources, (source, epoch) => held.get(source)?.get(epoch))
    for (const [source, epochs] of Object.entries(undelivered)) {
      for (const [epoch, seqs] of Object.entries(epochs)) {
        const { first = 0, last = -1 } = held.get(source)?.get(epoch) ?? {}
        for (const seq of seqs) if (seq >= first && seq <= last) this.sender.tooBig.undelivered(consumer, { source, epoch, seq })
      }
    }
    this.sender.wake()
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { everySecond } from '../../gateway/clock/heartbeat.js'
import { isSql } from '../../gateway/messages/insert.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { countOf } from '../../gateway/messages/refusals.js'
import { documentMs } from '../../gateway/batch/layouts.js'
import { closeAll } from '../../gateway/base/close-all.js'
import { clashOf } from '../../broker/in/clash.js'
import { GatheredAppends } from '../../broker/out/gathered-appends.js'
import { describe, SluiceError } from '../../gateway/base/errors.js'
import { openQueue } from '../../gateway/dead-letters/open-queues.js'
import { shareFull } from '../../gateway/dead-letters/queue.js'
import { keepRefused, offerRefused } from '../../gateway/dead-letters/refused-values.js'
import { deliveries } from '../../gateway/flow/deliveries.js'
import { partOf } from '../../gateway/flow/split-part.js'
import { sinks } from '../../gateway/flow/sinks.js'
import { productOf, sinkTypes } from '../../gateway/databases/index.js'
import { quantity, remaining } from '../../gateway/stats/format.js'
import { stats } from '../../gateway/stats/stats.js'
import { Retention } from '../../gateway/writer/retention.js'
import { createWriter } from '../../gateway/writer/writer.js'
import { onFlows } from '../flow-events.js'
import { defineNode, failClosing, failed, handlesInput, logOf, throttledStatus } from '../node.js'
import { namesOf } from '../names.js'
import { counted, sentence } from '../status.js'
import { intervalOptions } from '../staging/gathering.js'
import { LazySink } from './lazy-sink.js'
import { Refusing, sourceFixOf } from './refusals.js'
import { leaseServer } from './server-node.js'
import { SINK_TYPES, configsOf, sinkNameOf } from './wired.js'

const SHARE_INTERVAL_MS = 1000
/** So long a database has to say what it has stored before it is closed: if it does not, that is known once it is opened again. */
const LAST_READING_MS = 2000
/** A database that has stored nothing for so long of what it was given is not well, whether or not it fails in the end. */
const SILENT_MS = 5000
const CANNOT_STORE = '{database} cannot store, see log'
const SHARE_FULL = 'SLUICE_DEAD_LETTERS_SHARE'

/**
 * Defines a node that stores what it receives. A message is complete, in Node-RED's sense, once the database has committed it.
 * @param {import('../node.js').RED} RED
 * @param {string} type  of the node
 * @param {object} schema
 * @param {{sink: string, nested?: boolean, toSinkOptions?: (options: any) => any}} options  `sink`: a key of `sinkTypes`; `nested`:
 *   messages may hold objects in objects
 */
export function defineSink (RED, type, schema, { sink: sinkType, nested = false, toSinkOptions = options => options }) {
  SINK_TYPES.add(type)
  defineNode(RED, type, schema, async (node, options) => {
    const names = { name: namesOf(RED).get(node.id) ?? sinkNameOf(node), key: keyOf(RED, node) }
    const all = { ...options, nested, product: productOf(sinkType), sourceFix: sourceFixOf(schema, sinkType) }
    const opening = sinks.free(node.id).then(() => SinkNode.open(RED, node, names, all, async log => {
      const module = await sinkTypes[sinkType]()
      const lease = 'server' in options ? await leaseServer(RED, options.server) : undefined
      try {
        return { module, sink: await module.open(await toSinkOptions(options), { server: lease?.server, log }), release: lease?.release }
      } catch (error) {
        lease?.release()
        throw error
      }
    }))
    handlesInput(node, async message => (await opening).store(message))
    node.on('close', (/** @type {() => void} */ done) => {
      forgetUnlessStarted(RED, node.id)
      const drained = opening.then(sink => sink.drain())
      sinks.closing(node.id, drained)
      opening.then(sink => closeAll(() => drained, () => sink.sink.close()), () => {})
        .catch(error => failClosing(RED, node, error)).finally(done)
    })
    await opening
  })
}

/**
 * What a sink has counted goes on when it is deployed again, and is forgotten when it is gone.
 * @param {import('../node.js').RED} RED
 * @param {string} id
 */
function forgetUnlessStarted (RED, id) {
  const stopListening = onFlows(RED, 'flows:started', () => {
    stopListening()
    if (!RED.nodes.getNode(id)) stats.drop('sink', id)
  })
}

/**
 * What the folder of its dead letters is called: its name is a label, which others may have too. It must not change, as what lies there
 * would be found no more.
 * @param {import('../node.js').RED} RED
 * @param {import('../node.js').Node} node
 */
function keyOf (RED, node) {
  const name = sinkNameOf(node)
  const isShared = configsOf(RED).some(other => SINK_TYPES.has(other.type) && other.id !== node.id && sinkNameOf(other) === name)
  return isShared ? `${name} (${node.id})` : name
}

/** One sink in a flow: its writer, its dead letters, and its place among the sinks that stage in can wait for. */
class SinkNode {
  #isClosed = false
  #show
  #stopShowing
  #last = { rows: 0, done: 0, atMs: performance.now(), movedMs: performance.now() }

  /**
   * @param {import('../node.js').Node} node
   * @param {{name: string, key: string}} names  as people read it, and on disk
   * @param {LazySink} sink
   * @param {Awaited<ReturnType<typeof openQueue>>} deadLetters
   * @param {any} options
   */
  constructor (node, { name, key }, sink, deadLetters, options) {
    this.node = node
    this.name = name
    this.key = key
    this.sink = sink
    this.deadLetters = deadLetters
    this.refusing = new Refusing()
    const { nested, table, sourceFix } = options
    this.reading = { nested, sourceFix, otherwise: table?.includes('{source}') ? undefined : table }
    this.meter = stats.meter('sink', name, node.id)
    this.known = { database: options.product, otherwise: CANNOT_STORE }
    const { isTransient } = sink
    this.writer = createWriter({ sink, isTransient, deadLetters: deadLetters.queue, options, meter: this.meter, log: logOf(node) })
    this.meter.pendingRows = () => this.writer.state().pendingRows
    const intervalMs = documentMs(options)
    this.intervals = intervalMs && new GatheredAppends({
      ...intervalOptions(intervalMs),
      maxRows: Infinity,
      maxBytes: options.batchBytes,
      isAllOrNone: true,
      append: batch => this.writer.write(batch, { isWhole: true })
    })
    this.retention = options.keepDays > 0 ? new Retention({ sink, keepDays: options.keepDays, meter: this.meter, log: logOf(node) }) : null
    this.removeGauge = stats.gauge(`sink ${name}`, () => this.#gauge(), node.id)
    this.id = node.id
    sink.onSetBack = () => {
      deliveries.setBack(this.id)
      sinks.emit('setBack', this.id)
    }
    this.removeSink = sinks.add({
      id: this.id,
      name,
      committed: () => sink.committed(),
      write: batch => this.#write(batch, true),
      compact: heads => sink.compact(heads)
    })
    this.#show = throttledStatus(node)
    this.#stopShowing = everySecond(() => this.#show(this.#status()))
  }

  /**
   * @param {import('../node.js').RED} RED
   * @param {import('../node.js').Node} node
   * @param {{name: string, key: string}} names
   * @param {any} options
   * @param {(log: import('../../gateway/base/log.js').Log) => ReturnType<LazySink['open']>} open
   */
  static async open (RED, node, names, options, open) {
    const log = logOf(node)
    const deadLetters = await openQueue(RED.settings.userDir, names, log)
    const sink = new SinkNode(node, names, new LazySink(() => open(log)), deadLetters, options)
    sink.sink.sink().catch(() => {}) // its status shows it; the first write tries again
    return sink
  }

  /** Resolves once all of the message is committed, or dead letters. @param {any} message */
  async store (message) {
    const id = typeof message.delivery === 'string' ? message.delivery : undefined
    const { batches, refused } = toBatches(message, this.reading)
    const piece = { identified: batches[0]?.identity != null, part: partOf(message) }
    const isStopped = batches.some(({ source }) => this.deadLetters.queue.isFullFor(source))
    if (id !== undefined && isStopped && deliveries.postpone(id, this.id)) return
    if (!deliveries.accept(id, this.id, piece)) return
    try {
      const isStaged = id !== undefined
      await Promise.all(batches.map(batch => {
        const write = () => this.#write(batch, isStaged)
        if (batch.identity) return write()
        if (isStaged) return this.#waiting(batch.source, write)
        return this.intervals ? this.intervals.append(batch) : write()
      }))
      const keep = id === undefined ? offerRefused : keepRefused // nobody sends the former again: it must not stop the rest
      const source = sourceOf(message) ?? this.key
      if (refused.length > 0) await this.#waiting(source, () => keep(this.deadLetters.queue, source, refused))
    } catch (error) {
      const comesAgain = deliveries.release(id, this.id, piece) // stage in emits it again
      if (comesAgain && isCode(error, 'SLUICE_WRITER_RELEASED')) return
      if (comesAgain && isCode(error, SHARE_FULL) && deliveries.postpone(/** @type {string} */ (id), this.id)) return
      this.meter.lost += comesAgain ? 0 : batches.reduce((sum, { rows }) => sum + rows, 0)
      throw error
    }
    deliveries.settle(id, this.id, piece)
    if (refused.length > 0) {
      this.meter.deadLetters += countOf(refused)
      this.refusing.say(refused)
    }
  }

  /**
   * What is staged is bounded by stage in, so it waits here for room in the writer; nothing bounds what comes straight from a flow.
   * @param {import('../../gateway/batch/batch.js').Batch} batch
   * @param {boolean} isStaged
   * @throws {SluiceError} SLUICE_SINK_SET_BACK of a record of no rows, whose rows may be lost: it is not left
   */
  #write (batch, isStaged) {
    return this.sink.vouching(batch, () => this.#writeSoon(batch, isStaged))
  }

  /** @param {import('../../gateway/batch/batch.js').Batch} batch @param {boolean} isStaged */
  async #writeSoon (batch, isStaged) {
    while (true) {
      try {
        const { outcome } = await this.writer.write(batch)
        if (outcome === 'clash' && batch.identity) this.node.error(describe(clashOf(this.name, batch.identity)))
        return
      } catch (error) {
        if (!isStaged || !isCode(error, 'SLUICE_WRITER_FULL')) throw error
        await this.writer.room
      }
    }
  }

  /**
   * Rows that a flow has changed wait here while their source has had its share of the dead letters: of those that came with them some may
   * be stored, and would be again.
   * @param {string} source
   * @param {() => Promise<unknown>} work
   */
  async #waiting (source, work) {
    while (true) {
      try {
        return await work()
      } catch (error) {
        if (!isCode(error, SHARE_FULL) || this.#isClosed) throw error
        while (!this.#isClosed && this.deadLetters.queue.isFullFor(source)) await sleep(SHARE_INTERVAL_MS)
      }
    }
  }

  /** Stores what it can within the writer's deadline. The database is left to close. */
  async drain () {
    this.#isClosed = true
    this.#stopShowing()
    this.removeSink()
    deliveries.doubt(this.id)
    if (this.intervals) this.intervals.flush()
    this.retention?.close()
    await closeAll(() => this.writer.close(), () => this.#readLast(), () => this.deadLetters.close(), this.removeGauge)
  }

  /** A spool may be waiting for it, and the sink be disabled for long. */
  async #readLast () {
    const reading = this.sink.unread()
    if (!reading) return
    sinks.leaving(this.id, reading)
    await Promise.race([reading, sleep(LAST_READING_MS, null, { ref: false })]).catch(() => {}) // the log has it, if it has failed before
  }

  #gauge () {
    const state = this.writer.state()
    const { fullSources, count, fillPercent } = this.deadLetters.queue
    return {
      connected: this.sink.isWell && state.lastError === null,
      hasAnswered: this.sink.hasAnswered,
      problem: this.sink.problem,
      ...state,
      waitingMs: this.#waitingMs,
      ...this.retention?.state(),
      keptDeadLetters: count,
      deadLettersPercent: fillPercent,
      stoppedSources: fullSources.join(', '),
      waitingFor: sinks.heldUpBy(this.id).join(', ')
    }
  }

  /** How long the database has owed an answer: one that makes tables answers with each of them. */
  get #waitingMs () {
    const preparing = this.sink.preparing()
    return Math.min(this.writer.waitingMs, preparing ? performance.now() - preparing.lastMs : Infinity)
  }

  /** @returns {import('../node.js').Status} */
  #status () {
    const { pendingRows, lastError } = this.writer.state()
    const { rows, deadLetters, duplicates } = this.meter
    const [done, atMs] = [rows + deadLetters + duplicates, performance.now()]
    const isOwed = done === this.#last.done && this.writer.waitingMs > 0
    const preparing = this.sink.preparing()
    const now = { rows, done, atMs, movedMs: isOwed ? this.#last.movedMs : atMs }
    const isStill = now.rows === this.#last.rows && pendingRows === 0
    const rate = (now.rows - this.#last.rows) / Math.max(1, now.atMs - this.#last.atMs) * 1000
    this.#last = now
    const [stopped] = this.deadLetters.queue.fullSources
    const problem = this.sink.problem ?? lastError ?? (stopped === undefined ? null : describe(shareFull(stopped)))
    const notes = counted({ waiting: pendingRows, 'dead letters': deadLetters, 'duplicates refused': duplicates })
    if (problem) {
      const { text = '', ...looks } = failed(problem, this.known)
      return { ...looks, text: sentence(text, ...notes), ...lastError === null && { problem } } // the writer tells its own
    }
    if (!this.sink.isWell) return { fill: 'blue', shape: 'ring', text: sentence('connecting', ...notes) }
    const silentMs = atMs - Math.max(now.movedMs, preparing?.lastMs ?? 0)
    if (silentMs > SILENT_MS) {
      return { fill: 'yellow', shape: 'ring', text: sentence(`no answer for ${remaining(silentMs / 1000)}`, ...notes) }
    }
    if (preparing && preparing.of > 1) {
      const { done: ready, of: all } = preparing
      return { fill: 'blue', shape: 'ring', text: sentence(`preparing tables: ${quantity(ready)} of ${quantity(all)}`, ...notes) }
    }
    const others = isStill ? sinks.heldUpBy(this.id) : []
    if (others.length > 0) return { fill: 'yellow', shape: 'ring', text: sentence(`waiting for ${others.join(', ')}`, ...notes) }
    const notice = this.sink.notice()
    const flow = `${quantity(rate)} rows/s`
    const text = notice ? sentence(notice, flow, ...notes) : sentence(flow, ...notes)
    return { fill: deadLetters > 0 ? 'yellow' : 'green', shape: 'dot', text }
  }
}

/** @param {unknown} error @param {string} code */
function isCode (error, code) { return error instanceof SluiceError && error.code === code }

/** What a message calls its rows, where it does; an SQL statement is no name. @param {any} message */
function sourceOf ({ topic }) {
  return typeof topic === 'string' && topic !== '' && !isSql(topic) ? topic : undefined
}

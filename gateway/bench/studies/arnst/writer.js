import { GatheredAppends } from '../../../../broker/out/gathered-appends.js'
import { intervalOptions } from '../../../../nodes/staging/gathering.js'
import { openDeadLetterQueue } from '../../../dead-letters/queue.js'
import { sinkTypes } from '../../../databases/index.js'
import { WriteTimes } from '../../../stats/write-times.js'
import { createWriter, schema } from '../../../writer/writer.js'
import { openSink } from '../../sinks/open.js'
import { MAX_WAITING_SAMPLES, PERIOD_NS, startMachine } from './machine.js'
import { serve } from './served.js'

/**
 * The writing client: the machine, and the writer and sink of the gateway behind it.
 *
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 *
 * @typedef {object} Lap  since the one before
 * @property {number} seconds
 * @property {number} stored  samples
 * @property {number} missed  samples
 * @property {import('../../../stats/write-times.js').WriteSummaries} commits
 *
 * @typedef {object} Stored  all that is in the database
 * @property {bigint} startNs  of sample 0
 * @property {[from: number, to: number][]} runs  which samples, `to` excluded
 * @property {number} samples
 */

/** A slow database has many samples to store when the machine ends. */
const DRAIN_MS = 600_000

const times = new WriteTimes()
/** Samples so far. */
let stored = 0
const before = { stored: 0, missed: 0, ms: 0 }
/** @type {Stored['runs']} */
const runs = []
/** @type {unknown} */
let failure = null
/** @type {PromiseWithResolvers<void>} */
const ended = Promise.withResolvers()

/** @type {Awaited<ReturnType<typeof openWriter>>} */
let opened
/** @type {import('./machine.js').Machine} */
let machine

serve({
  /** @param {Parameters<typeof openWriter>[0]} given */
  async open (given) { opened = await openWriter(given) },

  /** @param {{startTime?: string, samples?: number}} given  see `startMachine` */
  begin (given) {
    machine = startMachine({
      ...given,
      isPaused: () => opened.writer.state().pendingRows >= MAX_WAITING_SAMPLES,
      emit (batch) {
        note(batch)
        opened.write(batch).catch(fail)
      },
      onEnd (error) {
        if (error) fail(error)
        ended.resolve()
      }
    })
  },

  /** @returns {Lap} */
  lap () {
    check()
    const now = { stored, missed: machine.missed(), ms: performance.now() }
    const commits = times.summary()
    const lap = { seconds: (now.ms - before.ms) / 1000, stored: stored - before.stored, missed: now.missed - before.missed, commits }
    Object.assign(before, now)
    times.reset()
    return lap
  },

  /** @param {{isEndless: boolean}} given @returns {Promise<Stored>} once all is in the database */
  async finish ({ isEndless }) {
    if (!isEndless) await ended.promise
    await machine.stop()
    await opened.close()
    check()
    return { startNs: machine.startNs, runs, samples: stored }
  }
})

/**
 * @param {object} given
 * @param {import('../../sinks/open.js').SinkAddress} given.address
 * @param {object} given.writer  its options
 * @param {number} given.intervalMs  samples wait for the whole of such an interval; 0: they do not wait
 * @param {string} given.folder
 */
async function openWriter ({ address, writer: options, intervalMs, folder }) {
  const { sink, close } = await openSink(address, schema.properties.inFlight.default)
  const { isTransient } = await sinkTypes[address.type]()
  const deadLetters = await openDeadLetterQueue(folder)
  const meter = {
    duplicates: 0,
    deadLetters: 0,
    retries: 0,
    errors: 0,
    record (/** @type {Batch} */ { rows }) { stored += rows },
    recordWrite: times.record.bind(times)
  }
  const writer = createWriter({ sink, isTransient, deadLetters, meter, options: { ...options, drainMs: DRAIN_MS } })
  const write = (/** @type {Batch} */ batch) => writer.write(batch, { isWhole: intervalMs > 0 })
  const intervals = intervalMs > 0
    ? new GatheredAppends({ ...intervalOptions(intervalMs), maxRows: Infinity, maxBytes: Infinity, isAllOrNone: true, append: write })
    : null
  return {
    writer,
    write: (/** @type {Batch} */ batch) => intervals ? intervals.append(batch) : write(batch),
    async close () {
      intervals?.flush()
      await writer.close()
      if (meter.deadLetters > 0) fail(new Error(`${meter.deadLetters} samples were refused`))
      await close()
    }
  }
}

/** @param {Batch} batch  that the machine has made */
function note ({ time, rows }) {
  const first = Number((time[0] - machine.startNs) / PERIOD_NS)
  const last = runs.at(-1)
  if (last?.[1] === first) last[1] += rows
  else runs.push([first, first + rows])
}

/** @param {unknown} error */
function fail (error) { failure ??= error }

function check () {
  if (failure) throw failure
}

import { describe } from '../../base/errors.js'
import { openSink } from '../sinks/open.js'
import { channel } from './channel.js'
import { cpuMicros } from './thread-cpu.js'

/**
 * The thread or process of a client: see clients.js.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 */

const MAX_ERRORS = 3

const { load, post, told } = await channel()
const { address, batches: { url, options }, first, writers, batchesPerClient = Infinity, limitMs = Infinity } = load
const { batchesOf } = await import(url)

/** @type {number[]} */
const stored = []
/** @type {number[]} */
const failed = []
/** @type {import('./clients.js').WrittenBatch[]} */
const batches = []
/** @type {Set<string>} */
const errors = new Set()
/** Of those that failed. @type {Pick<Batch, 'rows'|'identity'>[]} */
const doubtful = []
let makingMicros = 0

const { sink, close } = await openSink(address, writers)
const sources = Array.from({ length: writers }, (_, i) => maker(batchesOf(options, first + i)))
const firstBatches = sources.map(next => next())
await sink.prepare(firstBatches)
post('ready')
await told()

const startMs = performance.now()
const beforeMicros = cpuMicros()
makingMicros = 0
const written = await Promise.all(sources.map((next, i) => write(first + i, firstBatches[i], next)))
const seconds = (performance.now() - startMs) / 1000
const cpuSeconds = (cpuMicros() - beforeMicros - makingMicros) / 1e6
post({
  rows: written.reduce((sum, rows) => sum + rows, 0),
  seconds,
  latencyMicroseconds: stored,
  failedMicroseconds: failed,
  batches,
  errors: [...errors],
  ...'threadCpuUsage' in process && { cpuSeconds }
})
await told() // until then its connection is open, and what it carried can be read
const unansweredRows = doubtful.length > 0 ? await storedAfterAll() : 0
await close()
post({ unansweredRows })
await told() // never: it is ended once its answer has been read

/**
 * @param {number} client @param {Batch} batch  the first @param {() => Batch} next
 * @returns {Promise<number>} rows of which the database said that it has them
 */
async function write (client, batch, next) {
  let rows = 0
  for (let n = 0; n < batchesPerClient && performance.now() - startMs < limitMs; n++) {
    const beganMs = performance.now()
    const writing = sink.write([batch])
    const { rows: count, identity } = batch
    batch = next() // while the database has the other
    const error = await writing.then(() => null, reason => reason)
    const nowMs = performance.now()
    const micros = Math.round((nowMs - beganMs) * 1000)
    batches.push({ client, endedMs: performance.timeOrigin + nowMs, microseconds: micros, isStored: error === null })
    if (error === null) {
      stored.push(micros)
      rows += count
    } else {
      failed.push(micros)
      doubtful.push({ rows: count, identity })
      if (errors.size < MAX_ERRORS) errors.add(describe(error))
    }
  }
  return rows
}

/** Where a connection broke, a batch may have been stored whose answer was lost: the database has its record. */
async function storedAfterAll () {
  const { records } = await sink.committed()
  const nameOf = (/** @type {any[]} */ ...identity) => JSON.stringify(identity)
  const recorded = new Set(records.map(({ gateway, source, epoch, first: seq }) => nameOf(gateway, source, epoch, seq)))
  return doubtful.reduce((sum, { rows, identity }) => {
    return identity && recorded.has(nameOf(identity.gateway, identity.source, identity.epoch, identity.seq)) ? sum + rows : sum
  }, 0)
}

/** @param {Iterator<Batch>} generator */
function maker (generator) {
  return () => {
    const before = cpuMicros()
    const { value } = generator.next()
    makingMicros += cpuMicros() - before
    return value
  }
}

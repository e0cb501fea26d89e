import { SluiceError } from '../../base/errors.js'
import { openSink } from './open.js'

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('./sink-bench.js').Running} Running
 * @typedef {{batchRows: number, writers: number, rows: number, seconds: number, rowsPerSecond: number}} Rate
 */

/**
 * Stores batches through the sink, several writes at a time, until they are over or the time is; and counts that they are there.
 * @param {Running} running
 * @param {Batch[]} batches  of equal size
 * @param {{writers: number, limitMs?: number}} options
 * @returns {Promise<Rate>}
 * @throws {SluiceError} SLUICE_BENCH_COUNT
 */
export async function throughSink (running, batches, { writers, limitMs = Infinity }) {
  await running.clear()
  const { sink, close } = await openSink(running.address, writers)
  let rows = 0
  let seconds
  try {
    await sink.prepare([batches[0]])
    const waiting = batches.values()
    const start = performance.now()
    await Promise.all(Array.from({ length: writers }, async () => {
      for (const batch of waiting) {
        await sink.write([batch])
        rows += batch.rows
        if (performance.now() - start > limitMs) break
      }
    }))
    seconds = (performance.now() - start) / 1000
  } finally {
    await close()
  }
  const count = await running.count()
  if (count !== null && count !== rows) throw new SluiceError('SLUICE_BENCH_COUNT', `${rows} rows were written, and ${count} are there.`)
  return { batchRows: batches[0].rows, writers, rows, seconds, rowsPerSecond: rows / seconds }
}

/**
 * The same, after a short run that is not counted.
 * @param {Running} running
 * @param {Batch[]} batches
 * @param {{writers: number, limitMs: number}} options
 */
export async function measure (running, batches, { writers, limitMs }) {
  await throughSink(running, batches, { writers, limitMs: limitMs / 10 })
  return throughSink(running, batches, { writers, limitMs })
}

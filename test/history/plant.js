/**
 * A gateway that is busy, as the meters and gauges of the stats have it.
 *
 * @typedef {import('../../gateway/stats/stats.js').Stats} Stats
 * @typedef {import('../../gateway/stats/meter.js').Meter} Meter
 */

/** @param {Stats} stats @param {number} sources @param {number} sinks */
export function plant (stats, sources, sinks) {
  let step = 0
  stats.gauge('spool plant', () => {
    return { connected: true, onDiskBytes: 5e6 + noise(++step) * 1e6, unstoredBytes: noise(step) * 1e5, waiting: 0 }
  })
  return [
    ...Array.from({ length: sources }, (_, i) => [stats.meter('source', `machine ${i}`), stats.meter('stage', `machine ${i}`)]).flat(),
    ...Array.from({ length: sinks }, (_, i) => {
      stats.gauge(`sink sink ${i}`, () => ({ connected: true, pendingRows: Math.floor(noise(step + i) * 500) }))
      return stats.meter('sink', `sink ${i}`, `c0ffee${i}`)
    })
  ]
}

/** Ten seconds of all of them: rates that vary a little, latencies that vary much. @param {Meter[]} meters @param {number} step */
export function busy (meters, step) {
  for (const [i, meter] of meters.entries()) {
    const rows = 100 + Math.floor(noise(step + i * 31) * 4)
    meter.batches += 10
    meter.rows += rows
    meter.values += 5 * rows
    if (meter.stage === 'sink') meter.bytes += 40 * rows
    for (const { latency, writes } of meter.intervals) {
      latency.record(2000 + noise(step * 7 + i) * 8000, rows - 1)
      latency.record(20_000 + noise(step * 11 + i) * 80_000, 1)
      if (meter.stage === 'sink') writes.record('stored', 500 + noise(step * 13 + i) * 4000)
    }
  }
}

/** The same for the same number, and of no order. From 0 to 1. @param {number} of */
export function noise (of) {
  let x = Math.imul(of + 1, 0x9e3779b1)
  x = Math.imul(x ^ x >>> 15, 0x85ebca6b)
  return ((x ^ x >>> 13) >>> 0) / 2 ** 32
}

/** As much of a batch as a meter looks at. @param {bigint} nowNs @param {number} rows @returns {any} */
export function batchOf (nowNs, rows) {
  return { source: 'machine', rows, values: 5 * rows, time: BigInt64Array.from({ length: rows }, (_, i) => nowNs - BigInt(i) * 1_000_000n) }
}

/**
 * @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult
 * @typedef {import('../../../gateway/bench/studies/study.js').DoneCell} DoneCell
 */

const TABLE = { database: 'postgresql', sensors: 1000, startMs: Date.UTC(2022, 0, 1), daySpan: 15, stepNs: 129_600_000 }
const DAY_MS = 86_400_000

/** @param {string} id @param {Record<string, string|number>} parameters @param {Partial<DoneCell>} measured @returns {DoneCell} */
function cell (id, parameters, measured) {
  const about = { id, label: id, parameters: { ...TABLE, ...parameters }, startedMs: 0, tookSeconds: 1 }
  return { ...about, state: 'done', version: 'PostgreSQL 15.1', measures: {}, ...measured }
}

/** @param {number[]} milliseconds @param {number[]} isStored */
function batches (milliseconds, isStored) {
  return {
    batchClient: milliseconds.map(() => 0),
    batchEndedMs: milliseconds.map((_, i) => 1_700_000_000_000 + i),
    batchMicroseconds: milliseconds.map(ms => ms * 1000),
    batchIsStored: isStored
  }
}

/** A run of PostgreSQL with figures that are easy to see. @returns {StudyResult} */
export function madeResult () {
  const concurrency = { workload: 'concurrency', batchRows: 20_000, seconds: 5 }
  const scaling = { batchRows: 20_000, clients: 4, batches: 500, seconds: 60, windowSeconds: 2 }
  return {
    version: 1,
    study: 'scits',
    title: 'SciTS',
    paper: 'A paper.',
    startedMs: 0,
    endedMs: 1000,
    isComplete: true,
    limited: '',
    environment: {},
    options: { isFull: false, sweep: {} },
    cut: [],
    cells: [
      cell('a', { workload: 'batching', batchRows: 20_000, clients: 1, batches: 4 }, {
        measures: { failedBatches: 1 }, samples: batches([10, 20, 40, 30], [1, 1, 0, 1])
      }),
      cell('b', { workload: 'batching', batchRows: 100_000, clients: 1, batches: 4 }, {
        measures: { failedBatches: 0 }, samples: batches([100, 300], [1, 1])
      }),
      cell('c', { ...concurrency, clients: 1 }, { measures: { rowsPerSecond: 1000, serverCpuPercent: 50, serverUserPercent: 40 } }),
      cell('d', { ...concurrency, clients: 4 }, { measures: { rowsPerSecond: 3000, serverCpuPercent: 90, serverUserPercent: 60 } }),
      cell('e', { ...scaling, workload: 'scaling' }, {
        measures: { seconds: 3665, rows: 366_500_000, rowsPerSecond: 100_000, megabytesPerSecond: 2.4 },
        series: { rowsPerSecond: { seconds: [2, 4], values: [5, 6] }, storedRows: { seconds: [2, 4], values: [1e6, 2e6] } }
      }),
      cell('f', { ...scaling, workload: 'query', query: 'Q1', runs: 3, cache: 'cold' }, {
        measures: { points: 46, coldRuns: 2 },
        samples: {
          queryMicroseconds: [1000, 2000, 3000],
          queryPoints: [46, 46, 46],
          queryEndedMs: [1, 2, 3],
          queryFromMs: [0, 1, 2].map(day => TABLE.startMs + day * DAY_MS)
        }
      }),
      {
        id: 'g',
        label: 'g',
        parameters: { ...TABLE, database: 'timescaledb', workload: 'query', query: 'Q1' },
        state: 'absent',
        reason: 'This PostgreSQL has no TimescaleDB.'
      }
    ]
  }
}

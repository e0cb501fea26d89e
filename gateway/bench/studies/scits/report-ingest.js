import { box } from '../statistics.js'
import { DATABASES } from './databases.js'
import { IOWAIT, MEAN_AT_20000, MEMORY, PEAKS, POSTGRESQL_AT_100000, SCALING } from './published.js'

/**
 * The sections of the workloads that write.
 *
 * @typedef {import('./report.js').Found} Found
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('../study.js').LinesBlock} LinesBlock
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').DoneCell} DoneCell
 */

/** @param {Found} found @returns {Section} */
export function batching (found) {
  const { databases, done } = found
  const shown = databases.filter(database => done(database, 'batching').length > 0)
  const sizes = numbersOf(shown.flatMap(database => done(database, 'batching')), 'batchRows')
  const cellOf = (/** @type {string} */ database, /** @type {number} */ size) => {
    return done(database, 'batching').find(({ parameters }) => parameters.batchRows === size)
  }
  return {
    title: 'Batching',
    text: ['One client writes batches of one size into an empty table. A failed batch counts as failed, and not among these latencies.'],
    blocks: [
      {
        kind: 'boxes',
        caption: 'Figure 2: latency of a batch by its size',
        unit: 'ms',
        isLog: true,
        series: shown.map(nameOf),
        groups: sizes.map(size => ({
          label: `${size.toLocaleString('en-GB')} rows`,
          boxes: shown.map(database => box(storedMilliseconds(cellOf(database, size))))
        })),
        notes: ['The figure\'s values are not in the text of the paper, except for those below.']
      },
      {
        kind: 'table',
        caption: 'Figure 2, what the text says of it',
        columns: [
          { title: 'Mean at 20,000', unit: 'ms', digits: 1 },
          { title: 'Longest at 100,000', unit: 'ms', digits: 1 },
          { title: 'Failed batches' }
        ],
        rows: databases.map(database => {
          const latencies = (/** @type {number} */ size) => storedMilliseconds(cellOf(database, size))
          const failed = done(database, 'batching').reduce((sum, { measures }) => sum + measures.failedBatches, 0)
          const isHere = done(database, 'batching').length > 0
          const { isOwn } = DATABASES[database]
          return {
            label: nameOf(database),
            figures: [
              figure(box(latencies(20_000))?.mean, isOwn ? undefined : MEAN_AT_20000, found.whyNot(database, 'batching')),
              figure(box(latencies(100_000))?.max, database === 'postgresql' ? POSTGRESQL_AT_100000 : undefined, ''),
              { value: isHere ? failed : null }
            ]
          }
        })
      }
    ]
  }
}

/** @param {Found} found @returns {Section} */
export function concurrency (found) {
  const { databases, done } = found
  /** @param {string} name @param {string} [ending] */
  const byClients = (name, ending = '') => databases.map(database => {
    const cells = done(database, 'concurrency').filter(({ measures }) => measures[name] !== undefined)
      .toSorted((a, b) => Number(a.parameters.clients) - Number(b.parameters.clients))
    return {
      label: nameOf(database) + ending,
      x: cells.map(({ parameters }) => Number(parameters.clients)),
      y: cells.map(({ measures }) => measures[name])
    }
  }).filter(({ x }) => x.length > 0)
  const [batchRows = 20_000] = numbersOf(databases.flatMap(database => done(database, 'concurrency')), 'batchRows')
  const xTitle = 'clients'
  return {
    title: 'Concurrency',
    text: [
      `Batches of ${batchRows.toLocaleString('en-GB')} rows by several clients, each with a connection of its own, into an empty table.`
    ],
    blocks: [
      lines({ caption: 'Figure 3: ingestion rate by the number of clients', unit: 'rows/s', xTitle, lines: byClients('rowsPerSecond') }),
      {
        kind: 'table',
        caption: 'Figure 3, the highest rate',
        columns: [
          { title: 'Rate', unit: 'rows/s', digits: 0 },
          { title: 'Clients' },
          { title: 'Server memory', unit: '% of the machine\'s', digits: 1 }
        ],
        rows: databases.map(database => {
          const best = done(database, 'concurrency').toSorted((a, b) => b.measures.rowsPerSecond - a.measures.rowsPerSecond)[0]
          const memory = /** @type {Record<string, string>} */ (MEMORY.concurrency)[database]
          return {
            label: nameOf(database),
            figures: [
              figure(best?.measures.rowsPerSecond, PEAKS[database], found.whyNot(database, 'concurrency')),
              { value: best ? String(best.parameters.clients) : null, ...database === 'influxdb' && { published: '24' } },
              figure(best?.measures.serverMemoryPercent, memory, '')
            ]
          }
        })
      },
      lines({
        caption: 'Figure 4a: processor time of the server by the number of clients, total and user',
        unit: '% of one core',
        xTitle,
        lines: [...byClients('serverCpuPercent'), ...byClients('serverUserPercent', ', user')],
        notes: ['The paper shows that of its server machine, of all cores.']
      }),
      lines({
        caption: 'Figure 4b: memory of the server by the number of clients',
        unit: '% of the machine\'s',
        xTitle,
        lines: byClients('serverMemoryPercent'),
        notes: ['Resident memory of its processes; what several of PostgreSQL\'s share is counted for each.']
      })
    ]
  }
}

/** @param {Found} found @returns {Section[]} */
export function scaling (found) {
  const { databases, done } = found
  const all = databases.flatMap(database => done(database, 'scaling').slice(0, 1).map(cell => ({ label: nameOf(database), cell })))
  /** @param {string} caption @param {string} unit @param {string} name @param {(measures: Record<string, number>) => number} [scale] */
  const overTime = (caption, unit, name, scale = () => 1) => {
    const its = all.flatMap(({ label, cell: { series, measures } }) => {
      const points = series?.[name]
      return points ? [{ label, x: points.seconds, y: points.values.map(value => value * scale(measures)) }] : []
    })
    return lines({ caption, unit, xTitle: 'time', isTimeX: true, lines: its })
  }
  const millions = () => 1e-6
  const [windowSeconds = 60] = numbersOf(all.map(({ cell }) => cell), 'windowSeconds')
  return [
    {
      title: 'Scaling',
      text: ['Many clients write until the table has its rows. A megabyte is a million bytes; a row has 24.'],
      blocks: [
        scalingTable(found),
        lines({
          caption: 'Figure 5: ingestion rate by the rows in the table',
          unit: 'rows/s',
          xTitle: 'million rows',
          lines: all.flatMap(({ label, cell: { series } }) => series?.storedRows
            ? [{ label, x: series.storedRows.values.map(rows => rows / 1e6), y: series.rowsPerSecond.values }]
            : []),
          notes: [`The rate over ${windowSeconds} s; a batch counts over all the time that it took.`]
        }),
        overTime('Figure 6a: processor time spent waiting for disks', '% of all cores', 'machineIowaitPercent', ofAllCores),
        overTime('Figure 6b: memory of the server', '% of the machine\'s', 'serverMemoryPercent'),
        overTime('Figure 6c: swap space of the machine in use', 'MB', 'machineSwapBytes', millions)
      ].filter(hasContent)
    },
    {
      title: 'More of the system while it scales',
      blocks: [
        overTime('Processor time of the server', '% of one core', 'serverCpuPercent'),
        overTime('Processor time of the machine, user', '% of one core', 'machineUserPercent'),
        overTime('Processor time of the machine, system', '% of one core', 'machineSystemPercent'),
        overTime('Context switches of the machine', '/s', 'machineContextSwitchesPerSecond'),
        overTime('Written by the server', 'MB/s', 'serverWrittenBytesPerSecond', millions),
        overTime('Read from disks by the machine', 'MB/s', 'machineReadBytesPerSecond', millions),
        overTime('Written to disks by the machine', 'MB/s', 'machineWrittenBytesPerSecond', millions),
        overTime('Disk operations of the machine', '/s', 'machineDiskOperationsPerSecond'),
        overTime('Received by the server', 'MB/s', 'serverReceivedBytesPerSecond', millions),
        overTime('Data folder', 'MB', 'dataBytes', millions)
      ].filter(hasContent)
    }
  ].filter(({ blocks }) => blocks.length > 0)
}

/** @param {Found} found @returns {TableBlock} */
function scalingTable ({ databases, done, whyNot }) {
  return {
    kind: 'table',
    caption: 'Table 2: total time, ingestion rate and throughput of scaling',
    columns: [
      { title: 'Total time' }, { title: 'Rate', unit: 'rows/s', digits: 0 }, { title: 'Throughput', unit: 'MB/s', digits: 2 },
      { title: 'Rows', unit: 'million', digits: 2 }, { title: 'Data on disk', unit: 'bytes a row', digits: 1 },
      { title: 'I/O wait', unit: '% of all cores', digits: 2 }
    ],
    rows: databases.map(database => {
      const [cell] = done(database, 'scaling')
      /** @type {any} */
      const measures = cell?.measures ?? {}
      const { seconds, rows, rowsPerSecond, megabytesPerSecond, dataBytes, machineIowaitPercent, machineCores } = measures
      const paper = SCALING[database]
      return {
        label: nameOf(database),
        figures: [
          figure(cell && duration(seconds), paper?.duration, whyNot(database, 'scaling')),
          figure(rowsPerSecond, paper?.rowsPerSecond, ''),
          figure(megabytesPerSecond, paper?.megabytesPerSecond, ''),
          figure(cell && rows / 1e6, paper && '2880', ''),
          { value: dataBytes === undefined ? null : dataBytes / rows },
          figure(cell && machineIowaitPercent / machineCores, IOWAIT[database], '')
        ]
      }
    }),
    notes: ['Data on disk includes what the server keeps besides the rows, such as its log.']
  }
}

/** @param {Record<string, number>} measures */
function ofAllCores ({ machineCores = 1 }) { return 1 / machineCores }

/** @param {Omit<LinesBlock, 'kind'>} block @returns {LinesBlock} */
function lines (block) { return { kind: 'lines', ...block } }

/** @param {import('../study.js').Block} block */
function hasContent (block) { return block.kind !== 'lines' || block.lines.length > 0 }

/** @param {number|string|undefined} value @param {number|string|undefined} published @param {string} reason  why there is no value */
function figure (value, published, reason) {
  return { value: value ?? null, ...published !== undefined && { published }, ...value === undefined && reason && { reason } }
}

/** @param {string} database */
function nameOf (database) { return DATABASES[database].name }

/** @param {DoneCell[]} cells @param {string} name */
function numbersOf (cells, name) {
  return [...new Set(cells.map(({ parameters }) => Number(parameters[name])))].sort((a, b) => a - b)
}

/** @param {DoneCell|undefined} cell */
function storedMilliseconds (cell) {
  const { batchMicroseconds = [], batchIsStored = [] } = cell?.samples ?? {}
  return batchMicroseconds.filter((_, i) => batchIsStored[i]).map(microseconds => microseconds / 1000)
}

/** As the paper's: "37:32", "1:04:43". @param {number} seconds */
function duration (seconds) {
  const whole = Math.round(seconds)
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const [first, ...rest] = parts[0] > 0 ? parts : parts.slice(1)
  return [first, ...rest.map(part => String(part).padStart(2, '0'))].join(':')
}

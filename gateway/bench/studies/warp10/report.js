import { CHANNELS, COLUMNS, CONTRADICTIONS, MACHINES, SMALL_MACHINE, WHOLE_MACHINE } from './published.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').Figure} Figure
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('./published.js').Warp10Format} Warp10Format
 * @typedef {{label: string, database: string, batchRows: number}} Series
 */

const DIFFERENCES = [
  'Warp 10\'s figures are of a server that has the text sent to it and stores it in its own time series database (LevelDB). Here one ' +
  'thread reads the text and stores it into the database of the row, by batches in transactions, each with a commit record; the ' +
  'database has its own processes beside it.',
  'Warp 10 stores a multi-value line as one compressed blob, which is decoded when it is read. Here every format becomes the same row of ' +
  `position and ${CHANNELS} columns, which can be queried: [! ] says not to compress, and is read like [ ].`,
  'In the paper\'s ordered and optimized files a channel is over before the next begins. Here that is so within each piece of the log: ' +
  'the lines of a time are put together to a row again.',
  'The log is not published. Here it is simulated: the paper\'s channels, in their order and number of digits.'
]

/** @param {StudyResult} result @returns {Section[]} */
export function report (result) {
  const { cells, limited, isComplete } = result
  const beside = limited ? SMALL_MACHINE : WHOLE_MACHINE
  const series = seriesOf(cells)
  /** @param {Series} one @param {Warp10Format} format */
  const cellOf = ({ database, batchRows }, format) => cells.find(({ parameters }) =>
    parameters.database === database && parameters.batchRows === batchRows && parameters.format === format)
  /** @param {Series} one @param {Warp10Format} format @param {string} [measure] @returns {Figure} */
  const figure = (one, format, measure = 'pointsPerSecond') => {
    const cell = cellOf(one, format)
    if (cell?.state === 'done') return { value: cell.measures[measure] ?? null }
    return { value: null, reason: cell?.reason ?? (isComplete ? 'It was not chosen.' : 'It has not been measured yet.') }
  }
  const columns = COLUMNS.map(({ title }) => ({ title, unit: 'points/s', digits: 0 }))
  return [
    {
      title: 'Points a second, by text format',
      text: [`Beneath each figure is that of the paper's ${beside.label}; all of its machines follow.`],
      blocks: [
        {
          kind: 'table',
          caption: 'Raw bench results',
          heading: 'stored in',
          columns,
          rows: [
            ...series.map(one => ({
              label: one.label,
              figures: COLUMNS.map(({ format }) => ({ ...figure(one, format), published: beside.pointsPerSecond[format] ?? null }))
            })),
            ...MACHINES.map(({ label, pointsPerSecond }) => ({
              label: `Warp 10: ${label}`,
              figures: COLUMNS.map(({ format }) => ({ value: null, published: pointsPerSecond[format] ?? null }))
            }))
          ],
          notes: [...DIFFERENCES, ...CONTRADICTIONS]
        },
        {
          kind: 'bars',
          caption: 'Points a second by database and format',
          unit: 'points/s',
          isLog: true,
          series: COLUMNS.map(({ title }) => title),
          groups: [
            ...series.map(one => ({ label: one.label, figures: COLUMNS.map(({ format }) => figure(one, format)) })),
            {
              label: `Warp 10: ${beside.label}`,
              figures: COLUMNS.map(({ format }) => ({ value: null, published: beside.pointsPerSecond[format] ?? null }))
            }
          ]
        }
      ]
    },
    {
      title: 'What aligned data saves',
      text: ['How many times as fast as line by line: the paper\'s lesson is a line for all values of one time.'],
      blocks: [{
        kind: 'table',
        caption: 'Times the naïve format',
        columns: COLUMNS.slice(1).map(({ title }) => ({ title, digits: 1 })),
        rows: [
          ...series.map(one => ({
            label: one.label, figures: COLUMNS.slice(1).map(({ format }) => times(figure(one, format), figure(one, 'naive')))
          })),
          ...MACHINES.map(({ label, pointsPerSecond }) => ({
            label: `Warp 10: ${label}`,
            figures: COLUMNS.slice(1).map(({ format }) => ({
              value: null, published: pointsPerSecond[format] === undefined ? null : pointsPerSecond[format] / Number(pointsPerSecond.naive)
            }))
          }))
        ]
      }]
    },
    {
      title: 'What it takes',
      text: ['An embedded database has no server: it is in the process that reads and stores.'],
      blocks: [effort(series, figure)]
    }
  ]
}

/** @param {StudyResult['cells']} cells @returns {Series[]} in the order in which they were measured */
function seriesOf (cells) {
  /** @type {Map<string, Series>} */
  const found = new Map()
  const sizes = new Set(cells.map(({ parameters }) => parameters.batchRows))
  for (const { parameters, ...cell } of cells) {
    const [database, batchRows] = [String(parameters.database), Number(parameters.batchRows)]
    const key = `${database} ${batchRows}`
    const version = 'version' in cell ? cell.version : undefined
    const known = found.get(key)
    if (known && (!version || known.label.startsWith(version))) continue
    const label = version ?? database
    found.set(key, { database, batchRows, label: sizes.size > 1 ? `${label}, ${batchRows} rows a piece` : label })
  }
  return [...found.values()]
}

/** @param {Figure} figure @param {Figure} naive @returns {Figure} */
function times ({ value, reason }, naive) {
  return { value: value && naive.value ? Number(value) / Number(naive.value) : null, reason: reason ?? naive.reason }
}

/**
 * @param {Series[]} series
 * @param {(one: Series, format: Warp10Format, measure?: string) => Figure} figure
 * @returns {import('../study.js').TableBlock}
 */
function effort (series, figure) {
  return {
    kind: 'table',
    caption: 'Reading alone, and processor time',
    columns: [
      { title: 'Reading alone', unit: 'points/s', digits: 0 },
      { title: 'Processor, reading and storing', unit: 'µs a point', digits: 2 },
      { title: 'Processor, server', unit: 'µs a point', digits: 2 },
      { title: 'Memory, server', unit: 'MB', digits: 0 },
      { title: 'Text', unit: 'bytes a point', digits: 0 }
    ],
    rows: series.flatMap(one => COLUMNS.map(({ format, title }, i) => ({
      label: i === 0 ? `${one.label}, ${title}` : title,
      isContinued: i > 0,
      figures: [
        figure(one, format, 'readPointsPerSecond'),
        figure(one, format, 'cpuMicrosecondsPerPoint'),
        figure(one, format, 'serverCpuMicrosecondsPerPoint'),
        megabytes(figure(one, format, 'serverRssBytes')),
        figure(one, format, 'textBytesPerPoint')
      ]
    })))
  }
}

/** @param {Figure} figure @returns {Figure} */
function megabytes (figure) {
  return typeof figure.value === 'number' ? { value: figure.value / 1e6 } : figure
}

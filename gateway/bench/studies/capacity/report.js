import { RATE_HZ } from './gateway.js'
import { PRECISION } from './knee.js'

/**
 * @typedef {import('../study.js').StudyResult} StudyResult
 * @typedef {import('../study.js').DoneCell} DoneCell
 * @typedef {import('../study.js').Section} Section
 */

/** @param {StudyResult} result @returns {Section[]} */
export function report ({ cells, limited }) {
  const done = cells.filter(cell => cell.state === 'done')
  const found = done.flatMap(({ notes = [] }) => notes.slice(0, 1))
  return [
    {
      title: 'The knee',
      text: [...limited ? found.map(text => text.replace(/^This machine/, '$&, limited as said above,')) : found, ...definition(cells)],
      blocks: [{
        kind: 'table',
        caption: `Sensors at ${RATE_HZ} Hz`,
        columns: [
          { title: 'Sensors', digits: 0 },
          { title: 'Values', unit: '1/s', digits: 0 },
          { title: 'p50', unit: 'ms', digits: 0 },
          { title: 'p99', unit: 'ms', digits: 0 },
          { title: 'Gateway', unit: '% of a core', digits: 0 },
          { title: 'Gateway', unit: 'MB', digits: 0 },
          { title: 'Server', unit: '% of a core', digits: 0 },
          { title: 'Breaks at', unit: 'sensors', digits: 0 }
        ],
        rows: cells.map(cell => ({
          label: nameOf(cell),
          figures: cell.state === 'done' ? kneeOf(cell) : Array.from({ length: 8 }, () => ({ value: null, reason: cell.reason }))
        }))
      }]
    },
    {
      title: 'The ramp',
      blocks: [
        curve(done, { caption: 'Latency, from sample to commit: p99', unit: 'ms', name: 'p99Ms' }),
        curve(done, { caption: 'Latency, from sample to commit: p50', unit: 'ms', name: 'p50Ms' }),
        curve(done, { caption: 'Processor time of the gateway', unit: '% of a core', name: 'cpuPercent' }),
        curve(done, { caption: 'Rows that waited in the spool at the end of a step', unit: 'rows', name: 'waitingRows' })
      ].filter(({ lines }) => lines.length > 0)
    },
    { title: 'All steps', text: ['In the order in which they were measured.'], blocks: done.map(stepsOf) }
  ]
}

/** @param {StudyResult['cells']} cells */
function definition (cells) {
  const bounds = [...new Set(cells.map(({ parameters }) => Number(parameters.p99Ms)))].sort((a, b) => a - b)
  const [{ parameters }] = cells
  const percent = Math.round((PRECISION - 1) * 100)
  return [
    `A sensor gives a value every ${1000 / RATE_HZ} ms: a row of time, sensor and value. All rows take the whole way, in one process: ` +
    'simulator, stage out with its spool on the disk, the embedded broker, stage in, sink.',
    `A step breaks where p99 of the time from sample to commit is above ${bounds.join(' ms, or ')} ms${
      bounds.length > 1 ? ' where the sink gathers rows for a second,' : ''} or ${parameters.p99Times} times that of the first step, ` +
      'where the spool grows over the whole step, where samples do not reach the spool, or where the gateway ends; and only where it ' +
      `does so twice. Between the last step that went well and the first that broke, the search goes on until they are ` +
      `within ${percent} %.`,
    'Simulating the sensors is part of the gateway\'s processor time. p99 is never better than the real one: each row whose age is ' +
    'measured stands for younger ones.'
  ]
}

/** @param {DoneCell} cell */
function kneeOf ({ measures }) {
  const { sensors, p50Ms, p99Ms, cpuPercent, rssBytes, serverCpuPercent, brokenSensors } = measures
  const figures = [
    sensors, sensors * RATE_HZ, p50Ms, p99Ms, cpuPercent, rssBytes / 1e6, serverCpuPercent, brokenSensors
  ]
  return figures.map(value => ({ value: Number.isFinite(value) ? value : null }))
}

/** @param {DoneCell[]} done @param {{caption: string, unit: string, name: string}} of @returns {import('../study.js').LinesBlock} */
function curve (done, { caption, unit, name }) {
  return {
    kind: 'lines',
    caption,
    unit,
    xTitle: 'sensors',
    isLogX: true,
    isLog: name.endsWith('Ms'),
    lines: done.map(cell => {
      const { sensors = [], [name]: values = [] } = cell.samples ?? {}
      /** The last of each: one that broke was measured twice. @type {Map<number, number>} */
      const points = new Map(sensors.flatMap((x, i) => Number.isFinite(values[i]) ? [[x, values[i]]] : []))
      const x = [...points.keys()].sort((a, b) => a - b)
      return { label: nameOf(cell), x, y: x.map(each => Number(points.get(each))) }
    }).filter(({ x }) => x.length > 0)
  }
}

/** @param {DoneCell} cell @returns {import('../study.js').TableBlock} */
function stepsOf (cell) {
  const samples = cell.samples ?? {}
  const of = (/** @type {string} */ name, /** @type {number} */ i, unit = 1) => {
    const value = samples[name]?.[i]
    return { value: Number.isFinite(value) ? value / unit : null }
  }
  return {
    kind: 'table',
    caption: nameOf(cell),
    heading: 'sensors',
    columns: [
      { title: 'Values stored', unit: '1/s', digits: 0 },
      { title: 'p50', unit: 'ms', digits: 0 },
      { title: 'p99', unit: 'ms', digits: 0 },
      { title: 'Gateway', unit: '% of a core', digits: 0 },
      { title: 'Gateway', unit: 'MB', digits: 0 },
      { title: 'Waiting', unit: 'rows', digits: 0 },
      { title: '' }
    ],
    rows: (samples.sensors ?? []).map((count, i) => ({
      label: count.toLocaleString('en-US'),
      figures: [
        ...['valuesPerSecond', 'p50Ms', 'p99Ms', 'cpuPercent'].map(name => of(name, i)), of('rssBytes', i, 1e6), of('waitingRows', i),
        { value: i === cell.measures.lastStep ? 'the knee' : i === cell.measures.firstBrokenStep ? 'broken' : '' }
      ]
    }))
  }
}

/** @param {StudyResult['cells'][number]} cell */
function nameOf (cell) {
  return 'version' in cell && cell.version ? cell.version : String(cell.parameters.database)
}

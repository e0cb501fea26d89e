/**
 * INVENTED figures: nothing here was measured or published. They are of all kinds that a report has to cope with, not of any study.
 *
 * @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult
 * @typedef {import('../../../gateway/bench/studies/study.js').Section} Section
 * @typedef {import('../../../gateway/bench/studies/study.js').Figure} Figure
 */

const DATABASES = ['Alpha', 'Beta', 'Gamma', 'Delta']
const CLIENTS = [1, 2, 4, 8, 16, 32, 48]
const NO_DELTA = 'There is no Delta on this machine.'
export const MARKUP = '<script>document.title = "run"</script><img src=x onerror="alert(1)"> & "quotes"'

/** @param {Partial<StudyResult>} [other] @returns {StudyResult} */
export function inventedResult (other = {}) {
  return {
    version: 1,
    study: 'invented',
    title: 'Invented figures: every kind of block that a report can have',
    paper: 'N. Obody and A. Nother: An Invented Paper with Invented Figures, for Looking at a Report. Nowhere, 2026',
    startedMs: Date.UTC(2026, 10, 23, 2, 17, 35),
    endedMs: Date.UTC(2026, 10, 23, 2, 43, 10),
    isComplete: true,
    limited: 'Invented: gateway and servers were held to 25 % of one core and 512 MB, to be like a Raspberry Pi.',
    environment: {
      Processor: 'Invented Core 9 at 3.2 GHz',
      Cores: '2',
      Memory: '7.6 GB',
      Disk: 'a file system of no name, 40 GB free',
      System: 'Debian 12, Linux 6.1',
      Versions: 'Node 24.0, Alpha 15.2, Beta 10.11, FerretDB 1.24 (speaks the protocol of Gamma)',
      Commit: '0123456',
      Server: 'postgres://bench:hunter2@127.0.0.1:5432/bench'
    },
    options: { isFull: false, sweep: { databases: ['alpha', 'beta'], batchSizes: [1, 1000], seconds: 5 } },
    cut: ['30 batches of each size instead of 500.', '10,000,000 rows instead of 2,800,000,000.'],
    cells: [
      ...DATABASES.slice(0, 3).map(done),
      { id: 'd', label: 'Delta, 1 client', parameters: { database: 'delta' }, state: 'absent', reason: NO_DELTA },
      { id: 'e', label: 'Delta, 48 clients', parameters: { database: 'delta' }, state: 'absent', reason: NO_DELTA },
      {
        id: 'f', label: 'Beta, 48 clients', parameters: { database: 'beta' }, state: 'failed',
        reason: `Refused: ${MARKUP}, password=hunter2`
      }
    ],
    ...other
  }
}

/** @param {string} name @param {number} i @returns {import('../../../gateway/bench/studies/study.js').DoneCell} */
function done (name, i) {
  return {
    id: name,
    label: `${name}, 1 client`,
    parameters: { database: name },
    state: 'done',
    startedMs: Date.UTC(2026, 10, 23, 2, 17 + i),
    tookSeconds: 40,
    measures: { rowsPerSecond: 1000 * (i + 1) },
    notes: i === 2 ? ['Measured warm: caches could not be dropped.'] : undefined
  }
}

/** @param {number} [factor]  of all that was measured @returns {Section[]} */
export function inventedSections (factor = 1) {
  return [
    {
      title: 'Loads and scores',
      text: [`A paragraph with ${MARKUP}.`, 'Contradictions in the paper are printed.'],
      blocks: [loads(factor), extremes(), broad(factor)]
    },
    { title: 'Bars', blocks: [shares(factor), best(factor), nineSeries(factor), oneBar(), manyBars(factor)] },
    { title: 'Boxes', blocks: [latencies(factor), wideBoxes()] },
    { title: 'Lines', blocks: [concurrency(factor), overTime(factor), oneLine()] }
  ]
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').TableBlock} */
function loads (factor) {
  const published = [
    [5, 170.835, 1840, 9.4, 2.096, 715, 88, 5, 15], [1, 160.834, 417, 6.5, 2.232, 395, 32, 5, 59],
    [1, 257.166, 71, 13.9, 3.561, 710, 58, 4, 35]
  ]
  const rows = published.map((figures, i) => ({
    label: ['Alpha individual', 'Alpha bulk', 'FerretDB (speaks the protocol of Gamma) individual'][i],
    figures: figures.map((value, j) => ({ value: value * factor * (0.7 + ((i * 9 + j * 7) % 11) / 10), published: value }))
  }))
  return {
    kind: 'table',
    caption: 'Table III (invented). Loads while writing',
    columns: [
      { title: 'Server', unit: 'CPU %', digits: 1 }, { title: 'Server', unit: 'memory, MB', digits: 1 },
      { title: 'Server', unit: 'IO, kB/s', digits: 0 }, { title: 'Client', unit: 'CPU %', digits: 1 },
      { title: 'Client', unit: 'memory, MB', digits: 1 }, { title: 'Network', unit: 'kbit/s', digits: 0 },
      { title: 'Disk', unit: 'MB', digits: 0 }, { title: 'Difficulty', digits: 0 }, { title: 'Score', unit: '%', digits: 1 }
    ],
    rows: [...rows, {
      label: 'Delta',
      figures: [5, 147.444, 37, 11.7, 0.284, 785, 5, 1, 39].map(value => ({ value: null, published: value, reason: NO_DELTA }))
    }],
    notes: ['The table gives 13.6 where the text has 15 (invented).']
  }
}

/** @returns {import('../../../gateway/bench/studies/study.js').TableBlock} */
function extremes () {
  return {
    kind: 'table',
    caption: 'One cell of each extreme',
    heading: 'Which',
    columns: [{ title: 'Value', unit: 'rows/s' }, { title: 'What it is' }],
    rows: [
      { label: 'zero', figures: [{ value: 0, published: 0 }, { value: 'nothing was stored' }] },
      { label: 'tiny', figures: [{ value: 1e-6, published: 2e-6 }, { value: MARKUP }] },
      { label: 'huge', figures: [{ value: 1e9, published: 1 }, { value: 'a billion' }] },
      { label: 'negative', figures: [{ value: -12.5, published: 100 }, { value: 'below zero' }] },
      {
        label: 'a label that is as long as a sentence, and_has_a_word_that_is_longer_than_any_column_of_any_table_should_ever_be',
        figures: [{ value: null, reason: 'It could not be read.' }, { value: null }]
      }
    ]
  }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').TableBlock} */
function broad (factor) {
  const sizes = Array.from({ length: 14 }, (_, i) => 10 ** (i / 3))
  return {
    kind: 'table',
    caption: 'Fourteen columns',
    heading: 'Clients',
    columns: sizes.map(size => ({ title: `${Math.round(size)} rows`, unit: 'rows/s' })),
    rows: CLIENTS.map(clients => ({
      label: String(clients),
      figures: sizes.map(size => ({ value: 1000 * factor * clients * size, published: clients > 8 ? null : 1200 * clients * size }))
    }))
  }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').BarsBlock} */
function nineSeries (factor) {
  const series = ['Alpha', 'Beta', 'Gamma', 'Delta', 'Epsilon', 'Zeta', 'Eta', 'Theta', 'Iota']
  const figures = series.map((_, i) => ({ value: factor * (90 - 7 * i), published: i % 2 ? 80 - 5 * i : null }))
  return { kind: 'bars', caption: 'Nine series', unit: 'MB', series, groups: [{ label: '10 kB', figures }, { label: '100 kB', figures }] }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').BarsBlock} */
function shares (factor) {
  return {
    kind: 'bars',
    caption: 'Figure 4 (invented). Loads in percent of the largest',
    unit: '%',
    series: ['Alpha', 'Beta', 'FerretDB', 'Delta'],
    groups: ['Server CPU', 'Server memory', 'Network'].map((label, i) => ({
      label,
      figures: [[100, 93], [40 + 5 * i, 35], [null, 71], [0, 4]].map(([value, published]) =>
        value === null ? { value, published, reason: 'It stopped with status 1.' } : { value: value * factor, published })
    }))
  }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').BarsBlock} */
function best (factor) {
  return {
    kind: 'bars',
    caption: 'Highest rate of each store (invented)',
    unit: 'rows/s',
    isLog: true,
    series: ['rate'],
    groups: [
      ['files', 2_480_000, 6_107_000], ['Alpha', 731_000, 743_000], ['Beta', 96_200, 156_000],
      ['Delta, which takes rows one by one', null, 345_000], ['Gamma', 0, 506_000]
    ].map(([label, value, published]) => ({
      label: String(label),
      figures: [{
        value: value === null ? null : Number(value) * factor,
        published: Number(published),
        reason: value === null ? NO_DELTA : undefined
      }]
    }))
  }
}

/** @returns {import('../../../gateway/bench/studies/study.js').BarsBlock} */
function oneBar () {
  const groups = [{ label: 'all', figures: [{ value: 12.25 }] }]
  return { kind: 'bars', caption: 'One group, one bar', unit: 'ms', series: ['only'], groups }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').BarsBlock} */
function manyBars (factor) {
  return {
    kind: 'bars',
    caption: 'Forty-eight groups, from a millionth to a billion',
    unit: 'rows/s',
    isLog: true,
    series: ['rate'],
    groups: Array.from({ length: 48 }, (_, i) => ({
      label: `${i + 1} clients${i % 12 === 5 ? ', with a label that is much longer than all of the other labels of the chart' : ''}`,
      figures: [{ value: factor * 1e-6 * 10 ** (15 * i / 47) }]
    }))
  }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').BoxesBlock} */
function latencies (factor) {
  return {
    kind: 'boxes',
    caption: 'Figure 2 (invented). Latency of a batch, by its size',
    unit: 'ms',
    isLog: true,
    series: ['Alpha', 'Beta', 'Delta'],
    groups: [1000, 20_000, 100_000].map((size, i) => ({
      label: `${size.toLocaleString('en-GB')} rows`,
      boxes: [box(4 * factor * 8 ** i), box(7 * factor * 6 ** i), null],
      published: [5 * 8 ** i, 6 * 6 ** i, 100]
    })),
    notes: ['Published are means (invented).']
  }
}

/** @returns {import('../../../gateway/bench/studies/study.js').BoxesBlock} */
function wideBoxes () {
  const zero = { min: 0, lower: 1e-6, median: 1, upper: 1e3, max: 1e9, mean: 1e6, count: 7 }
  const point = { min: 3, lower: 3, median: 3, upper: 3, max: 3, mean: 3, count: 1 }
  return {
    kind: 'boxes',
    caption: 'Boxes of extremes',
    unit: 'µs',
    isLog: true,
    series: ['one'],
    groups: [
      { label: 'from 0 to a billion', boxes: [zero] }, { label: 'a single value', boxes: [point] }, { label: 'nothing', boxes: [null] }
    ]
  }
}

/** @param {number} median */
function box (median) {
  return { min: median / 2, lower: median * 0.8, median, upper: median * 1.4, max: median * 9, mean: median * 1.3, count: 30 }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').LinesBlock} */
function concurrency (factor) {
  const rate = (/** @type {number} */ most) => CLIENTS.map(clients => Math.round(most * factor * clients / (clients + 6)))
  return {
    kind: 'lines',
    caption: 'Figure 3 (invented). Rate by number of clients',
    unit: 'rows/s',
    xTitle: 'clients',
    isLogX: true,
    isLog: true,
    lines: [
      ...DATABASES.slice(0, 3).map((label, i) => ({ label, x: CLIENTS, y: rate(900_000 / (i + 1)) })),
      { label: 'Alpha', x: CLIENTS, y: CLIENTS.map(clients => 1_300_000 * clients / (clients + 9)), isPublished: true }
    ]
  }
}

/** @param {number} factor @returns {import('../../../gateway/bench/studies/study.js').LinesBlock} */
function overTime (factor) {
  const seconds = Array.from({ length: 5400 }, (_, i) => i)
  const wave = (/** @type {number} */ i, /** @type {number} */ period) => 40 + 30 * Math.sin(i / period) + (i * 7919 % 13)
  return {
    kind: 'lines',
    caption: 'Figure 6 (invented). Processor time while writing',
    unit: '% of a core',
    xTitle: 'time, h:min:s',
    isTimeX: true,
    lines: [
      { label: 'user', x: seconds, y: seconds.map(i => factor * wave(i, 400)) },
      { label: 'system', x: seconds, y: seconds.map(i => factor * wave(i, 900) / 3 + (i === 2000 ? 180 : 0)) },
      { label: 'waiting for the disk', x: seconds, y: seconds.map(i => i > 2600 && i < 3200 ? NaN : factor * wave(i, 150) / 8) }
    ]
  }
}

/** @returns {import('../../../gateway/bench/studies/study.js').LinesBlock} */
function oneLine () {
  return { kind: 'lines', caption: 'A line of one point', unit: 'rows/s', xTitle: 'clients', lines: [{ label: 'only', x: [1], y: [0] }] }
}

import { expect } from 'chai'
import { bestOf, LATENCY, PATTERNS, POINTS, THROUGHPUT } from '../../../gateway/bench/studies/weissbach/published.js'
import { weissbach } from '../../../gateway/bench/studies/weissbach/study.js'

/**
 * @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult
 * @typedef {import('../../../gateway/bench/studies/study.js').Block} Block
 */

const VERSIONS = { postgresql: 'PostgreSQL 15.18', mongodb: 'FerretDB, MongoDB protocol 7.0.42', sqlite: 'SQLite 3.53.4' }
const BLOBS = [1, 10_000, 100_000]
/** Invented: of each database, one by one. */
const RATES = { postgresql: 1000, mongodb: 100, sqlite: 2000 }
/** Likewise, as a multiple of a flow's. */
const ENGINE_FACTORS = { flink: 2, spark: 0.5 }

/** @param {boolean} [isWhole]  false: MongoDB alone, which is absent @returns {StudyResult} */
function result (isWhole = true) {
  const { cells } = weissbach.plan({ isFull: false, sweep: { databases: Object.keys(RATES) } })
  const its = cells.filter(({ parameters }) => isWhole || parameters.database === 'mongodb')
  return {
    version: 1,
    study: 'weissbach',
    title: weissbach.title,
    paper: weissbach.paper,
    startedMs: 0,
    endedMs: 1,
    isComplete: true,
    limited: '',
    environment: {},
    options: { isFull: false, sweep: {} },
    cut: [],
    cells: its.map(({ id, label, parameters }) => isWhole
      ? { id, label, parameters, state: 'done', startedMs: 0, tookSeconds: 1, ...invented(parameters) }
      : { id, label, parameters, state: 'absent', reason: 'FerretDB is not built.' })
  }
}

/** Gathered, ten times as many a second, and a request takes a hundred times as long. @param {Record<string, any>} parameters */
function invented ({ database, engine, pattern, blobBytes, batchRows }) {
  const factor = ENGINE_FACTORS[/** @type {'flink'} */ (engine)] ?? 1
  const rate = factor * RATES[/** @type {'sqlite'} */ (database)] * (batchRows === 1 ? 1 : 10) / (1 + BLOBS.indexOf(blobBytes))
  const mean = 1e6 / rate * (batchRows === 1 ? 1 : 1000)
  const latency = {
    Min: mean / 2, Lower: mean * 0.8, Median: mean * 0.9, Upper: mean * 1.2, Max: mean * 9, Mean: mean, P95: mean * 3, Deviation: 7
  }
  const of = (/** @type {string} */ request) =>
    Object.fromEntries(Object.entries(latency).map(([name, value]) => [`${request}${name}Microseconds`, value]))
  return {
    measures: {
      records: 100,
      recordsPerSecond: rate,
      rows: 40,
      comparedReads: 20,
      failedRequests: 0,
      operatorCpuPercent: 30,
      ...pattern !== 'insert' && { ...of('read'), readCount: 100 },
      ...pattern !== 'read' && { ...of('write'), writeCount: 100 },
      clientCpuPercent: 90,
      clientRssBytes: 7e7,
      ...database !== 'sqlite' && { serverCpuPercent: 80, serverRssBytes: 5e7 }
    },
    version: VERSIONS[/** @type {'sqlite'} */ (database)]
  }
}

/** @param {string} start @param {StudyResult} [of] @returns {any} */
function blockOf (start, of = result()) {
  /** @type {Block[]} */
  const blocks = weissbach.report(of).flatMap(section => section.blocks)
  const found = blocks.find(({ caption }) => caption.startsWith(start))
  if (!found) throw new Error(`no ${start}`)
  return found
}

describe('the report of Weißbach, Hilbert and Springer', () => {
  it('has the paper\'s four tables and figures 3 to 9', () => {
    const captions = weissbach.report(result()).flatMap(({ blocks }) => blocks.map(({ caption }) => caption))
    for (const name of ['Figure 3', 'Figure 4', 'Figure 5', 'Figure 6', 'Figure 7', 'Figure 8', 'Figure 9', 'Table 1', 'Table 2', 'Table 3',
      'Table 4']) {
      expect(captions.filter(caption => caption.startsWith(`${name}:`)), name).to.have.length(1)
    }
  })

  it('draws throughput by BLOB and system, and calls FerretDB by its name', () => {
    const { series, groups } = blockOf('Figure 6')
    expect(series).to.deep.equal(['PostgreSQL', 'FerretDB, for MongoDB', 'SQLite', 'Cassandra'])
    expect(groups.map((/** @type {any} */ { label }) => label)).to.deep.equal([
      '1 B, one by one', '1 B, gathered', '10,000 B, one by one', '10,000 B, gathered', '100,000 B, one by one', '100,000 B, gathered'
    ])
    expect(groups[5].figures[1]).to.include({ published: 3900 })
    expect(groups[0].figures.slice(0, 3).map((/** @type {any} */ { value }) => value)).to.deep.equal([1000, 100, 2000])
    expect(groups[0].figures[3]).to.deep.equal({ value: null, published: 77_200, reason: 'It was not chosen.' })
  })

  it('says that FerretDB, which has no index for it, is not MongoDB, where it was measured', () => {
    const [{ text: told }] = weissbach.report(result())
    const [{ text: untold }] = weissbach.report(result(false))
    expect(told?.join(' ')).to.include('FerretDB over PostgreSQL stands for MongoDB')
    expect(untold?.join(' ')).to.not.include('stands for MongoDB')
  })

  it('draws the latency of reads one by one, with the paper\'s means', () => {
    const { series, groups } = blockOf('Figure 8')
    expect(series).to.deep.equal(['PostgreSQL', 'FerretDB, for MongoDB', 'SQLite', 'Cassandra'])
    expect(groups[0].boxes.map((/** @type {any} */ each) => each && each.mean)).to.deep.equal([1000, 10_000, 500, null])
    expect(groups[0].published).to.deep.equal([295, null, null, 364])
  })

  it('ranks ours beside the paper\'s best and second best', () => {
    const [read] = blockOf('Table 3').rows
    expect(read.figures).to.deep.equal([
      { value: 'SQLite, gathered', published: 'Cassandra / Flink' }, { value: 20_000, published: 97_300 },
      { value: 'PostgreSQL, gathered', published: 'Cassandra / Apex' }, { value: 10_000, published: 94_500 }
    ])
    const [latency] = blockOf('Table 4').rows
    expect(latency.figures).to.deep.equal([
      { value: 'SQLite, one by one', published: 'PostgreSQL' }, { value: 500, published: 261 },
      { value: 'PostgreSQL, one by one', published: 'MariaDB' }, { value: 1000, published: 342 }
    ])
  })

  it('counts which of the flow\'s ways is faster beside the paper\'s engines', () => {
    const { columns, rows } = blockOf('Table 1')
    const titles = columns.map((/** @type {any} */ { title }) => title)
    expect(titles).to.deep.equal(
      ['Cassandra', 'MongoDB, here FerretDB', 'PostgreSQL', 'MariaDB', 'HBase', 'SQLite', 'DuckDB', 'Total'])
    const [apex, , , oneByOne, gathered] = rows
    expect(apex.figures.at(-1)).to.include({ value: null, published: 14 })
    expect(apex.figures[0].reason).to.include('six servers')
    expect(oneByOne.figures.at(-1)).to.deep.equal({ value: 0 })
    expect(gathered.figures.at(-1)).to.deep.equal({ value: 36 })
    expect(gathered.figures[3]).to.deep.equal({ value: null, reason: 'It was not chosen.' })
    expect(blockOf('Table 2').rows[3].figures.at(-1)).to.deep.equal({ value: 27 })
  })

  it('has engines beside a flow one by one, with the paper\'s figures of them, and counts which is the fastest', () => {
    const { columns, rows } = blockOf('Throughput, a flow and engines')
    expect(columns.map((/** @type {any} */ { title }) => title)).to.deep.equal(
      ['PostgreSQL, A Sluice flow', 'PostgreSQL, Flink', 'PostgreSQL, Spark'])
    expect(rows.map((/** @type {any} */ { label }) => label)).to.deep.equal(['Read, 1 B', 'Insert, 1 B', 'Update, 1 B', 'Mixed, 1 B'])
    expect(rows[0].figures).to.deep.equal([{ value: 1000 }, { value: 2000 }, { value: 500 }])
    expect(blockOf('Latency of reads, a flow and engines').rows[3].figures[1]).to.deep.equal({ value: 500 })
    expect(blockOf('Experiments in which').rows.map((/** @type {any} */ { figures: [{ value }] }) => value)).to.deep.equal([0, 4, 0])
    expect(() => blockOf('Throughput, a flow', result(false))).to.throw('no Throughput')
    const absent = result()
    const engines = absent.cells.map(cell => cell.parameters.engine ? { ...cell, state: 'absent', reason: 'It is not built.' } : cell)
    const figures = blockOf('Throughput, a flow', /** @type {any} */ ({ ...absent, cells: engines })).rows[0].figures
    expect(figures).to.deep.equal([{ value: 1000 }, ...Array(2).fill({ value: null, reason: 'It is not built.' })])
  })

  it('says what gathering brings', () => {
    const { rows } = blockOf('Records a second, gathered')
    expect(rows[0].figures.map((/** @type {any} */ { value }) => Math.round(value))).to.deep.equal([10, 10, 10, 10, 10, 10])
  })

  it('has what a server takes, and what the client takes where the database is in it', () => {
    const figuresOf = (/** @type {string} */ start) => {
      const { columns, rows: [{ figures }] } = blockOf(start)
      return columns.slice(-2).map((/** @type {any} */ { title, unit }, /** @type {number} */ i) => [title, unit, figures.at(i - 2).value])
    }
    expect(figuresOf('PostgreSQL 15.18, one by one')).to.deep.equal([['Server', 'CPU %', 80], ['Server', 'memory, MB', 50]])
    expect(figuresOf('SQLite 3.53.4, gathered')).to.deep.equal(
      [['Process', 'CPU %', 90], ['Process', 'memory, MB', 70]])
  })

  it('says why a system has no figures, in every table', () => {
    const absent = result(false)
    expect(blockOf('Figure 6', absent).groups[5].figures[0]).to.deep.equal(
      { value: null, published: 3900, reason: 'FerretDB is not built.' })
    expect(blockOf('Table 1', absent).rows[3].figures[1]).to.deep.equal({ value: null, reason: 'FerretDB is not built.' })
    expect(blockOf('Table 3', absent).rows[0].figures[0]).to.deep.equal({ value: null, published: 'Cassandra / Flink' })
    const reasons = blockOf('What is not measured', absent).rows.map((/** @type {any} */ { label }) => label)
    expect(reasons).to.deep.equal(['ClickHouse', 'InfluxDB'])
  })

  it('has what the paper prints, and what in it contradicts itself', () => {
    const total = (/** @type {number[][]} */ lists) => lists.flat().reduce((sum, each) => sum + each, 0)
    expect(Object.values(POINTS.throughput).map(points => total([points]))).to.deep.equal([14, 46, 4])
    expect(Object.values(POINTS.latency).map(points => total([points]))).to.deep.equal([16, 16, 13])
    expect(THROUGHPUT).to.have.length(12)
    expect(LATENCY).to.have.length(9)
    expect(Object.keys(PATTERNS).map(pattern => BLOBS.map(blobBytes => Math.max(...['Cassandra', 'HBase', 'PostgreSQL', 'MongoDB'].map(
      system => bestOf(THROUGHPUT, system, pattern, blobBytes) ?? 0))))).to.deep.equal(
      [[97_300, 49_300, 19_900], [227_100, 38_500, 4700], [86_200, 30_400, 3000], [77_200, 27_400, 3900]])
    expect(blockOf('Table 3').notes.join(' ')).to.include('twice').and.include('3,900 and 3,000')
    expect(blockOf('Table 4').notes.join(' ')).to.include('295 and 364')
  })
})

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { serversOf } from '../../../gateway/bench/servers.js'
import { readStudyArguments } from '../../../gateway/bench/studies/arguments.js'
import { runStudies } from '../../../gateway/bench/studies/command.js'
import { configText, readSettings, sweepOf } from '../../../gateway/bench/studies/scits/config.js'

/** A file as SciTS has published it for its batching workload, with a byte order mark and comments. */
const PUBLISHED = `\uFEFF<?xml version="1.0" encoding="utf-8"?>

<configuration>
    <appSettings>
        <!-- Postgres connection settings -->
        <add key="PostgresConnection" value="Server=10.0.0.1;Port=5432;User Id=postgres;Password=secret;" />
        <add key="TestRetries" value="500" />
        <add key="DaySpan" value="1" />
        <!-- Could be: ClickhouseDB, InfluxDB, TimescaleDB, PostgresDB, MySQLDB -->
        <add key="TargetDatabase" value="PostgresDB" />
        <add key="StartTime" value="2022-01-01T00:00:00.00" />
        <add key="GlancesOutput" value="Glances.csv"/>
        <add key="QueryType" value="RangeQueryRawData" />
        <add key="AggregationIntervalHour" value="1" />
        <add key="DurationMinutes" value="60" />
        <add key="SensorsFilter" value="1,2,3,4,5,6,7,8,9,10" />
        <add key="SensorID" value="100" />
        <add key="MaxValue" value="20000000" />
        <add key="MinValue" value="100000" />
        <add key="BatchSizeOptions" value=" 1000 , 5000,10000, " />
        <add key="ClientNumberOptions" value="1" />
        <add key="SensorNumber" value="100000" />
    </appSettings>
</configuration>
`

/** @param {string} settings */
const inside = settings => `<configuration><appSettings>${settings}</appSettings></configuration>`

describe('a configuration of SciTS', () => {
  it('says what the study is to measure, in the form in which SciTS has published it', () => {
    expect(sweepOf(PUBLISHED)).to.deep.equal({
      repetitions: 500,
      daySpan: 1,
      databases: ['postgresql'],
      startTime: '2022-01-01T00:00:00.000Z',
      queryType: ['Q1'],
      aggregationIntervalHour: 1,
      durationMinutes: 60,
      sensorsFilter: '1,2,3,4,5,6,7,8,9,10',
      sensorId: 100,
      maxValue: 20_000_000,
      minValue: 100_000,
      batchSizes: [1000, 5000, 10_000],
      writers: [1],
      sensors: [100_000],
      unused: ['PostgresConnection', 'GlancesOutput']
    })
  })

  it('is written so that it reads the same', () => {
    const settings = { TargetDatabase: 'ClickhouseDB', SensorsFilter: '1,2', 'a & b': '<"\'>' }
    expect(Object.fromEntries(readSettings(configText(settings)))).to.deep.equal(settings)
  })

  it('names queries by number or operation, and all of them', () => {
    const typesOf = (/** @type {string} */ value) => sweepOf(inside(`<add key='QueryType' value='${value}'/>`)).queryType
    expect(['Q2', 'q3', 'DifferenceAggQuery'].map(typesOf)).to.deep.equal([['Q2'], ['Q3'], ['Q5']])
    expect(typesOf('All')).to.deep.equal(['Q1', 'Q2', 'Q3', 'Q4', 'Q5'])
  })

  for (const [what, text, message] of /** @type {[string, string, RegExp][]} */ ([
    ['that ends too early', '<configuration><appSettings>', /ends without <\/appSettings>/],
    ['that is not closed', inside('\n<add key="a" value="b">'), /^Line 2 .* "<add …" is not expected/],
    ['with a setting outside', '<configuration><add key="a" value="b"/>', /not in <appSettings>/],
    ['with another element', inside('<startup>'), /<startup> is not expected/],
    ['with text', inside('\n\nTestRetries'), /^Line 3 .* is not expected/],
    ['with a setting without a value', inside('<add key="a"/>'), /not one key and one value/],
    ['with a setting twice', inside('<add key="a" value="1"/><add key="a" value="2"/>'), /"a" is set twice/],
    ['that is not XML', 'TestRetries=20', /^Line 1/],
    ['with no number', inside('<add key="TestRetries" value="many"/>'), /TestRetries of the configuration is "many"/],
    ['with a list of no numbers', inside('<add key="SensorsFilter" value="All"/>'), /SensorsFilter .* "All"/],
    ['with no time', inside('<add key="StartTime" value="yesterday"/>'), /StartTime .* "yesterday"/],
    ['with another database', inside('<add key="TargetDatabase" value="OracleDB"/>'), /TargetDatabase .* "OracleDB"/],
    ['with another query', inside('<add key="QueryType" value="Q6"/>'), /QueryType .* "Q6"/]
  ])) {
    it(`${what} is refused, with the place`, () => {
      expect(() => sweepOf(text)).to.throw(message).with.property('code', 'SLUICE_BENCH_CONFIG')
    })
  }

  it('that is wrong does not show its passwords', () => {
    const text = inside('<add key="PostgresConnection" value="Password=secret" ')
    expect(() => sweepOf(text)).to.throw().with.property('message').that.does.not.include('secret')
  })

  it('is an option of the command, over which others win', async function () {
    this.timeout(120_000)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    try {
      const config = join(folder, 'App.config')
      await writeFile(config, inside('<add key="TargetDatabase" value="SQLite"/><add key="BatchSizeOptions" value="50"/>' +
        '<add key="ClientNumberOptions" value="1"/><add key="TestRetries" value="2"/><add key="QueryType" value="Q3"/>'))
      const values = { full: false, folder, resume: '', config, seconds: '0.2', rows: '200', repetitions: '3' }
      const options = readStudyArguments(values, ['scits'])
      const stop = new AbortController()
      let page = ''
      const tell = (/** @type {import('../../../gateway/bench/studies/command.js').StudyEvent} */ event) => {
        if (event.event === 'progress' && event.label.includes('SQLite, scaling')) stop.abort()
        if (event.event === 'report') page = event.page
      }
      await runStudies(options, { servers: serversOf({}, {}, {}), signal: stop.signal, tell })
      const result = JSON.parse(await readFile(join(dirname(page), 'result.json'), 'utf8'))
      expect(result.options.sweep).to.deep.include({ databases: ['sqlite'], batchSizes: [50], writers: [1], repetitions: 3 })
      expect(result.cells[0]).to.deep.include({ id: 'sqlite-batching-50', state: 'done' })
      expect(result.cells[0].samples.batchMicroseconds).to.have.length(3)
      const csv = await readFile(join(dirname(page), 'scits.csv'), 'utf8')
      expect(csv).to.match(/^Date,SucceededDataPoints,.*\r\n\d+,50,0,BatchIngestion,SQLite,/)
      expect(() => readStudyArguments(values, ['haenisch'])).to.throw('--config is for scits')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

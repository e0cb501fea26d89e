import { expect } from 'chai'
import { batchesOf } from '../../../gateway/bench/studies/scits/batches.js'
import { readSettings, sweepOf } from '../../../gateway/bench/studies/scits/config.js'
import { checkCount } from '../../../gateway/bench/studies/scits/ingest.js'
import { asked } from '../../../gateway/bench/studies/scits/queries.js'
import { rollingRate } from '../../../gateway/bench/studies/scits/rate.js'
import { scits } from '../../../gateway/bench/studies/scits/study.js'
import { madeResult } from './scits-result.js'

const MINUTE = 60_000_000_000n

describe('the study SciTS', () => {
  describe('its plan', () => {
    it('has the sizes of the paper where it is full, one database after the other', () => {
      const { cells } = scits.plan({ isFull: true, sweep: { databases: ['postgresql', 'clickhouse'] } })
      expect([...new Set(cells.map(({ parameters }) => parameters.database))]).to.deep.equal(['clickhouse', 'postgresql'])
      const its = cells.filter(({ parameters }) => parameters.database === 'clickhouse').map(({ parameters }) => parameters)
      const of = (/** @type {string} */ workload, /** @type {string} */ name) => {
        return its.filter(each => each.workload === workload).map(each => each[name])
      }
      expect(of('batching', 'batchRows')).to.deep.equal([1000, 5000, 10_000, 20_000, 50_000, 100_000])
      expect(of('batching', 'batches')).to.deep.equal(Array(6).fill(500))
      expect(of('concurrency', 'clients')).to.deep.equal([1, 2, 4, 8, 12, 18, 24, 36, 48])
      expect(of('concurrency', 'batchRows')).to.deep.equal(Array(9).fill(20_000))
      expect(of('scaling', 'windowSeconds')).to.deep.equal([60])
      expect(of('query', 'runs')).to.deep.equal(Array(5).fill(20))
    })

    it('says what is less than in the paper, and takes minutes', () => {
      const { cells, cut } = scits.plan({ isFull: false, sweep: { databases: ['clickhouse', 'influxdb', 'postgresql'] } })
      expect(cells.reduce((sum, { seconds }) => sum + seconds, 0) / 60).to.be.below(12)
      expect(cut.join(' ')).to.include('30 batches of each size').and.include('3 runs of each query').and.include('2.88 · 10⁹')
    })

    it('keeps 15 days, whatever the number of rows', () => {
      const { cells: [{ parameters: { stepNs } }] } = scits.plan({ isFull: false, sweep: { rows: 1000 } })
      expect(Number(stepNs) * 1000).to.equal(15 * 86_400e9)
    })

    it('follows a configuration of SciTS, and says what of it means nothing here', () => {
      const sweep = sweepOf(`<configuration><appSettings><add key="TargetDatabase" value="InfluxDB" /><add key="TestRetries" value="7" />
        <add key="BatchSizeOptions" value="300" /><add key="QueryType" value="Q2" /><add key="GlancesNIC" value="lo" />
        </appSettings></configuration>`)
      const { cells, cut } = scits.plan({ isFull: false, sweep })
      expect(cells.map(({ id }) => id)).to.deep.equal([
        'influxdb-batching-300', ...[1, 4, 16, 48].map(count => `influxdb-concurrency-${count}`), 'influxdb-scaling', 'influxdb-Q2'
      ])
      expect(cells[0].parameters).to.include({ batches: 7 })
      expect(cells[1].parameters).to.include({ batchRows: 300 })
      expect(cells.at(-1)?.parameters).to.include({ runs: 7 })
      expect(cut).to.include('Settings that mean nothing here: GlancesNIC.')
    })

    it('has none of the databases that it does not know', () => {
      expect(() => scits.plan({ isFull: false, sweep: { databases: ['oracle'] } })).to.throw().with.property('code', 'SLUICE_BENCH_UNKNOWN')
      const { cut } = scits.plan({ isFull: false, sweep: { databases: ['oracle', 'sqlite'] } })
      expect(cut).to.include('Not databases of this study: oracle.')
    })
  })

  describe('its rows', () => {
    const rows = { batchRows: 4, sensors: 3, startNs: 1000n, stepNs: 10n, clients: 2 }

    it('follow each other regularly in time and by sensor, however many clients take turns', () => {
      const makers = [batchesOf(rows, 0), batchesOf(rows, 1)]
      const batches = [makers[0], makers[1], makers[0]].map(maker => maker.next().value)
      expect(batches.flatMap(({ time }) => [...time])).to.deep.equal(Array.from({ length: 12 }, (_, n) => 1000n + 10n * BigInt(n)))
      expect(batches.flatMap(({ columns: [sensor] }) => [.../** @type {BigInt64Array} */ (sensor)]))
        .to.deep.equal(Array.from({ length: 12 }, (_, n) => BigInt(n % 3)))
      expect(batches[0].fields.map(({ name, type }) => [name, type])).to.deep.equal([['sensor_id', 'int64'], ['value', 'float64']])
      expect(batches.map(({ identity }) => [identity?.epoch, identity?.seq]))
        .to.deep.equal([['client-0', 0], ['client-1', 0], ['client-0', 1]])
    })

    it('have values that are uniform from 0 to 2³¹ − 1', () => {
      const { columns: [, column] } = batchesOf({ ...rows, batchRows: 100_000 }, 0).next().value
      const values = /** @type {Float64Array} */ (column)
      const tenths = Array(10).fill(0)
      for (const value of values) tenths[Math.floor(value / 2 ** 31 * 10)]++
      expect(values.every(value => Number.isInteger(value) && value >= 0 && value < 2 ** 31)).to.equal(true)
      for (const count of tenths) expect(count).to.be.within(9500, 10_500)
    })
  })

  describe('the rate over a window', () => {
    it('counts a batch over all the time that it took', () => {
      const batches = [{ endedMs: 2000, microseconds: 2_000_000 }, { endedMs: 4000, microseconds: 1_000_000 }]
      const { seconds, rows, rates } = rollingRate(batches, { batchRows: 100, windowSeconds: 1 })
      expect(seconds).to.deep.equal([1, 2, 3, 4])
      expect(rates).to.deep.equal([50, 50, 0, 100])
      expect(rows).to.deep.equal([50, 100, 100, 200])
    })

    it('leaves out a last window that is short, and has one at least', () => {
      expect(rollingRate([{ endedMs: 2400, microseconds: 2_400_000 }], { batchRows: 240, windowSeconds: 1 }).rates.map(Math.round))
        .to.deep.equal([100, 100])
      expect(rollingRate([{ endedMs: 100, microseconds: 100_000 }], { batchRows: 10, windowSeconds: 1 }).rates.map(Math.round))
        .to.deep.equal([100])
      expect(rollingRate([], { batchRows: 10, windowSeconds: 1 }).rates).to.deep.equal([])
    })
  })

  it('counts all rows that were written, and of batches that failed as many as there may be', () => {
    expect(() => checkCount(100, { rows: 100, failedRows: 0 })).not.to.throw()
    expect(() => checkCount(115, { rows: 100, failedRows: 20 }), 'stored although it failed').not.to.throw()
    for (const [there, failedRows] of [[99, 0], [101, 0], [99, 20], [121, 20]]) {
      expect(() => checkCount(there, { rows: 100, failedRows })).to.throw().with.property('code', 'SLUICE_BENCH_COUNT')
    }
  })

  describe('its queries', () => {
    const dataset = { sensors: 50, startNs: 0n, endNs: 15n * 1440n * MINUTE }

    it('ask in each run for another window of the paper\'s length, and other sensors, the same of every database', () => {
      const runs = Array.from({ length: 20 }, (_, i) => /** @type {any} */ (asked('Q1', dataset, i)))
      for (const { from, to, sensors } of runs) {
        expect(to - from).to.equal(10n * MINUTE)
        expect(from >= 0n && to <= dataset.endNs).to.equal(true)
        expect(new Set(sensors).size).to.equal(10)
      }
      expect(new Set(runs.map(({ from }) => from)).size).to.equal(20)
      expect(asked('Q1', dataset, 3)).to.deep.equal(runs[3])
    })

    it('are those of the paper', () => {
      const all = ['Q2', 'Q3', 'Q4', 'Q5'].map(id => /** @type {any} */ (asked(id, dataset, 0)))
      expect(all.map(({ name }) => name)).to.deep.equal(['out-of-range', 'deviation', 'mean', 'difference'])
      expect(all.map(({ from, to }) => BigInt(to - from) / MINUTE)).to.deep.equal([180n, 60n, 1440n, 1440n])
      expect(all.map(({ sensors }) => sensors.length)).to.deep.equal([1, 10, 10, 2])
      expect(all[0]).to.include({ lower: 100_000, upper: 20_000_000, bucketHours: 1 })
    })

    it('are what a configuration chooses, within the rows that there are', () => {
      const choices = {
        durationMinutes: 30, sensorsFilter: '7,8,9', sensorId: 4, firstSensorId: 5, secondSensorId: 6, minValue: 1, maxValue: 2
      }
      const of = (/** @type {string} */ id) => /** @type {any} */ (asked(id, dataset, 0, choices))
      expect(['Q1', 'Q2', 'Q5'].map(id => of(id).sensors)).to.deep.equal([['7', '8', '9'], ['4'], ['5', '6']])
      expect(of('Q4').to - of('Q4').from).to.equal(30n * MINUTE)
      expect(of('Q2')).to.include({ lower: 1, upper: 2 })
      const { from, to } = asked('Q4', { ...dataset, endNs: MINUTE }, 0)
      expect([from, to], 'fewer rows than the window').to.deep.equal([0n, MINUTE])
    })
  })

  describe('its report', () => {
    const sections = scits.report(madeResult())
    /** @param {string} caption @returns {any} */
    const block = caption => sections.flatMap(({ blocks }) => blocks).find(each => each.caption.startsWith(caption))
    /** @param {string} caption @param {string} label */
    const figures = (caption, label) => block(caption).rows.find((/** @type {any} */ row) => row.label === label).figures

    it('draws a box of each size, without the batches that failed', () => {
      const { groups, series, isLog } = block('Figure 2: ')
      expect({ series, isLog }).to.deep.equal({ series: ['PostgreSQL'], isLog: true })
      expect(groups.map((/** @type {any} */ { label }) => label)).to.deep.equal(['20,000 rows', '100,000 rows'])
      expect(groups[0].boxes[0]).to.include({ min: 10, median: 20, max: 30, mean: 20, count: 3 })
      expect(figures('Figure 2, what', 'PostgreSQL')).to.deep.equal([
        { value: 20, published: '95–116' }, { value: 300, published: '> 3000' }, { value: 1 }
      ])
    })

    it('has the peak of the rates, and the figures by the number of clients', () => {
      expect(block('Figure 3: ').lines).to.deep.equal([{ label: 'PostgreSQL', x: [1, 4], y: [1000, 3000] }])
      expect(figures('Figure 3, ', 'PostgreSQL').slice(0, 2)).to.deep.equal([{ value: 3000, published: 400_000 }, { value: '4' }])
      expect(block('Figure 4a').lines.map((/** @type {any} */ { label }) => label)).to.deep.equal(['PostgreSQL', 'PostgreSQL, user'])
    })

    it('has Table 2 with the duration as the paper writes it', () => {
      const [duration, rate, throughput, rows] = figures('Table 2', 'PostgreSQL')
      expect(duration).to.deep.equal({ value: '1:01:05', published: '3:48:10' })
      expect(rate).to.deep.equal({ value: 100_000, published: 210_361.9 })
      expect(throughput).to.deep.equal({ value: 2.4, published: 5.04 })
      expect(rows).to.deep.equal({ value: 366.5, published: '2880' })
      expect(block('Figure 5').lines).to.deep.equal([{ label: 'PostgreSQL', x: [1, 2], y: [5, 6] }])
    })

    it('has Tables 3 to 7 with minimum, mean, 95 %, maximum and deviation', () => {
      expect(figures('Table 3', 'PostgreSQL').slice(0, 5)).to.deep.equal([
        { value: 1, published: 283 }, { value: 2, published: 361.7 }, { value: 2.9, published: 426.6 }, { value: 3, published: 457 },
        { value: 1, published: 51.64 }
      ])
      expect(figures('Table 3', 'PostgreSQL').slice(5)).to.deep.equal([{ value: 46 }, { value: '2 of 3' }])
    })

    it('keeps a row for a system that is not here, with the reason', () => {
      expect(figures('Table 3', 'TimescaleDB')[1]).to.deep.equal({ value: null, published: 910.75 })
      expect(figures('Table 3', 'TimescaleDB')[0].reason).to.equal('This PostgreSQL has no TimescaleDB.')
      expect(figures('Table 2', 'ClickHouse')[0]).to.deep.equal({ value: null, published: '37:32', reason: 'It was not chosen.' })
    })

    it('has Table 1 as it was here, and names contradictions of the paper', () => {
      expect(figures('Table 1', 'BatchSizeOptions')[0]).to.deep.equal({ value: '20000, 100000' })
      expect(figures('Table 1', 'TargetDatabase')[0]).to.deep.equal({ value: 'PostgresDB' })
      expect(block('Databases').notes.join(' ')).to.include('2.88 · 10⁹')
      expect(block('Table 3').notes.join(' ')).to.include('about 5000 points')
    })
  })

  describe('its files', () => {
    const files = scits.files?.(madeResult()) ?? {}
    const [head, ...lines] = files['scits.csv'].trimEnd().split('\r\n').map(line => line.split(','))
    const rows = lines.map(cells => Object.fromEntries(head.map((name, i) => [name, cells[i]])))

    it('log each batch as SciTS does, one that failed with its latency, all with the unit', () => {
      expect(rows.filter(({ BatchSize, ClientsNumber }) => BatchSize === '20000' && ClientsNumber === '1').slice(0, 4).map(row => [
        row.Operation, row.TargetDatabase, row.Latency, row.LatencyUnit, row.SucceededDataPoints, row.FailedDataPoints, row.Iteration
      ])).to.deep.equal([
        ['BatchIngestion', 'PostgresDB', '10', 'ms', '20000', '0', '0'],
        ['BatchIngestion', 'PostgresDB', '20', 'ms', '20000', '0', '1'],
        ['BatchIngestion', 'PostgresDB', '40', 'ms', '0', '20000', '2'],
        ['BatchIngestion', 'PostgresDB', '30', 'ms', '20000', '0', '3']
      ])
      expect(rows[0].Date, 'nanoseconds').to.equal('1700000000000000000')
    })

    it('log each run of a query', () => {
      const runs = rows.filter(({ Operation }) => Operation === 'RangeQueryRawData')
      expect(runs.map(row => [row.Latency, row.SucceededDataPoints, row.Duration, row.StartDate, row.Iteration])).to.deep.equal([
        ['1', '46', '10', '2022-01-01T00:00:00.000Z', '0'], ['2', '46', '10', '2022-01-02T00:00:00.000Z', '1'],
        ['3', '46', '10', '2022-01-03T00:00:00.000Z', '2']
      ])
    })

    it('have the configuration of each database, which reads as what was measured', () => {
      const text = files['scits-PostgresDB.config']
      expect(Object.fromEntries(readSettings(text))).to.include({
        TestRetries: '4', SensorNumber: '1000', DaySpan: '15', QueryType: 'RangeQueryRawData'
      })
      expect(sweepOf(text)).to.deep.include({ databases: ['postgresql'], batchSizes: [20_000, 100_000], writers: [1, 4] })
    })
  })
})

import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { Stats } from '../../gateway/stats/stats.js'

const START_NS = 1_700_000_000_000_000_000n

/** Stats under a clock that stands still until it is moved. */
function statsAt (startNs = START_NS) {
  const clock = { nowNs: startNs, passMs (/** @type {number} */ ms) { this.nowNs += BigInt(Math.round(ms * 1e6)) } }
  return { clock, stats: new Stats({ nowNs: () => clock.nowNs }) }
}

/** Two values a row, of rows that are as old as told. @param {bigint} nowNs @param {number[]} agesMs @param {string} [source] */
function rowsOfAge (nowNs, agesMs, source = 'machine') {
  const time = BigInt64Array.from(agesMs, age => nowNs - BigInt(Math.round(age * 1e6)))
  return new Batch({
    source,
    time,
    fields: [{ name: 'x', type: 'float64' }, { name: 'y', type: 'float64' }],
    columns: [new Float64Array(time.length), new Float64Array(time.length)]
  })
}

describe('Stats', () => {
  it('counts what passes a meter and reports rates over the interval', () => {
    const { clock, stats } = statsAt()
    const reader = stats.reader()
    const meter = stats.meter('sink', 'sqlite')
    meter.record(rowsOfAge(clock.nowNs, [1, 1, 1]), { bytes: 100 })
    meter.record(rowsOfAge(clock.nowNs, [1]), { bytes: 50 })
    clock.passMs(500)

    const { intervalMs, meters: [report] } = reader.read()
    expect(intervalMs).to.equal(500)
    expect(report.totals).to.include({ batches: 2, rows: 4, values: 8, bytes: 150 })
    expect(report.perSecond).to.deep.equal({ batches: 4, rows: 8, values: 16, bytes: 300 })
    reader.close()
  })

  it('has one meter per stage and name', () => {
    const { stats } = statsAt()
    expect(stats.meter('source', 'machine')).to.equal(stats.meter('source', 'machine'))
    expect(stats.meter('source', 'machine')).not.to.equal(stats.meter('stage', 'machine'))
  })

  it('gives every reader its own interval', () => {
    const { clock, stats } = statsAt()
    const [often, seldom] = [stats.reader(), stats.reader()]
    const meter = stats.meter('source', 'machine')
    for (let second = 0; second < 3; second++) {
      meter.record(rowsOfAge(clock.nowNs, [second + 1]))
      clock.passMs(1000)
      expect(often.read().meters[0]).to.deep.include({ perSecond: { batches: 1, rows: 1, values: 2, bytes: 0 } })
    }

    const { intervalMs, meters: [report] } = seldom.read()
    expect(intervalMs).to.equal(3000)
    expect(report.perSecond.rows).to.equal(1)
    expect(report.latencyMs.interval?.count).to.equal(3)
    expect(often.read().meters[0].latencyMs.interval).to.equal(null)
    often.close()
    seldom.close()
  })

  it('does not count for a reader what passed before it was created', () => {
    const { clock, stats } = statsAt()
    const meter = stats.meter('source', 'machine')
    meter.record(rowsOfAge(clock.nowNs, [1, 1]))
    const reader = stats.reader()
    clock.passMs(1000)
    const { meters: [report] } = reader.read()
    expect(report.totals.rows).to.equal(2)
    expect(report.perSecond.rows).to.equal(0)
    expect(report.latencyMs).to.deep.include({ interval: null })
    expect(report.latencyMs.overall?.count).to.equal(2)
    reader.close()
  })

  it('shows latency percentiles to three digits', () => {
    const { clock, stats } = statsAt()
    const reader = stats.reader()
    const meter = stats.meter('sink', 'sqlite')
    for (let ageMs = 1; ageMs <= 1000; ageMs++) meter.record(rowsOfAge(clock.nowNs, [ageMs]))
    const latency = reader.read().meters[0].latencyMs.interval
    expect(latency).to.include({ count: 1000, clamped: 0 })
    expect(latency?.p50).to.be.closeTo(500, 0.5)
    expect(latency?.p95).to.be.closeTo(950, 0.95)
    expect(latency?.p99).to.be.closeTo(990, 0.99)
    expect(latency?.max).to.be.closeTo(1000, 1)
    reader.close()
  })

  it('takes little memory for the ages of a thousand sources', () => {
    const { clock, stats } = statsAt()
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 1000; i++) {
      const meter = stats.meter('stage', `device ${i}`)
      for (const ageMs of [200, 300, 400]) meter.record(rowsOfAge(clock.nowNs, [ageMs]))
    }
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(32e6)
  })

  it('weighs sampled rows by those they represent, and never makes rows younger', () => {
    const { clock, stats } = statsAt()
    const meter = stats.meter('sink', 'sqlite')
    const ages = Array.from({ length: 1001 }, (_, row) => 1001 - row)
    meter.record(rowsOfAge(clock.nowNs, ages))
    const latency = meter.latency.summary()
    expect(latency?.count).to.equal(1001)
    expect(latency?.p50).to.be.within(500, 630)
    expect(latency?.max).to.be.closeTo(1001, 1.1)
  })

  it('clamps and counts impossible times', () => {
    const { clock, stats } = statsAt()
    const meter = stats.meter('sink', 'sqlite')
    meter.record(rowsOfAge(clock.nowNs, [-5000]))
    meter.record(rowsOfAge(clock.nowNs, [7 * 86_400_000, 7 * 86_400_000]))
    meter.record(rowsOfAge(clock.nowNs, [8]))
    const latency = meter.latency.summary()
    expect(latency).to.include({ count: 4, clamped: 3 })
    expect(latency?.max).to.be.closeTo(3_600_000, 3600)
    expect(meter.latency.summary()?.p50).to.be.closeTo(8, 0.01)
  })

  it('accepts a batch without rows, which only carries a commit record', () => {
    const { clock, stats } = statsAt()
    const meter = stats.meter('sink', 'sqlite')
    meter.record(rowsOfAge(clock.nowNs, []))
    expect(meter.totals).to.include({ batches: 1, rows: 0, values: 0 })
    expect(meter.latency.summary()).to.equal(null)
  })

  it('summarises how long batches took, by what became of them, for each reader', () => {
    const { stats } = statsAt()
    const [often, seldom] = [stats.reader(), stats.reader()]
    const meter = stats.meter('sink', 'sqlite')
    for (let microseconds = 1; microseconds <= 1000; microseconds++) meter.recordWrite('stored', microseconds)
    meter.recordWrite('failed', 30_000_000)
    const { interval, overall } = /** @type {any} */ (often.read().meters[0].writeMicroseconds)
    expect(interval).to.deep.equal(overall)
    expect(interval).to.have.all.keys('stored', 'failed')
    expect(interval.stored).to.include({ count: 1000, min: 1, p25: 250, p50: 500, p75: 750, p95: 950, p99: 990, max: 1000 })
    expect(interval.stored.mean).to.be.closeTo(500.5, 1e-6)
    expect(interval.stored.deviation).to.be.closeTo(Math.sqrt((1000 ** 2 - 1) / 12), 1e-6)
    expect(interval.failed).to.include({ count: 1, min: 30_000_000, mean: 30_000_000, deviation: 0, max: 30_000_000 })

    meter.recordWrite('stored', 42)
    expect(often.read().meters[0].writeMicroseconds?.interval).to.have.all.keys('stored').and.nested.include({ 'stored.count': 1 })
    expect(seldom.read().meters[0].writeMicroseconds?.interval.stored?.count).to.equal(1001)
    expect(often.read().meters[0].writeMicroseconds?.interval).to.deep.equal({})
    often.close()
    seldom.close()
  })

  it('takes little memory for the times of ever so many batches', () => {
    const { stats } = statsAt()
    const meter = stats.meter('sink', 'sqlite')
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 1e6; i++) meter.recordWrite('stored', i * 7919 % 2 ** 32)
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1e6)
    expect(meter.writes.summary().stored?.count).to.equal(1e6)
  })

  it('forgets a dropped meter', () => {
    const { stats } = statsAt()
    const reader = stats.reader()
    const meter = stats.meter('sink', 'sqlite')
    stats.drop('sink', 'sqlite')
    expect(reader.read().meters).to.deep.equal([])
    expect(meter.intervals.size).to.equal(0)
    reader.close()
  })

  it('costs a meter nothing for readers that have closed', () => {
    const { stats } = statsAt()
    const meter = stats.meter('sink', 'sqlite')
    stats.reader().close()
    expect(meter.intervals.size).to.equal(0)
    expect(stats.readers.size).to.equal(0)
  })

  it('reads gauges for every report until they are removed', () => {
    const { stats } = statsAt()
    let bytes = 1
    const remove = stats.gauge('spool', () => ({ bytes }))
    bytes = 2
    expect(stats.readGauges()).to.deep.equal({ spool: { bytes: 2 } })
    remove()
    expect(stats.readGauges()).to.deep.equal({})
  })

  it('shows the error of a gauge that fails, and the other gauges', () => {
    const { stats } = statsAt()
    stats.gauge('spool', () => { throw new Error('the disk is gone') })
    stats.gauge('queue', () => ({ bytes: 0 }))
    expect(stats.readGauges()).to.deep.equal({ spool: { error: 'the disk is gone' }, queue: { bytes: 0 } })
  })

  it('reports the process, with the CPU time a value takes', () => {
    const { clock, stats } = statsAt()
    const reader = stats.reader()
    stats.meter('sink', 'sqlite').record(rowsOfAge(clock.nowNs, [1]))
    clock.passMs(1000)
    const report = reader.read()
    expect(report.process.cpuPercent).to.be.at.least(0)
    expect(report.process.cpuMicrosecondsPerValue).to.be.a('number')
    expect(report.process.rssBytes).to.be.above(report.process.heapBytes)
    expect(JSON.parse(JSON.stringify(report))).to.deep.equal(report)
    expect(reader.read().process.cpuMicrosecondsPerValue).to.equal(null)
    reader.close()
  })
})

describe('Gauges', () => {
  it('of nodes of one name are all shown, the older ones with their ids', () => {
    const { stats } = statsAt()
    const drop = stats.gauge('source press', () => ({ state: 'silent' }), 'a1')
    stats.gauge('source press', () => ({ state: 'good' }), 'b2')
    expect(stats.readGauges()).to.deep.equal({ 'source press (a1)': { state: 'silent' }, 'source press': { state: 'good' } })
    expect([stats.nodeOf('source press'), stats.nodeOf('source press (a1)')]).to.deep.equal(['b2', 'a1'])
    drop()
    expect(stats.readGauges()).to.deep.equal({ 'source press': { state: 'good' } })
    stats.gauge('source press', () => ({ state: 'again' }), 'b2')
    drop()
    expect(stats.readGauges()).to.deep.equal({ 'source press': { state: 'again' } })
  })
})

describe('Ledger', () => {
  const zero = { beforeItBegan: 0, deadLetters: 0, settled: 0, parked: 0, lost: 0, inFlight: 0 }

  it('balances a sink without staging against what it has got, and not what sources have sent before it was wired, or to others', () => {
    const { clock, stats } = statsAt()
    stats.meter('source', 'machine').record(rowsOfAge(clock.nowNs, [1, 1, 1, 1], 'machine'))
    stats.meter('source', 'bus').record(rowsOfAge(clock.nowNs, [1, 1], 'bus'))
    stats.meter('sink', 'all').record(rowsOfAge(clock.nowNs, [1, 1], 'machine'))
    stats.meter('sink', 'all').record(rowsOfAge(clock.nowNs, [1], 'bus'))
    Object.assign(stats.meter('sink', 'all'), { deadLetters: 1, lost: 1 })
    stats.meter('sink', 'bus only').record(rowsOfAge(clock.nowNs, [1, 1], 'bus'))
    stats.meter('sink', 'idle')
    stats.meter('sink', 'unreached').pendingRows = () => 2
    const reader = stats.reader()
    expect(reader.read().ledger).to.deep.equal([
      { ...zero, id: 'all', sink: 'all', produced: 5, stored: 3, deadLetters: 1, lost: 1, sources: [] },
      { ...zero, id: 'bus only', sink: 'bus only', produced: 2, stored: 2, sources: [] },
      { ...zero, id: 'idle', sink: 'idle', produced: 0, stored: 0, sources: [] },
      { ...zero, id: 'unreached', sink: 'unreached', produced: 2, stored: 0, inFlight: 2, sources: [] }
    ])
    reader.close()
  })

  it('has none of a sink behind a stage in that has not started, of which nothing is known', () => {
    const { stats } = statsAt()
    stats.meter('sink', 'db', 'a1').rows = 4
    stats.meter('sink', 'direct', 'b2').rows = 3
    stats.staged = new Set(['a1'])
    const reader = stats.reader()
    expect(reader.read().ledger.map(({ id, produced }) => [id, produced])).to.deep.equal([['b2', 3]])
    reader.close()
  })

  it('has the balance of a sink behind staging from there, added up over its sources, once where two stage ins have it', () => {
    const { clock, stats } = statsAt()
    stats.meter('sink', 'db', 'a1').record(rowsOfAge(clock.nowNs, [1, 1], 'machine'))
    const line = (/** @type {string} */ source, /** @type {number} */ lost) => {
      return { ...zero, id: 'a1', sink: 'db', gateway: 'gw', source, produced: 10, stored: 10 - lost, lost }
    }
    const drop = stats.balances(() => [line('machine', 0), line('bus', 4)])
    stats.balances(() => [line('bus', 4)])
    const reader = stats.reader()
    expect(reader.read().ledger).to.deep.equal([{
      ...zero,
      id: 'a1',
      sink: 'db',
      produced: 20,
      stored: 16,
      lost: 4,
      sources: [
        { ...zero, gateway: 'gw', source: 'bus', produced: 10, stored: 6, lost: 4 },
        { ...zero, gateway: 'gw', source: 'machine', produced: 10, stored: 10 }
      ]
    }])
    drop()
    expect(reader.read().ledger[0]).to.include({ produced: 10 })
    reader.close()
  })

  it('has what the spools know of a sink that nobody reads for, and of what is produced while a reader hears nothing', () => {
    const { stats } = statsAt()
    const line = { ...zero, id: 'a1', sink: 'db', gateway: 'gw', source: 'machine' }
    stats.meter('sink', 'db', 'a1').rows = 4
    stats.spooled('out', () => [{ ...line, produced: 10, stored: 4, inFlight: 6 }])
    stats.spooled('out 2', () => [{ ...line, produced: 2, stored: 0, inFlight: 2 }])
    const reader = stats.reader()
    const balance = () => {
      return reader.read().ledger.map(({ produced, stored, inFlight, sources }) => [produced, stored, inFlight, sources.length])
    }
    expect(balance()).to.deep.equal([[12, 4, 8, 1]])
    let isOld = false
    const drop = stats.balances(() => [{ ...line, produced: 7, stored: 5, inFlight: 2, isOld }])
    expect(balance()).to.deep.equal([[7, 5, 2, 1]])
    isOld = true
    expect(balance()).to.deep.equal([[12, 5, 7, 1]])
    const dropNew = stats.spooled('out 3', () => [{ ...line, source: 'new', produced: 3, stored: 0, inFlight: 3 }])
    expect(balance()).to.deep.equal([[15, 5, 10, 2]])
    isOld = false
    expect(balance()).to.deep.equal([[7, 5, 2, 1]])
    dropNew()
    drop()
    expect(balance()).to.deep.equal([[12, 4, 8, 1]])
    reader.close()
  })

  it('has no second line of a sink behind staging that is called otherwise there, as it was until a moment ago', () => {
    const { clock, stats } = statsAt()
    stats.meter('sink', 'before', 'a1').record(rowsOfAge(clock.nowNs, [1, 1]))
    stats.balances(() => [{ ...zero, id: 'a1', sink: 'before', gateway: 'gw', source: 'machine', produced: 2, stored: 2 }])
    stats.meter('sink', 'after', 'a1')
    const reader = stats.reader()
    expect(reader.read().ledger.map(({ id, produced }) => [id, produced])).to.deep.equal([['a1', 2]])
    expect(reader.read().meters.map(({ name, totals }) => [name, totals.rows])).to.deep.equal([['after', 2]])
    reader.close()
  })
})

import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { sinkDetail, sourceDetail } from '../../gateway/live/overview/detail.js'
import { Overview } from '../../gateway/live/overview/overview.js'
import { Said } from '../../gateway/live/overview/said.js'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { Stats } from '../../gateway/stats/stats.js'

/** @typedef {import('../../gateway/live/overview/overview.js').Tick} Tick */

const NOW_NS = 1_800_000_000_000_000_000n
const said = new Said(undefined)
const place = { gateway: 'gw-own', isRunning: () => true, editorId: (/** @type {string} */ id) => id.replace('line-', '') }

describe('What the live page is told', () => {
  /** @type {Stats} */
  let stats
  /** @type {Overview} */
  let overview

  beforeEach(() => {
    stats = new Stats({ nowNs: () => NOW_NS })
    overview = new Overview(stats, place)
  })
  afterEach(() => overview.close())

  /** @returns {Tick} */
  const next = () => JSON.parse(overview.next())
  /** @returns {Tick} */
  const first = () => JSON.parse(overview.first())
  const about = () => ({ gateway: 'gw-own', said, pulse: overview.pulse })

  /** @param {string} source @param {number[]} values */
  function batchOf (source, values) {
    return new Batch({
      source,
      time: BigInt64Array.from(values, (_, i) => NOW_NS - 2_000_000_000n + BigInt(i)),
      tags: { line: 'a' },
      fields: [{ name: 'none', type: 'float64' }, { name: 'temperature', type: 'float64', unit: '°C' }],
      columns: [new Float64Array(values.length), Float64Array.from(values)],
      validity: [new Uint8Array(values.length), null]
    })
  }

  it('names each source once, whatever it passes, and no stage as a source', () => {
    const bus = stats.meter('source', 'bus')
    bus.running.add('node')
    for (const source of ['bus.speed', 'bus.load']) {
      const batch = batchOf(source, [1])
      bus.record(batch)
      stats.meter('stage', source).record(batch)
      stats.meter('sink', 'store', 'sink').record(batch)
    }
    stats.meter('source', 'silent')
    stats.ownMeter('in (stage in)', 'in node')
    stats.ownMeter('stage out 2', 'out node')
    stats.meter('stage', 'foreign').record(batchOf('foreign', [1]))
    stats.balances(() => [{ ...emptyBalance(), id: 'sink', sink: 'store', gateway: 'gw-other', source: 'bus.load', stored: 7 }])
    const { layout, sources, stored } = next()
    expect(layout?.sources.map(({ name, gateway, nodeId }) => [name, gateway, nodeId])).to.deep.equal([
      ['bus.load', '', 'node'], ['bus.speed', '', 'node'], ['foreign', '', null], ['silent', '', null], ['bus.load', 'gw-other', null]
    ])
    expect(sources.sent).to.deep.equal([1, 1, null, 0, null])
    expect(sources.staged).to.deep.equal([1, 1, 1, null, null])
    expect(stored?.rows).to.deep.equal([[0, 1, 0, 0, 7]])
  })

  it('shows a source whatever it is called, also like a stage', () => {
    const name = 'saw (stage out)'
    stats.ownMeter(name, 'out node').dropped = 5
    stats.meter('stage', name).record(batchOf(name, [1, 2]))
    const { layout, sources } = next()
    expect(layout?.sources.map(source => source.name)).to.deep.equal([name])
    expect(sources.staged).to.deep.equal([2])
  })

  it('tells the layout and alarms when they change, and a newcomer everything', () => {
    stats.meter('stage', 'press')
    stats.alarms = /** @type {any} */ ({ active: [], recent: [] })
    expect(next()).to.include.keys('layout', 'alarms', 'stored', 'balances')
    expect(next()).not.to.have.any.keys('layout', 'alarms', 'balances')
    expect(first()).to.include.keys('layout', 'alarms', 'stored', 'balances')
    stats.meter('stage', 'oven')
    expect(next().layout?.sources.map(({ name }) => name)).to.deep.equal(['oven', 'press'])
    stats.alarms = /** @type {any} */ ({ active: [{ id: 'a', subject: {} }], recent: [] })
    expect(next().alarms).to.deep.equal([{ id: 'a', subject: {} }])
  })

  it('tells what each of many sources has in each of many sinks every fifth time', () => {
    for (let i = 0; i < 101; i++) stats.meter('stage', `source ${i}`)
    for (let i = 0; i < 4; i++) stats.meter('sink', `sink ${i}`)
    expect(Array.from({ length: 11 }, () => next().stored !== undefined)).to.deep.equal(
      [true, false, false, false, false, true, false, false, false, false, true]
    )
  })

  it('tells the last value, its age, and the latency since the last look', () => {
    const meter = stats.meter('stage', 'press')
    meter.record(batchOf('press', [20.123456789, 21]))
    const { sources } = next()
    expect(sources.last).to.deep.equal([['temperature', 21, '°C']])
    expect(sources.ageMs).to.deep.equal([0])
    expect(sources.p99[0]).to.be.within(2000, 2040)
    expect(next().sources.p99).to.deep.equal([null])
  })

  it('never calls a sink connected, or reached, that is not', () => {
    stats.meter('sink', 'store', 'sink')
    stats.gauge('sink store', () => ({ connected: false, lastError: 'SLUICE_SINK_CONNECT: No.', retryingSinceMs: 5 }), 'sink')
    const [sink] = next().sinks
    expect(sink).to.include({ isConnected: false, wasReached: false, problem: 'SLUICE_SINK_CONNECT: No.', retryingSinceMs: 5 })
  })

  it('has of each alarm the id by which the editor knows its node, where a subflow has made it, too', () => {
    const subjects = [{ type: 'node', name: 'hall', nodeId: 'line-broker' }, { type: 'machine', name: 'this machine' }]
    stats.alarms = /** @type {any} */ ({ active: subjects.map(subject => ({ id: 'alarm', subject })), recent: [] })
    expect(next().alarms?.map(({ editorId }) => editorId)).to.deep.equal(['broker', undefined])
    expect(stats.alarms?.active[0]).not.to.have.property('editorId')
  })

  it('has the last ten rows of a source over several batches, newest first, and small batches of before somebody looked', () => {
    overview.close()
    const meter = stats.meter('stage', 'press')
    meter.record(batchOf('press', Array(100).fill(1)))
    meter.record(batchOf('press', [2]))
    overview = new Overview(stats, place)
    const last = () => sourceDetail(stats, about(), { name: 'press', gateway: '' })?.last
    expect(last()?.rows.map(({ values }) => values)).to.deep.equal([['a', null, 2]])
    meter.record(batchOf('press', [3, 4, 5, 6, 7, 8, 9]))
    meter.record(batchOf('press', [10, 11, 12, 13]))
    expect(last()?.rows.map(({ values }) => values[2])).to.deep.equal([13, 12, 11, 10, 9, 8, 7, 6, 5, 4])
    expect(last()?.fields).to.deep.equal([
      { name: 'line', unit: '' }, { name: 'none', unit: '' }, { name: 'temperature', unit: '°C' }
    ])
    overview.close()
    expect([...meter.lastBatches.values()].map(({ rows }) => rows)).to.deep.equal([4])
    expect(meter.intervals.size + stats.followers.size).to.equal(0)
  })

  it('has what a node has logged last as errors and warnings, and nothing of what is not there', () => {
    stats.meter('sink', 'store', 'sink')
    for (let i = 0; i < 12; i++) said.emit('log', { level: 20, id: 'sink', msg: new Error(`No ${i}`), timestamp: i })
    said.emit('log', { level: 30, id: 'sink', msg: 'careful', timestamp: 99 })
    said.emit('log', { level: 40, id: 'sink', msg: 'all is well', timestamp: 100 })
    const remarks = sinkDetail(stats, about(), 'sink')?.remarks ?? []
    expect(remarks.length).to.equal(10)
    expect(remarks.slice(0, 2)).to.deep.equal([
      { timeMs: 99, level: 'warning', text: 'careful' }, { timeMs: 11, level: 'error', text: 'No 11' }
    ])
    expect(sinkDetail(stats, about(), 'other')).to.equal(null)
    expect(sourceDetail(stats, about(), { name: 'other', gateway: '' })).to.equal(null)
  })
})

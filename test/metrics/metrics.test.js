import { expect } from 'chai'
import { version } from '../../gateway/base/version.js'
import { familiesOf } from '../../gateway/metrics/families.js'
import { KINDS } from '../../gateway/metrics/kinds.js'
import { textOf } from '../../gateway/metrics/text.js'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { Histogram } from '../../gateway/stats/histogram.js'
import { Stats } from '../../gateway/stats/stats.js'
import { batchOf } from '../writer/fake-sink.js'
import { parse } from './parse.js'

const about = { gatewayId: 'gw-a1b2c3d4', isReady: true }

describe('Metrics', () => {
  /** Of all samples, or of those with a label. @param {Stats} stats @param {string} name */
  const samplesOf = (stats, name) => {
    const { samples = [] } = parse(textOf(familiesOf(stats, about))).get(name) ?? {}
    return samples.map(({ labels, value }) => /** @type {Record<string, any>} */ ({ ...labels, value }))
  }

  it('are told with help and type in a text that a strict reader takes, and so by an empty gateway', () => {
    const families = parse(textOf(familiesOf(new Stats(), about)))
    const [{ labels }] = families.get('sluice_build_info')?.samples ?? []
    expect(labels).to.deep.equal({ version, node: process.versions.node, gateway: 'gw-a1b2c3d4' })
    expect(families.get('sluice_ready')?.samples[0].value).to.equal(1)
    const { samples: [{ value: startedSeconds }] } = /** @type {import('./parse.js').Family} */ (families.get('process_start_time_seconds'))
    expect(startedSeconds).to.be.within(Date.now() / 1000 - 3600, Date.now() / 1000)
  })

  it('have names by convention: base units, _total for what only grows, and no name twice', () => {
    /** @type {import('../../gateway/metrics/kinds.js').Metric<any>[]} */
    const all = Object.values(KINDS).flatMap(({ metrics }) => /** @type {any} */ (metrics))
    const names = all.map(([name]) => name)
    expect(new Set(names).size).to.equal(names.length)
    for (const [name, type, unit, help] of all) {
      expect(name).to.match(/^(sluice|process|nodejs)_[a-z_]+$/)
      expect(name.endsWith('_total'), name).to.equal(type === 'counter')
      expect(name, name).to.not.match(/milli|micro|mega|percent|_ms|_count$|_sum$|_bucket$|_info_/)
      if (unit === 'seconds' || unit === 'bytes') expect(name.replace(/_total$/, ''), name).to.match(new RegExp(`_${unit}$`))
      expect(help, name).to.match(/\.$/)
    }
  })

  it('tell which alarms are raised, each once, and how often they were', () => {
    const stats = new Stats()
    expect(samplesOf(stats, 'sluice_alarm')).to.deep.equal([])
    const alarm = (/** @type {string} */ nodeId) => ({
      kind: 'sink-unreachable', level: 'problem', subject: { type: 'sink', name: 'plant', nodeId }, what: 'plant is not reachable'
    })
    Object.assign(stats, { alarms: { active: [alarm('a'), alarm('b')], raised: new Map([['sink-unreachable', 3]]) } })
    expect(samplesOf(stats, 'sluice_alarm')).to.deep.equal([
      { kind: 'sink-unreachable', subject: 'sink plant', level: 'problem', value: 1 }
    ])
    expect(samplesOf(stats, 'sluice_alarms_total')).to.deep.equal([{ kind: 'sink-unreachable', value: 3 }])
  })

  it('count what passes sources, stages and sinks, each under its label', () => {
    const stats = new Stats({ nowNs: () => 1_500_000_000n })
    stats.meter('source', 'press').record(batchOf([1, 2, 3]))
    stats.meter('stage', 'press').record(batchOf([1, 2, 3]))
    Object.assign(stats.meter('stage', 'press'), { dropped: 2, lost: 1 })
    const sink = stats.meter('sink', 'plant', 'node-1')
    sink.record(batchOf([1, 2]), { bytes: 100 })
    Object.assign(sink, { duplicates: 3, deadLetters: 4, retries: 5 })
    expect(samplesOf(stats, 'sluice_source_rows_total')).to.deep.equal([{ source: 'press', value: 3 }])
    expect(samplesOf(stats, 'sluice_source_last_row_timestamp_seconds')).to.deep.equal([{ source: 'press', value: 1.5 }])
    expect(samplesOf(stats, 'sluice_staged_dropped_rows_total')).to.deep.equal([{ source: 'press', value: 2 }])
    expect(samplesOf(stats, 'sluice_sink_bytes_total')).to.deep.equal([{ sink: 'plant', value: 100 }])
    expect(samplesOf(stats, 'sluice_sink_duplicate_rows_total')).to.deep.equal([{ sink: 'plant', value: 3 }])
    expect(samplesOf(stats, 'sluice_sink_dead_letters_total')).to.deep.equal([{ sink: 'plant', value: 4 }])
    expect(samplesOf(stats, 'sluice_sink_retries_total')).to.deep.equal([{ sink: 'plant', value: 5 }])
  })

  it('have the latency of a sink as a histogram in seconds', () => {
    const stats = new Stats()
    const { latency } = stats.meter('sink', 'plant')
    latency.record(4000, 10)
    latency.record(2_000_000, 1)
    latency.record(-5, 1)
    const samples = samplesOf(stats, 'sluice_sink_latency_seconds')
    expect(samples.find(({ le }) => le === '0.0025')?.value).to.equal(1)
    expect(samples.find(({ le }) => le === '0.005')?.value).to.equal(11)
    expect(samples.find(({ le }) => le === '2.5')?.value).to.equal(12)
    const [sum, count] = samples.slice(-2)
    expect(sum.value).to.be.within(2.04, 2.043)
    expect(count.value).to.equal(12)
    expect(samplesOf(stats, 'sluice_sink_untimely_rows_total')).to.deep.equal([{ sink: 'plant', value: 1 }])
  })

  it('have how long a database takes for a batch, by what became of it', () => {
    const stats = new Stats()
    stats.meter('sink', 'plant').recordWrite('stored', 700)
    stats.meter('sink', 'plant').recordWrite('failed', 3_000_000)
    const fast = samplesOf(stats, 'sluice_sink_write_seconds').filter(({ le }) => le === '0.001')
    expect(fast.map(({ outcome, value }) => [outcome, value])).to.deep.equal([['stored', 1], ['failed', 0]])
  })

  it('read what waits and what is connected from the gauges, and leave out what is no number', () => {
    const stats = new Stats()
    const waiting = { pendingRows: 7, pendingBytes: NaN, retryingSinceMs: null }
    stats.gauge('sink plant', () => ({ connected: false, ...waiting, stoppedSources: 'a, b' }))
    stats.gauge('spool out', () => ({ connected: true, onDiskBytes: 100, blocked: 'The disk is full.', setBack: 2, requiredSinks: '' }))
    stats.gauge('stage in first', () => ({ held: 3, waitingFor: 'plant' }))
    stats.gauge('source car', () => ({ frames: 9, loadPercent: 25, state: 'error-active' }))
    stats.gauge('failed press (1)', () => ({ connected: false, problem: 'No file.' }))
    stats.gauge('sink broken', () => { throw new Error('It cannot be read.') })
    expect(samplesOf(stats, 'sluice_sink_connected')).to.deep.equal([{ sink: 'plant', value: 0 }])
    expect(samplesOf(stats, 'sluice_sink_pending_rows')).to.deep.equal([{ sink: 'plant', value: 7 }])
    expect(samplesOf(stats, 'sluice_sink_pending_bytes')).to.deep.equal([])
    expect(samplesOf(stats, 'sluice_sink_retrying_seconds')).to.deep.equal([{ sink: 'plant', value: 0 }])
    expect(samplesOf(stats, 'sluice_sink_stopped_sources')).to.deep.equal([{ sink: 'plant', value: 2 }])
    expect(samplesOf(stats, 'sluice_spool_bytes')).to.deep.equal([{ stage: 'out', value: 100 }])
    expect(samplesOf(stats, 'sluice_spool_blocked')).to.deep.equal([{ stage: 'out', value: 1 }])
    expect(samplesOf(stats, 'sluice_spool_required_sinks')).to.deep.equal([{ stage: 'out', value: 0 }])
    expect(samplesOf(stats, 'sluice_spool_alarms_total')).to.deep.equal([{ stage: 'out', kind: 'set_back', value: 2 }])
    expect(samplesOf(stats, 'sluice_stage_in_waiting_for_sinks')).to.deep.equal([{ stage: 'first', value: 1 }])
    expect(samplesOf(stats, 'sluice_can_load_ratio')).to.deep.equal([{ source: 'car', value: 0.25 }])
    expect(samplesOf(stats, 'sluice_node_failed')).to.deep.equal([{ node: 'press (1)', value: 1 }])
  })

  it('tell how the machine is where that is known, and nothing where it is not', () => {
    const stats = new Stats()
    expect(samplesOf(stats, 'sluice_host_temperature_celsius')).to.deep.equal([])
    Object.assign(stats, { host: { report: null } })
    expect(samplesOf(stats, 'sluice_host_temperature_celsius')).to.deep.equal([])
    const disk = { freeBytes: 1, totalBytes: 2 }
    const throttling = { now: [], sinceStart: ['throttled'] }
    Object.assign(stats, { host: { report: { disk, throttling, cards: [{ name: 'mmcblk0', wornPercent: 30 }] } } })
    expect(samplesOf(stats, 'sluice_host_temperature_celsius')).to.deep.equal([])
    expect(samplesOf(stats, 'sluice_host_disk_free_bytes')).to.deep.equal([{ value: 1 }])
    expect(samplesOf(stats, 'sluice_host_throttled')).to.deep.equal([{ value: 0 }])
    expect(samplesOf(stats, 'sluice_host_throttled_since_start')).to.deep.equal([{ value: 1 }])
    expect(samplesOf(stats, 'sluice_host_card_worn_ratio')).to.deep.equal([{ card: 'mmcblk0', value: 0.3 }])
  })

  it('have the balance of each sink, in one for those of the same name', () => {
    const stats = new Stats()
    const terms = { produced: 10, stored: 7, deadLetters: 1, lost: 2 }
    const line = { ...emptyBalance(), ...terms, gateway: 'gw', source: 'press', sink: 'plant' }
    stats.balances(() => [{ ...line, id: '1' }, { ...line, id: '2' }])
    const states = Object.fromEntries(samplesOf(stats, 'sluice_sink_balance_rows').map(({ state, value }) => [state, value]))
    expect(states).to.deep.equal({ before: 0, stored: 14, dead_letter: 2, settled: 0, parked: 0, lost: 4, in_flight: 0 })
  })

  it('take any name for a label', () => {
    const stats = new Stats()
    const names = ['a "quoted" one', 'back\\slash', 'two\nlines', '\\n', 'ünï{c=o},de', '']
    for (const name of names) stats.meter('stage', name).rows = 1
    expect(samplesOf(stats, 'sluice_staged_rows_total').map(({ source }) => source)).to.deep.equal(names)
  })

  it('list the first 200 sources, and count the others together, so that the sum is that of all', () => {
    const stats = new Stats()
    for (let i = 1000; i > 0; i--) stats.meter('stage', `source ${i}`).rows = i
    const samples = samplesOf(stats, 'sluice_staged_rows_total')
    expect(samples.length).to.equal(201)
    expect(samples[0]).to.deep.equal({ source: 'source 1000', value: 1000 })
    expect(samples[200]).to.include({ source: '(others)' })
    expect(samples.reduce((sum, { value }) => sum + value, 0)).to.equal(1000 * 1001 / 2)
    expect(samplesOf(stats, 'sluice_sources_unlisted')).to.deep.equal([{ value: 800 }])
  })

  it('count a source together with the stage that it is called like, as no two series may have one name', () => {
    const stats = new Stats()
    stats.meter('stage', 'saw (stage out)').dropped = 7
    stats.ownMeter('saw (stage out)', 'c0ffee').dropped = 5
    stats.ownMeter('saw (stage out)', 'c0ffee2').dropped = 1
    expect(samplesOf(stats, 'sluice_staged_dropped_rows_total')).to.deep.equal([{ source: 'saw (stage out)', value: 13 }])
  })

  it('count a source that is called as the others are together with them, as no two series may have one name', () => {
    const stats = new Stats()
    stats.meter('stage', '(others)').rows = 7
    for (let i = 0; i < 250; i++) stats.meter('stage', `source ${i}`).rows = 1
    const others = samplesOf(stats, 'sluice_staged_rows_total').filter(({ source }) => source === '(others)')
    expect(others).to.deep.equal([{ source: '(others)', value: 58 }])
  })
})

describe('The distribution of a histogram', () => {
  it('has all that is recorded, in buckets that never have fewer than before', () => {
    const histogram = new Histogram()
    const bounds = [10, 1000, 100_000, 2 ** 31]
    let before = histogram.distribution(bounds)
    for (const value of [0, 10, 11, 999, 1000, 1001, 54_321, 100_000, 2 ** 31, 2 ** 32 - 1]) {
      histogram.record(value, 3)
      const now = histogram.distribution(bounds)
      expect(now.total).to.equal(before.total + 3)
      expect(now.sum).to.be.at.least(before.sum + 3 * value)
      expect(now.counts.every((count, i) => count >= before.counts[i])).to.equal(true)
      before = now
    }
    expect(before.counts.slice(0, 2)).to.deep.equal([6, 15])
  })
})

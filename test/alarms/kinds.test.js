import { expect } from 'chai'
import { Alarms } from '../../gateway/alarms/alarms.js'
import { KINDS } from '../../gateway/alarms/kinds/index.js'
import { Limits } from '../../gateway/alarms/limits.js'
import { Snapshots } from '../../gateway/alarms/snapshot.js'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { Stats } from '../../gateway/stats/stats.js'

/** @typedef {import('../../gateway/stats/reader.js').Gauge} Gauge */

const START_MS = 1_700_000_000_000
const MINUTE = 60
const HOUR = 3600

/** A gateway that is made up, judged every five seconds by a clock that is moved. */
class Rig {
  nowMs = 0
  wallMs = START_MS
  stats = new Stats()
  limits = new Limits()
  clock = { state: /** @type {'set'|'waiting'|'unsynchronised'} */ ('set'), isWrong: false }
  blockedMs = 0
  /** @type {Map<string, Gauge>} */
  #gauges = new Map()

  /** @param {import('../../gateway/alarms/alarms.js').Kept|null} [kept] */
  constructor (kept = null) {
    const now = () => this.nowMs
    const wallNow = () => this.wallMs
    const snapshots = new Snapshots(this.stats, this.limits, { now, wallNow, clock: this.clock, blockedMs: () => this.blockedMs })
    this.alarms = new Alarms({ kinds: KINDS, take: () => snapshots.take(), kept, now, wallNow })
  }

  /** Sets what a gauge has, besides what it had. @param {string} name @param {Gauge} values */
  gauge (name, values) {
    if (!this.#gauges.has(name)) this.stats.gauge(name, () => this.#gauges.get(name) ?? {}, `id of ${name}`)
    this.#gauges.set(name, { ...this.#gauges.get(name), ...values })
  }

  /** @param {number} seconds @param {(second: number) => void} [step]  before each judgement */
  pass (seconds, step = () => {}) {
    for (let passed = 5; passed <= seconds; passed += 5) {
      this.nowMs += 5000
      this.wallMs += 5000
      step(passed)
      this.alarms.judge()
    }
    return this.said
  }

  get said () { return this.alarms.active.map(({ kind, level, what }) => `${kind} ${level}: ${what}`) }
}

/** What a source sends. @param {import('../../gateway/stats/meter.js').Meter} meter */
const sends = meter => {
  meter.batches++
  meter.rowsBySource.set(meter.name, meter.batches)
}

const MIB = 2 ** 20

describe('Kinds of alarms', () => {
  /** @type {Rig} */
  let rig

  beforeEach(() => { rig = new Rig() })

  it('raise nothing where all is well', () => {
    const source = rig.stats.meter('source', 'press')
    source.running.add('press-node')
    rig.gauge('sink plant', { connected: true, problem: null, lastError: null, waitingMs: 12, keptDeadLetters: 0, stoppedSources: '' })
    rig.gauge('spool out', { connected: true, broker: 'b', onDiskBytes: MIB, maxBytes: 100 * MIB, blocked: null, lostRows: 0, clashes: 0 })
    rig.gauge('stage in in', { connected: true, broker: 'b', lostRows: 0, parkedRows: 0 })
    rig.gauge('source press', { state: 'good', lastGoodSecondsAgo: 0 })
    expect(rig.pass(HOUR, () => sends(source))).to.deep.equal([])
  })

  describe('of sinks', () => {
    it('say that a database is not reachable, what waits, and when the spool is full', () => {
      const lastError = 'SLUICE_SINK_CONNECT: No connection to 10.0.0.5:5432: ECONNREFUSED. Check host and port, and that the server runs.'
      rig.gauge('sink PostgreSQL', { connected: false, problem: null, lastError, pendingRows: 100, retryingSinceMs: null })
      rig.stats.balances(() => [
        { ...emptyBalance(), id: 'id of sink PostgreSQL', sink: 'PostgreSQL', gateway: 'g', source: 'press', inFlight: 1000 },
        { ...emptyBalance(), id: 'id of sink PostgreSQL', sink: 'PostgreSQL', gateway: 'g', source: 'saw', inFlight: 500 }
      ])
      let bytes = 0
      expect(rig.pass(10 * MINUTE, () => rig.gauge('spool out', { onDiskBytes: bytes += MIB / 2, maxBytes: 1000 * MIB }))).to.deep.equal([
        'sink-unreachable problem: PostgreSQL is not reachable: 1.50 k rows wait, the spool is full in 2.6 h'
      ])
      expect(rig.alarms.active[0]).to.deep.include({
        id: 'sink-unreachable:sink:id of sink PostgreSQL',
        subject: { type: 'sink', name: 'PostgreSQL', nodeId: 'id of sink PostgreSQL' },
        reason: lastError,
        raisedMs: START_MS + 5000
      })
      rig.gauge('spool out', { blocked: 'it is full', onDiskBytes: 1000 * MIB })
      expect(rig.pass(10)).to.include('sink-unreachable problem: PostgreSQL is not reachable: 1.50 k rows wait, the spool is full')
      rig.gauge('sink PostgreSQL', { connected: true, lastError: null })
      rig.gauge('spool out', { blocked: null, onDiskBytes: 0 })
      expect(rig.pass(2 * MINUTE)).to.deep.equal([])
    })

    it('say nothing of a write that is tried again once', () => {
      for (let i = 0; i < 50; i++) {
        rig.gauge('sink plant', { connected: false, lastError: 'SLUICE_SINK_CONNECT: No.' })
        rig.pass(5)
        rig.gauge('sink plant', { connected: true, lastError: null })
        expect(rig.pass(5)).to.deep.equal([])
      }
    })

    it('tell one that is reached and takes nothing from one that is away', () => {
      rig.gauge('sink plant', { connected: false, problem: 'SLUICE_SINK_POSTGRESQL: permission denied for schema public', pendingRows: 1 })
      expect(rig.pass(MINUTE)).to.deep.equal(['sink-refuses problem: plant takes nothing: 1 row waits'])
    })

    it('say how long a database has not answered, unless it may take so long', () => {
      rig.gauge('sink plant', { connected: true, waitingMs: 180_000, pendingRows: 10 })
      expect(rig.pass(MINUTE)).to.deep.equal(['sink-waiting warning: plant has not answered for 3 min; 10 rows in hand'])
      rig.limits.add([{ of: 'waiting', name: 'plant', limit: 600 }])
      expect(rig.pass(MINUTE)).to.deep.equal([])
    })

    it('say that rows have been refused, that this stops sources, and that old ones stay', () => {
      rig.gauge('sink plant', { connected: true, keptDeadLetters: 3, deadLettersPercent: 1, stoppedSources: '' })
      expect(rig.pass(5)).to.deep.equal(['dead-letters warning: plant has refused 3 rows: they are kept as dead letters'])
      rig.alarms.acknowledge('dead-letters:sink:id of sink plant')
      rig.gauge('sink plant', { keptDeadLetters: 4, deadLettersPercent: 85 })
      expect(rig.pass(5)).to.include('dead-letters-full warning: The dead letters of plant take 85 % of their room')
      expect(rig.alarms.active.find(({ kind }) => kind === 'dead-letters')?.acknowledgedMs).to.equal(null)
      rig.gauge('sink plant', { stoppedSources: 'press, saw', retention: 'SLUICE_SINK_POSTGRESQL: permission denied for table press' })
      expect(rig.pass(5)).to.deep.equal([
        'dead-letters-full problem: plant has too many dead letters: 2 sources wait',
        'retention-failing warning: Rows that are too old stay in plant',
        'dead-letters warning: plant has refused 4 rows: they are kept as dead letters'
      ])
      rig.gauge('sink plant', { keptDeadLetters: 0, deadLettersPercent: 0, stoppedSources: '', retention: '' })
      expect(rig.pass(15)).to.deep.equal([])
    })
  })

  describe('of sources', () => {
    it('say that one is silent for longer than usual, and that it sends again', () => {
      const source = rig.stats.meter('source', 'press')
      source.running.add('press-node')
      rig.pass(5 * MINUTE, () => sends(source))
      expect(rig.pass(30)).to.deep.equal([])
      expect(rig.pass(15)).to.deep.equal(['source-silent warning: press is silent: it has sent nothing for 45 s'])
      expect(rig.alarms.active[0]).to.deep.include({ raisedMs: START_MS + 300_000, subject: { type: 'source', name: 'press', nodeId: 'press-node' } })
      expect(rig.pass(15, () => sends(source))).to.deep.equal([])
    })

    it('learn what is usual: one that sends every ten minutes may be silent for forty', () => {
      const source = rig.stats.meter('source', 'meter')
      source.running.add('meter-node')
      rig.pass(3 * HOUR, second => { if (second % (10 * MINUTE) === 0) sends(source) })
      expect(rig.said).to.deep.equal([])
      expect(rig.pass(39 * MINUTE)).to.deep.equal([])
      expect(rig.pass(2 * MINUTE)).to.have.length(1)
    })

    it('do not take an outage for usual', () => {
      const source = rig.stats.meter('source', 'press')
      source.running.add('press-node')
      rig.pass(5 * MINUTE, () => sends(source))
      rig.pass(5 * HOUR)
      rig.pass(MINUTE, () => sends(source))
      expect(rig.pass(MINUTE)).to.have.length(1)
    })

    it('give one that has hardly sent yet a quarter of an hour, and one that is stopped for ever', () => {
      const [dead, stopped] = ['dead', 'stopped'].map(name => rig.stats.meter('source', name))
      dead.running.add('dead-node')
      stopped.running.add('stopped-node')
      rig.pass(5 * MINUTE, () => sends(stopped))
      stopped.running.clear()
      expect(rig.pass(9 * MINUTE)).to.deep.equal([])
      expect(rig.pass(2 * MINUTE)).to.deep.equal(['source-silent warning: dead has sent nothing since the start'])
    })

    it('go by the limits that are given, of which 0 is never', () => {
      const names = ['own', 'never', 'other']
      rig.limits.add([{ of: 'silent', name: 'own', limit: 300 }, { of: 'silent', name: '', limit: 60 }])
      rig.limits.add([{ of: 'silent', name: 'never', limit: 0 }])
      for (const name of names) {
        const meter = rig.stats.meter('source', name)
        meter.running.add(name)
        sends(meter)
      }
      const silent = () => rig.alarms.active.map(({ subject }) => subject.name).sort()
      rig.pass(100)
      expect(silent()).to.deep.equal(['other'])
      rig.pass(HOUR)
      expect(silent()).to.deep.equal(['other', 'own'])
    })

    it('do not call silent what waits for a full spool or for the clock', () => {
      const source = rig.stats.meter('source', 'press')
      source.running.add('press-node')
      rig.gauge('spool out', { blocked: null, onDiskBytes: 0, maxBytes: 1 })
      rig.pass(5 * MINUTE, () => sends(source))
      rig.gauge('spool out', { blocked: 'it is full' })
      expect(rig.pass(HOUR).filter(text => text.startsWith('source-silent'))).to.deep.equal([])
      rig.gauge('spool out', { blocked: null })
      Object.assign(rig.clock, { state: 'waiting', isWrong: true })
      expect(rig.pass(HOUR).filter(text => text.startsWith('source-silent'))).to.deep.equal([])
    })

    it('watch what other programs send into the staging, and not twice what a source does', () => {
      const source = rig.stats.meter('source', 'press')
      source.running.add('press-node')
      const staged = ['press', 'garage', 'once'].map(name => rig.stats.meter('stage', name))
      rig.gauge('spool out', { blocked: null, onDiskBytes: 0, maxBytes: 1 })
      sends(staged[2])
      rig.pass(5 * MINUTE, () => [source, staged[0], staged[1]].forEach(sends))
      expect(rig.pass(2 * MINUTE).map(text => text.split(':')[1])).to.have.members([' press is silent', ' garage is silent'])
    })

    it('of a thousand that fall silent at once are one', () => {
      const meters = Array.from({ length: 1000 }, (_, i) => rig.stats.meter('source', `source ${i}`))
      for (const meter of meters) meter.running.add(meter.name)
      rig.pass(5 * MINUTE, () => meters.forEach(sends))
      expect(rig.pass(MINUTE)).to.deep.equal(['source-silent warning: 1000 sources are silent for longer than usual'])
      expect(rig.pass(MINUTE, () => meters.forEach(sends))).to.deep.equal([])
    })

    it('go on after a restart with one that has still not sent', () => {
      const source = rig.stats.meter('source', 'press')
      source.running.add('press-node')
      rig.pass(5 * MINUTE, () => sends(source))
      rig.pass(MINUTE)
      rig.alarms.acknowledge('source-silent:source:press-node')
      const { kept } = rig.alarms
      rig = new Rig(JSON.parse(JSON.stringify(kept)))
      const meter = rig.stats.meter('source', 'press')
      meter.running.add('press-node')
      rig.pass(5 * MINUTE)
      expect(rig.alarms.active[0]?.acknowledgedMs).to.equal(kept.alarms[0].acknowledgedMs)
      expect(rig.pass(15, () => sends(meter))).to.deep.equal([])
    })

    it('say that a device does not answer', () => {
      rig.gauge('source press', { state: 'silent', lastGoodSecondsAgo: 90 })
      rig.gauge('source saw', { state: 'silent', lastGoodSecondsAgo: null })
      rig.gauge('source bus', { state: 'error-passive' })
      expect(rig.pass(MINUTE)).to.have.members([
        'device-silent problem: The device of press does not answer: its last answer came 2 min ago',
        'device-silent problem: The device of saw has not answered yet'
      ])
    })

    it('say which node does not work', () => {
      rig.stats.gauge('failed press (a1)', () => ({ connected: false, problem: 'SLUICE_OPTIONS: Host is missing.' }), 'a1')
      rig.stats.unstarted = [{ id: 'b2', type: 'sluice-broker', name: 'hall' }]
      rig.pass(MINUTE)
      expect(rig.alarms.active.map(({ what, reason, subject }) => [what, reason, subject.nodeId])).to.deep.equal([
        ['hall does not work: open it in the editor', 'SLUICE_NODE_UNSTARTED', 'b2'],
        ['press does not work: open it in the editor', 'SLUICE_OPTIONS: Host is missing.', 'a1']
      ])
      rig.stats.unstarted = []
      expect(rig.pass(MINUTE)).to.have.length(1)
    })
  })

  describe('of staging', () => {
    it('name a broker once, however many miss it, and tell one that refuses', () => {
      const problem = 'SLUICE_BROKER_REFUSED: Nothing listens at mqtt://hall:1883. Start the broker, or correct host and port.'
      rig.gauge('spool out', { connected: false, broker: 'mqtt://hall:1883', problem })
      rig.gauge('stage in in', { connected: false, broker: 'mqtt://hall:1883', problem: '' })
      rig.gauge('stage in other', { connected: false, broker: 'mqtt://b', problem: 'SLUICE_BROKER_AUTH: The broker at mqtt://b does not let …' })
      expect(rig.pass(MINUTE)).to.have.members([
        'broker-unreachable problem: The broker mqtt://hall:1883 is not reachable',
        'broker-unreachable problem: The broker mqtt://b refuses this gateway'
      ])
      expect(rig.alarms.active.find(({ subject }) => subject.name === 'mqtt://hall:1883')?.reason).to.equal(`${problem} It is used by out, in.`)
    })

    it('say how full a spool is, and that it accepts nothing', () => {
      rig.gauge('spool out', { onDiskBytes: 70 * MIB, maxBytes: 100 * MIB, unstoredBytes: 60 * MIB, blocked: null })
      expect(rig.pass(MINUTE)).to.deep.equal([])
      rig.limits.add([{ of: 'spool', name: '', limit: 65 }])
      expect(rig.pass(MINUTE)).to.deep.equal(['spool warning: The spool of out is 70 % full'])
      rig.gauge('spool out', { blocked: 'full' })
      expect(rig.pass(MINUTE)).to.deep.equal(['spool problem: The spool of out accepts nothing: its sources wait'])
    })

    it('count what is lost, dropped or should never happen', () => {
      const well = { lostRows: 0, droppedRows: 0, clashes: 0, setBack: 0, strangers: 0, impossible: 0, tooBig: 0, doubts: 0 }
      rig.gauge('spool out', well)
      rig.gauge('stage in in', { lostRows: 0, parkedRows: 0 })
      rig.gauge('sink plant', { connected: true })
      const meter = rig.stats.meter('sink', 'plant', 'id of sink plant')
      expect(rig.pass(MINUTE)).to.deep.equal([])
      rig.gauge('spool out', { lostRows: 5, droppedRows: 6, clashes: 1, setBack: 1, strangers: 2, impossible: 3, tooBig: 4, doubts: 1 })
      rig.gauge('stage in in', { lostRows: 7, parkedRows: 8 })
      meter.lost = 9
      expect(rig.pass(10)).to.have.members([
        'rows-lost problem: The spool of out has lost 5 rows',
        'rows-lost problem: 7 rows that in waits for are in no spool any more',
        'rows-dropped problem: The full spool of out has dropped 6 rows',
        'rows-unkept problem: plant could not store 9 rows, and nothing keeps them',
        'parked warning: 8 rows behind in reach no sink, and wait for a deploy',
        'identity-clash problem: 1 batch of out found their place taken by others',
        'set-back warning: A database behind out was set back: what the spool still has is stored again',
        'strangers warning: out was told by strangers what is stored: 2 messages ignored',
        'impossible warning: out has ignored 3 messages that made no sense',
        'too-big problem: The broker passes on none of 4 rows of out: they are too large',
        'doubts warning: What the databases behind out have cannot be verified'
      ])
    })
  })

  describe('of the machine', () => {
    it('say what its health is', () => {
      const host = { temperatureCelsius: 83, cards: [{ name: 'mmcblk0', wornPercent: 90 }], throttling: null, disk: null }
      const alarms = [
        { kind: 'temperature', level: 'problem', what: 'The processor has 83 °C.', fix: 'Give it air.' },
        { kind: 'space', level: 'warning', what: '4.00 GB of 64.0 GB are free.', fix: 'Make room.' }
      ]
      Object.assign(rig.stats, { host: { report: { ...host, alarms } } })
      expect(rig.pass(MINUTE)).to.deep.equal([
        'temperature problem: The processor has 83 °C',
        'space warning: The data folder: 4.00 GB of 64.0 GB are free'
      ])
    })

    it('say that the clock is not set, and that it jumped, but not that it was set', () => {
      Object.assign(rig.clock, { state: 'unsynchronised', isWrong: true })
      expect(rig.pass(MINUTE)).to.deep.equal(['clock-unset warning: The clock is not set: samples are stored, marked as uncertain'])
      Object.assign(rig.clock, { state: 'set', isWrong: false })
      rig.wallMs += 1e9
      expect(rig.pass(MINUTE)).to.deep.equal([])
      rig.wallMs -= 30_000
      expect(rig.pass(MINUTE)).to.deep.equal(['clock-jumped warning: The clock was put back by 30.0 s'])
      expect(rig.pass(HOUR)).to.deep.equal([])
    })

    it('say that something has kept all else from its turn, except while it starts', () => {
      const block = (/** @type {number} */ ms) => rig.pass(5, () => { rig.blockedMs = ms })
      block(3000)
      block(0)
      expect(rig.pass(MINUTE)).to.deep.equal([])
      expect(block(2500)).to.deep.equal(['event-loop warning: Something has kept the gateway from all else for 2.50 s'])
      rig.blockedMs = 900
      expect(rig.pass(11 * MINUTE)).to.deep.equal([])
    })
  })

  it('speak in sentences of at most a hundred characters without codes, of the longest names too', () => {
    const name = 'N'.repeat(100)
    rig.gauge(`sink ${name}`, { connected: false, problem: 'SLUICE_SINK_CONNECT: away', keptDeadLetters: 1e9, pendingRows: 123_456_789 })
    rig.gauge(`spool ${name}`, { connected: false, broker: name, blocked: 'full', onDiskBytes: 99, maxBytes: 100, lostRows: 1e12 })
    rig.pass(MINUTE)
    expect(rig.alarms.active).to.have.length(4)
    for (const { what } of rig.alarms.active) {
      expect(what.length, what).to.be.at.most(100)
      expect(what).not.to.contain('SLUICE')
    }
  })
})

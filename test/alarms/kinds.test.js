import { expect } from 'chai'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { alarmsOf } from '../../gateway/stats/host/alarms.js'
import { HOUR, MIB, MINUTE, Rig, sends, START_MS } from './rig.js'

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

  describe('of staging', () => {
    it('name a broker once, however many miss it, and tell one that refuses', () => {
      const problem = 'SLUICE_BROKER_REFUSED: Nothing listens at mqtt://hall:1883. Start the broker, or correct host and port.'
      rig.gauge('spool out', { connected: false, broker: 'mqtt://hall:1883', problem })
      rig.gauge('stage in in', { connected: false, broker: 'mqtt://hall:1883', problem: '' })
      rig.gauge('kafka in k', { connected: false, broker: 'Kafka at k:9092', problem: 'SLUICE_SINK_CONNECT: Kafka at k:9092 cannot be …' })
      rig.gauge('stage in other', { connected: false, broker: 'mqtt://b', problem: 'SLUICE_BROKER_AUTH: The broker at mqtt://b does not let …' })
      expect(rig.pass(MINUTE)).to.have.members([
        'broker-unreachable problem: The broker mqtt://hall:1883 is not reachable',
        'broker-unreachable problem: The broker Kafka at k:9092 is not reachable',
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
      expect(rig.pass(MINUTE)).to.deep.equal(['spool problem: The spool of out accepts nothing: what comes waits'])
    })

    it('say that a full stage out refuses what does not wait, and how much', () => {
      rig.gauge('spool out', { onDiskBytes: 100 * MIB, maxBytes: 100 * MIB, unstoredBytes: 99 * MIB, blocked: 'full', refusedRows: 0 })
      rig.stats.ownMeter('out (stage out)', 'id of spool out').dropped = 3 // of names that cannot be used: among those that the gauge has
      const full = 'spool problem: The spool of out accepts nothing: sources wait, all else is refused'
      expect(rig.pass(MINUTE)).to.deep.equal([full.replace(/sources .*/, 'what comes waits')]) // in memory
      rig.gauge('spool out', { isRefusing: true, refusedRows: 12 })
      const refused = 'rows-refused problem: out could not accept 12 rows, and nothing keeps them'
      expect(rig.pass(5)).to.have.members([full, refused])
      rig.gauge('spool out', { isRefusing: false, blocked: null, onDiskBytes: 10 * MIB })
      expect(rig.pass(15)).to.deep.equal([refused])
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
      Object.assign(rig.stats.ownMeter('in (stage in)', 'id of stage in in'), { errors: 11, dropped: 12 })
      expect(rig.pass(10)).to.have.members([
        'rows-lost problem: The spool of out has lost 5 rows',
        'rows-lost problem: 7 rows that in waits for are in no spool any more',
        'rows-dropped problem: The full spool of out has dropped 6 rows',
        'rows-unkept problem: plant could not store 9 rows, and nothing keeps them',
        'messages-refused warning: in could not make rows of what it gets: 11 refusals',
        'rows-refused problem: in could not accept 12 rows, and nothing keeps them',
        'parked warning: 8 rows behind in reach no sink, and wait for a deploy',
        'identity-clash problem: out found its identity used by others: 1 message',
        'set-back warning: A database behind out was set back: what the spool, or Kafka, still has is stored again',
        'strangers warning: out was told by strangers what is stored: 2 messages ignored',
        'impossible warning: out has ignored 3 messages that made no sense',
        'too-big problem: The broker passes on none of 4 rows of out: they are too large',
        'doubts warning: What the databases behind out have cannot be verified'
      ])
    })
  })

  it('say that what reads has its identity taken, be it from a stage or from topics', () => {
    for (const name of ['stage in in', 'kafka in plant']) rig.gauge(name, { clashes: 0 })
    expect(rig.pass(MINUTE)).to.deep.equal([])
    for (const name of ['stage in in', 'kafka in plant']) rig.gauge(name, { clashes: 1 })
    expect(rig.pass(10)).to.have.members(['in', 'plant'].map(name => {
      return `identity-clash problem: ${name} found its identity used by others: 1 message`
    }))
  })

  it('say how many records Kafka has removed before they were stored', () => {
    rig.gauge('kafka in plant', { partitions: 1 })
    const meter = rig.stats.ownMeter('plant (kafka in)', 'id of kafka in plant')
    expect(rig.pass(MINUTE)).to.deep.equal([])
    meter.lost = 3
    expect(rig.pass(10)).to.deep.equal(['records-lost problem: Kafka no longer has 3 records that plant has not stored'])
  })

  it('of a stage are not those of a source that is called like one', () => {
    rig.gauge('spool saw', { connected: true })
    rig.stats.meter('stage', 'saw (stage out)').dropped = 5
    expect(rig.pass(10)).to.deep.equal([])
    rig.stats.ownMeter('saw (stage out)', 'id of spool saw').dropped = 7
    expect(rig.pass(10)).to.deep.equal(['rows-refused problem: saw could not accept 7 rows, and nothing keeps them'])
    expect(rig.alarms.active[0].id).to.equal('rows-refused:stage:id of spool saw')
  })

  describe('of the machine', () => {
    it('say what its health is', () => {
      const host = { temperatureCelsius: 83, cards: [], disk: { freeBytes: 4e9, totalBytes: 64e9 } }
      Object.assign(rig.stats, { host: { report: { ...host, alarms: alarmsOf(host) } } })
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

    it('say that the history is not written, as long as it is not', () => {
      rig.gauge('history', { problem: null })
      expect(rig.pass(MINUTE)).to.deep.equal([])
      rig.gauge('history', { problem: 'SLUICE_HISTORY_PAUSED: The history is not written to disk: EROFS.' })
      expect(rig.pass(MINUTE)).to.deep.equal([
        'history warning: The history of the gateway is not written to disk: after a restart its charts have a hole'
      ])
      expect(rig.alarms.active[0].reason).to.contain('EROFS')
      rig.gauge('history', { problem: null })
      expect(rig.pass(MINUTE)).to.deep.equal([])
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

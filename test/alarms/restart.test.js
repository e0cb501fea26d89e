import { expect } from 'chai'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { spaceAlarms } from '../../gateway/stats/host/alarms.js'
import { HOUR, Rig, sends } from './rig.js'

describe('Kinds of alarms after a restart', () => {
  /** @type {Rig} */
  let rig

  beforeEach(() => { rig = new Rig() })

  const restart = () => {
    const kept = JSON.parse(JSON.stringify(rig.alarms.kept))
    const { wallMs } = rig
    rig = new Rig(kept)
    rig.wallMs = wallMs
  }

  it('are cleared by the first look that finds the subject well', () => {
    Object.assign(rig.clock, { state: 'unsynchronised', isWrong: true })
    rig.gauge('sink plant', { connected: false, lastError: 'SLUICE_SINK_CONNECT: No.', keptDeadLetters: 2 })
    rig.gauge('sink other', { connected: false, problem: 'SLUICE_SINK_POSTGRESQL: permission denied' })
    rig.gauge('stage in in', { connected: false, broker: 'hall', parkedRows: 8 })
    rig.gauge('spool out', { onDiskBytes: 99, maxBytes: 100 })
    rig.gauge('source press', { state: 'silent', lastGoodSecondsAgo: 60 })
    rig.stats.gauge('failed saw (c0ffee)', () => ({ connected: false, problem: 'SLUICE_OPTIONS: No.' }), 'c0ffee')
    const press = rig.stats.meter('source', 'lathe')
    press.running.add('lathe node')
    Object.assign(rig.stats, { host: { report: { alarms: spaceAlarms({ freeBytes: 1e6, totalBytes: 1e9 }) } } })
    rig.pass(HOUR)
    const kinds = ['broker-unreachable', 'clock-unset', 'dead-letters', 'device-silent', 'node-failed', 'parked', 'sink-refuses',
      'sink-unreachable', 'source-silent', 'space', 'spool']
    expect(rig.alarms.active.map(({ kind }) => kind).toSorted()).to.deep.equal(kinds)

    restart()
    expect(rig.said.every(text => text.includes(': Before the restart: ')), rig.said.join()).to.equal(true)
    expect(rig.pass(10), 'nothing is known yet').to.have.length(kinds.length)
    rig.gauge('sink plant', { connected: true })
    expect(rig.pass(5).filter(text => text.startsWith('sink-unreachable')), 'open, and not asked yet').to.have.length(1)
    rig.gauge('sink plant', { connected: true, hasAnswered: true, keptDeadLetters: 0 })
    rig.gauge('sink other', { connected: true, keptDeadLetters: 0 })
    rig.gauge('stage in in', { connected: true, broker: 'hall', parkedRows: 0 })
    rig.gauge('spool out', { onDiskBytes: 9, maxBytes: 100, accepted: 0 })
    rig.gauge('source press', { state: 'good', lastGoodSecondsAgo: 0 })
    rig.stats.gauge('spool saw', () => ({ accepted: 1 }), 'c0ffee')
    const lathe = rig.stats.meter('source', 'lathe')
    lathe.running.add('lathe node')
    sends(lathe)
    Object.assign(rig.stats, { host: { report: { alarms: [] } } })
    expect(rig.pass(5)).to.deep.equal([
      'sink-refuses problem: Before the restart: other takes nothing: 0 rows wait', // nothing was written yet
      'spool warning: Before the restart: The spool of out is 99 % full'
    ])
    rig.gauge('spool out', { accepted: 1 })
    rig.stats.meter('sink', 'other', 'id of sink other').rows = 10
    expect(rig.pass(5)).to.deep.equal([])
  })

  it('go on of one sink of several that gets nothing, until it has stored something', () => {
    let accepted = 1
    let stored = 0
    const begin = () => {
      const line = { ...emptyBalance(), id: 'a1', sink: 'plant', gateway: 'gw', source: 'press' }
      rig.stats.spooled('id of spool out', () => [{ ...line, produced: accepted, stored, inFlight: accepted - stored }])
      rig.gauge('spool out', { connected: true, unstoredBytes: 9, requiredSinks: 'gw/a1, gw/b2' })
    }
    const goOn = () => rig.gauge('spool out', { accepted: ++accepted, confirmed: accepted })
    begin()
    rig.pass(HOUR, goOn)
    restart()
    begin()
    expect(rig.pass(5, goOn))
      .to.deep.equal(['not-stored warning: plant has stored none of 722 rows that wait for it in the spool of out for 60 min'])
    stored = accepted
    expect(rig.pass(15)).to.deep.equal([])
  })

  it('last as long as they have since they were raised first, and not since the restart', () => {
    rig.gauge('spool out', { connected: true, accepted: 0, confirmed: 0, unstoredBytes: 9, requiredSinks: 'gw/a1' })
    rig.gauge('sink plant', { connected: true, waitingMs: 0, pendingRows: 10 })
    const press = rig.stats.meter('source', 'press')
    press.running.add('press node')
    rig.pass(HOUR, second => {
      rig.gauge('spool out', { accepted: second })
      rig.gauge('sink plant', { waitingMs: second * 1000 })
    })
    restart()
    rig.gauge('spool out', { connected: true, accepted: 0, confirmed: 0, unstoredBytes: 9, requiredSinks: 'gw/a1' })
    rig.gauge('sink plant', { connected: true, waitingMs: 900, pendingRows: 10 })
    rig.stats.meter('source', 'press').running.add('press node')
    expect(rig.pass(5)).to.have.members([
      'not-stored warning: No sink has stored rows of the spool of out for 60 min',
      'sink-waiting warning: plant has not answered for 60 min; 10 rows in hand',
      'source-silent warning: press is silent: it has sent nothing for 60 min'
    ])
    rig.stats.meter('sink', 'plant', 'a1').rows = 1
    sends(rig.stats.meter('source', 'press'))
    rig.gauge('spool out', { confirmed: 1 })
    expect(rig.pass(15)).to.deep.equal(['sink-waiting warning: plant has not answered for 60 min; 10 rows in hand'])
  })
})

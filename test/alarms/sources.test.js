import { expect } from 'chai'
import { HOUR, MINUTE, Rig, sends, START_MS } from './rig.js'

describe('Alarms of sources', () => {
  /** @type {Rig} */
  let rig

  beforeEach(() => { rig = new Rig() })

  it('say that one is silent for longer than usual, and that it sends again', () => {
    const source = rig.stats.meter('source', 'press')
    source.running.add('press-node')
    rig.pass(5 * MINUTE, () => sends(source))
    expect(rig.pass(30)).to.deep.equal([])
    expect(rig.pass(15)).to.deep.equal(['source-silent warning: press is silent: it has sent nothing for 45 s'])
    const subject = { type: 'source', name: 'press', nodeId: 'press-node' }
    expect(rig.alarms.active[0]).to.deep.include({ raisedMs: START_MS + 300_000, subject })
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

  it('say that a device answers, and not one value of it can be read', () => {
    rig.gauge('source press', { state: 'good', lastGoodSecondsAgo: 0, valueless: 'exception 2' })
    rig.gauge('source saw', { state: 'good', lastGoodSecondsAgo: 0, valueless: '' })
    rig.gauge('source bus', { state: 'silent', lastGoodSecondsAgo: 1, valueless: 'exception 2' })
    expect(rig.pass(MINUTE)).to.have.members([
      'values-missing problem: No value of press can be read, although its device answers',
      'device-silent problem: The device of bus does not answer: its last answer came 1 s ago'
    ])
    expect(rig.alarms.active.find(({ kind }) => kind === 'values-missing')?.reason).to.equal('exception 2')
    rig.gauge('source press', { valueless: '' })
    expect(rig.pass(15)).to.have.length(1)
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

  it('say that a device does not answer, also where another of its name does', () => {
    rig.stats.gauge('source press', () => ({ state: 'silent', lastGoodSecondsAgo: 90 }), 'a1')
    rig.stats.gauge('source press', () => ({ state: 'good', lastGoodSecondsAgo: 0 }), 'b2')
    rig.pass(MINUTE)
    expect(rig.alarms.active.map(({ kind, subject }) => [kind, subject.name, subject.nodeId])).to.deep.equal([
      ['device-silent', 'press (a1)', 'a1']
    ])
  })

  it('say which node does not work', () => {
    rig.stats.gauge('failed press (a1)', () => ({ connected: false, problem: 'SLUICE_OPTIONS: Host is missing.' }), 'a1')
    rig.stats.unstarted = [{ id: 'b2', type: 'sluice-broker', name: 'hall', problem: 'SLUICE_NODE_UNSTARTED: Node-RED has not made it.' }]
    rig.pass(MINUTE)
    expect(rig.alarms.active.map(({ what, reason, subject }) => [what, reason, subject.nodeId])).to.deep.equal([
      ['hall does not work: open it in the editor', 'SLUICE_NODE_UNSTARTED: Node-RED has not made it.', 'b2'],
      ['press does not work: open it in the editor', 'SLUICE_OPTIONS: Host is missing.', 'a1']
    ])
    rig.stats.unstarted = []
    expect(rig.pass(MINUTE)).to.have.length(1)
  })
})

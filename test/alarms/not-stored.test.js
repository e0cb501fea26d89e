import { expect } from 'chai'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { HOUR, MINUTE, Rig, START_MS } from './rig.js'

describe('The alarm that nothing is stored says so', () => {
  /** @type {Rig} */
  let rig

  const NOT_STORED = 'not-stored warning: No sink has stored rows of the spool of out for'
  let accepted = 0
  const produces = () => rig.gauge('spool out', { accepted: ++accepted, unstoredBytes: 1000 * accepted })
  const onlyNotStored = (/** @type {string[]} */ said) => said.filter(text => text.startsWith('not-stored'))

  beforeEach(() => {
    rig = new Rig()
    accepted = 0
    rig.gauge('spool out', { connected: true, accepted: 0, confirmed: 0, unstoredBytes: 0, requiredSinks: 'gw/id of sink plant' })
    rig.gauge('sink plant', { connected: true, pendingRows: 0, stoppedSources: '' })
  })

  it('and who would store, until something is: a stage in that is disabled, or leads to no sink', () => {
    expect(rig.pass(MINUTE + 55, produces)).to.deep.equal([])
    expect(rig.pass(10, produces)).to.deep.equal([`${NOT_STORED} 2 min`])
    expect(rig.alarms.active[0]).to.deep.include({
      id: 'not-stored:stage:id of spool out',
      raisedMs: START_MS + 5000,
      reason: 'The rows wait in it. Of its sinks, these run here and get none: plant.'
    })
    rig.gauge('spool out', { confirmed: 1 })
    expect(rig.pass(15, produces)).to.deep.equal([])
    rig.gauge('spool out', { requiredSinks: 'gw/gone, group:hall/a%2Fb' })
    expect(rig.pass(5 * MINUTE, produces)).to.have.length(1)
    expect(rig.alarms.active[0].reason)
      .to.equal('The rows wait in it. Nothing is heard of 2 sinks that it waits for: disabled, or of another gateway.')
    rig.gauge('spool out', { requiredSinks: '' })
    expect(rig.pass(5, produces)).to.have.length(1)
    expect(rig.alarms.active[0].reason).to.equal('The rows wait in it. No sink is known that would take them.')
  })

  it('by one sink of several, whose stage in is disabled, or which is disabled itself', () => {
    const line = { ...emptyBalance(), gateway: 'gw', source: 'press' }
    const had = { plant: 0, cloud: 0, archive: 0 }
    rig.stats.spooled('id of spool out', () => Object.entries(had).map(([sink, stored]) => {
      return { ...line, id: `id of sink ${sink}`, sink, produced: accepted, stored, inFlight: accepted - stored }
    }))
    rig.gauge('spool out', { requiredSinks: Object.keys(had).map(sink => `gw/id of sink ${sink}`).join(', ') })
    rig.gauge('sink cloud', { connected: true, pendingRows: 0, stoppedSources: '', waitingFor: '' })
    const passes = () => {
      produces()
      rig.gauge('spool out', { confirmed: ++had.cloud })
    }
    const STALLED = 'not-stored warning: plant has stored none of 29 rows that wait for it in the spool of out for 2 min'
    expect(rig.pass(2 * MINUTE + 25, passes)).to.deep.equal([
      STALLED, STALLED.replace('plant', 'archive')
    ])
    expect(rig.alarms.active.map(({ subject, reason }) => [subject.type, subject.nodeId, reason])).to.deep.equal([
      ['sink', 'id of sink plant', 'It runs, and nothing brings them to it.'],
      ['sink', 'id of sink archive', 'It does not run: it is disabled, or so is its flow.']
    ])
    had.archive++
    rig.gauge('sink plant', { waitingFor: 'cloud' }) // that has an alarm of its own
    expect(rig.pass(15, passes)).to.deep.equal([])
  })

  it('by a sink of another gateway, while others store, until that one does', () => {
    const line = { ...emptyBalance(), gateway: 'gw', source: 'press' }
    const had = { plant: 0, cloud: 0 }
    const lines = (/** @type {string} */ id, /** @type {keyof had} */ sink) => () => {
      return [{ ...line, id, sink, produced: accepted, stored: had[sink], inFlight: accepted - had[sink] }]
    }
    const [own, remote] = [lines('id of sink plant', 'plant'), lines('gw-far/b2', 'cloud')]
    rig.stats.spooled('id of spool out', own, remote)
    rig.gauge('spool out', { requiredSinks: 'gw/id of sink plant, gw-far/b2' })
    const passes = () => {
      produces()
      rig.gauge('spool out', { confirmed: ++had.plant })
    }
    expect(rig.pass(2 * MINUTE + 25, passes)).to.deep.equal([
      'not-stored warning: cloud (gw-far) has stored none of 29 rows that wait for it in the spool of out for 2 min'
    ])
    const { subject, reason } = rig.alarms.active[0]
    expect([subject, reason]).to.deep.equal([
      { type: 'sink', name: 'cloud (gw-far)' },
      'It is another gateway\'s, which is off or cut off, or stores nothing: the rows wait here.'
    ])
    expect(rig.stats.readBalances().map(({ sink }) => sink)).to.deep.equal(['plant']) // the other is none of this gateway
    rig.gauge('stage in in', { connected: true, parkedRows: 7 })
    expect(onlyNotStored(rig.pass(MINUTE, passes))).to.have.length(1) // what happens here does not explain it
    const { kept } = rig.alarms
    had.cloud = accepted - 3
    expect(rig.pass(15, passes).filter(text => text.includes('cloud'))).to.deep.equal([])

    rig = new Rig(JSON.parse(JSON.stringify(kept)))
    rig.stats.spooled('id of spool out', own, remote)
    rig.gauge('spool out', { connected: true, requiredSinks: 'gw/id of sink plant, gw-far/b2' })
    expect(rig.pass(3 * MINUTE, passes)).to.have.length(1) // it has said nothing since the restart
    had.cloud++
    expect(rig.pass(15, passes)).to.deep.equal([])
  })

  it('by one sink of several also where no more rows come, as after a restart', () => {
    const line = { ...emptyBalance(), id: 'id of sink plant', sink: 'plant', gateway: 'gw', source: 'press', produced: 30 }
    let stored = 10
    rig.stats.spooled('id of spool out', () => [{ ...line, stored, inFlight: 30 - stored }])
    rig.gauge('spool out', { accepted: 1, confirmed: 1, unstoredBytes: 9, requiredSinks: 'gw/id of sink plant, gw/id of sink cloud' })
    rig.gauge('sink cloud', { connected: true, pendingRows: 0, stoppedSources: '', waitingFor: '' })
    expect(rig.pass(14 * MINUTE)).to.deep.equal([])
    expect(rig.pass(2 * MINUTE))
      .to.deep.equal(['not-stored warning: plant has stored none of 20 rows that wait for it in the spool of out for 16 min'])
    stored = 30
    expect(rig.pass(15)).to.deep.equal([])
  })

  it('not while another gateway says that it stores, however seldom and little', () => {
    rig.gauge('spool out', { requiredSinks: 'gw/id of sink plant, other/b2' })
    let answers = 0
    const says = (/** @type {number} */ second) => {
      produces()
      if (second % 100 === 0) rig.gauge('spool out', { confirmed: ++answers })
    }
    expect(rig.pass(HOUR, says)).to.deep.equal([])
  })

  it('not while a sink here stores, whose database is slow to be read', () => {
    const meter = rig.stats.meter('sink', 'plant', 'id of sink plant')
    expect(rig.pass(HOUR, () => {
      produces()
      meter.rows++
    })).to.deep.equal([])
  })

  it('not where no rows come: what one sink of two has stored, or what was staged before a pause', () => {
    rig.pass(30, produces)
    rig.gauge('spool out', { confirmed: 1 })
    expect(rig.pass(HOUR)).to.deep.equal([])
  })

  it('not where all is stored, or only a broker is to have it', () => {
    expect(rig.pass(HOUR, () => rig.gauge('spool out', { accepted: ++accepted }))).to.deep.equal([])
  })

  for (const [what, name, gauge] of /** @type {[string, string, import('../../gateway/stats/reader.js').Gauge][]} */ ([
    ['a database is away', 'sink plant', { connected: false, lastError: 'SLUICE_SINK_CONNECT: No.' }],
    ['a database has rows in hand', 'sink plant', { pendingRows: 5 }],
    ['dead letters stop sources', 'sink plant', { stoppedSources: 'press', deadLettersPercent: 99 }],
    ['a sink could not start', 'failed plant (id of sink plant)', { connected: false, problem: 'SLUICE_OPTIONS: No.' }],
    ['a broker is away', 'stage in in', { connected: false, broker: 'hall' }],
    ['a flow does not pass on what it gets', 'stage in in', { parkedRows: 7 }]
  ])) {
    it(`not beside the alarm that says why: ${what}`, () => {
      if (name.startsWith('failed')) rig.stats.gauge(name, () => gauge, 'id of sink plant')
      else rig.gauge(name, gauge)
      expect(onlyNotStored(rig.pass(HOUR, produces))).to.deep.equal([])
    })
  }

  it('but a database that no row of the spool goes to explains nothing', () => {
    rig.gauge('sink other', { connected: false, lastError: 'SLUICE_SINK_CONNECT: No.' })
    expect(onlyNotStored(rig.pass(3 * MINUTE, produces))).to.have.length(1)
  })

  it('and go on after a restart, acknowledged', () => {
    rig.pass(5 * MINUTE, produces)
    rig.alarms.acknowledge('not-stored:stage:id of spool out')
    const { kept } = rig.alarms
    rig = new Rig(JSON.parse(JSON.stringify(kept)))
    rig.gauge('spool out', { connected: true, confirmed: 0, requiredSinks: 'gw/a1' })
    accepted = 0
    expect(rig.pass(10 * MINUTE, produces)).to.have.length(1)
    expect(rig.alarms.active[0].acknowledgedMs).to.equal(kept.alarms[0].acknowledgedMs)
    rig.gauge('spool out', { confirmed: 1 })
    expect(rig.pass(15, produces)).to.deep.equal([])
  })
})

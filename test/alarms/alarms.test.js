import { expect } from 'chai'
import { Alarms } from '../../gateway/alarms/alarms.js'

/**
 * @typedef {import('../../gateway/alarms/alarms.js').Kept} Kept
 * @typedef {import('../../gateway/alarms/kind.js').Finding} Finding
 * @typedef {import('../../gateway/alarms/kind.js').Kind} Kind
 * @typedef {import('../../gateway/stats/alarm.js').Alarm} Alarm
 */

const START_MS = 1_700_000_000_000
const KIND = {
  when: '',
  level: /** @type {const} */ ('problem'),
  raiseAfterMs: 10_000,
  clearAfterMs: 10_000,
  several: (/** @type {number} */ count) => `${count} of them`
}

/** @param {string} name @param {Partial<Finding>} [more] @returns {Finding} */
const finding = (name, more = {}) => ({ subject: { type: 'sink', name }, level: 'warning', what: `${name} is away`, fix: 'Wait.', ...more })

/** Judged every five seconds by a clock that is moved. */
class Rig {
  nowMs = 0
  /** By kind, what is wrong. @type {Record<string, Finding[]>} */
  wrong = {}
  /** @type {string[]} */
  told = []

  /** @param {Kept|null} [kept] @param {Partial<Kind>} [kind] */
  constructor (kept = null, kind = {}) {
    const now = () => this.nowMs
    const read = (/** @type {any} */ wrong) => wrong.away ?? []
    const kinds = { away: { ...KIND, ...kind, read } }
    this.alarms = new Alarms({ kinds, take: () => /** @type {any} */ (this.wrong), kept, now, wallNow: () => START_MS + now() })
    this.alarms.onChange(({ id }, change) => this.told.push(`${change} ${id} at ${this.nowMs / 1000}`))
  }

  /** @param {number} seconds @param {Finding[]} [away]  meanwhile */
  pass (seconds, away = []) {
    this.wrong = { away }
    for (const end = this.nowMs + seconds * 1000; this.nowMs < end;) {
      this.nowMs += 5000
      this.alarms.judge()
    }
    return this.alarms.active
  }
}

describe('Alarms', () => {
  it('are no lesser ones because it took long to look', () => {
    const rig = new Rig(null, { raiseAfterMs: 0, clearAfterMs: 0 })
    rig.wrong = {
      get away () {
        rig.nowMs += 50
        return [finding('plant', { level: 'problem' })]
      }
    }
    for (let look = 0; look < 3; look++) rig.alarms.judge()
    expect(rig.alarms.active[0].level).to.equal('problem')
    expect(rig.told).to.have.length(1)
  })

  it('are raised once something has been wrong for long enough, since when it is', () => {
    const rig = new Rig()
    expect(rig.pass(10, [finding('plant')])).to.deep.equal([])
    const [alarm] = rig.pass(5, [finding('plant')])
    expect(alarm).to.deep.equal({
      id: 'away:sink:plant',
      kind: 'away',
      level: 'warning',
      subject: { type: 'sink', name: 'plant' },
      what: 'plant is away',
      fix: 'Wait.',
      raisedMs: START_MS + 5000,
      clearedMs: null,
      acknowledgedMs: null
    })
    expect(rig.told).to.deep.equal(['raised away:sink:plant at 15'])
    expect(rig.alarms.raised.get('away')).to.equal(1)
  })

  it('are raised at once by what happens once, though the clock goes on during the look', () => {
    let nowMs = 0
    let lost = 0
    const read = () => [finding('plant', { count: lost, what: more => `${more} rows are lost` })]
    const kinds = { lost: { ...KIND, event: /** @type {const} */ ('process'), raiseAfterMs: 0, read } }
    const alarms = new Alarms({ kinds, take: () => /** @type {any} */ ({}), now: () => { return nowMs += 0.01 } })
    alarms.judge()
    expect(alarms.active).to.deep.equal([])
    lost = 5000
    alarms.judge()
    expect(alarms.active.map(({ what }) => what)).to.deep.equal(['5000 rows are lost'])
  })

  it('are not raised by what is over soon, however often it comes', () => {
    const rig = new Rig()
    for (let i = 0; i < 20; i++) {
      rig.pass(10, [finding('plant')])
      rig.pass(5)
    }
    expect(rig.told).to.deep.equal([])
  })

  it('stay while it is over only for moments, and are cleared once it is over for long enough', () => {
    const rig = new Rig()
    rig.pass(15, [finding('plant')])
    for (let i = 0; i < 20; i++) {
      rig.pass(5)
      rig.pass(5, [finding('plant')])
    }
    expect(rig.pass(5)).to.have.length(1)
    expect(rig.pass(5)).to.have.length(0)
    expect(rig.told).to.deep.equal(['raised away:sink:plant at 15', 'cleared away:sink:plant at 225'])
    expect(rig.alarms.recent).to.have.length(1)
    expect(rig.alarms.recent[0]).to.include({ id: 'away:sink:plant', clearedMs: START_MS + 225_000 })
  })

  it('say what is so now, without being raised again for it', () => {
    const rig = new Rig()
    rig.pass(15, [finding('plant')])
    expect(rig.pass(5, [finding('plant', { what: 'x'.repeat(200), reason: 'SLUICE_SINK_CONNECT: no.' })])[0].what).to.have.length(100)
    expect(rig.alarms.active[0].reason).to.equal('SLUICE_SINK_CONNECT: no.')
    expect(rig.told).to.have.length(1)
  })

  it('are acknowledged once, by their id', () => {
    const rig = new Rig()
    rig.pass(15, [finding('plant')])
    expect(rig.alarms.acknowledge('away:sink:other')).to.equal(null)
    expect(rig.alarms.acknowledge('away:sink:plant')?.acknowledgedMs).to.equal(START_MS + 15_000)
    rig.alarms.acknowledge('away:sink:plant')
    rig.pass(60, [finding('plant')])
    expect(rig.told).to.deep.equal(['raised away:sink:plant at 15', 'acknowledged away:sink:plant at 15'])
  })

  it('are raised again when they get worse, and do not flap between their levels', () => {
    const rig = new Rig()
    rig.pass(15, [finding('plant')])
    rig.alarms.acknowledge('away:sink:plant')
    for (let i = 0; i < 5; i++) {
      rig.pass(5, [finding('plant', { level: 'problem' })])
      rig.pass(5, [finding('plant')])
    }
    expect(rig.told.slice(2)).to.deep.equal(['raised away:sink:plant at 20'])
    expect(rig.alarms.active[0]).to.include({ level: 'problem', acknowledgedMs: null })
    expect(rig.pass(10, [finding('plant')])[0].level).to.equal('warning')
  })

  it('are listed with problems first, then the newest', () => {
    const rig = new Rig()
    const [a, b, c] = [finding('a'), finding('b', { level: 'problem' }), finding('c')]
    rig.pass(15, [a])
    rig.pass(15, [a, b])
    expect(rig.pass(15, [a, b, c]).map(({ subject }) => subject.name)).to.deep.equal(['b', 'c', 'a'])
  })

  it('of a thousand at once are one, which ends when all are over', () => {
    const rig = new Rig()
    const all = Array.from({ length: 1000 }, (_, i) => finding(`source ${i}`))
    rig.pass(15, [finding('first')])
    const [several] = rig.pass(20, [finding('first'), ...all])
    expect(several).to.include({ id: 'away:sink:(several)', what: '1000 of them' })
    expect(several.reason).to.match(/^source 0, source 1, .*source 19 and 980 more$/)
    expect(rig.pass(60, [finding('first'), ...all.slice(0, 3)]).map(({ what }) => what)).to.deep.equal(['3 of them', 'first is away'])
    expect(rig.pass(60)).to.deep.equal([])
    expect(rig.told).to.have.length(4)
    expect(rig.alarms.recent).to.have.length(2)
  })

  it('of many are raised again when one of them gets worse, and say what the last one is', () => {
    const rig = new Rig()
    const all = Array.from({ length: 11 }, (_, i) => finding(`source ${i}`))
    rig.pass(15, all)
    rig.alarms.acknowledge('away:sink:(several)')
    rig.pass(15, [...all.slice(1), finding('source 0', { level: 'problem' })])
    expect(rig.alarms.active[0]).to.include({ level: 'problem', acknowledgedMs: null })
    expect(rig.told.map(text => text.split(' ')[0])).to.deep.equal(['raised', 'acknowledged', 'raised'])
    expect(rig.pass(20, [all[3]]).map(({ what }) => what)).to.deep.equal(['source 3 is away'])
    expect(rig.told).to.have.length(3)
  })

  it('keep no more of the past than two hundred', () => {
    const rig = new Rig()
    for (let i = 0; i < 210; i++) {
      rig.pass(15, [finding(`plant ${i}`)])
      rig.pass(10)
    }
    expect(rig.alarms.recent).to.have.length(200)
    expect(rig.alarms.recent[0].subject.name).to.equal('plant 209')
  })

  it('have listeners that may leave, and that get what does not change any more', () => {
    const rig = new Rig()
    /** @type {Alarm[]} */
    const heard = []
    const leave = rig.alarms.onChange(alarm => heard.push(alarm))
    rig.pass(15, [finding('plant')])
    leave()
    rig.pass(10)
    expect(heard.map(({ clearedMs }) => clearedMs)).to.deep.equal([null])
  })

  describe('of what is counted', () => {
    const lost = (/** @type {number} */ count) => [finding('spool', { what: more => `${more} rows are lost`, count })]

    it('are raised when it grows, say by how much, and stay for as long as they are told', () => {
      const rig = new Rig(null, { event: 'process', raiseAfterMs: 0, clearAfterMs: 60_000 })
      rig.pass(30, lost(0))
      expect(rig.pass(5, lost(7))[0].what).to.equal('7 rows are lost')
      rig.pass(30, lost(7))
      expect(rig.pass(5, lost(9))[0].what).to.equal('9 rows are lost')
      expect(rig.pass(55, lost(9))).to.have.length(1)
      expect(rig.pass(5, lost(9))).to.have.length(0)
      expect(rig.pass(5, lost(10))[0].what).to.equal('1 rows are lost')
    })

    it('are raised again when more comes after somebody has seen them', () => {
      const rig = new Rig(null, { event: 'process', raiseAfterMs: 0, clearAfterMs: 60_000 })
      rig.pass(5, lost(1))
      rig.alarms.acknowledge('away:sink:spool')
      rig.pass(10, lost(1))
      rig.pass(5, lost(2))
      expect(rig.told.map(text => text.split(' ')[0])).to.deep.equal(['raised', 'acknowledged', 'raised'])
      expect(rig.alarms.active[0].acknowledgedMs).to.equal(null)
    })

    it('count from 0 again with a deploy, where the counter does', () => {
      const rig = new Rig(null, { event: 'process', raiseAfterMs: 0, clearAfterMs: 5000 })
      rig.pass(5, lost(5))
      rig.pass(10, lost(0))
      expect(rig.pass(5, lost(3))[0].what).to.equal('3 rows are lost')
    })

    it('of all its life are told by what was known before the restart, and of nothing known by what is new', () => {
      const kind = { event: /** @type {const} */ ('life'), raiseAfterMs: 0, clearAfterMs: 60_000 }
      const first = new Rig(null, kind)
      expect(first.pass(5, lost(100))).to.have.length(0)
      const { kept } = first.alarms
      expect(kept.counts).to.deep.equal({ 'away:sink:spool': 100 })
      const second = new Rig(kept, kind)
      expect(second.pass(5, lost(0)), 'not read yet').to.have.length(0)
      expect(second.pass(5, lost(100))).to.have.length(0)
      expect(second.pass(5, lost(104))[0].what).to.equal('4 rows are lost')
    })
  })

  describe('after a restart', () => {
    /** @param {Rig} rig */
    const restarted = rig => new Rig(JSON.parse(JSON.stringify(rig.alarms.kept)))

    it('are as they were, and are not raised again', () => {
      const before = new Rig()
      before.pass(15, [finding('plant')])
      before.alarms.acknowledge('away:sink:plant')
      const rig = restarted(before)
      const [alarm] = before.alarms.active
      const phrases = { what: { key: 'before', values: { what: 'plant is away' } } }
      expect(rig.alarms.active).to.deep.equal([{ ...alarm, isFromBefore: true, what: 'Before the restart: plant is away', phrases }])
      rig.pass(60) // what is in the flow has to start
      rig.pass(60, [finding('plant')])
      expect(rig.alarms.active).to.deep.equal([{ ...alarm, phrases: {} }])
      expect(rig.told).to.deep.equal([])
    })

    it('say from the first moment on that they are of before, once, however often it is restarted', () => {
      const before = new Rig()
      before.pass(15, [finding('plant'), ...Array.from({ length: 20 }, (_, i) => finding(`source ${i}`))])
      const rig = restarted(restarted(before))
      expect(rig.alarms.active.map(({ what, isFromBefore }) => ({ what, isFromBefore })))
        .to.deep.equal([{ what: 'Before the restart: 21 of them', isFromBefore: true }])
      const many = Array.from({ length: 5 }, (_, i) => finding(`source ${i}`))
      expect(rig.pass(15, many)[0]).to.include({ what: '5 of them' }).and.not.have.property('isFromBefore')
    })

    it('do not say for a minute and a half what is known to be over', () => {
      const kind = { knows: () => isKnown }
      let isKnown = false
      const before = new Rig(null, kind)
      before.pass(15, [finding('plant')])
      const rig = new Rig(JSON.parse(JSON.stringify(before.alarms.kept)), kind)
      expect(rig.pass(20)).to.have.length(1)
      isKnown = true
      expect(rig.pass(5)).to.deep.equal([])
      expect(rig.told).to.deep.equal(['cleared away:sink:plant at 25'])
    })

    it('stay problems, and are not raised again as such, though the first look finds a warning', () => {
      const before = new Rig()
      before.pass(15, [finding('plant', { level: 'problem' })])
      before.alarms.acknowledge('away:sink:plant')
      const rig = restarted(before)
      rig.pass(5, [finding('plant')])
      expect(rig.pass(5, [finding('plant', { level: 'problem' })])[0].acknowledgedMs).to.equal(START_MS + 15_000)
      expect(rig.told).to.deep.equal([])
    })

    it('go on counting from where they were', () => {
      const kind = { event: /** @type {const} */ ('process'), raiseAfterMs: 0, clearAfterMs: 60_000 }
      const lost = (/** @type {number} */ count) => [finding('spool', { what: more => `${more} rows are lost`, count })]
      const before = new Rig(null, kind)
      before.pass(5, lost(5000))
      const rig = new Rig(JSON.parse(JSON.stringify(before.alarms.kept)), kind)
      expect(rig.pass(5, lost(2))[0].what).to.equal('5002 rows are lost')
    })

    it('are cleared when nothing is wrong any more', () => {
      const before = new Rig()
      before.pass(15, [finding('plant'), ...Array.from({ length: 20 }, (_, i) => finding(`source ${i}`))])
      const rig = restarted(before)
      expect(rig.pass(85)).to.have.length(1)
      expect(rig.pass(5)).to.deep.equal([])
      expect(rig.told).to.deep.equal(['cleared away:sink:(several) at 90'])
    })

    it('that are of a kind of another version are forgotten', () => {
      const before = new Rig()
      before.pass(15, [finding('plant')])
      const kept = before.alarms.kept
      expect(new Rig({ ...kept, alarms: kept.alarms.map(alarm => ({ ...alarm, kind: 'former' })) }).alarms.active).to.deep.equal([])
    })
  })
})

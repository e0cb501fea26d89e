import { expect } from 'chai'
import { cp } from 'node:fs/promises'
import { addHashes } from '../../gateway/batch/hashes.js'
import { batchOf, headOf, Rig, stored } from './spool-rig.js'

/** @typedef {import('../../gateway/batch/batch.js').Identity} Identity */

/** What a sink reports, as it stands in the protocol. @param {Identity} identity @param {import('./spool-rig.js').Sum[]} sums */
function reading ({ source, epoch }, sums) {
  return { store: 'db', epochs: { [source]: { [epoch]: sums } } }
}

/** @param {Identity[]} identities */
function sumOf (identities) {
  return identities.reduce((sum, { hash = 0 }) => addHashes(sum, hash), 0)
}

describe('spool, releasing what is stored', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  it('keeps what any required sink has not stored, and lets go of what all have', async () => {
    rig.require('slow')
    rig.require('fast')
    const spool = await rig.open({ segmentBytes: 1 })
    const all = await rig.fill(spool, 6)
    await spool.confirm('slow', stored(all.slice(0, 2)))
    await spool.confirm('fast', stored(all))
    expect(await rig.readAll(spool)).to.deep.equal([2, 3, 4, 5])
    expect(spool.unstoredBytes).to.be.within(4 * 100, 4 * 700).and.to.be.at.most(spool.bytes)
    expect(await rig.segments()).to.have.length(4)
    await spool.confirm('slow', stored(all.slice(0, 5)))
    expect(headOf(spool).epochs[0]).to.include({ first: 5, last: 5 })
    expect(await rig.segments()).to.have.length(1)
  })

  it('takes nothing for lost when a source of which all was stored went on in its epoch and was killed', async () => {
    rig.require('sink')
    const spool = await rig.open()
    await spool.confirm('sink', stored(await rig.fill(spool, 3)))
    await spool.reclaim()
    await spool.append(batchOf(7))
    await cp(rig.folder, `${rig.folder}.killed`, { recursive: true })
    const killed = await rig.open({ folder: `${rig.folder}.killed` })
    expect(killed.counters).to.include({ lostBatches: 0, lostRows: 0 })
    expect(headOf(killed).epochs[0]).to.include({ first: 3, last: 3, before: 3, rows: 4 })
    expect(await rig.readAll(killed)).to.deep.equal([7])
  })

  it('never gives a position twice: who has read up to one finds what comes later, also when all was stored meanwhile', async () => {
    rig.require('sink')
    const spool = await rig.open({ segmentBytes: 1 })
    const all = await rig.fill(spool, 4)
    const from = { position: Number(spool.next()?.position) + 4 }
    await spool.confirm('sink', stored(all))
    await spool.reclaim()
    expect(spool.bytes).to.equal(0)
    expect(spool.next(from)).to.equal(null)
    await spool.append(batchOf(9))
    expect(spool.next(from)).to.include({ seq: 4 })
  })

  it('keeps everything while no sink is required', async () => {
    const spool = await rig.open({ segmentBytes: 1 })
    const all = await rig.fill(spool, 4)
    await spool.confirm('unknown', stored(all))
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2, 3])
    expect(await rig.segments()).to.have.length(4)
  })

  it('removes any segment that is stored, not only the oldest, and takes none of it for lost later', async () => {
    rig.require('sink', source => source === 'b')
    rig.require('late', source => source === 'a')
    let spool = await rig.open({ segmentBytes: 1 })
    const a = await spool.append(batchOf(0, 0, 'a'))
    const b = await rig.fill(spool, 3, 0, 'b')
    a.push(...await spool.append(batchOf(1, 0, 'a')))
    b.push(...await spool.append(batchOf(3, 0, 'b')))
    await spool.confirm('sink', stored(b))
    expect(await rig.segments()).to.have.length(3)
    expect(await rig.readAll(spool)).to.deep.equal([0, 1])
    await rig.close(spool)
    spool = await rig.open({ segmentBytes: 1 })
    expect(await rig.readAll(spool)).to.deep.equal([0, 1])
    expect(spool.counters).to.include({ lostBatches: 0, lostRows: 0, droppedBatches: 0 })
    await spool.confirm('sink', stored(b))
    await spool.confirm('late', stored(a))
    expect(await rig.segments()).to.deep.equal([])
    expect(headOf(spool, 'b')).to.include({ rows: 4, lost: 0 })
  })

  it('lists as not to be had what was removed between what it still holds, and does not count it as lost', async () => {
    rig.require('sink')
    rig.require('other')
    let spool = await rig.open({ segmentBytes: 1 })
    const all = await rig.fill(spool, 5)
    await spool.confirm('sink', reading(all[0], [[1, 2, sumOf(all.slice(1, 3))]]))
    await spool.confirm('other', stored(all))
    for (const again of [false, true]) {
      if (again) await rig.close(spool)
      if (again) spool = await rig.open()
      expect(await rig.readAll(spool)).to.deep.equal([0, 3, 4])
      expect(headOf(spool).epochs[0]).to.deep.include({ first: 0, last: 4, lost: [[1, 2, 2]] })
      expect(headOf(spool)).to.include({ rows: 5, lost: 0 })
      expect(spool.counters).to.include({ lostBatches: 0 })
    }
  })

  it('keeps of a sink what one reader has said of an epoch when another says something of others only', async () => {
    rig.require('sink')
    const spool = await rig.open()
    const a = await spool.append(batchOf(0, 0, 'a'))
    const b = await spool.append(batchOf(1, 0, 'b'))
    await spool.confirm('sink', stored(a))
    await spool.confirm('sink', stored(b))
    expect(await rig.readAll(spool)).to.deep.equal([])
    await spool.reclaim()
    expect(await rig.segments()).to.deep.equal([])
  })

  it('counts the answers that have more than was known', async () => {
    for (const key of ['sink', 'other']) rig.require(key)
    const spool = await rig.open()
    const all = await rig.fill(spool, 3)
    expect(spool.counters.confirmed).to.equal(0)
    await spool.confirm('sink', stored(all.slice(0, 2)))
    await spool.confirm('sink', stored(all.slice(0, 2)))
    expect(spool.counters.confirmed).to.equal(1)
    await spool.confirm('sink', stored(all.slice(0, 1)))
    expect(spool.counters.confirmed).to.equal(1)
    await spool.confirm('sink', stored(all))
    await spool.confirm('other', stored(all))
    expect(spool.counters.confirmed).to.equal(3)
  })

  it('takes back what a sink had of an epoch that is named with nothing, and of that alone', async () => {
    rig.require('sink')
    const spool = await rig.open()
    const a = await spool.append(batchOf(0, 0, 'a'))
    await spool.confirm('sink', stored(a))
    const b = await spool.append(batchOf(1, 0, 'b'))
    await spool.confirm('sink', stored(b))
    const { isLess } = await spool.confirm('sink', reading(a[0], []))
    expect(isLess).to.equal(true)
    expect(await rig.readAll(spool)).to.deep.equal([0])
  })

  it('ignores what comes late: an older reading of the same process does not undo a newer one', async () => {
    rig.require('sink')
    const spool = await rig.open()
    const all = await rig.fill(spool, 3)
    await spool.confirm('sink', { ...stored(all), reading: [1000, 7] })
    await spool.confirm('sink', { ...stored(all.slice(0, 1)), reading: [1000, 6] })
    expect(await rig.readAll(spool)).to.deep.equal([])
    await spool.confirm('sink', { ...stored(all.slice(0, 2)), reading: [900, 1] })
    expect(await rig.readAll(spool), 'of another process').to.deep.equal([2])
    const [b] = await spool.append(batchOf(9, 0, 'b'))
    await spool.confirm('sink', { ...stored([b]), reading: [1000, 5] })
    expect(await rig.readAll(spool), 'of another source').to.deep.equal([2])
  })

  it('takes no database for set back because a member of a group that was stopped says late what it has read', async () => {
    const spool = await rig.open()
    rig.require('sink')
    const all = await rig.fill(spool, 4)
    const say = (/** @type {number} */ count, /** @type {[number, number]} */ number) =>
      spool.confirm('sink', { ...stored(all.slice(0, count)), reading: number })
    await say(2, [1000, 1])
    await say(4, [900, 1])
    expect((await say(3, [1000, 2])).isLess).to.equal(false)
    expect((await say(3, [900, 2])).isLess).to.equal(true)
  })

  it('releases nothing for what an earlier run was told: the database may have been set back since', async () => {
    rig.require('sink')
    let spool = await rig.open()
    const all = await rig.fill(spool, 3)
    await spool.confirm('sink', stored(all))
    await rig.close(spool)
    spool = await rig.open()
    await spool.reclaim()
    expect(spool.batches).to.equal(3)
    expect(await rig.readAll(spool), 'to be sent').to.deep.equal([])
    await spool.confirm('sink', reading(all[0], []))
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2])
    await spool.confirm('sink', stored(all))
    expect(await rig.segments()).to.deep.equal([])
  })

  it('asks of each source only the sinks that cover it', async () => {
    rig.require('presses', source => source === 'press')
    const spool = await rig.open({ segmentBytes: 1 })
    const press = await spool.append(batchOf(0))
    const [lathe] = await spool.append(batchOf(1, 0, 'lathe'))
    expect(await rig.readAll(spool)).to.deep.equal([0, 1])
    await spool.append(batchOf(2))
    spool.sent(lathe)
    await spool.confirm('presses', stored(press))
    expect(await rig.readAll(spool)).to.deep.equal([2])
  })

  it('keeps what no sink covers until a broker has it: others may read it', async () => {
    rig.require('presses', source => source === 'press')
    const spool = await rig.open({ segmentBytes: 1 })
    const lathe = await rig.fill(spool, 3, 0, 'lathe')
    spool.sent(lathe[1])
    await spool.confirm('presses', stored(await spool.append(batchOf(9))))
    expect(await rig.readAll(spool)).to.deep.equal([0, 2])
    for (const each of lathe) spool.sent(each)
    await spool.reclaim()
    expect(spool.batches).to.equal(0)
  })

  it('knows over a restart what the sinks have stored, also of one that was deleted and comes back', async () => {
    rig.require('sink')
    let spool = await rig.open()
    const all = await rig.fill(spool, 3)
    await spool.confirm('sink', stored(all.slice(0, 2)))
    rig.required = []
    await spool.forget('sink')
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2])
    await rig.close(spool)
    spool = await rig.open()
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2])
    rig.require('sink')
    expect(await rig.readAll(spool)).to.deep.equal([2])
  })

  it('waits for a required sink over a restart', async () => {
    rig.require('away')
    rig.require('here')
    let spool = await rig.open({ segmentBytes: 1 })
    const all = await rig.fill(spool, 2)
    await rig.close(spool)
    spool = await rig.open({ segmentBytes: 1 })
    await spool.confirm('here', stored(all))
    expect(await rig.readAll(spool)).to.deep.equal([0, 1])
    rig.required.shift()
    await spool.forget('away')
    expect(await rig.readAll(spool)).to.deep.equal([])
    expect(await rig.segments()).to.deep.equal([])
  })

  it('sends again what a database that was set back, or another in its place, no longer has', async () => {
    rig.require('sink')
    const spool = await rig.open()
    const all = await rig.fill(spool, 2)
    await spool.confirm('sink', stored(all))
    expect(await rig.readAll(spool)).to.deep.equal([])
    await spool.confirm('sink', stored(all.slice(0, 1)))
    expect(await rig.readAll(spool)).to.deep.equal([1])
    await spool.confirm('sink', stored(all))
    await spool.confirm('sink', { store: 'another', epochs: {} })
    expect(await rig.readAll(spool)).to.deep.equal([0, 1])
  })

  describe('by sums of hashes', () => {
    it('releases nothing for a sum that does not match, and asks for each record alone', async () => {
      rig.require('sink')
      const spool = await rig.open({ segmentBytes: 1 })
      const all = await rig.fill(spool, 4)
      const { doubts, clashes } = await spool.confirm('sink', reading(all[0], [[0, 2, 12345]]))
      expect(doubts).to.deep.equal([{ source: 'press', epoch: all[0].epoch, first: 0, last: 2 }])
      expect(clashes).to.deep.equal([])
      expect(headOf(spool).epochs[0].doubt).to.deep.equal([[0, 2]])
      expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2, 3])
      /** @type {import('./spool-rig.js').Sum[]} */
      const singles = all.slice(0, 3).map(({ seq, hash = 0 }) => [seq, seq, seq === 1 ? 999 : hash])
      const second = await spool.confirm('sink', reading(all[0], singles))
      expect(second.doubts).to.deep.equal([])
      expect(second.clashes).to.have.length(1)
      expect(second.clashes[0]).to.include({ source: 'press', epoch: all[0].epoch, seq: 1 })
      expect(headOf(spool).epochs[0].doubt).to.equal(undefined)
      expect(await rig.readAll(spool)).to.deep.equal([1, 3])
    })

    it('says when a doubt has outlived several answers, once', async () => {
      rig.require('sink')
      const spool = await rig.open()
      const all = await rig.fill(spool, 4)
      const doubtful = reading(all[0], [[0, 2, 12345]])
      const lasting = []
      for (let answer = 0; answer < 8; answer++) lasting.push((await spool.confirm('sink', doubtful)).lasting.length)
      expect(lasting).to.deep.equal([0, 0, 0, 0, 1, 0, 0, 0])
      await spool.confirm('sink', stored(all))
      expect((await spool.confirm('sink', doubtful)).lasting).to.deep.equal([])
    })

    it('proves ranges that were merged below what it still holds, also after a restart', async () => {
      rig.require('sink')
      let spool = await rig.open({ segmentBytes: 1 })
      const all = await rig.fill(spool, 8)
      await spool.confirm('sink', reading(all[0], [[0, 3, sumOf(all.slice(0, 4))]]))
      expect(headOf(spool).epochs[0].first).to.equal(4)
      await rig.close(spool)
      spool = await rig.open({ segmentBytes: 1 })
      expect((await spool.confirm('sink', reading(all[0], [[0, 5, sumOf(all.slice(0, 6))]]))).doubts).to.deep.equal([])
      expect(headOf(spool).epochs[0].first).to.equal(6)
      expect((await spool.confirm('sink', reading(all[0], [[0, 6, sumOf(all.slice(0, 6))]]))).doubts).to.have.length(1)
      expect(headOf(spool).epochs[0].first).to.equal(6)
    })

    it('proves how the range of a sink has grown that began in the middle, once each of its records was reported', async () => {
      rig.require('sink')
      const spool = await rig.open({ segmentBytes: 1, maxBytes: 10_000, whenFull: 'drop-oldest' })
      const all = await rig.fill(spool, 8)
      await spool.dropOldest()
      await spool.dropOldest()
      await spool.dropOldest()
      const sums = (/** @type {number} */ first, /** @type {number} */ last) => {
        return /** @type {import('./spool-rig.js').Sum} */ ([first, last, sumOf(all.slice(first, last + 1))])
      }
      expect((await spool.confirm('sink', reading(all[0], [sums(1, 4)]))).doubts).to.deep.equal([
        { source: 'press', epoch: all[0].epoch, first: 3, last: 4 }
      ])
      const singles = [sums(1, 2), sums(3, 3), sums(4, 4)]
      expect((await spool.confirm('sink', reading(all[0], singles))).doubts).to.deep.equal([])
      expect(headOf(spool).epochs[0].first).to.equal(5)
      expect((await spool.confirm('sink', reading(all[0], [sums(1, 6)]))).doubts).to.deep.equal([])
      expect(headOf(spool).epochs[0].first).to.equal(7)
    })

    it('begins a new epoch when a database has more of the present one than was produced: this is a copy', async () => {
      rig.require('sink')
      const spool = await rig.open()
      const [first] = await spool.append(batchOf(0))
      await spool.confirm('sink', reading(first, [[0, 3, 77]]))
      const [next] = await spool.append(batchOf(1))
      expect(next).to.include({ seq: 0, before: 1 })
      expect(next.epoch).to.not.equal(first.epoch)
      expect(rig.said.join()).to.include('SLUICE_SPOOL_SET_BACK')
      expect(await rig.readAll(spool)).to.deep.equal([0, 1])
    })
  })
})

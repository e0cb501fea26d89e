import { expect } from 'chai'
import { cp, open, readFile, rm, truncate } from 'node:fs/promises'
import { batchOf, headOf, Rig, stored } from './spool-rig.js'

describe('spool, staging again', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  it('stages a record in halves, the old identity as ancestor, and lists that as replaced', async () => {
    const spool = await rig.open()
    const [old] = await spool.append(batchOf(0, 0, 'press', 5))
    const [single] = await spool.append(batchOf(9))
    const halves = await spool.restage([old, single], { inHalves: true })
    expect(halves.map(({ epoch, seq, rows, before }) => ({ epoch, seq, rows, before }))).to.deep.equal([
      { epoch: old.epoch, seq: 2, rows: 2, before: 6 }, { epoch: old.epoch, seq: 3, rows: 3, before: 8 }
    ])
    const ancestor = { epoch: old.epoch, seq: 0, hash: old.hash }
    expect(halves.map(({ ancestors }) => ancestors)).to.deep.equal([[ancestor], [{ ...ancestor, from: 2 }]])
    expect(headOf(spool)).to.include({ rows: 11, replaced: 5 })
    expect(headOf(spool).epochs[0].replaced).to.deep.equal([[0, 0, 5]])
    expect(await rig.readAll(spool)).to.deep.equal([9, 0, 2])
    expect(await spool.read(old)).to.equal(null)
  })

  it('names all ancestors of a record that is staged again and again, up to eight', async () => {
    const spool = await rig.open()
    let [newest] = await spool.append(batchOf(0))
    const identities = [newest]
    for (let time = 0; time < 9; time++) {
      [newest] = await spool.restage([newest])
      identities.push(newest)
    }
    expect(newest.ancestors).to.deep.equal(identities.slice(1, 9).map(({ epoch, seq, hash }) => ({ epoch, seq, hash })))
    expect(await rig.readAll(spool)).to.deep.equal([0])
  })

  it('stages what clashes in a new epoch, and goes on in that', async () => {
    const spool = await rig.open()
    const [old] = await spool.append(batchOf(0))
    const [again] = await spool.restage([old])
    expect(again).to.include({ seq: 0, before: 1, rows: 1 })
    expect(again.epoch).to.not.equal(old.epoch)
    expect((await spool.append(batchOf(1)))[0]).to.include({ epoch: again.epoch, seq: 1 })
    expect((await spool.append(batchOf(2, 0, 'lathe')))[0].seq).to.equal(0)
  })

  it('releases what was replaced once its successors are stored, whatever the sinks say of it', async () => {
    rig.require('sink')
    const spool = await rig.open({ segmentBytes: 1 })
    const [old] = await spool.append(batchOf(0, 0, 'press', 4))
    const halves = await spool.restage([old], { inHalves: true })
    await spool.append(batchOf(8, 0, 'lathe'))
    await spool.confirm('sink', stored(halves))
    expect(await rig.segments()).to.have.length(1)
    expect(await rig.readAll(spool)).to.deep.equal([8])
  })

  it('knows after a kill which records are replaced: none is there twice under independent identities', async () => {
    const spool = await rig.open()
    const [old] = await spool.append(batchOf(0, 0, 'press', 4))
    await spool.append(batchOf(7))
    const path = await rig.segment()
    const before = (await readFile(path)).length
    await spool.restage([old], { inHalves: true })
    const whole = (await readFile(path)).length
    await cp(rig.folder, `${rig.folder}.killed`, { recursive: true })
    await rig.close(spool)
    for (let size = before; size <= whole; size += size > whole - 2 ? 1 : 7) {
      await rm(rig.folder, { recursive: true })
      await cp(`${rig.folder}.killed`, rig.folder, { recursive: true })
      await truncate(path, size)
      const killed = await rig.open()
      const values = await rig.readAll(killed)
      expect(values, `cut at ${size}`).to.deep.equal(size === whole ? [7, 0, 2] : [0, 7])
      const counts = size === whole ? { rows: 9, replaced: 4, lost: 0 } : { rows: 5, replaced: 0, lost: 0 }
      expect(headOf(killed), `cut at ${size}`).to.include(counts)
      await killed.append(batchOf(20))
      await rig.close(killed)
      const later = await rig.open()
      expect(await rig.readAll(later), `cut at ${size}`).to.deep.equal([...values, 20])
      expect(headOf(later), `cut at ${size}`).to.include({ ...counts, rows: counts.rows + 1 })
      await rig.close(later)
    }
  })

  it('has the new records on the disk before the old ones are replaced', async () => {
    const spool = await rig.open({ fsync: 'system' })
    const [old] = await spool.append(batchOf(0))
    /** @type {boolean[]} */
    const replacedAtSync = []
    const file = await open(await rig.segment(), 'r')
    const { ino } = await file.stat()
    const prototype = Object.getPrototypeOf(file)
    await file.close()
    const { datasync } = prototype
    prototype.datasync = async function () {
      if ((await this.stat()).ino === ino) replacedAtSync.push(headOf(spool).replaced > 0)
      return datasync.call(this)
    }
    try {
      await spool.restage([old])
    } finally {
      prototype.datasync = datasync
    }
    expect(replacedAtSync).to.deep.equal([false])
    expect(headOf(spool).replaced).to.equal(1)
  })
})

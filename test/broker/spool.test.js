import { expect } from 'chai'
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { counterOf } from '../../gateway/batch/epochs.js'
import { writeAt } from '../../broker/spool/segment.js'
import { recordsOf } from '../../broker/spool/reading.js'
import { batchOf, encode, headOf, Rig, stored } from './spool-rig.js'

describe('spool', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  it('counts the batches of an epoch from 0 and gives them back in order', async () => {
    const spool = await rig.open()
    const identities = (await Promise.all([1, 2, 3].map(value => spool.append(batchOf(value))))).flat()
    expect(identities.map(({ seq }) => seq)).to.deep.equal([0, 1, 2])
    expect(new Set(identities.map(({ epoch }) => epoch)).size).to.equal(1)
    expect(await rig.readAll(spool)).to.deep.equal([1, 2, 3])
  })

  it('keeps all sources in one log, each with its own seqs and running rows', async () => {
    const spool = await rig.open()
    await spool.append(batchOf(1, 0, 'a', 3))
    await spool.append(batchOf(10, 0, 'b', 2))
    const [identity] = await spool.append(batchOf(4, 0, 'a', 5))
    expect(identity).to.include({ seq: 1, before: 3, rows: 5 })
    expect(await rig.readAll(spool)).to.deep.equal([1, 10, 4])
    expect(await rig.segments()).to.have.length(1)
    expect(headOf(spool, 'a')).to.deep.include({ rows: 8 })
    expect(headOf(spool, 'b').epochs[0]).to.include({ first: 0, last: 0, before: 0, rows: 2 })
  })

  it('cuts a batch that is longer than a record, into records of their own seqs', async () => {
    const spool = await rig.open({ recordBytes: 2000 })
    const identities = await spool.append(batchOf(0, 500, 'press', 10))
    expect(identities.length).to.be.above(1)
    const ends = identities.map(({ before = 0, rows = 0 }) => before + rows)
    expect(identities.map(({ before }) => before)).to.deep.equal([0, ...ends].slice(0, -1))
    expect(headOf(spool).rows).to.equal(10)
    const payloads = await Promise.all(identities.map(identity => spool.read(identity)))
    expect(payloads.flatMap(record => JSON.parse(String(record?.payload)).values)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('cuts a batch of more rows than a record may have: a record, and the transaction it becomes, can be a single row', async () => {
    for (const [recordRows, rows] of /** @type {[number, number[]][]} */ ([[1, [1, 1, 1, 1, 1, 1, 1]], [5, [3, 4]], [7, [7]]])) {
      const spool = await rig.open({ folder: `${rig.folder}-${recordRows}`, recordRows })
      const identities = await spool.append(batchOf(0, 0, 'press', 7))
      expect(identities.map(identity => identity.rows)).to.deep.equal(rows)
      expect(identities.map(({ seq }) => seq)).to.deep.equal([...rows.keys()])
      const payloads = await Promise.all(identities.map(identity => spool.read(identity)))
      expect(payloads.flatMap(record => JSON.parse(String(record?.payload)).values)).to.deep.equal([0, 1, 2, 3, 4, 5, 6])
    }
  })

  it('refuses a batch of more than a quarter of its room, and goes on without a gap', async () => {
    const spool = await rig.open({ maxBytes: 20_000 })
    const error = await spool.append(batchOf(0, 6000)).catch(problem => problem)
    expect(error).to.include({ code: 'SLUICE_SPOOL_BATCH_TOO_BIG' })
    expect((await spool.append(batchOf(1)))[0].seq).to.equal(0)
    expect(spool.counters).to.include({ accepted: 1, refused: 1 })
  })

  it('writes a thousand small batches that wait at once: each write may take a turn of the event loop', async () => {
    let writes = 0
    const spool = await rig.open({
      write (...written) {
        writes++
        return writeAt(...written)
      }
    })
    await Promise.all(Array.from({ length: 1000 }, (_, value) => spool.append(batchOf(value))))
    expect(writes).to.equal(2) // that of the segment's beginning, and one
  })

  it('takes batches that come in the very turn in which the last were accepted', async () => {
    const spool = await rig.open()
    for (let turns = 0; turns < 20; turns++) {
      await spool.append(batchOf(turns))
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
    }
    expect(spool.batches).to.equal(20)
  })

  it('starts a new epoch at each opening, never going on with a seq, and still gives what is left of the old ones', async () => {
    const epochs = []
    for (const value of [1, 2, 3]) {
      const spool = await rig.open()
      epochs.push((await spool.append(batchOf(value)))[0].epoch)
      const [{ seq, before }] = await spool.append(batchOf(value + 10))
      expect({ seq, before }).to.deep.equal({ seq: 1, before: value * 2 - 1 })
      await rig.close(spool)
    }
    const [first, second, third] = epochs.map(counterOf)
    expect(second).to.be.above(first)
    expect(third).to.be.above(second)
    expect(await rig.readAll(await rig.open())).to.deep.equal([1, 11, 2, 12, 3, 13])
  })

  it('starts no epoch while nothing is produced', async () => {
    for (let i = 0; i < 3; i++) {
      const spool = await rig.open()
      expect([...spool.head.sources]).to.deep.equal([])
      await rig.close(spool)
    }
    const spool = await rig.open()
    await spool.append(batchOf(1))
    expect(headOf(spool).epochs).to.have.length(1)
  })

  it('counts its epochs on from those of a spool that was lost, or restored: rows that replace others must be known as newer', async () => {
    const lost = await rig.open()
    const before = counterOf((await lost.append(batchOf(1)))[0].epoch)
    expect(before).to.be.within(Date.now() / 1000 - 100, Date.now() / 1000)
    await rig.close(lost)
    const saved = join(rig.folder, 'saved.json')
    await writeFile(saved, (await readFile(saved, 'utf8')).replace(/"counter":\d+/, `"counter":${before + 1000}`))
    const clockBehind = await rig.open()
    expect(counterOf((await clockBehind.append(batchOf(2)))[0].epoch)).to.equal(before + 1001)
  })

  it('starts new epochs when it is told to: the process was suspended', async () => {
    const spool = await rig.open()
    const [before] = await spool.append(batchOf(1))
    spool.startEpochs()
    const [after] = await spool.append(batchOf(2))
    expect(after).to.include({ seq: 0, before: 1 })
    expect(parseInt(after.epoch, 10)).to.equal(parseInt(before.epoch, 10) + 1)
    expect(await rig.readAll(spool)).to.deep.equal([1, 2])
  })

  describe('when full', () => {
    it('blocks, says so, and goes on when a sink has stored something', async () => {
      rig.require('sink')
      const spool = await rig.open({ maxBytes: 20_000, segmentBytes: 4000 })
      const full = new Promise(resolve => spool.once('full', resolve))
      const room = new Promise(resolve => spool.once('room', resolve))
      /** @type {import('../../gateway/batch/batch.js').Identity[]} */
      const accepted = []
      const all = Array.from({ length: 12 }, (_, i) => spool.append(batchOf(i, 3000)).then(([identity]) => { accepted.push(identity) }))
      await full
      expect(accepted.length).to.be.within(1, 6)
      expect(spool.blocked).to.match(/waiting for the sinks/)
      for (let turn = 0; accepted.length < 12 && turn < 1000; turn++) {
        await spool.confirm('sink', stored(accepted))
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      await Promise.all(all)
      expect(accepted.map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 12 }, (_, i) => i))
      await room
      expect(spool.counters.droppedBatches).to.equal(0)
    })

    it('stages again what must be, before those that wait and beyond its room: only then can it be stored, and make room', async () => {
      rig.require('sink')
      const spool = await rig.open({ maxBytes: 40_000, segmentBytes: 8000 })
      const full = new Promise(resolve => spool.once('full', resolve))
      /** @type {import('../../gateway/batch/batch.js').Identity[]} */
      const accepted = []
      const all = Array.from({ length: 15 }, (_, i) => {
        return spool.append(batchOf(i, 3000, 'press', 2)).then(([identity]) => { accepted.push(identity) })
      })
      await full
      const held = accepted.length
      const halves = await spool.restage([accepted[0]], { inHalves: true })
      expect(halves.map(({ seq }) => seq)).to.deep.equal([held, held + 1])
      expect(accepted).to.have.length(held)
      expect(spool.bytes).to.be.within(40_000, 48_000)
      for (let turn = 0; accepted.length < 15 && turn < 1000; turn++) {
        await spool.confirm('sink', stored([...accepted.slice(0, held), ...halves, ...accepted.slice(held)]))
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      await Promise.all(all)
      expect(accepted.at(-1)?.seq).to.equal(16)
      expect(headOf(spool)).to.include({ rows: 32, replaced: 2, lost: 0, dropped: 0 })
    })

    it('drops the oldest and counts what no sink will get, also over a restart', async () => {
      let spool = await rig.open({ maxBytes: 20_000, whenFull: 'drop-oldest', segmentBytes: 4000 })
      /** @type {{batches: number, rows: number}[]} */
      const dropped = []
      spool.on('dropped', (source, what) => { if (source === 'press') dropped.push(what) })
      await rig.fill(spool, 12, 3000)
      const kept = await rig.readAll(spool)
      expect(kept.at(-1)).to.equal(11)
      expect(spool.counters).to.include({ droppedBatches: 12 - kept.length, droppedRows: 12 - kept.length, lostBatches: 0 })
      expect(dropped.reduce((sum, { rows }) => sum + rows, 0)).to.equal(12 - kept.length)
      expect(spool.bytes).to.be.at.most(20_000)
      await rig.close(spool)
      spool = await rig.open({ maxBytes: 20_000 })
      expect(spool.counters).to.include({ droppedBatches: 12 - kept.length, droppedRows: 12 - kept.length, lostBatches: 0 })
      expect(headOf(spool)).to.include({ rows: 12, dropped: 12 - kept.length })
      expect(headOf(spool).epochs[0]).to.include({ first: 12 - kept.length, last: 11, before: 12 - kept.length, rows: 12 })
    })

    it('refuses with a count when even the waiting room is full', async () => {
      const spool = await rig.open({ maxBytes: 8000, whenFull: 'block', waitingBytes: 15_000 })
      const results = Promise.allSettled(Array.from({ length: 40 }, (_, i) => spool.append(batchOf(i, 1500))))
      await new Promise(resolve => spool.once('full', resolve))
      const refusedWhileOpen = spool.counters.refused
      await rig.close(spool)
      const codes = (await results).flatMap(result => result.status === 'rejected' ? [result.reason.code] : [])
      expect(codes.length).to.equal(spool.counters.refused)
      expect(codes.filter(code => code === 'SLUICE_SPOOL_FULL')).to.have.length(refusedWhileOpen).and.to.have.length.above(10)
      expect(new Set(codes)).to.deep.equal(new Set(['SLUICE_SPOOL_CLOSED', 'SLUICE_SPOOL_FULL']))
    })

    it('refuses what comes behind a refused batch in the same turn, even if it would fit, until some has left', async () => {
      const spool = await rig.open({ waitingBytes: 10_000 })
      const sizes = [4000, 4000, 4000, 10, 4000, 10]
      const results = await Promise.allSettled(sizes.map((bytes, i) => spool.append(batchOf(i, bytes))))
      expect(results.map(({ status }) => status === 'fulfilled')).to.deep.equal([true, true, false, false, false, false])
      expect((await spool.append(batchOf(6, 4000)))[0].seq).to.equal(2)
      expect(spool.counters).to.include({ accepted: 3, refused: 4 })
    })

    it('accepts again once there is room where it was blocked while batches were refused', async () => {
      rig.require('sink')
      const spool = await rig.open({ maxBytes: 20_000, segmentBytes: 4000, waitingBytes: 8000 })
      const identities = await rig.fill(spool, 5, 3000)
      const full = new Promise(resolve => spool.once('full', resolve))
      const room = new Promise(resolve => spool.once('room', resolve))
      const waiting = Promise.allSettled([5, 6, 7, 8, 9].map(value => spool.append(batchOf(value, 3000))))
      await full
      expect((await spool.append(batchOf(10, 7000)).catch(error => error)).code).to.equal('SLUICE_SPOOL_FULL')
      await spool.confirm('sink', stored(identities))
      await room
      expect((await waiting).map(({ status }) => status === 'fulfilled')).to.deep.equal([true, true, false, false, false])
      expect((await spool.append(batchOf(11))).length).to.equal(1)
    })
  })

  it('waits for a full disk (a fake one) and goes on without a gap', async () => {
    let diskIsFull = false
    /** @type {typeof writeAt} */
    const write = (file, buffers, position, isSyncing) => {
      if (!diskIsFull) return writeAt(file, buffers, position, isSyncing)
      writeAt(file, [buffers[0].subarray(0, 100)], position, isSyncing)
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
    const spool = await rig.open({ write })
    await spool.append(batchOf(0))
    diskIsFull = true
    const waiting = [spool.append(batchOf(1)), spool.append(batchOf(2))]
    await new Promise(resolve => spool.once('full', resolve))
    expect(spool.blocked).to.match(/no space left/)
    diskIsFull = false
    expect((await Promise.all(waiting)).flat().map(({ seq }) => seq)).to.deep.equal([1, 2])
    expect(spool.blocked).to.equal(null)
    await rig.close(spool)
    expect(await rig.readAll(await rig.open())).to.deep.equal([0, 1, 2])
  })

  it('keeps a ledger of all it ever accepted, apart from what it removes', async () => {
    const ledger = await mkdtemp(join(rig.root, 'ledger-'))
    rig.require('sink')
    const spool = await rig.open({ segmentBytes: 1, ledger })
    const identities = await rig.fill(spool, 4)
    await spool.confirm('sink', stored(identities))
    expect(await rig.segments()).to.have.length(1)
    const payloads = []
    for (const name of (await readdir(ledger)).sort()) {
      for await (const { payload, source, epoch, seq, rows } of recordsOf(join(ledger, name))) {
        payloads.push(Buffer.from(payload).toString())
        expect({ source, epoch, seq, rows }).to.include({ source: 'press', epoch: identities[0].epoch, seq: payloads.length - 1, rows: 1 })
      }
    }
    const before = identities.map(identity => ({ ...identity, hash: 0 }))
    expect(payloads).to.deep.equal(before.map((identity, i) => encode(batchOf(i).withIdentity(identity)).toString()))
  })
})

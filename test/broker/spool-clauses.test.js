import { expect } from 'chai'
import { cp, readdir, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { batchOf, failNextSync, headOf, Rig, stored } from './spool-rig.js'

describe('spool, where things go wrong', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  it('goes on when a sync has failed after a write that filled its segment', async () => {
    const spool = await rig.open({ fsync: 'batch', segmentBytes: 1000 })
    await spool.append(batchOf(0, 2000))
    const restore = await failNextSync(rig.root)
    const full = new Promise(resolve => spool.once('full', resolve))
    const writing = Promise.all([spool.append(batchOf(1, 2000)), full])
    const [[identity]] = await writing.finally(restore)
    await spool.append(batchOf(2))
    expect(identity.seq).to.equal(1)
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2])
    expect(spool.batches).to.equal(3)
  })

  it('keeps what is written and not yet forced to disk, also when all before it is stored and removed', async () => {
    rig.require('db')
    const spool = await rig.open({ fsync: 'batch' })
    await spool.confirm('db', stored(await rig.fill(spool, 2)))
    const restore = await failNextSync(rig.root)
    const full = new Promise(resolve => spool.once('full', resolve))
    const writing = spool.append(batchOf(7))
    await full
    restore()
    await spool.reclaim()
    expect((await writing)[0].seq).to.equal(2)
    expect(await rig.readAll(spool)).to.deep.equal([7])
    await rig.close(spool)
    expect(await rig.readAll(await rig.open())).to.deep.equal([7])
  })

  it('waits, and does not fall over, when what is stored cannot be removed', async () => {
    rig.require('db')
    const spool = await rig.open({ maxBytes: 20_000, segmentBytes: 4000 })
    const all = await rig.fill(spool, 5, 3000)
    const working = rig.required
    Object.defineProperty(rig, 'required', {
      configurable: true, get () { throw Object.assign(new Error('read-only file system'), { code: 'EROFS' }) }
    })
    const full = new Promise(resolve => spool.once('full', resolve))
    const waiting = Promise.all([5, 6, 7].map(value => spool.append(batchOf(value, 3000))))
    await full
    expect(spool.blocked).to.match(/EROFS/)
    Object.defineProperty(rig, 'required', { configurable: true, writable: true, value: working })
    await spool.confirm('db', stored(all))
    expect((await waiting).flat().map(({ seq }) => seq)).to.deep.equal([5, 6, 7])
  })

  it('drops what has been there longest, whatever source it is of: the cap always wins', async () => {
    const spool = await rig.open({ maxBytes: 20_000, whenFull: 'drop-oldest', segmentBytes: 9000 })
    await rig.fill(spool, 2, 4000, 'quiet')
    await rig.fill(spool, 6, 4000)
    expect(headOf(spool, 'quiet')).to.include({ dropped: 2 })
    expect((await rig.readAll(spool)).at(-1)).to.equal(5)
    expect(spool.bytes).to.be.at.most(20_000)
    expect((await spool.append(batchOf(2, 0, 'quiet')))[0]).to.include({ seq: 2, before: 2 })
  })

  it('counts as dropped what some sink lacks, not what lies between', async () => {
    rig.require('db')
    const spool = await rig.open({ maxBytes: 20_000, whenFull: 'drop-oldest', segmentBytes: 9000 })
    const all = await rig.fill(spool, 3, 3000)
    await spool.confirm('db', stored(all.slice(1)))
    for (let value = 3; value < 7; value++) await spool.append(batchOf(value, 3000))
    expect(headOf(spool).epochs[0].first).to.equal(3)
    expect(spool.counters).to.include({ droppedBatches: 1, droppedRows: 1 })
  })

  it('does not count twice what it was dropping when it was killed', async () => {
    const spool = await rig.open({ segmentBytes: 1 })
    await rig.fill(spool, 3)
    const path = await rig.segment()
    await cp(path, `${rig.root}/kept`)
    await spool.dropOldest()
    const killed = `${rig.folder}.killed`
    await cp(rig.folder, killed, { recursive: true })
    await cp(`${rig.root}/kept`, join(killed, basename(path)))
    const again = await rig.open({ folder: killed })
    expect(again.counters).to.include({ droppedBatches: 1, lostBatches: 0 })
    expect(await rig.readAll(again)).to.deep.equal([1, 2])
    expect(await readdir(killed)).to.not.include(basename(path))
  })

  it('rejects what waits as closed, with the reason, when it is closed on a failing disk', async () => {
    const write = () => { throw Object.assign(new Error('i/o error'), { code: 'EIO' }) }
    const spool = await rig.open({ write })
    const full = new Promise(resolve => spool.once('full', resolve))
    const appending = spool.append(batchOf(0)).catch(error => error)
    await full
    await rig.close(spool)
    const reason = await appending
    expect(reason.code).to.equal('SLUICE_SPOOL_CLOSED')
    expect(reason.message).to.match(/could not write: cannot write to .*i\/o error/)
    expect(await spool.append(batchOf(1)).catch(error => error)).to.include({ code: 'SLUICE_SPOOL_CLOSED' })
  })

  it('closes its files, and saves what its sinks have stored, also when a sync fails on closing', async () => {
    rig.require('db')
    const spool = await rig.open({ fsync: 'system' })
    const all = await rig.fill(spool, 2)
    await spool.confirm('db', stored(all.slice(0, 1)))
    await rm(`${rig.folder}/saved.json`)
    const restore = await failNextSync(rig.root)
    const error = await rig.close(spool).then(() => null, problem => problem).finally(restore)
    expect(error).to.have.property('code', 'EIO')
    expect(await readdir(rig.folder)).to.include('saved.json')
    expect(await rig.readAll(await rig.open())).to.deep.equal([1])
  })

  it('goes on in a folder that somebody has deleted', async () => {
    rig.require('db')
    const spool = await rig.open({ segmentBytes: 1 })
    const all = await spool.append(batchOf(0))
    await rm(rig.folder, { recursive: true })
    all.push(...await spool.append(batchOf(1)))
    await spool.confirm('db', stored(all))
    expect(await rig.segments()).to.have.length(1)
    expect(await rig.readAll(spool)).to.deep.equal([])
  })

  it('says so when it finds batches of another gateway: their commits would never reach it', async () => {
    const spool = await rig.open()
    await spool.append(batchOf(0))
    await rig.close(spool)
    const error = await rig.open({ gateway: 'another' }).catch(problem => problem)
    expect(error).to.include({ code: 'SLUICE_SPOOL_GATEWAY' })
    expect(error.message).to.include('gateway gw')
  })

  it('takes over what is stored everywhere under whatever gateway', async () => {
    rig.require('db')
    const spool = await rig.open()
    const all = await rig.fill(spool, 1)
    await spool.confirm('db', stored(all))
    await rig.close(spool)
    expect((await (await rig.open({ gateway: 'another' })).append(batchOf(1)))[0]).to.include({ gateway: 'another', before: 1 })
  })

  it('reads what is there while segments are written, stored, given up and removed all at once', async () => {
    rig.require('db')
    const spool = await rig.open({ segmentBytes: 2000, maxBytes: 60_000, whenFull: 'drop-oldest' })
    const all = await spool.append(batchOf(0))
    const [{ epoch }] = all
    let isWriting = true
    const writing = (async () => {
      for (let value = 1; value < 400; value++) all.push(...await spool.append(batchOf(value, value % 7 * 200)))
      isWriting = false
    })()
    const storing = (async () => {
      for (let count = 3; isWriting; count += 3) {
        const isTurn = count % 60 === 0
        await Promise.all([spool.confirm('db', stored(all.slice(0, count))), spool.reclaim(), isTurn && spool.dropOldest()])
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    const reading = (async () => {
      let read = 0
      for (let seq = 0; isWriting; seq = (seq + 1) % 400) {
        const record = await spool.read({ source: 'press', epoch, seq })
        if (record) expect(JSON.parse(Buffer.from(record.payload).toString()).value).to.equal(seq)
        if (record) read++
        else await new Promise(resolve => setImmediate(resolve))
      }
      return read
    })()
    await Promise.all([writing, storing])
    expect(await reading).to.be.above(0)
    expect(spool.counters.lostBatches).to.equal(0)
    const { bytes } = spool
    let onDisk = 0
    for (const name of await rig.segments()) onDisk += (await stat(`${rig.folder}/${name}`)).size
    expect(onDisk).to.equal(bytes)
  })
})

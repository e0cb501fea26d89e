import { expect } from 'chai'
import { mkdtemp, open, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Batch } from '../../gateway/batch/batch.js'
import { Budget } from '../../broker/spool/budget.js'
import { Spool } from '../../broker/spool/spool.js'

const silent = { info () {}, warn () {}, error () {} }

/** @param {number} value @param {number} [padding] */
function batchOf (value, padding = 0) {
  return new Batch({
    source: 'press',
    time: new BigInt64Array([BigInt(value)]),
    fields: [{ name: 'padding', type: 'string' }],
    columns: [['x'.repeat(padding)]]
  })
}

/** @param {Batch} batch */
const encode = batch => Buffer.from(JSON.stringify({ value: Number(batch.time[0]), padding: batch.columns[0][0] }))

describe('spool, where things go wrong', () => {
  /** @type {string} */
  let folder
  /** @type {Spool[]} */
  let opened

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-spool-'))
    opened = []
  })
  afterEach(async () => {
    for (const spool of opened) await spool.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** @param {Partial<import('../../broker/spool/spool.js').SpoolOptions>} [options] */
  async function openSpool (options = {}) {
    const spool = await Spool.open({ folder: join(folder, 'press'), gateway: 'gw', source: 'press', encode, log: silent, ...options })
    opened.push(spool)
    return spool
  }

  /** Has the disk fail when it is next forced to write. @returns {Promise<() => void>} ends that */
  async function failNextSync () {
    const file = await open(folder, 'r')
    const prototype = Object.getPrototypeOf(file)
    await file.close()
    const { datasync } = prototype
    prototype.datasync = async () => {
      prototype.datasync = datasync
      throw Object.assign(new Error('i/o error'), { code: 'EIO' })
    }
    return () => { prototype.datasync = datasync }
  }

  /** @param {Spool} spool */
  async function readAll (spool) {
    const values = []
    for (let place = spool.next(); place; place = spool.next({ epoch: place.epoch, seq: place.seq + 1 })) {
      values.push(JSON.parse(String(Buffer.from(await spool.read(place.epoch, place.seq) ?? 'null')))?.value)
    }
    return values
  }

  const segments = async () => (await readdir(join(folder, 'press'))).filter(name => name.endsWith('.segment'))

  it('goes on when a sync has failed after a write that filled its segment', async () => {
    const spool = await openSpool({ fsync: 'batch', segmentBytes: 1000 })
    await spool.append(batchOf(0, 2000))
    const restore = await failNextSync()
    const full = new Promise(resolve => spool.once('full', resolve))
    const writing = Promise.all([spool.append(batchOf(1, 2000)), full])
    const [identity] = await writing.finally(restore)
    await spool.append(batchOf(2))
    expect(identity.seq).to.equal(1)
    expect(await readAll(spool)).to.deep.equal([0, 1, 2])
    expect(spool.batches).to.equal(3)
  })

  it('waits, and does not fall over, when what is stored cannot be removed', async () => {
    const budget = new Budget(20_000)
    const spool = await openSpool({ budget, segmentBytes: 4000 })
    const { epoch } = await spool.append(batchOf(0, 3000))
    await spool.commit('db', {})
    for (let value = 1; value < 5; value++) await spool.append(batchOf(value, 3000))
    const reclaim = budget.reclaim.bind(budget)
    budget.reclaim = async () => { throw Object.assign(new Error('read-only file system'), { code: 'EROFS' }) }
    const full = new Promise(resolve => spool.once('full', resolve))
    const waiting = Promise.all([5, 6, 7].map(value => spool.append(batchOf(value, 3000))))
    await full
    expect(spool.blocked).to.match(/EROFS/)
    budget.reclaim = reclaim
    await spool.commit('db', { [epoch]: [[0, 4]] })
    expect((await waiting).map(({ seq }) => seq)).to.deep.equal([5, 6, 7])
  })

  it('drops the segment of a source that has gone quiet where no other can be: the cap always wins', async () => {
    const budget = new Budget(20_000)
    const quiet = await openSpool({ folder: join(folder, 'quiet'), source: 'quiet', budget, whenFull: 'drop-oldest', segmentBytes: 9000 })
    for (let value = 0; value < 2; value++) await quiet.append(batchOf(value, 4000))
    const spool = await openSpool({ budget, whenFull: 'drop-oldest', segmentBytes: 20_000 })
    for (let value = 0; value < 6; value++) await spool.append(batchOf(value, 4000))
    expect(quiet.counters.droppedBatches + spool.counters.droppedBatches).to.be.above(0)
    expect((await readAll(spool)).at(-1)).to.equal(5)
    expect(budget.usedBytes).to.be.at.most(20_000)
    await quiet.append(batchOf(2))
    expect((await readAll(quiet)).at(-1)).to.equal(2)
  })

  it('counts as dropped what some sink lacks, not what lies between', async () => {
    const spool = await openSpool({ budget: new Budget(20_000), whenFull: 'drop-oldest', segmentBytes: 9000 })
    const { epoch } = await spool.append(batchOf(0, 3000))
    for (let value = 1; value < 3; value++) await spool.append(batchOf(value, 3000))
    await spool.commit('db', { [epoch]: [[1, 2]] })
    for (let value = 3; value < 7; value++) await spool.append(batchOf(value, 3000))
    expect(spool.epochs[0].first).to.equal(3)
    expect(spool.counters).to.include({ droppedBatches: 1, droppedRows: 1 })
  })

  it('keeps over a crash what a database that was set back lacks again', async () => {
    const spool = await openSpool()
    const { epoch } = await spool.append(batchOf(0))
    await spool.append(batchOf(1))
    await spool.commit('db', { [epoch]: [[0, 0]] })
    await spool.commit('archive', { [epoch]: [[0, 1]] })
    await spool.commit('db', { [epoch]: [[0, 1]] })
    await spool.commit('archive', { [epoch]: [[0, 1]] })
    await spool.commit('db', {})
    const crashed = await openSpool() // the other is not closed: what it knows is on the disk or nowhere
    expect(await readAll(crashed)).to.deep.equal([0, 1])
  })

  it('rejects what waits as closed, with the reason, when it is closed on a failing disk', async () => {
    const write = () => { throw Object.assign(new Error('i/o error'), { code: 'EIO' }) }
    const spool = await openSpool({ write })
    const [appending] = await Promise.allSettled([spool.append(batchOf(0)), spool.close()])
    opened = []
    expect(appending).to.have.property('status', 'rejected')
    const { reason } = /** @type {PromiseRejectedResult} */ (appending)
    expect(reason.code).to.equal('SLUICE_SPOOL_CLOSED')
    expect(reason.message).to.match(/could not write: cannot write to .*i\/o error/)
  })

  it('closes its files, and saves what its sinks have stored, also when a sync fails on closing', async () => {
    const spool = await openSpool({ fsync: 'system' })
    await spool.append(batchOf(0))
    await spool.commit('db', {})
    await rm(join(folder, 'press', 'sinks.json'))
    const restore = await failNextSync()
    const error = await spool.close().then(() => null, problem => problem).finally(restore)
    opened = []
    expect(error).to.have.property('code', 'EIO')
    expect(await readdir(join(folder, 'press'))).to.include('sinks.json')
    expect(await readAll(await openSpool())).to.deep.equal([0])
  })

  it('goes on in a folder that somebody has deleted', async () => {
    const spool = await openSpool({ segmentBytes: 1 })
    await spool.append(batchOf(0))
    await rm(join(folder, 'press'), { recursive: true })
    const { epoch } = await spool.append(batchOf(1))
    await spool.commit('db', { [epoch]: [[0, 1]] })
    expect(await segments()).to.have.length(1)
    expect(await readAll(spool)).to.deep.equal([])
  })

  it('says so when it finds batches of another gateway: their commits would never reach it', async () => {
    const spool = await openSpool()
    await spool.append(batchOf(0))
    await spool.close()
    opened = []
    const error = await openSpool({ gateway: 'another' }).catch(problem => problem)
    expect(error).to.include({ code: 'SLUICE_SPOOL_GATEWAY' })
    expect(error.message).to.include('gateway gw')
  })

  it('takes over what is stored everywhere under whatever gateway', async () => {
    const spool = await openSpool()
    const { epoch } = await spool.append(batchOf(0))
    await spool.commit('db', { [epoch]: [[0, 0]] })
    await spool.close()
    opened = []
    expect((await (await openSpool({ gateway: 'another' })).append(batchOf(1))).gateway).to.equal('another')
  })

  it('reads what is there while segments are written, stored, given up and removed all at once', async () => {
    const spool = await openSpool({ segmentBytes: 2000, budget: new Budget(60_000), whenFull: 'drop-oldest' })
    const { epoch } = await spool.append(batchOf(0))
    await spool.commit('db', {})
    let stored = 0
    let isWriting = true
    const writing = (async () => {
      for (let value = 1; value < 400; value++) await spool.append(batchOf(value, value % 7 * 200))
      isWriting = false
    })()
    const storing = (async () => {
      while (isWriting) {
        await Promise.all([spool.commit('db', { [epoch]: [[0, stored += 3]] }), spool.reclaim(), stored % 60 === 0 && spool.dropOldest()])
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    const reading = (async () => {
      let read = 0
      for (let seq = 0; isWriting; seq = (seq + 1) % 400) {
        const payload = await spool.read(epoch, seq)
        if (payload) expect(JSON.parse(Buffer.from(payload).toString()).value).to.equal(seq)
        if (payload) read++
        else await new Promise(resolve => setImmediate(resolve))
      }
      return read
    })()
    await Promise.all([writing, storing])
    expect(await reading).to.be.above(0)
    expect(spool.budget.usedBytes).to.equal(spool.bytes)
    expect(spool.counters.damagedBatches).to.equal(0)
  })
})

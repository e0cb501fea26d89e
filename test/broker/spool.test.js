import { expect } from 'chai'
import fc from 'fast-check'
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Batch } from '../../gateway/batch/batch.js'
import { Budget } from '../../broker/spool/budget.js'
import { Segment, writeAt } from '../../broker/spool/segment.js'
import { Spool } from '../../broker/spool/spool.js'

const silent = { info () {}, warn () {}, error () {} }

/** One row, whose value tells it from others. @param {number} value @param {number} [padding] */
function batchOf (value, padding = 0) {
  return new Batch({
    source: 'press',
    time: new BigInt64Array([BigInt(value)]),
    fields: [{ name: 'value', type: 'float64' }, { name: 'padding', type: 'string' }],
    columns: [new Float64Array([value]), ['x'.repeat(padding)]]
  })
}

/** A plain encoding, so that these tests are about the spool alone. @param {Batch} batch */
function encode (batch) {
  return Buffer.from(JSON.stringify({ identity: batch.identity, value: batch.columns[0][0], padding: batch.columns[1][0] }))
}

/** @param {Uint8Array|null} payload */
function valueOf (payload) {
  return payload && JSON.parse(Buffer.from(payload).toString()).value
}

describe('spool', () => {
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
    await rm(folder, { recursive: true })
  })

  /** @param {Partial<import('../../broker/spool/spool.js').SpoolOptions>} [options] */
  async function openSpool (options = {}) {
    const spool = await Spool.open({ folder: join(folder, 'press'), gateway: 'gw', source: 'press', encode, log: silent, ...options })
    opened.push(spool)
    return spool
  }

  /** Lets go of the files without a word, as a killed process does. @param {Spool} spool */
  async function kill (spool) {
    opened.splice(opened.indexOf(spool), 1)
    const copy = `${folder}/killed`
    await rm(copy, { recursive: true, force: true })
    await spool.close()
  }

  /** Everything the spool gives to a publisher, in order. @param {Spool} spool */
  async function readAll (spool) {
    const values = []
    for (let place = spool.next(); place; place = spool.next({ epoch: place.epoch, seq: place.seq + 1 })) {
      values.push(valueOf(await spool.read(place.epoch, place.seq)))
    }
    return values
  }

  const segments = async () => (await readdir(join(folder, 'press'))).filter(name => name.endsWith('.segment'))

  it('counts the batches of an epoch from 0 and gives them back in order', async () => {
    const spool = await openSpool()
    const identities = await Promise.all([1, 2, 3].map(value => spool.append(batchOf(value))))
    expect(identities.map(({ seq }) => seq)).to.deep.equal([0, 1, 2])
    expect(new Set(identities.map(({ epoch }) => epoch)).size).to.equal(1)
    expect(await readAll(spool)).to.deep.equal([1, 2, 3])
  })

  it('starts a new epoch at each opening, never going on with a seq, and still gives what is left of the old ones', async () => {
    const epochs = []
    for (const value of [1, 2, 3]) {
      const spool = await openSpool()
      epochs.push((await spool.append(batchOf(value))).epoch)
      expect((await spool.append(batchOf(value + 10))).seq).to.equal(1)
      await kill(spool)
    }
    expect(epochs.map(epoch => parseInt(epoch, 10))).to.deep.equal([1, 2, 3])
    expect(await readAll(await openSpool())).to.deep.equal([1, 11, 2, 12, 3, 13])
  })

  it('starts no epoch while nothing is produced', async () => {
    for (let i = 0; i < 3; i++) await kill(await openSpool())
    const spool = await openSpool()
    expect((await spool.append(batchOf(1))).epoch).to.match(/^1-/)
  })

  it('keeps what any required sink has not stored, and lets go of what all have', async () => {
    const spool = await openSpool({ segmentBytes: 1 })
    const { epoch } = await spool.append(batchOf(0))
    for (let value = 1; value < 6; value++) await spool.append(batchOf(value))
    await spool.commit('slow', { [epoch]: [[0, 1]] })
    await spool.commit('fast', { [epoch]: [[0, 5]] })
    expect(await readAll(spool)).to.deep.equal([2, 3, 4, 5])
    expect(spool.unstoredBytes).to.be.within(4 * 100, 4 * 300).and.to.be.below(spool.bytes)
    expect((await segments()).length).to.equal(4)
    await spool.commit('slow', { [epoch]: [[0, 4]] })
    expect(spool.epochs).to.deep.equal([{ epoch, first: 5, last: 5 }])
    expect((await segments()).length).to.equal(1)
  })

  it('keeps everything while no sink is required', async () => {
    const spool = await openSpool({ segmentBytes: 1 })
    for (let value = 0; value < 4; value++) await spool.append(batchOf(value))
    expect(await readAll(spool)).to.deep.equal([0, 1, 2, 3])
  })

  it('waits for a sink over a restart, until it is forgotten', async () => {
    let spool = await openSpool({ segmentBytes: 1 })
    const { epoch } = await spool.append(batchOf(0))
    await spool.append(batchOf(1))
    await spool.commit('away', {})
    await kill(spool)
    spool = await openSpool({ segmentBytes: 1 })
    await spool.commit('here', { [epoch]: [[0, 1]] })
    expect(await readAll(spool)).to.deep.equal([0, 1])
    await spool.forget('away')
    expect(await readAll(spool)).to.deep.equal([])
    expect(await segments()).to.deep.equal([])
  })

  it('sends again what a database that was set back no longer has', async () => {
    const spool = await openSpool()
    const { epoch } = await spool.append(batchOf(0))
    await spool.append(batchOf(1))
    await spool.commit('sink', { [epoch]: [[0, 1]] })
    expect(await readAll(spool)).to.deep.equal([])
    await spool.commit('sink', { [epoch]: [[0, 0]] })
    expect(await readAll(spool)).to.deep.equal([1])
  })

  describe('when full', () => {
    const budget = () => new Budget(20_000)

    it('blocks, says so, and goes on when a sink has stored something', async () => {
      const spool = await openSpool({ budget: budget(), whenFull: 'block', segmentBytes: 4000 })
      await spool.commit('sink', {})
      const full = new Promise(resolve => spool.once('full', resolve))
      const room = new Promise(resolve => spool.once('room', resolve))
      let accepted = 0
      const all = Array.from({ length: 12 }, (_, i) => spool.append(batchOf(i, 3000)).then(identity => { accepted++; return identity }))
      const { epoch } = await all[0]
      await full
      expect(accepted).to.be.within(1, 6)
      expect(spool.blocked).to.match(/waiting for the sinks/)
      for (let turn = 0; accepted < 12 && turn < 1000; turn++) {
        await spool.commit('sink', { [epoch]: [[0, accepted - 1]] })
        await new Promise(resolve => setTimeout(resolve, 5))
      }
      expect((await Promise.all(all)).map(({ seq }) => seq)).to.deep.equal(Array.from({ length: 12 }, (_, i) => i))
      await room
      expect(spool.counters.droppedBatches).to.equal(0)
    })

    it('drops the oldest and counts what no sink will get', async () => {
      const spool = await openSpool({ budget: budget(), whenFull: 'drop-oldest', segmentBytes: 4000 })
      for (let i = 0; i < 12; i++) await spool.append(batchOf(i, 3000))
      const kept = await readAll(spool)
      expect(kept.at(-1)).to.equal(11)
      expect(spool.counters.droppedBatches).to.equal(12 - kept.length)
      expect(spool.counters.droppedRows).to.equal(12 - kept.length)
      expect(spool.bytes).to.be.at.most(20_000)
    })

    it('never exceeds a cap that several spools share, and takes first what has waited longest', async () => {
      const shared = budget()
      const first = await openSpool({ folder: join(folder, 'a'), budget: shared, whenFull: 'drop-oldest', segmentBytes: 3000 })
      const second = await openSpool({ folder: join(folder, 'b'), budget: shared, whenFull: 'drop-oldest', segmentBytes: 3000 })
      for (let i = 0; i < 5; i++) await first.append(batchOf(i, 3000))
      for (let i = 0; i < 5; i++) {
        await second.append(batchOf(i, 3000))
        expect(first.bytes + second.bytes).to.equal(shared.usedBytes)
        expect(shared.usedBytes).to.be.at.most(20_000)
      }
      expect(first.counters.droppedBatches).to.be.above(0)
      expect(second.counters.droppedBatches).to.equal(0)
    })

    it('refuses with a count when even the waiting room is full', async () => {
      const spool = await openSpool({ budget: new Budget(8000), whenFull: 'block', waitingBytes: 15_000 })
      const results = Promise.allSettled(Array.from({ length: 40 }, (_, i) => spool.append(batchOf(i, 1500))))
      await new Promise(resolve => spool.once('full', resolve))
      const refusedWhileOpen = spool.counters.refused
      await spool.close()
      opened.pop()
      const codes = (await results).flatMap(result => result.status === 'rejected' ? [result.reason.code] : [])
      expect(codes.length).to.equal(spool.counters.refused)
      expect(codes.filter(code => code === 'SLUICE_SPOOL_FULL')).to.have.length(refusedWhileOpen).and.to.have.length.above(10)
      expect(new Set(codes)).to.deep.equal(new Set(['SLUICE_SPOOL_CLOSED', 'SLUICE_SPOOL_FULL']))
    })
  })

  it('waits for a full disk (a fake one) and goes on without a gap', async () => {
    let diskIsFull = false
    /** @type {typeof writeAt} */
    const write = (file, buffers, position, isSyncing) => {
      if (!diskIsFull) return writeAt(file, buffers, position, isSyncing)
      writeAt(file, [buffers[0]], position, isSyncing)
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
    }
    const spool = await openSpool({ write })
    await spool.append(batchOf(0))
    diskIsFull = true
    const waiting = [spool.append(batchOf(1)), spool.append(batchOf(2))]
    await new Promise(resolve => spool.once('full', resolve))
    expect(spool.blocked).to.match(/no space left/)
    diskIsFull = false
    expect((await Promise.all(waiting)).map(({ seq }) => seq)).to.deep.equal([1, 2])
    expect(spool.blocked).to.equal(null)
    await kill(spool)
    expect(await readAll(await openSpool())).to.deep.equal([0, 1, 2])
  })

  it('keeps a ledger of all it ever accepted, apart from what it removes', async () => {
    const ledger = await mkdtemp(join(folder, 'ledger-'))
    const spool = await openSpool({ segmentBytes: 1, ledger })
    const { epoch } = await spool.append(batchOf(0))
    for (let i = 1; i < 4; i++) await spool.append(batchOf(i))
    await spool.commit('sink', { [epoch]: [[0, 3]] })
    expect((await segments()).length).to.equal(1)
    const values = []
    for (const name of (await readdir(ledger)).sort()) {
      const { segment } = await Segment.recover(join(ledger, name))
      for (let seq = segment?.first ?? 0; segment && seq <= segment.last; seq++) values.push(valueOf(await segment.read(seq)))
      await segment?.close()
    }
    expect(values).to.deep.equal([0, 1, 2, 3])
  })

  describe('after a power cut', () => {
    /** @param {number} count */
    async function written (count) {
      const spool = await openSpool()
      for (let i = 0; i < count; i++) await spool.append(batchOf(i, i))
      await kill(spool)
      return join(folder, 'press', (await segments())[0])
    }

    it('cuts a torn last record off and says how much', async () => {
      const path = await written(3)
      await truncate(path, (await readFile(path)).length - 5)
      const spool = await openSpool()
      expect(await readAll(spool)).to.deep.equal([0, 1])
      expect(spool.counters.tornBytes).to.be.above(0)
    })

    it('removes a segment of which not even the description is whole', async () => {
      const path = await written(1)
      await truncate(path, 7)
      expect(await readAll(await openSpool())).to.deep.equal([])
      expect(await segments()).to.deep.equal([])
    })

    it('counts a damaged record as lost, names it in its head, and gives the ones behind it', async () => {
      const path = await written(4)
      const bytes = await readFile(path)
      bytes[bytes.indexOf('"value":1') + 8] ^= 1
      await writeFile(path, bytes)
      const spool = await openSpool()
      expect(await readAll(spool)).to.deep.equal([0, 2, 3])
      expect(await spool.read(spool.epochs[0].epoch, 1)).to.equal(null)
      expect(spool.counters.damagedBatches).to.equal(1)
      expect(JSON.parse(JSON.stringify(spool.epochs))[0]).to.include.deep.keys('lost').and.to.deep.include({ lost: [[1, 1]] })
    })

    it('reads an unharmed beginning and nothing false, whatever bytes were cut off, blanked or flipped (10,000 cases)', async () => {
      const path = await written(6)
      const whole = await readFile(path)
      const damage = fc.record({
        cut: fc.nat(whole.length),
        blank: fc.nat(200),
        flip: fc.option(fc.nat(whole.length - 1), { nil: undefined })
      })
      await fc.assert(fc.asyncProperty(damage, async ({ cut, blank, flip }) => {
        const bytes = Buffer.from(whole.subarray(0, whole.length - cut))
        bytes.fill(0, Math.max(0, bytes.length - blank))
        if (flip !== undefined && flip < bytes.length) bytes[flip] ^= 0x10
        await writeFile(path, bytes)
        const { segment, damaged } = await Segment.recover(path)
        if (!segment) return
        for (let seq = 0; seq <= segment.last; seq++) {
          const value = valueOf(await segment.read(seq))
          expect(value).to.equal(damaged.includes(seq) ? null : seq)
        }
        await segment.close()
      }), { numRuns: 10_000 })
    }).timeout(120_000)
  })
})

import { expect } from 'chai'
import fc from 'fast-check'
import { cp, mkdir, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { counterOf } from '../../gateway/batch/epochs.js'
import { preambleOf } from '../../broker/spool/record.js'
import { recordsOf } from '../../broker/spool/reading.js'
import { batchOf, headOf, Rig } from './spool-rig.js'

describe('spool, damaged', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  /** A spool of two sources and one segment, as a kill leaves it, or closed. @param {boolean} isClosed */
  async function written (isClosed) {
    const spool = await rig.open()
    for (let value = 0; value < 6; value++) await spool.append(batchOf(value, value * 7, value % 3 ? 'press' : 'lathe', 1 + value % 2))
    if (isClosed) {
      await rig.close(spool)
    } else {
      await cp(rig.folder, `${rig.folder}.killed`, { recursive: true })
      await rig.close(spool)
      await rm(rig.folder, { recursive: true })
      await cp(`${rig.folder}.killed`, rig.folder, { recursive: true })
    }
    return rig.segment()
  }

  /** What there is and what is counted, after some damage: together all that was produced. */
  async function balance () {
    const spool = await rig.open()
    const values = await rig.readAll(spool)
    const rows = values.reduce((/** @type {number} */ sum, value) => sum + 1 + Number(value) % 2, 0)
    const { counters } = spool
    await rig.close(spool)
    return { values, rows, ...counters }
  }

  for (const isClosed of [true, false]) {
    it(`loses at most the batch in which a bit was flipped, and counts it (${isClosed ? 'closed' : 'killed'})`, async () => {
      const path = await written(isClosed)
      const whole = await readFile(path)
      const saved = await readFile(join(rig.folder, 'saved.json'))
      let mended = 0
      for (let at = 0; at < whole.length; at += 3) {
        const bytes = Buffer.from(whole)
        bytes[at] ^= 1 << at % 8
        await rm(rig.folder, { recursive: true })
        await mkdir(rig.folder)
        await writeFile(path, bytes)
        await writeFile(join(rig.folder, 'saved.json'), saved)
        const { values, rows, lostBatches, lostRows } = await balance()
        expect(values, `byte ${at}`).to.deep.equal([0, 1, 2, 3, 4, 5].filter(value => values.includes(value)))
        expect(lostBatches, `byte ${at}`).to.equal(6 - values.length).and.to.be.at.most(1)
        expect(rows + lostRows, `byte ${at}`).to.equal(9)
        if (lostBatches === 0) mended++
      }
      expect(mended).to.be.above(whole.length / 3 * 0.2)
    }).timeout(120_000)
  }

  it('finds what is behind a hole, and counts what is in it once', async () => {
    const path = await written(true)
    const bytes = await readFile(path)
    const from = bytes.indexOf('"value":1') - 30
    bytes.fill(0x5a, from, bytes.indexOf('"value":3'))
    await writeFile(path, bytes)
    for (let opening = 0; opening < 3; opening++) {
      const { values, rows, lostBatches, lostRows } = await balance()
      expect(values).to.deep.equal([0, 4, 5])
      expect({ rows, lostBatches, lostRows }).to.deep.equal({ rows: 4, lostBatches: 3, lostRows: 5 })
    }
    const spool = await rig.open()
    expect(headOf(spool, 'press').epochs[0]).to.deep.include({ first: 0, last: 3, lost: [[0, 1, 3]], before: 0, rows: 6 })
    expect(headOf(spool, 'lathe').epochs[0]).to.deep.include({ first: 0, last: 1, lost: [[1, 1, 2]], before: 0, rows: 3 })
    expect(rig.said.join()).to.include('SLUICE_SPOOL_DAMAGED')
  })

  it('accounts for every row, whatever bytes of a closed spool are cut off, blanked or overwritten', async () => {
    const path = await written(true)
    const whole = await readFile(path)
    const saved = await readFile(join(rig.folder, 'saved.json'))
    const damage = fc.record({
      cut: fc.nat(whole.length), from: fc.nat(whole.length), length: fc.nat(600), byte: fc.constantFrom(0, 0x5a, 0xff)
    })
    await fc.assert(fc.asyncProperty(damage, async ({ cut, from, length, byte }) => {
      const bytes = Buffer.from(whole.subarray(0, cut % 5 ? whole.length : whole.length - cut))
      bytes.fill(byte, Math.min(from, bytes.length), Math.min(from + length, bytes.length))
      await rm(rig.folder, { recursive: true })
      await mkdir(rig.folder)
      await writeFile(path, bytes)
      await writeFile(join(rig.folder, 'saved.json'), saved)
      const { values, rows, lostBatches, lostRows } = await balance()
      expect(values).to.deep.equal([0, 1, 2, 3, 4, 5].filter(value => values.includes(value)))
      expect(values.length + lostBatches).to.equal(6)
      expect(rows + lostRows).to.equal(9)
    }), { numRuns: 300 })
  }).timeout(120_000)

  it('reads nothing false, whatever bytes were cut off, blanked or flipped (10,000 cases)', async () => {
    const path = await written(false)
    const whole = await readFile(path)
    const damage = fc.record({
      cut: fc.nat(whole.length), blank: fc.nat(200), flip: fc.option(fc.nat(whole.length - 1), { nil: undefined })
    })
    await fc.assert(fc.asyncProperty(damage, async ({ cut, blank, flip }) => {
      const bytes = Buffer.from(whole.subarray(0, whole.length - cut))
      bytes.fill(0, Math.max(0, bytes.length - blank))
      if (flip !== undefined && flip < bytes.length) bytes[flip] ^= 0x10
      await writeFile(path, bytes)
      for await (const { payload, source, seq, isDamaged } of recordsOf(path)) {
        if (isDamaged) continue
        const { identity } = JSON.parse(payload.toString())
        expect({ source, seq }).to.deep.equal({ source: identity.source, seq: identity.seq })
      }
    }), { numRuns: 10_000 })
  }).timeout(120_000)

  it('never takes what lies in a payload for a record', async () => {
    const spool = await rig.open()
    await spool.append(batchOf(0))
    const path = await rig.segment()
    const inner = (await readFile(path)).toString('latin1')
    const marker = Buffer.from(basename(path).split('.')[1], 'hex').subarray(0, 4).toString('latin1')
    const stranger = await rig.open({ folder: `${rig.folder}.other` })
    await stranger.append(batchOf(66))
    const [name] = (await readdir(`${rig.folder}.other`)).filter(entry => entry.endsWith('.segment'))
    const others = (await readFile(join(`${rig.folder}.other`, name))).toString('latin1')
    const payload = Buffer.from(`${marker.repeat(20)}${others}${inner.slice(0, 28)}${marker}`, 'latin1')
    await rig.close(spool)
    const second = await rig.open({ folder: `${rig.folder}.third`, encode: () => payload })
    await second.append(batchOf(1))
    const path2 = join(`${rig.folder}.third`, (await readdir(`${rig.folder}.third`)).filter(entry => entry.endsWith('.segment'))[0])
    await rig.close(second)
    const bytes = await readFile(path2)
    const at = bytes.indexOf(payload)
    bytes.fill(0x11, at - 60, at) // the header before it, so that the payload is searched
    await writeFile(path2, bytes)
    const opened = await rig.open({ folder: `${rig.folder}.third` })
    expect(opened.batches).to.equal(0)
    expect(opened.counters).to.include({ lostBatches: 1, lostRows: 1 })
  })

  it('takes the torn end of a killed process for an unfinished write, not for a loss', async () => {
    const path = await written(false)
    await truncate(path, (await readFile(path)).length - 5)
    const { values, tornBytes, lostBatches } = await balance()
    expect(values.slice(0, 4)).to.deep.equal([0, 1, 2, 3])
    expect(tornBytes).to.be.above(0)
    expect(lostBatches).to.equal(0)
  })

  it('counts a torn end as lost where it had been written, as the state on disk says, or the head that a broker keeps', async () => {
    const path = await written(true)
    await truncate(path, (await readFile(path)).indexOf('"value":4') - 30)
    expect(await balance()).to.include({ lostBatches: 2, lostRows: 3 })

    await rm(join(rig.folder, 'saved.json'))
    const spool = await rig.open()
    expect(spool.counters).to.include({ lostBatches: 0, lostRows: 0 })
    const [{ epoch }] = headOf(spool, 'press').epochs
    /** @type {unknown[]} */
    const lost = []
    spool.on('lost', (source, what) => lost.push([source, what]))
    const epochs = [{ epoch, first: 0, last: 3, before: 0, rows: 6 }]
    spool.heard({ sources: [{ source: 'press', rows: 6, lost: 0, dropped: 0, replaced: 0, epochs }] })
    expect(lost).to.deep.equal([['press', { batches: 2, rows: 3 }]])
    expect(headOf(spool, 'press').epochs[0]).to.deep.include({ first: 0, last: 3, rows: 6, lost: [[2, 3, 3]] })
    const [next] = await spool.append(batchOf(9))
    expect(next).to.include({ seq: 0, before: 6 })
    spool.heard({ sources: [{ source: 'press', rows: 6, lost: 0, dropped: 0, replaced: 0, epochs }] })
    expect(lost).to.have.length(1)
  })

  it('counts a lost tail in full when it has produced before it heard the broker, and once', async () => {
    let spool = await rig.open()
    const [{ epoch }] = await rig.fill(spool, 2)
    await rig.close(spool)
    spool = await rig.open()
    const [next] = await spool.append(batchOf(7, 0, 'press', 4))
    const earlier = { source: 'press', rows: 6, epochs: [{ epoch, first: 0, last: 3, before: 0, rows: 6 }] }
    spool.heard({ sources: [earlier] })
    expect(spool.counters).to.include({ lostBatches: 2, lostRows: 4 })
    expect(headOf(spool, 'press')).to.include({ rows: 10 })
    const [later] = await spool.append(batchOf(9))
    expect(later).to.include({ seq: 0, before: 10 })
    expect(later.epoch).to.not.equal(next.epoch)
    spool.heard({ sources: [earlier] })
    const { rows, epochs } = headOf(spool, 'press')
    spool.heard({ sources: [{ source: 'press', rows, epochs }] })
    expect(spool.counters, 'of its own head').to.include({ lostBatches: 2, lostRows: 4 })
    expect(headOf(spool, 'press')).to.include({ rows: 11 })
  })

  it('begins a new epoch when the broker has heard more of the present one: this is a copy', async () => {
    const spool = await rig.open()
    const [first] = await spool.append(batchOf(0))
    const epochs = [{ epoch: first.epoch, first: 0, last: 5, before: 0, rows: 6 }]
    spool.heard({ sources: [{ source: 'press', rows: 6, lost: 0, dropped: 0, replaced: 0, epochs }] })
    const [next] = await spool.append(batchOf(1))
    expect(next).to.include({ seq: 0, before: 6 })
    expect(next.epoch).to.not.equal(first.epoch)
  })

  it('counts what was in a file that is missing', async () => {
    let spool = await rig.open({ segmentBytes: 1 })
    for (let value = 0; value < 4; value++) await spool.append(batchOf(value))
    await rig.close(spool)
    await rm(await rig.segment(1))
    spool = await rig.open()
    expect(await rig.readAll(spool)).to.deep.equal([0, 2, 3])
    expect(spool.counters).to.include({ lostBatches: 1, lostRows: 1 })
  })

  it('counts at once what turns out to be damaged when it is read', async () => {
    let spool = await rig.open()
    for (let value = 0; value < 3; value++) await spool.append(batchOf(value))
    await rig.close(spool)
    spool = await rig.open()
    const path = await rig.segment()
    const bytes = await readFile(path)
    bytes[bytes.indexOf('"value":1') + 8] ^= 1
    await writeFile(path, bytes)
    expect(await rig.readAll(spool)).to.deep.equal([0, null, 2])
    expect(spool.counters).to.include({ lostBatches: 1, lostRows: 1 })
    expect(await rig.readAll(spool)).to.deep.equal([0, 2])
    await rig.close(spool)
    expect((await rig.open()).counters).to.include({ lostBatches: 1, lostRows: 1 })
  })

  for (const readable of [28, 4096]) {
    it(`goes on where a disk cannot read beyond ${readable} bytes, and counts that as damaged`, async () => {
      let spool = await rig.open({ segmentBytes: 1 })
      for (let value = 0; value < 3; value++) await spool.append(batchOf(value, 6000))
      await rig.close(spool)
      const file = await open(await rig.segment(), 'r')
      const prototype = Object.getPrototypeOf(file)
      await file.close()
      const { read } = prototype
      const failing = basename(await rig.segment(1))
      const { ino } = await stat(await rig.segment(1))
      prototype.read = async function (/** @type {any[]} */ ...args) {
        if ((await this.stat()).ino === ino && args[3] + args[2] > readable) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
        return read.apply(this, args)
      }
      try {
        spool = await rig.open()
        expect(await rig.readAll(spool)).to.deep.equal([0, 2])
        expect(spool.counters).to.include({ lostBatches: 1, lostRows: 1 })
      } finally {
        prototype.read = read
      }
      expect(await readdir(rig.folder)).to.include(`${failing}.damaged`)
    })
  }

  it('keeps a file that it cannot read, as long as there is room', async () => {
    let spool = await rig.open({ segmentBytes: 1 })
    for (let value = 0; value < 2; value++) await spool.append(batchOf(value, 3000))
    await rig.close(spool)
    const path = await rig.segment()
    await writeFile(path, Buffer.alloc(3000, 0x77))
    spool = await rig.open({ maxBytes: 15_000 })
    expect(await readdir(rig.folder)).to.include(`${basename(path)}.damaged`)
    expect(spool.counters).to.include({ lostBatches: 1 })
    expect(spool.bytes).to.be.above(6000)
    for (let value = 2; value < 5; value++) await spool.append(batchOf(value, 3000))
    expect(await readdir(rig.folder)).to.not.include(`${basename(path)}.damaged`)
    expect(await rig.readAll(spool)).to.deep.equal([1, 2, 3, 4])
  })

  it('leaves alone a file of another version, and says so', async () => {
    let spool = await rig.open({ segmentBytes: 1 })
    const [first] = await spool.append(batchOf(0))
    await spool.append(batchOf(1))
    await rig.close(spool)
    const path = await rig.segment()
    const preamble = preambleOf(Buffer.from(basename(path).split('.')[1], 'hex'), 0)
    preamble.writeUInt16LE(7, 6)
    preamble.writeUInt32LE(crc32(preamble.subarray(0, 24)), 24)
    const bytes = Buffer.concat([preamble, (await readFile(path)).subarray(28)])
    await writeFile(path, bytes)
    spool = await rig.open()
    expect(await rig.readAll(spool)).to.deep.equal([1])
    expect(await readFile(path)).to.deep.equal(bytes)
    expect(rig.said.join()).to.match(/SLUICE_SPOOL_VERSION.*format 7/)
    expect(counterOf((await spool.append(batchOf(2)))[0].epoch)).to.be.above(counterOf(first.epoch))
  })

  it('does not open where a newer version has saved its state, changes nothing, and has it all once that version is back', async () => {
    let spool = await rig.open({ segmentBytes: 1 })
    for (let value = 0; value < 3; value++) await spool.append(batchOf(value))
    await rig.close(spool)
    const saved = join(rig.folder, 'saved.json')
    const text = await readFile(saved, 'utf8')
    await writeFile(saved, text.replace('"version":1', '"version":2'))
    const names = await readdir(rig.folder)
    const error = await rig.open().then(() => null, reason => reason)
    expect(error).to.include({ code: 'SLUICE_SPOOL_VERSION' })
    expect(error.message).to.include('has the format 2, not 1: a newer release has written it')
    expect(await readdir(rig.folder)).to.deep.equal(names)
    await writeFile(saved, text)
    spool = await rig.open()
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2])
    expect(spool.counters).to.include({ lostBatches: 0 })
  })

  it('is not stopped by strange names, a spool of version 0.1 or a garbled state; all of it is kept and reported', async () => {
    for (const [i, garbage] of ['', '{', '{"version": 1, "sources": [1]}', 'null'].entries()) {
      const folder = join(rig.root, `${i}`)
      let spool = await rig.open({ folder })
      const [first] = await spool.append(batchOf(i))
      await rig.close(spool)
      await writeFile(join(folder, 'saved.json'), garbage)
      await mkdir(join(folder, '100%'))
      await writeFile(join(folder, '100%', '1-aa.000000000000.segment'), 'old')
      await writeFile(join(folder, '%E0%A4%A.segment'), 'strange')
      spool = await rig.open({ folder })
      expect(await rig.readAll(spool)).to.deep.equal([i])
      const names = await readdir(folder)
      expect(names.filter(name => name.endsWith('.damaged'))).to.have.length(1)
      expect(names).to.include('100%').and.to.include('%E0%A4%A.segment')
      const [{ epoch, before }] = await spool.append(batchOf(9))
      expect(counterOf(epoch)).to.be.above(counterOf(first.epoch))
      expect(before).to.equal(1)
    }
    expect(rig.said.join()).to.include('SLUICE_SPOOL_DAMAGED').and.to.include('SLUICE_SPOOL_VERSION')
  })

  it('does not open, and takes nothing for damaged, where it is kept from reading its state', async () => {
    await rig.close(await rig.open())
    await rm(join(rig.folder, 'saved.json'))
    await mkdir(join(rig.folder, 'saved.json')) // root may read everything else
    const reason = await rig.open().then(() => null, error => error)
    expect(reason).to.include({ code: 'EISDIR' })
    expect(await readdir(rig.folder)).to.include('saved.json')
    expect(rig.said.join()).to.not.include('DAMAGED')
  })
})

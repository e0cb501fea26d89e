import { expect } from 'chai'
import { open } from 'node:fs/promises'
import { ReadAhead } from '../../broker/spool/read-ahead.js'
import { batchOf, Rig } from './spool-rig.js'

const COUNT = 1000

describe('what is read from a spool', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  it('takes no reading of the disk for each record: each takes turns of the event loop, which are long', async () => {
    let spool = await rig.open()
    await Promise.all(Array.from({ length: COUNT }, (_, value) => spool.append(batchOf(value))))
    await rig.close(spool)
    spool = await rig.open()
    const file = await open(rig.folder, 'r')
    const prototype = Object.getPrototypeOf(file)
    await file.close()
    const { read } = prototype
    let readings = 0
    prototype.read = function (/** @type {any[]} */ ...what) {
      readings++
      return read.apply(this, what)
    }
    try {
      expect(await rig.readAll(spool)).to.deep.equal(Array.from({ length: COUNT }, (_, value) => value))
    } finally {
      prototype.read = read
    }
    expect(readings).to.be.below(COUNT / 100)
  })

  it('is also what has been written since', async () => {
    const spool = await rig.open()
    for (let value = 0; value < 3; value++) await spool.append(batchOf(value))
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2]) // from memory, once
    expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2])
    for (let value = 3; value < 6; value++) await spool.append(batchOf(value))
    for (let again = 0; again < 2; again++) expect(await rig.readAll(spool)).to.deep.equal([0, 1, 2, 3, 4, 5])
  })

  it('is a record whose neighbours a disk cannot read', async () => {
    const file = {
      async read (/** @type {Buffer} */ buffer, /** @type {number} */ at, /** @type {number} */ length, /** @type {number} */ from) {
        if (from + length > 100) throw Object.assign(new Error('i/o error'), { code: 'EIO' })
        buffer.fill(7, at, at + length)
        return { bytesRead: length }
      }
    }
    const segment = /** @type {any} */ ({ file, bytes: 10_000 })
    const ahead = new ReadAhead()
    for (const from of [70, 80, 90]) expect([...await ahead.read(segment, from, 10)]).to.deep.equal(new Array(10).fill(7))
    expect(await ahead.read(segment, 95, 10)).to.have.length(0)
  })

  it('is no more than a record where one is read here and one there: each would keep its neighbours in memory', async () => {
    /** @type {number[]} */
    const lengths = []
    const file = {
      async read (/** @type {Buffer} */ _buffer, /** @type {number} */ _at, /** @type {number} */ length) {
        lengths.push(length)
        return { bytesRead: length }
      }
    }
    const segment = /** @type {any} */ ({ file, bytes: 8_000_000 })
    const ahead = new ReadAhead()
    for (let i = 0; i < 100; i++) {
      await ahead.read(segment, 1000 * i, 1000) // the log
      await ahead.read(segment, 1_000_000 + (37 * i % 100) * 500_000 % 7_000_000, 1000)
    }
    expect(lengths.filter(length => length > 1000)).to.have.length(1)
  })
})

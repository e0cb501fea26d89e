import { createHash } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { addHashes, hashOf, subtractHashes } from '../../gateway/batch/hashes.js'

describe('Hashes of staged bytes', () => {
  it('are the first 48 bits of SHA-256', () => {
    expect(hashOf(Buffer.from('abc'))).to.equal(0xba7816bf8f01)
    fc.assert(fc.property(fc.uint8Array(), bytes => {
      expect(hashOf(bytes)).to.equal(Number(`0x${createHash('sha256').update(bytes).digest('hex').slice(0, 12)}`))
    }))
  })

  it('are added and subtracted without losing a bit', () => {
    const number = fc.integer({ min: 0, max: 2 ** 48 - 1 })
    fc.assert(fc.property(number, number, (a, b) => {
      expect(BigInt(addHashes(a, b))).to.equal(BigInt.asUintN(48, BigInt(a) + BigInt(b)))
      expect(subtractHashes(addHashes(a, b), b)).to.equal(a)
    }))
  })
})

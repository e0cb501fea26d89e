import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { LOOK_BACK_MS, MAX_REMEMBERED, Numbering } from '../../gateway/batch/numbering.js'

const T0 = 1_700_000_000_123_456_789n

/** @param {number[]} offsets  of the times, nanoseconds @param {Partial<import('../../gateway/batch/batch.js').BatchInit>} [more] */
const batchOf = (offsets, more = {}) =>
  new Batch({ source: 'press', time: BigInt64Array.from(offsets, offset => T0 + BigInt(offset)), ...more })

/** @param {(string|undefined)[]} devices */
const tagged = (...devices) => ({
  tags: { device: { values: devices.map(each => each ?? ''), valid: Uint8Array.from(devices, each => each === undefined ? 0 : 1) } }
})

/** @param {Batch} batch */
const ordinalsOf = ({ ordinals }) => ordinals && [...ordinals]

describe('numbers of rows with the same tags and time', () => {
  /** @type {Numbering} */
  let numbering
  let nowMs = 0
  /** @param {Batch} batch */
  const number = batch => ordinalsOf(numbering.numbered(batch))

  beforeEach(() => {
    nowMs = 1000
    numbering = new Numbering({ nowMs: () => nowMs })
  })

  it('go on over batches, and there are none where all are unique', () => {
    expect(number(batchOf([0]))).to.equal(null)
    expect(number(batchOf([1, 0, 0, 2]))).to.deep.equal([0, 1, 2, 0])
    expect(number(batchOf([3, 4]))).to.equal(null)
    expect(number(batchOf([0], { source: 'oven' }))).to.equal(null)
  })

  it('are those of the tags that a row has, whether all of its batch have them or not, in whatever order', () => {
    expect(number(batchOf([0], { tags: { line: '7', device: 'a' } }))).to.equal(null)
    expect(number(batchOf([0, 0, 0, 0], { tags: { ...tagged('a', 'b', undefined, 'a').tags, line: '7' } }))).to.deep.equal([1, 0, 0, 2])
    expect(number(batchOf([0], { tags: { line: '7' } }))).to.deep.equal([1])
    expect(number(batchOf([0], { tags: { line: 'a', device: '7' } }))).to.equal(null)
    expect(number(batchOf([0], tagged('')))).to.equal(null)
  })

  it('count long batches in order of time, which are looked at only when another may have a time of theirs', () => {
    const long = Array.from({ length: 1000 }, (_, i) => i)
    const devices = tagged(...long.map(i => i % 3 ? `d${i}` : undefined))
    expect(number(batchOf(long, { source: 'oven', ...devices }))).to.equal(null)
    expect(number(batchOf([2, 3, 3], { source: 'oven', ...tagged('d2', 'd2', undefined) }))).to.deep.equal([1, 0, 1])
    expect(number(batchOf(long))).to.equal(null)
    expect(number(batchOf(long.map(i => i + 1000)))).to.equal(null)
    expect(number(batchOf([999, 1000, 2000, 999]))).to.deep.equal([1, 1, 0, 2])
    expect(number(batchOf(long))).to.deep.equal(long.map(i => i === 999 ? 3 : 1))
    expect(number(batchOf(long.map(i => i + 3000)))).to.equal(null)
  })

  it('compare the rows of ten seconds, and forget those of more than twenty', () => {
    number(batchOf([0]))
    nowMs += LOOK_BACK_MS - 1
    expect(number(batchOf([1]))).to.equal(null)
    nowMs += LOOK_BACK_MS - 1
    expect(number(batchOf([1]))).to.deep.equal([1])
    nowMs += 2 * LOOK_BACK_MS
    expect(number(batchOf([0, 1]))).to.equal(null)
  })

  it('remember so many rows however fast they come, and no more than twice as many', () => {
    const ones = (/** @type {number} */ first, /** @type {number} */ count) => batchOf(Array.from({ length: count }, (_, i) => first - i))
    number(ones(MAX_REMEMBERED, MAX_REMEMBERED))
    expect(number(batchOf([1]))).to.deep.equal([1])
    number(ones(3 * MAX_REMEMBERED, 2 * MAX_REMEMBERED - 1))
    expect(number(batchOf([1]))).to.equal(null)
    expect(number(batchOf([2 * MAX_REMEMBERED]))).to.deep.equal([1])
  })

  it('go on from those that an earlier process has given', () => {
    numbering.remember(batchOf([0, 0, 1], { ordinals: Int32Array.of(0, 1, 0) }))
    numbering.remember(batchOf([5]))
    expect(number(batchOf([0, 1, 2, 5]))).to.deep.equal([2, 1, 0, 1])
  })

  it('are not used up by what was not accepted', () => {
    number(batchOf([0]))
    for (let tries = 0; tries < 3; tries++) {
      const numbered = numbering.numbered(batchOf([0, 0, 1]))
      expect(ordinalsOf(numbered)).to.deep.equal([1, 2, 0])
      numbering.forget(numbered)
    }
    expect(number(batchOf([1]))).to.equal(null)
  })

  it('replace those of another stage', () => {
    expect(number(batchOf([0], { ordinals: Int32Array.of(7) }))).to.equal(null)
  })

  it('stay with their rows in parts of a batch', () => {
    const batch = numbering.numbered(batchOf([0, 0, 1, 0]))
    expect(ordinalsOf(batch.slice(1, 3))).to.deep.equal([1, 0])
    expect(ordinalsOf(batch.pick([3, 0]))).to.deep.equal([2, 0])
  })
})

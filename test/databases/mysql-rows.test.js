import { expect } from 'chai'
import fc from 'fast-check'
import { int64Writer, splitter } from '../../gateway/databases/mysql/decimal.js'
import { encodedRows } from '../../gateway/databases/mysql/load.js'
import { versionOf } from '../../gateway/databases/mysql/session.js'
import { batchOf, rowOf, T0 } from './contract/batches.js'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

/** Numbers where digits carry, and the ends of the range. */
const EDGES = [0n, 10n ** 9n, 10n ** 18n, 2n ** 31n, 2n ** 32n, 4_294_967_296_000_000_000n]
  .flatMap(near => [-1n, 0n, 1n].flatMap(by => [near + by, -near + by]))
  .concat(2n ** 63n - 1n, -(2n ** 63n))

describe('MySQL rows', () => {
  it('writes whole numbers as BigInt does', () => {
    fc.assert(fc.property(fc.array(fc.oneof(int64, fc.constantFrom(...EDGES)), { minLength: 1 }), values => {
      const write = int64Writer(BigInt64Array.from(values))
      const buffer = Buffer.alloc(32)
      values.forEach((value, row) => expect(buffer.toString('latin1', 0, write(buffer, 0, row))).to.equal(String(value)))
    }), { examples: [[EDGES]] })
  })

  it('splits times into seconds and nanoseconds, rounded down', () => {
    fc.assert(fc.property(int64, time => {
      const split = { billions: NaN, rest: NaN }
      splitter(BigInt64Array.of(time))(0, split)
      expect(split.rest).to.be.within(0, 999_999_999)
      expect(BigInt(split.billions) * 1_000_000_000n + BigInt(split.rest)).to.equal(time)
    }))
  })

  const time = { name: 'time_ns', type: /** @type {const} */ ('time_ns'), origin: /** @type {const} */ ('time'), kind: 'bigint' }

  /** @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const encode = (...batches) => {
    const columns = [
      time,
      ...batches[0].fields.map(({ name, type }, field) => ({ name, type, field, origin: /** @type {const} */ ('field'), kind: type }))
    ]
    return Array.from(encodedRows({ table: 'press', columns }, batches), bytes => Buffer.from(bytes))
  }

  it('escapes separators, and nothing else', () => {
    const row = rowOf({
      text: ['string', 'a\tb\nc\\N"\'\r\0ü'],
      none: ['string', undefined],
      bytes: ['bytes', Uint8Array.of(0, 9, 255)],
      nan: ['float64', NaN],
      large: ['float64', 1e21]
    })
    expect(Buffer.concat(encode(row)).toString()).to.equal(`${T0}\ta\\\tb\\\nc\\\\N"'\r\0ü\t\\N\t0009ff\t\\N\t1e+21\n`)
  })

  it('cuts rows of any length into pieces that every server accepts', () => {
    const texts = ['x', 'ü'.repeat(200_000), 'y\\'.repeat(100_000), 'z']
    const batches = texts.map(text => rowOf({ text: ['string', text] }))
    const pieces = encode(...batches, batchOf([]))
    expect(Math.max(...pieces.map(({ length }) => length))).to.be.at.most(128 * 1024)
    expect(Buffer.concat(pieces).toString()).to.equal(texts.map(text => `${T0}\t${text.replaceAll('\\', '\\\\')}\n`).join(''))
  })

  it('has room for missing values', () => {
    const missing = Array.from({ length: 8 }, (_, i) => [`f${i}`, /** @type {['string', undefined]} */ (['string', undefined])])
    const rows = Array.from({ length: 10_000 }, () => rowOf(Object.fromEntries(missing)))
    expect(Buffer.concat(encode(...rows)).toString()).to.equal(`${T0}${'\t\\N'.repeat(8)}\n`.repeat(10_000))
  })

  it('distinguishes MariaDB from MySQL, and what each supports', () => {
    expect(versionOf('10.11.6-MariaDB-0+deb12u1')).to.deep.equal({ product: 'MariaDB', version: '10.11.6', hasRowKeys: true })
    expect(versionOf('5.5.5-10.2.44-MariaDB')).to.deep.equal({ product: 'MariaDB', version: '10.2.44', hasRowKeys: false })
    expect(versionOf('8.0.36')).to.deep.equal({ product: 'MySQL', version: '8.0.36', hasRowKeys: true })
    expect(versionOf('5.7.44-log')).to.deep.equal({ product: 'MySQL', version: '5.7.44', hasRowKeys: false })
  })
})

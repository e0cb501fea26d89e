import { expect } from 'chai'
import { Batch, COLUMN_TYPES } from '../../../gateway/batch/batch.js'
import { encodeLines } from '../../../gateway/messages/codecs/line-protocol/line-protocol.js'

const T0 = 1_700_000_000_123_456_789n

/** @typedef {import('../../../gateway/batch/batch.js').BatchInit} BatchInit */

/** A batch of one field "force". @param {number[]} values @param {Partial<BatchInit>} [more] */
const forces = (values, more = {}) => new Batch({
  source: 'press',
  time: BigInt64Array.from(values, (_, i) => T0 + BigInt(i)),
  fields: [{ name: 'force', type: 'float64' }],
  columns: [Float64Array.from(values)],
  ...more
})

/** A batch of one row at time 0. @param {Record<string, [string, any]>} values @param {Partial<BatchInit>} [more] */
const row = (values, more = {}) => {
  const entries = Object.entries(values)
  return new Batch({
    source: 'press',
    time: BigInt64Array.of(0n),
    fields: entries.map(([name, [type]]) => ({ name, type: /** @type {any} */ (type) })),
    columns: entries.map(([, [type, value]]) => /** @type {any} */ (COLUMN_TYPES)[type].of(value)),
    ...more
  })
}

/** @param {Batch} batch @param {object} [more] */
const text = (batch, more = {}) => Buffer.concat([...encodeLines([{ batch, ...more }])]).toString()
/** @param {Batch} batch @param {object} [more] */
const lines = (batch, more) => text(batch, more).trimEnd().split('\n')

describe('line protocol', () => {
  it('writes a row as a line, with tags in order and nanoseconds', () => {
    const batch = new Batch({
      source: 'press',
      tags: { shift: 'late', line: '7' },
      time: BigInt64Array.of(T0, -1n),
      fields: [{ name: 'force', type: 'float64' }, { name: 'count', type: 'int32' }],
      columns: [Float64Array.of(1.5, -2), Int32Array.of(3, -4)]
    })
    expect(text(batch)).to.equal(
      'press,line=7,shift=late force=1.5,count=3i 1700000000123456789\n' +
      'press,line=7,shift=late force=-2,count=-4i -1\n')
  })

  it('writes each type as InfluxDB wants it', () => {
    expect(text(row({
      f64: ['float64', 0.1], f32: ['float32', 0.5], i64: ['int64', 2n ** 63n - 1n], i32: ['int32', -2147483648], i16: ['int16', -32768],
      u16: ['uint16', 65535],
      yes: ['bool', 1], no: ['bool', 0], text: ['string', 'a "b" \\ ü\n'], none: ['string', ''], bytes: ['bytes', Uint8Array.of(0, 255, 10)]
    }))).to.equal('press f64=0.1,f32=0.5,i64=9223372036854775807i,i32=-2147483648i,i16=-32768i,u16=65535i,yes=t,no=f,' +
      'text="a \\"b\\" \\\\ ü\n",none="",bytes="AP8K" 0\n')
  })

  it('writes floats in their own bytes, as QuestDB reads them, and none that is not finite', () => {
    const fields = [{ name: 'force', field: 0, kind: 'binary' }, { name: 'count', field: 1, kind: 'integer' }]
    const batch = new Batch({
      source: 'press',
      time: BigInt64Array.of(0n, 1n),
      fields: [{ name: 'force', type: 'float64' }, { name: 'count', type: 'int32' }],
      columns: [Float64Array.of(-0.1, NaN), Int32Array.of(3, 4)]
    })
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(-0.1)
    expect(Buffer.concat([...encodeLines([{ batch, fields: /** @type {any} */ (fields) }])]))
      .to.deep.equal(Buffer.concat([Buffer.from('press force==\x10'), bytes, Buffer.from(',count=3i 0\npress count=4i 1\n')]))
  })

  it('writes floats that are read back exactly', () => {
    const values = [
      0, -0, 0.1, 1 / 3, -123.456, 0.001, 0.05, 100.25, 1e-7, 5e-324, -Number.MAX_VALUE, 2 ** 53, 2 ** 53 + 2, 1e21,
      999_999_999.999, 4_503_599_627_370.495, 1e9, 123456789.5
    ]
    for (let i = 0; i < 2000; i++) {
      values.push(
        Math.sin(i) * 10 ** (i % 30 - 15),
        Math.round(Math.sin(i) * 1e6) / 1000,
        Math.round(Math.cos(i) * 1e5) / 10
      )
    }
    const written = lines(forces(values)).map(line => /force=(\S+)/.exec(line)?.[1])
    values.forEach((value, i) => {
      expect(Number(written[i])).to.equal(value)
      expect(written[i]).to.have.length.at.most(Object.is(value, -0) ? 2 : String(value).length)
    })
  })

  it('writes 64-bit integers', () => {
    const values = [
      0n, 1n, -1n, 9n, 10n, 999_999_999n, 1_000_000_000n, -1_000_000_000n, 2n ** 32n - 1n, 2n ** 32n, -(2n ** 32n),
      2n ** 53n + 1n, 10n ** 18n, 2n ** 63n - 1n, -(2n ** 63n)
    ]
    for (let bit = 0n; bit < 63n; bit++) values.push((1n << bit) - 1n, -(1n << bit), 0x5bd1e995a7f31c4dn >> bit)
    const unique = [...new Set(values)]
    const batch = new Batch({
      source: 'a',
      time: BigInt64Array.from(unique),
      fields: [{ name: 'n', type: 'int64' }],
      columns: [BigInt64Array.from(unique)]
    })
    expect(lines(batch)).to.deep.equal(unique.map(value => `a n=${value}i ${value}`))
  })

  it('leaves out missing and inexpressible values, and rows without others', () => {
    const batch = new Batch({
      source: 'press',
      tags: { empty: '' },
      time: BigInt64Array.of(1n, 2n, 3n),
      fields: [{ name: 'a', type: 'float64' }, { name: 'b', type: 'int16' }],
      columns: [Float64Array.of(NaN, Infinity, -Infinity), Int16Array.of(1, 2, 3)],
      validity: [null, Uint8Array.of(1, 0, 1)]
    })
    expect(lines(batch)).to.deep.equal(['press b=1i 1', 'press b=3i 3'])
    expect(text(forces([]))).to.equal('')
  })

  it('escapes names and tags', () => {
    const batch = row({ 'f, =': ['bool', 1], '"q"': ['bool', 0] }, { source: 'a b,c=d"e', tags: { 'k, =': 'v, =\\x"', Ü: '🚀' } })
    expect(text(batch)).to.equal('a\\ b\\,c=d"e,k\\,\\ \\==v\\,\\ \\=\\x",Ü=🚀 f\\,\\ \\==t,"q"=f 0\n')
  })

  it('refuses names and tags that a line cannot contain', () => {
    const bad = ['a\nb', 'a\\', 'a\\ b', 'a\\,b', 'a\\=b', 'a\\"b', '\n']
    for (const name of bad) {
      const batches = [
        forces([1], { source: name }), row({ [name]: ['bool', 1] }),
        forces([1], { tags: { [name]: 'x' } }), forces([1], { tags: { x: name } })
      ]
      for (const batch of batches) {
        expect(() => text(batch), JSON.stringify(name)).to.throw().with.property('code', 'SLUICE_SINK_IDENTIFIER')
      }
    }
    for (const source of ['#comment', '\tx', '\0x']) expect(() => text(forces([1], { source })), source).to.throw(/begins with/)
    expect(() => text(forces([1], { source: '#\n' }))).to.throw()
    expect(text(forces([1], { source: 'a#\\b' }))).to.equal(`a#\\b force=1 ${T0}\n`)
  })

  it('marks reserved names', () => {
    expect(text(row({ time: ['bool', 1] }, { tags: { time: 'a', row: 'b', sensor: 'c' } }))).to.equal(
      'press,row~tag=b,sensor~tag=c,time~tag=a time~field=t 0\n'
    )
  })

  it('writes fields as tags or as another kind on request', () => {
    const batch = new Batch({
      source: 'press',
      time: BigInt64Array.of(1n, 2n, 3n),
      fields: [{ name: 'address', type: 'int32' }, { name: 'unit', type: 'string' }, { name: 'value', type: 'int16' }],
      columns: [Int32Array.of(17, 17, -1), ['°C', '', 'x y'], Int16Array.of(1, 2, 3)]
    })
    expect(lines(
      batch,
      {
        measurement: 'bus',
        tags: [{ name: 'unit', field: 1 }, { name: 'address', field: 0 }, { name: 'b', value: 'c' }],
        fields: [{ name: 'value', field: 2, kind: 'float' }]
      }
    )).to.deep.equal([
      'bus,address=17,b=c,unit=°C value=1 1', 'bus,address=17,b=c value=2 2', 'bus,address=-1,b=c,unit=x\\ y value=3 3'
    ])
  })

  it('writes one line per value in the narrow layout', () => {
    const batch = row(
      { a: ['float64', 0.5], b: ['int16', 7], c: ['bool', 1], d: ['int64', 2n], e: ['string', 'x'], f: ['bytes', Uint8Array.of(1)] },
      { tags: { line: '1' } }
    )
    expect(lines(batch, { narrow: true })).to.deep.equal([
      'press,line=1,sensor=a value=0.5 0', 'press,line=1,sensor=b value=7 0', 'press,line=1,sensor=c value=1 0',
      'press,line=1,sensor=d value_int64=2i 0',
      'press,line=1,sensor=e value_string="x" 0', 'press,line=1,sensor=f value_bytes="AQ==" 0'
    ])
  })

  it('distinguishes rows of the same time, always in the same way', () => {
    const batch = forces([0, 1, 2, 3, 4], { time: BigInt64Array.of(5n, 7n, 5n, 7n, 5n) })
    const all = ['press force=0 5', 'press force=1 7', 'press,row=1 force=2 5', 'press,row=1 force=3 7', 'press,row=2 force=4 5']
    expect(lines(batch)).to.deep.equal(all)
    expect(lines(batch.slice(2, 5))).to.deep.equal(all.slice(2))
    expect(lines(batch.pick([4, 0]).pick([0]))).to.deep.equal([all[4]])
    expect(lines(batch, { narrow: true })[4]).to.equal('press,row=2,sensor=force value=4 5')
  })

  it('considers fields that are tags when it distinguishes rows of the same time', () => {
    const batch = new Batch({
      source: 'a', time: BigInt64Array.of(1n, 1n, 1n), fields: [{ name: 'id', type: 'int16' }, { name: 'v', type: 'bool' }],
      columns: [Int16Array.of(1, 2, 1), Uint8Array.of(1, 1, 0)]
    })
    expect(lines(batch, { tags: [{ name: 'id', field: 0 }], fields: [{ name: 'v', field: 1, kind: 'boolean' }] })).to.deep.equal([
      'a,id=1 v=t 1',
      'a,id=2 v=t 1',
      'a,id=1,row=1 v=f 1'
    ])
  })

  it('distinguishes rows by the numbers that the stage has given them, whatever batches they come in', () => {
    const batch = forces([0, 1, 2], { time: BigInt64Array.of(5n, 5n, 7n), ordinals: Int32Array.of(3, 4, 0) })
    const all = ['press,row=3 force=0 5', 'press,row=4 force=1 5', 'press force=2 7']
    expect(lines(batch)).to.deep.equal(all)
    expect(lines(batch.pick([2, 1]))).to.deep.equal([all[2], all[1]])
  })

  it('gives no number of the stage to rows that differ in a field that is a tag, where all that were counted are in the batch', () => {
    /** @param {number[]} ids @param {number[]} ordinals */
    const tagsOf = (ids, ordinals) => lines(new Batch({
      source: 'a', time: new BigInt64Array(ids.length), fields: [{ name: 'id', type: 'int16' }, { name: 'v', type: 'bool' }],
      columns: [Int16Array.from(ids), new Uint8Array(ids.length)], ordinals: Int32Array.from(ordinals)
    }), { tags: [{ name: 'id', field: 0 }], fields: [{ name: 'v', field: 1, kind: 'boolean' }] }).map(line => line.split(' ')[0])
    expect(tagsOf([1, 2, 3], [0, 1, 2])).to.deep.equal(['a,id=1', 'a,id=2', 'a,id=3'])
    expect(tagsOf([1, 2, 1], [0, 1, 2])).to.deep.equal(['a,id=1', 'a,id=2', 'a,id=1,row=1'])
    expect(tagsOf([1, 2], [3, 4])).to.deep.equal(['a,id=1,row=3', 'a,id=2,row=4'])
  })

  it('comes in chunks of whole lines, no larger than the limit unless a line is', () => {
    const long = row({ note: ['string', 'ü'.repeat(5000)] })
    const parts = [{ batch: forces([1, 2, 3]) }, { batch: long }, { batch: forces([4, 5, 6]), narrow: true }]
    const whole = Buffer.concat([...encodeLines(parts)])
    for (const chunkBytes of [1, 40, 64, 100, 1400]) {
      const chunks = [...encodeLines(parts, { chunkBytes })]
      expect(Buffer.concat(chunks).equals(whole)).to.equal(true)
      expect(chunks.every(chunk => chunk.at(-1) === 10)).to.equal(true)
      expect(chunks.filter(chunk => chunk.length > chunkBytes).every(chunk => chunk.indexOf(10) === chunk.length - 1)).to.equal(true)
    }
    expect([...encodeLines(
      [{ batch: forces(Array(100).fill(1.5)) }],
      { chunkBytes: 330 }
    )].slice(0, -1).map(({ length }) => length)).to.satisfy((/** @type {number[]} */ lengths) => lengths.every(length => length > 280))
  })
})

import * as apache from 'apache-arrow'
import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../../gateway/batch/batch.js'
import { SluiceError } from '../../../gateway/base/errors.js'
import { tagAt, tagColumns } from '../../../gateway/batch/tags.js'
import * as arrow from '../../../gateway/messages/codecs/arrow/arrow.js'
import { stream, times } from './apache.js'
import { EVERY_TYPE, IDENTITY, NOW, anyBatch, batchOf, expectSame, meaning, tagOf } from './batches.js'

const NUMBERS = batchOf({ a: ['float64', [1, 2, 3], 'mm'], b: ['int16', [4, 5, 6]] }, { identity: IDENTITY, tags: { line: '4' } })

/** @param {() => unknown} run */
function expectBroken (run) {
  expect(run).to.throw(SluiceError).with.property('code', 'SLUICE_CODEC_ARROW')
}

describe('arrow codec', () => {
  it('round-trips any batch', () => {
    fc.assert(fc.property(anyBatch, batch => {
      const bytes = arrow.encode(batch)
      expectSame(arrow.decode(bytes), batch)
      expect(arrow.peekIdentity(bytes)).to.deep.equal(batch.identity)
    }), { numRuns: 10_000 })
  })

  it('gives the same bytes for the same batch', () => {
    expect(arrow.encode(EVERY_TYPE)).to.deep.equal(arrow.encode(EVERY_TYPE))
  })

  it('reads the identity alone', () => {
    expect(arrow.peekIdentity(arrow.encode(NUMBERS))).to.deep.equal(IDENTITY)
    expect(arrow.peekIdentity(arrow.encode(NUMBERS.withIdentity(null)))).to.equal(null)
  })

  it('returns views of the bytes where they are aligned, and copies where they are not', () => {
    const bytes = arrow.encode(NUMBERS)
    const room = new Uint8Array(bytes.length + 8)
    for (let shift = 0; shift < 8; shift++) {
      room.set(bytes, shift)
      const decoded = arrow.decode(room.subarray(shift, shift + bytes.length))
      expectSame(decoded, NUMBERS)
      expect(decoded.time.buffer === room.buffer).to.equal(shift === 0)
    }
  })

  it('shares one fields array between batches of one shape', () => {
    const decode = (/** @type {number} */ seq) => arrow.decode(arrow.encode(NUMBERS.withIdentity({ ...IDENTITY, seq, before: seq * 10 })))
    expect(decode(7).fields).to.equal(decode(8).fields)
    expect(decode(8).identity).to.include({ seq: 8, before: 80 })
  })

  it('keeps how many rows came before, and under which identities the rows were staged before', () => {
    const ancestors = [{ epoch: '1-aa', seq: 5, hash: 2 ** 48 - 1 }, { epoch: '2-bb', seq: 0, hash: 0 }]
    const identities = [
      { ...IDENTITY, before: 0 }, { ...IDENTITY, before: Number.MAX_SAFE_INTEGER }, { ...IDENTITY, before: 7, ancestors },
      { ...IDENTITY, ancestors }, IDENTITY
    ]
    for (const identity of [...identities, ...identities]) {
      const bytes = arrow.encode(NUMBERS.withIdentity(identity))
      expect(arrow.decode(bytes).identity).to.deep.equal(identity)
      expect(arrow.peekIdentity(bytes)).to.deep.equal(identity)
    }
  })

  it('refuses ancestors of another form, or without end', () => {
    const encode = (/** @type {any} */ ancestors) => arrow.encode(NUMBERS.withIdentity({ ...IDENTITY, before: 1, ancestors }))
    const nine = Array(9).fill({ epoch: 'a', seq: 0, hash: 0 })
    for (const ancestors of [{}, [{ epoch: 1, seq: 0, hash: 0 }], [{ epoch: 'a', seq: -1, hash: 0 }], nine]) {
      expectBroken(() => arrow.peekIdentity(encode(ancestors)))
    }
  })

  it('keeps the numbers of rows with the same tags and time in a column, which there is only where a row has one', () => {
    const ordinals = Int32Array.of(0, 1, 2)
    for (const tags of [{ line: '4' }, { line: tagOf(['1', undefined, '1']) }]) {
      const batch = batchOf({ ordinal: ['int32', [7, 8, 9]] }, { identity: IDENTITY, tags })
      const bytes = arrow.encode(new Batch({ ...batch, ordinals }))
      expect(arrow.decode(bytes).ordinals).to.deep.equal(ordinals)
      expectSame(arrow.decode(bytes), batch)
      expect(arrow.decode(arrow.encode(batch)).ordinals).to.equal(null)
      expect(arrow.encode(batch).length).to.be.lessThan(bytes.length)
    }
  })

  it('distinguishes an Arrow stream from text', () => {
    expect(arrow.recognises(arrow.encode(NUMBERS))).to.equal(true)
    expect(arrow.recognises(Buffer.from('{"a":1}'))).to.equal(false)
    expect(arrow.recognises(Buffer.from([255, 255, 255, 255]))).to.equal(false)
  })

  it('refuses a batch that could not be read back: two columns of one name, a column "time", another source\'s identity', () => {
    const column = () => Float64Array.of(1)
    const two = (/** @type {string} */ first, /** @type {string} */ second) => new Batch({
      source: 'machine', time: BigInt64Array.of(NOW), fields: [{ name: first, type: 'float64' }, { name: second, type: 'float64' }],
      columns: [column(), column()]
    })
    expectBroken(() => arrow.encode(two('a', 'a')))
    expectBroken(() => arrow.encode(two('a', 'time')))
    expectBroken(() => arrow.encode(NUMBERS.withIdentity({ ...IDENTITY, source: 'other' })))
  })

  it('reads the schemas of a thousand sources in turn once each, and keeps no more than a few megabytes of what strangers invent', () => {
    const fieldsOf = (/** @type {string} */ source) => {
      const batch = new Batch({
        source,
        time: new BigInt64Array([1n]),
        fields: [{ name: 'value', type: 'float64' }],
        columns: [new Float64Array([1])],
        identity: { ...IDENTITY, source, before: 0 }
      })
      return arrow.decode(arrow.encode(batch)).fields
    }
    const sources = Array.from({ length: 1000 }, (_, i) => `kept ${i}`)
    const before = sources.map(fieldsOf)
    expect(sources.map(fieldsOf).filter((fields, i) => fields !== before[i])).to.have.length(0)
    for (let i = 0; i < 300; i++) fieldsOf(`${'invented '.repeat(5000)}${i}`)
    expect(fieldsOf('kept 0')).not.to.equal(before[0])
  })

  describe('is read by apache-arrow', () => {
    it('with types, units, nulls and metadata', () => {
      const table = apache.tableFromIPC(arrow.encode(EVERY_TYPE))
      expect(table.schema.fields.map(({ name, type }) => `${name}: ${type}`)).to.deep.equal([
        'time: Timestamp<NANOSECOND, UTC>', 'float64: Float64', 'float32: Float32', 'int64: Int64', 'int32: Int32', 'int16: Int16',
        'uint16: Uint16', 'bool: Bool', 'string: Utf8', 'bytes: Binary', 'always: Float64'
      ])
      expect(table.schema.fields[1].metadata.get('unit')).to.equal('mm/s²')
      expect(Object.fromEntries(table.schema.metadata)).to.deep.equal({
        'sluice.gateway': 'pi-7f3a', 'sluice.source': 'machine', 'sluice.epoch': '3-9c41', 'sluice.seq': '0000000000000041',
        'sluice.tags': '{"line":"4","größe \\"q\\"":""}'
      })
      expect([.../** @type {apache.Vector} */ (table.getChild('time')).data[0].values]).to.deep.equal([...EVERY_TYPE.time])
      EVERY_TYPE.fields.forEach(({ name }, f) => {
        const read = [.../** @type {apache.Vector} */ (table.getChild(name))]
        const plain = read.map(value => value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value ?? undefined)
        expect(plain).to.deep.equal(meaning(EVERY_TYPE).columns[f])
      })
    })

    it('for any batch', () => {
      fc.assert(fc.property(anyBatch, batch => {
        const table = apache.tableFromIPC(arrow.encode(batch))
        expect(table.numRows).to.equal(batch.rows)
        const devices = tagColumns(batch.tags)
        const names = table.schema.fields.slice(1).map(({ name, metadata }) => metadata.get('sluice.tag') ?? name)
        expect(names).to.deep.equal([...batch.fields.map(({ name }) => name), ...devices.map(([name]) => name)])
        devices.forEach(([, column], i) => {
          const read = [.../** @type {any} */ (table.getChildAt(1 + batch.fields.length + i) ?? [])]
          expect(read).to.deep.equal(Array.from(batch.time, (_, row) => tagAt(column, row) ?? null))
        })
        batch.fields.forEach((_, f) => {
          expect(table.getChildAt(f + 1)?.nullCount ?? 0).to.equal(Array.from(
            { length: batch.rows },
            (__, row) => batch.value(f, row)
          ).filter(value => value === undefined).length)
        })
      }), { numRuns: 300 })
    })
  })

  describe('reads what apache-arrow writes', () => {
    const time = () => times([NOW, NOW + 1n])

    /** @param {Record<string, apache.Vector>} columns */
    const decode = columns => arrow.decode(stream(columns), { source: 'foreign' })

    it('without identity, with the given source', () => {
      const { source, identity, tags } = decode({ time: time() })
      expect({ source, identity, tags }).to.deep.equal({ source: 'foreign', identity: null, tags: {} })
      expect(() => arrow.decode(stream({ time: time() }))).to.throw('it needs a source name')
    })

    /** @type {[apache.DataType, unknown[], string, unknown[]?][]} */
    const types = [
      [new apache.Int8(), [-128, null], 'int16'],
      [new apache.Uint8(), [255, null], 'int16'],
      [new apache.Int16(), [-1, 2], 'int16'],
      [new apache.Uint16(), [65535, 2], 'uint16'],
      [new apache.Int32(), [-1, null], 'int32'],
      [new apache.Uint32(), [4294967295, null], 'int64', [4294967295n, null]],
      [new apache.Int64(), [-(2n ** 63n), 1n], 'int64'],
      [new apache.Uint64(), [2n ** 63n - 1n, 1n], 'int64'],
      [new apache.Float16(), [-0.5, 65504], 'float32'],
      [new apache.Float32(), [0.5, null], 'float32'],
      [new apache.Float64(), [0.1, null], 'float64'],
      [new apache.Bool(), [true, null], 'bool'],
      [new apache.Utf8(), ['ü', null], 'string'],
      [new apache.LargeUtf8(), ['ü', ''], 'string'],
      [new apache.Binary(), [Buffer.from('x'), null], 'bytes'],
      [new apache.Dictionary(new apache.Utf8(), new apache.Int8()), ['on', 'on'], 'string'],
      [new apache.Dictionary(new apache.Utf8(), new apache.Uint32()), ['on', null], 'string']
    ]
    for (const [type, values, expected, read = values] of types) {
      it(`${type} as ${expected}`, () => {
        const batch = decode({ time: time(), a: apache.vectorFromArray(values, type) })
        expect(batch.fields).to.deep.equal([{ name: 'a', type: expected }])
        expect(meaning(batch).columns[0]).to.deep.equal(read.map(
          value => value === null ? undefined : value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
        ))
      })
    }

    for (const [unit, nanoseconds] of /** @type {const} */ ([
      ['Second', 10n ** 9n],
      ['Millisecond', 10n ** 6n],
      ['Microsecond', 1000n],
      ['Nanosecond', 1n]
    ])) {
      it(`times in ${unit.toLowerCase()}s`, () => {
        const column = times([NOW / nanoseconds, NOW / nanoseconds + 1n], new apache[`Timestamp${unit}`]())
        expect([...decode({ time: column }).time]).to.deep.equal([NOW / nanoseconds * nanoseconds, (NOW / nanoseconds + 1n) * nanoseconds])
      })
    }

    it('several record batches as one', () => {
      const word = new apache.Dictionary(new apache.Utf8(), new apache.Int8())
      const part = (/** @type {bigint} */ at, /** @type {(string|null)[]} */ texts) => new apache.Table({
        time: times(texts.map((_, row) => at + BigInt(row))), text: apache.vectorFromArray(texts, new apache.Utf8()),
        word: apache.vectorFromArray(texts, word)
      })
      const whole = part(NOW, ['a', 'b']).concat(part(NOW + 2n, [null, 'd', 'e']))
      const batch = arrow.decode(apache.tableToIPC(whole, 'stream'), { source: 'foreign' })
      expect([...batch.time]).to.deep.equal([0n, 1n, 2n, 3n, 4n].map(row => NOW + row))
      const texts = ['a', 'b', undefined, 'd', 'e']
      expect(meaning(batch).columns).to.deep.equal([texts, texts])
    })

    it('the time from "time", "timestamp" or "ts", otherwise the first timestamp; others are int64 in their unit', () => {
      const other = times([1n, 2n], new apache.TimestampMillisecond())
      const batch = decode({ sent: other, ts: time() })
      expect(batch.time[0]).to.equal(NOW)
      expect(batch.fields).to.deep.equal([{ name: 'sent', type: 'int64', unit: 'ms' }])
      expect(decode({ a: apache.vectorFromArray([1, 2]), when: time() }).time[0]).to.equal(NOW)
    })

    it('a missing time, or one beyond the range of nanoseconds, as 0', () => {
      expect([...decode({ time: times([2n ** 62n, -1n, 5n], new apache.TimestampSecond()) }).time]).to.deep.equal([0n, 0n, 5_000_000_000n])
      expect([...decode({ time: times([NOW, null]) }).time]).to.deep.equal([NOW, 0n])
    })

    it('and refuses unsupported types, by name', () => {
      expect(() => decode({ a: apache.vectorFromArray([1]) })).to.throw('it has no timestamp column; add one called "time"')
      expect(() => decode({ time: apache.vectorFromArray([1, 2]), ts: time() })).to.throw('its column "time" is not a timestamp')
      expect(() => decode({ time: time(), struct: apache.vectorFromArray([{ a: 1 }, { a: 2 }]) })).to.throw(
        'column "struct" is of type struct, which is not supported'
      )
      expect(() => decode({ time: time(), big: apache.vectorFromArray([2n ** 63n, 1n], new apache.Uint64()) })).to.throw(
        '9223372036854775808 in column "big" does not fit a 64-bit integer'
      )
    })
  })

  describe('refuses broken bytes', () => {
    const streams = [
      arrow.encode(EVERY_TYPE),
      stream({
        time: times([NOW, NOW], new apache.TimestampMicrosecond()),
        word: apache.vectorFromArray(['on', 'off'], new apache.Dictionary(new apache.Utf8(), new apache.Int8())),
        text: apache.vectorFromArray(['x', null], new apache.LargeUtf8())
      })
    ]

    it('that are empty or something else', () => {
      for (const bytes of [[], [255], [255, 255, 255, 255], [255, 255, 255, 255, 0, 0, 0, 0], [...Buffer.from('{"a":1}, and more')]]) {
        expectBroken(() => arrow.decode(Uint8Array.from(bytes), { source: 's' }))
        expectBroken(() => arrow.peekIdentity(Uint8Array.from(bytes)))
      }
    })

    it('of a stream cut anywhere', () => {
      const whole = streams[0]
      for (let length = 0; length < whole.length; length++) {
        expectBroken(() => arrow.decode(whole.subarray(0, length)))
      }
    })

    it('with random changes: the result is a batch or a SluiceError', () => {
      const change = fc.record({
        at: fc.nat(),
        bytes: fc.oneof(
          fc.uint8Array({ minLength: 1, maxLength: 8 }),
          fc.constantFrom(...[0, 255].map(byte => new Uint8Array(4).fill(byte)))
        )
      })
      const anyChanges = fc.array(change, { minLength: 1, maxLength: 4 })
      fc.assert(fc.property(fc.constantFrom(...streams), anyChanges, fc.nat({ max: 8 }), (whole, changes, cut) => {
        const bytes = Buffer.from(whole)
        for (const { at, bytes: changed } of changes) bytes.set(changed.subarray(0, bytes.length - at % bytes.length), at % bytes.length)
        for (const read of [arrow.decode, arrow.peekIdentity]) {
          try {
            read(bytes.subarray(0, bytes.length - cut), { source: 's' })
          } catch (error) {
            expect(error).to.be.instanceOf(SluiceError)
            expect(error).to.have.property('code').that.is.oneOf(['SLUICE_CODEC_ARROW', 'SLUICE_MESSAGE_TOO_LARGE'])
          }
        }
      }), { numRuns: 10_000 })
    })

    it('that claim more than they contain', () => {
      // Every 32-bit word of the stream in turn made huge: no length in it may be believed.
      const whole = streams[0]
      for (const huge of [0x7fffffff, 0xffffffff, 0x00ffffff]) {
        for (let at = 0; at + 4 <= whole.length; at += 4) {
          const bytes = Buffer.from(whole)
          bytes.writeUInt32LE(huge, at)
          try {
            expect(arrow.decode(bytes).rows).to.equal(EVERY_TYPE.rows)
          } catch (error) {
            expect(error).to.be.instanceOf(SluiceError)
          }
        }
      }
    })
  })
})

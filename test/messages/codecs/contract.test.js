import { expect } from 'chai'
import { marker } from '../../../gateway/batch/batch.js'
import { joined } from '../../../gateway/batch/join.js'
import { tagsAt } from '../../../gateway/batch/tags.js'
import * as arrow from '../../../gateway/messages/codecs/arrow/arrow.js'
import { decodeJson, encodeJson } from '../../../gateway/messages/codecs/json.js'
import { EVERY_TYPE, IDENTITY, NOW, batchOf, meaning, tagOf } from './batches.js'

/**
 * What every codec keeps: sources, tags, times, names and values. `reads` says how a codec gives back a value that its format has no type
 * for.
 * @typedef {import('../../../gateway/batch/batch.js').Batch} Batch
 * @typedef {{name: string, through: (batch: Batch) => Batch, keepsTypes: boolean}} Codec
 * @type {Codec[]}
 */
const codecs = [
  { name: 'arrow', through: batch => arrow.decode(arrow.encode(batch)), keepsTypes: true },
  {
    name: 'json',
    keepsTypes: false,
    through (batch) {
      const { batches, refused } = decodeJson(encodeJson(batch), {})
      expect(refused).to.deep.equal([])
      return joined(batches) // one for each combination of tags
    }
  }
]

for (const { name, through, keepsTypes } of codecs) {
  describe(`codec contract: ${name}`, () => {
    it('keeps every type with its extremes, and what is missing', () => {
      const decoded = meaning(through(EVERY_TYPE))
      const original = meaning(EVERY_TYPE)
      expect(decoded.time).to.deep.equal(original.time)
      expect(decoded.source).to.equal('machine')
      expect(decoded.tags).to.deep.equal(original.tags)
      expect(decoded.fields.map(field => field.name)).to.deep.equal(original.fields.map(field => field.name))
      if (keepsTypes) expect(decoded).to.deep.equal(original)
      else {
        expect(decoded.columns).to.deep.equal(original.columns.map(
          (column, c) => column.map(value => jsonForm(value, original.fields[c].type))
        ))
      }
    })

    it('keeps times to the nanosecond', () => {
      const time = BigInt64Array.of(1n, NOW, NOW + 1n, 2n ** 63n - 1n)
      expect(through(batchOf({ a: ['float64', [1, 2, 3, 4]] }, { time })).time).to.deep.equal(time)
    })

    it('keeps names in any script, and those special to JavaScript', () => {
      const columns = Object.fromEntries([
        'Größe', '温度', '😀', 'a "b" \\', '__proto__', 'constructor', 'timestamp', 'rows'
      ].map((key, i) => [key, /** @type {['float64', number[]]} */ (['float64', [i]])]))
      const batch = batchOf(columns, { source: 'Maschine 7/ü', tags: { rows: 'x', constructor: 'y' } })
      const decoded = through(batch)
      expect(meaning(decoded)).to.deep.equal(meaning(batch))
    })

    it('keeps one row', () => {
      const batch = batchOf({ a: ['float64', [1]] })
      expect(meaning(through(batch))).to.deep.equal(meaning(batch))
    })

    it('keeps 100,000 rows', () => {
      const rows = 100_000
      const batch = batchOf({
        a: ['float64', Array.from({ length: rows }, (_, row) => row / 7)],
        b: ['string', Array.from({ length: rows }, (_, row) => row % 3 ? `ä${row}` : undefined)]
      })
      const decoded = through(batch)
      expect(decoded.time).to.deep.equal(batch.time)
      expect(decoded.columns[0]).to.deep.equal(batch.columns[0])
      expect([0, 1, rows - 1].map(row => decoded.value(1, row))).to.deep.equal([undefined, 'ä1', undefined])
    })

    it('accepts a batch that is a slice of another', () => {
      const cut = EVERY_TYPE.slice(1, 5)
      const decoded = through(cut)
      expect(decoded.time).to.deep.equal(cut.time)
      expect(decoded.toObjects().map(row => row.string)).to.deep.equal(cut.toObjects().map(row => row.string))
    })

    it('keeps the tags of each row', () => {
      const device = tagOf(['b', 'a', undefined, 'b'])
      const batch = batchOf({ a: ['float64', [1, 2, 3, 4]] }, { tags: { device } })
      expect(rowsOf(through(batch))).to.have.deep.members([{ a: 1, device: 'b' }, { a: 2, device: 'a' }, { a: 3 }, { a: 4, device: 'b' }])
    })

    if (!keepsTypes) return

    it('keeps 10,000 devices, and a tag that is named like a field or the time', () => {
      const devices = Array.from({ length: 10_000 }, (_, i) => `device ${i}`)
      const tags = { device: tagOf(devices), a: tagOf(devices), time: tagOf(devices), line: '7' }
      const batch = batchOf({ a: ['float64', devices.map((_, i) => i)] }, { tags, identity: IDENTITY })
      for (let i = 0; i < 2; i++) expect(meaning(through(batch))).to.deep.equal(meaning(batch))
      const few = { ...tags, device: tagOf(['x', 'y']), a: tagOf(['y', 'x']), time: tagOf(['', 'z']) }
      const other = batchOf({ a: ['float64', [1, 2]] }, { tags: few, identity: IDENTITY })
      expect(meaning(through(other))).to.deep.equal(meaning(other))
    })

    it('keeps the identity, up to the last sequence number', () => {
      for (const seq of [0, 1, Number.MAX_SAFE_INTEGER]) {
        expect(through(EVERY_TYPE.withIdentity({ ...IDENTITY, seq })).identity).to.deep.equal({ ...IDENTITY, seq })
      }
      expect(through(EVERY_TYPE.withIdentity(null)).identity).to.equal(null)
    })

    it('keeps a batch without rows, and a marker, which has no fields either', () => {
      const empty = EVERY_TYPE.slice(0, 0)
      expect(meaning(through(empty))).to.deep.equal(meaning(empty))
      expect(meaning(through(marker(IDENTITY)))).to.deep.equal(meaning(marker(IDENTITY)))
    })

    it('keeps rows without fields', () => {
      const batch = batchOf({}, { time: BigInt64Array.of(1n, 2n) })
      expect(meaning(through(batch))).to.deep.equal(meaning(batch))
    })
  })
}

/** Rows with their tags, whatever batches they are in. @param {Batch} batch */
function rowsOf (batch) {
  return batch.toObjects().map(({ time: _time, ...values }, row) => ({ ...values, ...tagsAt(batch.tags, row) }))
}

/**
 * How a value comes back from JSON: numbers as doubles, an int64 column beyond 2^53 as text, bytes as base64 text.
 * @param {any} value
 * @param {string} type
 */
function jsonForm (value, type) {
  if (value === undefined) return undefined
  if (type === 'int64') return String(value)
  if (type === 'bytes') return Buffer.from(value, 'hex').toString('base64')
  return Object.is(value, -0) ? 0 : value
}

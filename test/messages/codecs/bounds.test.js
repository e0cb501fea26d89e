import * as apache from 'apache-arrow'
import { expect } from 'chai'
import { MAX_BAD_ROWS, MAX_NAME, MAX_NESTING, MAX_RECORDS, MAX_REFUSED, MAX_ROWS, MAX_TAGS } from '../../../gateway/messages/bounds.js'
import { Table } from '../../../gateway/messages/codecs/arrow/flatbuffer.js'
import * as arrow from '../../../gateway/messages/codecs/arrow/arrow.js'
import { decodeMessage } from '../../../gateway/messages/codecs/index.js'
import { countOf } from '../../../gateway/messages/refusals.js'
import { batchOf } from './batches.js'
import { stream, times } from './apache.js'

const MS = 1_700_000_000_000

/** @param {string|Uint8Array} payload */
const decode = payload => decodeMessage(Buffer.from(payload), { source: 'plant', timeUnit: 'ms' })

/** @param {string|Uint8Array} payload */
function refusal (payload) {
  const { batches, refused } = decode(payload)
  expect(batches).to.deep.equal([])
  expect(refused).to.have.length(1)
  return refused[0].reason
}

const TOO_LARGE = /^SLUICE_MESSAGE_TOO_LARGE: The message is too large: .*\. \S.*\.$/

describe('a message that would become far more than it is', () => {
  describe('of Arrow', () => {
    it('is refused where a dictionary stands for gigabytes', () => {
      const rows = 4000
      const dictionary = apache.vectorFromArray(['x'.repeat(64_000)], new apache.Utf8())
      const type = new apache.Dictionary(new apache.Utf8(), new apache.Int8())
      const text = new apache.Vector([apache.makeData({ type, length: rows, nullCount: 0, data: new Int8Array(rows), dictionary })])
      const time = new apache.Vector([apache.makeData({
        type: new apache.TimestampNanosecond(), length: rows, nullCount: 0, data: BigInt64Array.from({ length: rows }, () => 10n ** 18n)
      })])
      const bytes = stream({ time, text: /** @type {any} */ (text) })
      expect(bytes.length).to.be.below(150_000)
      expect(refusal(bytes)).to.match(TOO_LARGE).and.include('dictionaries')
    })

    it('is accepted where a dictionary is what it should be', () => {
      const text = apache.vectorFromArray(['open', 'closed', 'open'], new apache.Dictionary(new apache.Utf8(), new apache.Int8()))
      const { batches: [batch] } = decode(stream({ time: times([10n ** 18n, 10n ** 18n, 10n ** 18n]), text: /** @type {any} */ (text) }))
      expect(batch.columns).to.deep.equal([['open', 'closed', 'open']])
    })

    it('is refused where its schema has one long field a thousand times', () => {
      const fields = Array.from({ length: 1000 }, (_, i) => /** @type {const} */ ([`f${i}`, ['bool', [1], i ? '' : 'x'.repeat(60_000)]]))
      const bytes = Buffer.from(arrow.encode(batchOf(Object.fromEntries(/** @type {any} */ (fields)))))
      const metadata = new DataView(bytes.buffer, bytes.byteOffset + 8, bytes.readUInt32LE(4))
      const { at, count } = /** @type {Table} */ (Table.root(metadata).table(2)).vector(1)
      const second = at + 4 + metadata.getUint32(at + 4, true)
      for (let i = 1; i < count; i++) metadata.setUint32(at + i * 4, second - at - i * 4, true)
      expect(refusal(bytes)).to.equal('SLUICE_CODEC_ARROW: Arrow stream: its parts lie in one another.')
    })

    it('is refused where it has millions of values in a few bytes each, on both sides', () => {
      const rows = 40_000
      const batch = batchOf(Object.fromEntries(Array.from({ length: 450 }, (_, i) => [`f${i}`, ['bool', new Array(rows).fill(1)]])))
      expect(() => arrow.encode(batch)).to.throw().with.property('code', 'SLUICE_MESSAGE_TOO_LARGE')
      const flags = () => {
        return new apache.Vector([apache.makeData({ type: new apache.Bool(), length: rows, nullCount: 0, data: new Uint8Array(rows / 8) })])
      }
      const time = new apache.Vector([apache.makeData({
        type: new apache.TimestampNanosecond(), length: rows, nullCount: 0, data: BigInt64Array.from({ length: rows }, () => 10n ** 18n)
      })])
      const columns = Object.fromEntries(Array.from({ length: 450 }, (_, i) => [`f${i}`, flags()]))
      expect(refusal(stream({ time, ...columns }))).to.match(TOO_LARGE)
    })
  })

  describe('of JSON', () => {
    it('is refused in part where its rows have hardly a field in common', () => {
      const rows = Array.from({ length: 20_000 }, (_, i) => ({ time: MS + i, [`k${i % 1000}`]: i }))
      const { batches: [batch], refused } = decode(JSON.stringify(rows))
      expect(batch.values).to.be.at.most(1_000_000)
      expect(batch.rows + countOf(refused)).to.equal(rows.length)
      expect(refused).to.have.length(MAX_REFUSED + 1)
      expect(refused[0].reason).to.match(TOO_LARGE)
    })

    it('is accepted with a million values', () => {
      const fields = 'abcdefghij'.replace(/./g, name => `,"${name}":1`)
      const rows = Array.from({ length: 100_000 }, (_, i) => `{"ts":${MS + i}${fields}}`)
      const { batches: [batch], refused } = decode(`[${rows.join()}]`)
      expect([batch.values, refused]).to.deep.equal([1_000_000, []])
    })

    it('is refused where it is nested too deeply', () => {
      expect(refusal('{"a":'.repeat(MAX_NESTING + 1) + '1' + '}'.repeat(MAX_NESTING + 1))).to.match(TOO_LARGE)
      expect(decode(`{"a":1,"text":${JSON.stringify('["\\'.repeat(200))}}`).refused).to.deep.equal([])
    })

    it('is refused where it is millions of empty objects, before they are made', () => {
      expect(refusal(`[${'{},'.repeat(2_000_000)}{}]`)).to.match(TOO_LARGE).and.include('values')
    })

    it('is refused where it is one row of thousands of values', () => {
      expect(refusal(`[${'0,'.repeat(100_000)}0]`)).to.match(TOO_LARGE)
      expect(refusal(JSON.stringify({ node: 'n', group: 'g', values: Object.fromEntries(rangeOf(2000).map(i => [`v${i}`, i])) })))
        .to.match(TOO_LARGE)
    })

    it('is read no further once thousands of its rows are refused', () => {
      const { batches, refused } = decode(JSON.stringify(rangeOf(3 * MAX_BAD_ROWS).map(value => ({ time: 'x', value }))))
      expect(batches).to.deep.equal([])
      expect(countOf(refused)).to.equal(3 * MAX_BAD_ROWS)
      expect(refused[MAX_REFUSED].reason).to.match(TOO_LARGE)
      expect(refused[MAX_REFUSED].value).to.be.instanceOf(Uint8Array)
    })
  })

  describe('of SenML', () => {
    it('is refused where a long base name stands before each record', () => {
      const records = [{ bn: 'x'.repeat(100_000), n: 'a', v: 1 }, ...rangeOf(100).map(v => ({ n: 'b', v }))]
      const { batches, refused } = decode(JSON.stringify(records))
      expect(refused[0].reason).to.equal(`"bn" is over ${MAX_NAME} characters`)
      expect(batches[0].tags).to.deep.equal({})
      expect(decode(JSON.stringify([{ n: 'a', u: 'x'.repeat(300), v: 1 }])).refused[0].reason).to.include('its unit is over')
    })

    it('is refused where it has too many records', () => {
      expect(refusal(`[${'{"n":"a","v":1},'.repeat(MAX_RECORDS)}{"n":"a","v":1}]`)).to.match(TOO_LARGE)
    })
  })

  describe('of line protocol', () => {
    it('is refused where a line has too many tags or fields, or an endless name', () => {
      const reasonOf = (/** @type {string} */ line) => decode(`a b=1\n${line}\n`).refused[0].reason
      const tags = rangeOf(MAX_TAGS + 1).map(i => `t${i}=1`).join()
      expect(reasonOf(`a,${tags},bad b=1`)).to.equal(`line 2: it has more than ${MAX_TAGS} tags`)
      expect(reasonOf(`a ${'b=1,'.repeat(2_000_000)}`)).to.equal('line 2: there are more than 1000 fields')
      expect(reasonOf('a'.repeat(1_000_000))).to.match(/^line 2: the name or tag .* is over 1024 characters$/)
    })

    it('is refused from a number of lines on', () => {
      const { batches: [batch], refused } = decode('a b=1 1700000000000000000\n'.repeat(MAX_ROWS + 5))
      expect(batch.rows).to.equal(MAX_ROWS)
      expect(refused.map(({ reason }) => reason)).to.have.length(1)
      expect(refused[0].reason).to.match(TOO_LARGE)
    })

    it('takes no more memory than the text where that has a long quoted value', () => {
      const { batches: [batch] } = decode(`a b="${'\\"x'.repeat(100_000)}\\\\"`)
      expect(batch.columns).to.deep.equal([['"x'.repeat(100_000) + '\\']])
    })
  })
})

/** @param {number} count */
function rangeOf (count) {
  return Array.from({ length: count }, (_, i) => i)
}

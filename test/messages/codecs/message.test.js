import * as apache from 'apache-arrow'
import { expect } from 'chai'
import fc from 'fast-check'
import * as arrow from '../../../gateway/messages/codecs/arrow/arrow.js'
import { decodeMessage } from '../../../gateway/messages/codecs/index.js'
import { stream, times } from './apache.js'
import { EVERY_TYPE, IDENTITY, NOW, expectSame } from './batches.js'

/** @param {string|Uint8Array} payload @param {Parameters<typeof decodeMessage>[1]} [options] */
const decode = (payload, options) => decodeMessage(Buffer.from(payload), { source: 'plant', ...options })

/** @param {string|Uint8Array} payload @param {Parameters<typeof decodeMessage>[1]} [options] */
const reasons = (payload, options) => decode(payload, options).refused.map(({ reason }) => reason)

describe('decodeMessage', () => {
  it('reads a Sluice batch with its identity, whatever the content type', () => {
    for (const contentType of [undefined, arrow.contentType, 'application/json']) {
      const { batches: [batch], refused } = decode(arrow.encode(EVERY_TYPE), { contentType })
      expectSame(batch, EVERY_TYPE)
      expect(batch.identity).to.deep.equal(IDENTITY)
      expect(refused).to.be.empty
    }
  })

  for (const [payload, rows] of /** @type {[string, object[]][]} */ ([
    ['{"a":1,"b":"x"}', [{ a: 1, b: 'x' }]],
    [' [{"a":1},{"a":2}]', [{ a: 1 }, { a: 2 }]],
    ['21.5', [{ value: 21.5 }]],
    ['-3e2\n', [{ value: -300 }]],
    ['true', [{ value: true }]],
    ['"open"', [{ value: 'open' }]],
    ['open', [{ value: 'open' }]],
    ['12 bar', [{ value: '12 bar' }]],
    ['007', [{ value: '007' }]],
    ['1000/47.5:-4/ speed{} 7.5\n=2000// 8.5', [{ latitude: 47.5, longitude: -4, speed: 7.5 }, { speed: 8.5 }]]
  ])) {
    it(`reads ${JSON.stringify(payload)}`, () => {
      const { batches, refused } = decode(payload)
      expect(refused).to.deep.equal([])
      expect(batches[0].source).to.equal('plant')
      expect(batches[0].toObjects().map(row => ({ ...row, time: undefined }))).to.deep.equal(rows.map(row => ({ ...row, time: undefined })))
    })
  }

  it('refuses broken JSON instead of reading it as text', () => {
    expect(reasons('{"a":1')[0]).to.match(/^it is not JSON/)
    expect(reasons('open', { contentType: 'application/json; charset=utf-8' })[0]).to.match(/^it is not JSON/)
  })

  it('refuses what is empty, too long, broken or neither Arrow nor text', () => {
    expect(reasons('')).to.deep.equal(['the message is empty'])
    expect(reasons('12345', { maxBytes: 4 })[0]).to.match(/^SLUICE_MESSAGE_TOO_LARGE: The message is too large: it has 5 bytes, over 4\./)
    expect(reasons(arrow.encode(EVERY_TYPE).subarray(0, 500))[0]).to.match(/^SLUICE_CODEC_ARROW: Arrow stream: it is cut short/)
    expect(reasons('text', { contentType: arrow.contentType })[0]).to.match(/^SLUICE_CODEC_ARROW: Arrow stream: it is cut short at byte 4/)
    expect(reasons(Buffer.from([0xfe, 1]))).to.deep.equal(['the message is neither an Arrow stream nor text'])
  })

  it('refuses the rows of a third-party Arrow stream without a time, and accepts the others', () => {
    const foreign = stream({ time: times([NOW, null, 0n, NOW]), a: apache.vectorFromArray([1, 2, 3, 4], new apache.Float64()) })
    const { batches: [batch], refused } = decode(foreign)
    expect(batch.toObjects()).to.deep.equal([{ time: NOW, a: 1 }, { time: NOW, a: 4 }])
    expect(refused.map(({ index, value }) => [index, /** @type {any} */ (value).a])).to.deep.equal([[1, 2], [2, 3]])
  })

  it('never throws: any bytes are accepted or refused', () => {
    const bytesOf = (/** @type {string} */ text) => Buffer.from(text)
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.string({ unit: 'binary' }).map(bytesOf),
      fc.json().map(bytesOf),
      fc.uint8Array({ maxLength: 64 }).map(bytes => Buffer.concat([Buffer.from([255, 255, 255, 255, bytes.length, 0, 0, 0]), bytes]))
    )
    const anyType = fc.constantFrom(undefined, arrow.contentType, 'application/json', 'text/plain')
    fc.assert(fc.property(anyBytes, anyType, (bytes, contentType) => {
      const { batches, refused } = decode(bytes, { contentType })
      expect(batches.length + refused.length).to.be.greaterThan(0)
    }), { numRuns: 10_000 })
  })
})

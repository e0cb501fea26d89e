import { createRequire } from 'node:module'
import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { headline } from '../../gateway/batch/headline.js'

const nodeRed = createRequire(createRequire(import.meta.url).resolve('node-red'))
const START_NS = 1_700_000_000_123_456_789n

/** @param {[name: string, type: any, unit: string|undefined, column: any][]} fields @param {number} rows */
function batchOf (fields, rows) {
  return new Batch({
    source: 'press',
    time: BigInt64Array.from({ length: rows }, (_, row) => START_NS + BigInt(row)),
    fields: fields.map(([name, type, unit]) => ({ name, type, unit })),
    columns: fields.map(([, , , column]) => column)
  })
}

describe('a batch in the debug sidebar', () => {
  const temperature = /** @type {[string, any, string, any]} */ (['temperature', 'float32', '°C', new Float32Array(10).fill(24.1)])

  it('reads as its first row and how many more there are', () => {
    expect(headline(batchOf([temperature], 10))).to.equal('temperature = 24.1 °C @ 22:13:20.123 (+9 rows)')
    expect(headline(batchOf([temperature], 10).slice(0, 2))).to.equal('temperature = 24.1 °C @ 22:13:20.123 (+1 row)')
    expect(headline(batchOf([temperature], 10).slice(0, 1))).to.equal('temperature = 24.1 °C @ 22:13:20.123')
  })

  it('shows some fields and counts the others, leaves out what is missing, and shortens what is long', () => {
    const fields = /** @type {[string, any, string|undefined, any][]} */ ([
      ['on', 'bool', undefined, Uint8Array.of(1)],
      ['count', 'int64', undefined, BigInt64Array.of(2n ** 60n)],
      ['note', 'string', undefined, ['a text that is longer than there is room for']],
      ['raw', 'bytes', undefined, [new Uint8Array(3)]],
      ['x', 'float64', undefined, Float64Array.of(NaN)]
    ])
    expect(headline(batchOf(fields, 1))).to.equal(
      'on = true, count = 1152921504606846976, note = a text that is longe…, +2 fields @ 22:13:20.123'
    )
    const holed = new Batch({ ...batchOf(fields, 1), validity: fields.map((_, field) => Uint8Array.of(field < 3 ? 0 : 1)) })
    expect(headline(holed)).to.equal('raw = 3 bytes, x = NaN @ 22:13:20.123')
    expect(headline(batchOf([], 1))).to.equal('no values @ 22:13:20.123')
    expect(headline(batchOf([], 0))).to.equal('no rows')
  })

  it('is shown so by Node-RED, with source, tags and first rows behind it', () => {
    const { util } = nodeRed('@node-red/util')
    const { msg, format } = util.encodeObject({ msg: batchOf([temperature], 10) }, { maxLength: 1000 })
    expect(format).to.equal('Object')
    const [[line, behind], ...others] = Object.entries(JSON.parse(msg))
    expect([line, others]).to.deep.equal(['temperature = 24.1 °C @ 22:13:20.123 (+9 rows)', []])
    expect(behind).to.include({ source: 'press', rows: 10 })
    expect(behind.first).to.have.length(5)
    expect(behind.first[0].time).to.equal(String(START_NS))
  })
})

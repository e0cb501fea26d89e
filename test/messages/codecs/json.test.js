import { expect } from 'chai'
import { decodeJson, encodeJson } from '../../../gateway/messages/codecs/json.js'
import { batchOf } from './batches.js'

/** @param {Parameters<typeof batchOf>[0]} columns */
const rowsOf = columns => JSON.parse(encodeJson(batchOf(columns)).toString()).rows

describe('json codec', () => {
  it('writes rows that any program can read', () => {
    const batch = batchOf({ speed: ['float64', [1.5, undefined]], on: ['bool', [1, 0]] }, { tags: { line: '4' } })
    expect(encodeJson(batch).toString()).to.equal('{"source":"machine","tags":{"line":"4"},"rows":[' +
      '{"time":"2023-11-14T22:13:20.123456789Z","speed":1.5,"on":true},{"time":"2023-11-14T22:13:20.123456790Z","on":false}]}')
  })

  it('writes an int64 column as numbers if all are exact, otherwise as text', () => {
    expect(rowsOf({ n: ['int64', [2n ** 53n - 1n]] })[0].n).to.equal(2 ** 53 - 1)
    expect(rowsOf({ n: ['int64', [2n ** 53n, 1n]] }).map((/** @type {any} */ row) => row.n)).to.deep.equal(['9007199254740992', '1'])
  })

  it('leaves out what JSON cannot hold', () => {
    expect(Object.keys(rowsOf({ a: ['float64', [NaN]], b: ['float64', [Infinity]], c: ['float64', [1]] })[0])).to.deep.equal(['time', 'c'])
  })

  it('refuses what is not JSON, and shows where', () => {
    /** @type {(text: string | Uint8Array) => string} */
    const reason = text => decodeJson(Buffer.from(text), { source: 's' }).refused[0].reason
    expect(reason('{"a":1 "b":2}')).to.match(/^it is not JSON: .*position 7/)
    expect(reason('{"a":NaN}')).to.match(/^it is not JSON: Unexpected token 'N', "{"a":NaN}"/)
    expect(reason(Buffer.from([0x22, 0xff, 0x22]))).to.match(/^it is not JSON: .*utf-8/)
  })

  it('reads times in the given unit', () => {
    const { batches: [batch] } = decodeJson(Buffer.from('{"time":1436509052.249713,"a":1}'), { source: 's', timeUnit: 's' })
    expect(batch.time[0]).to.equal(1_436_509_052_249_713_000n)
  })
})

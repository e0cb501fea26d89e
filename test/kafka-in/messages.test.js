import { expect } from 'chai'
import { readMessage } from '../../broker/kafka-in/messages.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'

describe('Messages of Kafka', () => {
  /** @param {string} text @param {object} [more] */
  const read = (text, more = {}) => {
    const message = /** @type {any} */ ({ key: null, value: Buffer.from(text), headers: [], timestamp: 5n, ...more })
    const { batches, refused } = readMessage(new Mapper([]), message, 'plant')
    return { times: batches.flatMap(({ time }) => [...time]), refused: refused.map(({ reason }) => reason) }
  }

  it('have the time of the record where they have none of their own', () => {
    expect(read('{"a": 1}')).to.deep.equal({ times: [5_000_000n], refused: [] })
    expect(read('{"a": 1, "time": 1700000000000}')).to.deep.equal({ times: [1_700_000_000_000_000_000n], refused: [] })
  })

  it('are refused where the record has no time either: they were stored as of 1969', () => {
    const timestamp = -1n
    expect(read('{"a": 1}', { timestamp })).to.deep.equal({ times: [], refused: ['neither the record nor what is in it has a time'] })
    expect(read('{"a": 1, "time": 1700000000000}', { timestamp }).times).to.deep.equal([1_700_000_000_000_000_000n])
  })

  it('are refused where that time is none, as of a producer that takes nanoseconds for milliseconds', () => {
    const timestamp = 1_700_000_000_000_000_000n
    for (const text of ['{"a": 1}', '5', 'plant a=1']) {
      expect(read(text, { timestamp }).refused, text).to.deep.equal([`the time of the record, ${timestamp} ms, is none that can be stored`])
    }
    expect(read('{"a": 1, "time": 1700000000000}', { timestamp }).refused).to.deep.equal([])
  })
})

import { expect } from 'chai'
import fc from 'fast-check'
import { decodeJson } from '../../../gateway/messages/codecs/json.js'
import { readAlike } from '../../../gateway/messages/codecs/json-shapes.js'
import { NOW, meaning } from './batches.js'

let sources = 0
const newSource = () => `source ${sources++}`
const now = () => NOW

/** @param {unknown} payload */
const bytesOf = payload => Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))

/** @param {string|object} payload @param {string} source */
function content (payload, source) {
  const { batches, refused } = decodeJson(bytesOf(payload), { source, now })
  return {
    batches: batches.map(batch => ({ ...meaning(batch), source: '' })),
    refused: refused.map(({ index, reason }) => ({ index, reason: reason.replace(/^(it is not JSON): .*/s, '$1') }))
  }
}

let spaces = 0
/** What it is without a shape that has been learned: the one that has so many spaces was not. @param {string} text */
const contentAlone = text => content(text.replace('{', `{${' '.repeat(1 + spaces++ % 50)}`), newSource())

/** Whether it is read without making objects. @param {string|object} payload @param {string} source */
const isAlike = (payload, source) => readAlike(bytesOf(payload), { source, now }) !== null

const MS = 1_700_000_000_000

describe('JSON of rows that are alike', () => {
  const rows = {
    flat: { ts: MS, a: 1.5, b: 'x', c: true },
    nested: { Time: '2026-11-21T08:00:00Z', time: '2026-11-21T08:00:00Z', ENERGY: { Power: 12, Voltage: [230, 231.5] } },
    point: { ts: MS, values: { temperature: 20.5, on: true } },
    'without a time': { a: 1, b: 2 },
    'with numbered names': { b: 1, 7: 2, 3: 3, a: 4 }
  }
  for (const [name, row] of Object.entries(rows)) {
    it(`is read into columns the second time: ${name}`, () => {
      const source = newSource()
      const first = content(row, source)
      expect(isAlike(row, source)).to.equal(true)
      expect(content(row, source)).to.deep.equal(first)
      for (const list of [[row], [row, row], [row, row, row]]) {
        expect(isAlike(list, source)).to.equal(true)
        expect(content(list, source)).to.deep.equal(contentAlone(JSON.stringify(list)))
      }
    })
  }

  it('is read into columns at once where another source has sent such rows, however many sources there are', () => {
    const row = { ts: MS, only: 1.5, here: 'x' }
    expect(isAlike(row, newSource())).to.equal(false)
    content(row, newSource())
    for (let i = 0; i < 10_000; i++) expect(isAlike(row, newSource())).to.equal(true)
  })

  it('forgets the first of many sources that send wide rows of different names, so that they take no more memory', () => {
    const wide = (/** @type {number} */ i) => bytesOf(Object.fromEntries(Array.from({ length: 950 }, (_, k) => [`${i} ${k}`, k])))
    const options = { source: newSource(), now }
    decodeJson(wide(0), options)
    expect(readAlike(wide(0), options)).to.not.equal(null)
    for (let i = 1; i < 140; i++) decodeJson(wide(i), { source: newSource(), now })
    expect(readAlike(wide(0), options)).to.equal(null)
  })

  it('keeps integers beyond 2^53 in a column', () => {
    const source = newSource()
    const text = '[{"n":9007199254740993,"time":1700000000123456789},{"n":-9223372036854775808,"time":1700000000123456790},' +
      '{"n":5,"time":1700000000123456791}]'
    const first = content(text, source)
    expect(first.batches[0].columns).to.deep.equal([[9007199254740993n, -(2n ** 63n), 5n]])
    expect(first.batches[0].time).to.deep.equal([1700000000123456789n, 1700000000123456790n, 1700000000123456791n])
    expect(isAlike(text, source)).to.equal(true)
    expect(content(text, source)).to.deep.equal(first)
  })

  it('is not taken for rows where it is SenML or Neuron\'s', () => {
    const senml = { n: 'a', v: 1, t: 1.7e9 }
    const neuron = { node: 'plc', group: 'g', timestamp: MS, values: { a: 1 } }
    for (const [shape, message] of [[[senml, { x: 1 }], [senml]], [[neuron, neuron], neuron]]) {
      const source = newSource()
      content(shape, source)
      expect(content(message, source)).to.deep.equal(contentAlone(JSON.stringify(message)))
    }
  })

  it('is not taken for rows where a value of another kind, or null, makes it SenML, Neuron\'s or Telegraf\'s', () => {
    const metric = { fields: { a: 1 }, name: 'cpu', tags: { host: 'x' }, timestamp: MS }
    for (const [shape, message] of [
      [{ n: 5, v: 1 }, [{ n: 'temp', v: 21.5 }]],
      [{ bn: 5, n: 'temp', v: 1 }, [{ bn: null, n: 'temp', v: 21.5 }]],
      [{ node: 5, group: 'g', values: { a: 1 } }, { node: 'plc', group: 'g', values: { a: 1 } }],
      [{ ...metric, timestamp: '2026-11-21T08:00:00Z' }, metric]
    ]) {
      const source = newSource()
      content(shape, source)
      expect(isAlike(shape, source), JSON.stringify(shape)).to.equal(true)
      expect(isAlike(message, source), JSON.stringify(message)).to.equal(false)
      expect(content(message, source)).to.deep.equal(contentAlone(JSON.stringify(message)))
    }
  })

  it('keeps -0 where integers beyond 2^53 came before', () => {
    const source = newSource()
    content('[{"a":9007199254740994}]', source)
    const { batches: [{ columns: [column] }] } = decodeJson(bytesOf('[{"a":9007199254740994},{"a":-0}]'), { source, now })
    expect(column).to.deep.equal(Float64Array.of(9007199254740994, -0))
  })

  it('is not taken for the same where null makes it another kind of row', () => {
    const source = newSource()
    content({ fields: 1, values: { a: 1 } }, source)
    for (const other of [{ fields: 2, values: { a: 3 } }, { fields: null, values: { a: 3 } }]) {
      expect(content(other, source)).to.deep.equal(contentAlone(JSON.stringify(other)))
    }
  })

  it('is read as it would be without the rows before, whatever comes', () => {
    const scalar = fc.constantFrom(
      '1', '-2.5', '1e400', '9007199254740993', '18446744073709551615', '"x"', '"é\\n"', '""', 'true', 'false', 'null', '1700000000000',
      '"2026-11-21T08:00:00Z"', 'nul'
    )
    const name = fc.constantFrom(
      'a', 'b', '7', '_id', 'time', 'ts', 'timestamp', 'values', 'fields', 'tags', 'measurement', 'rows', 'source', 'n', 'v', 'node',
      'group', '__proto__', 'time_ns', ''
    )
    const { value } = fc.letrec((/** @type {(key: string) => fc.Arbitrary<string>} */ tie) => ({
      object: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map(members => (
        `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`
      )),
      value: fc.oneof({ maxDepth: 2 }, scalar, tie('object'), fc.array(scalar, { maxLength: 3 }).map(items => `[${items.join(',')}]`))
    }))
    const row = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 })
    /** The same names with other scalars: mostly the same shape. */
    const scalars4 = fc.array(scalar, { minLength: 4, maxLength: 4 })
    const message = fc.tuple(fc.boolean(), fc.array(scalars4, { minLength: 1, maxLength: 3 }))
    const messages = fc.tuple(row, fc.array(message, { minLength: 2, maxLength: 4 }))
    fc.assert(fc.property(messages, ([first, others]) => {
      const source = newSource()
      const text = (/** @type {string[]|null} */ scalars) => `{${first.map(([key, own], i) => (
        `${JSON.stringify(key)}:${scalars && !/[[{]/.test(own) ? scalars[i] : own}`
      )).join(',')}}`
      content(text(null), source)
      for (const [isList, list] of others) {
        const sent = isList ? `[${list.map(text).join(', ')}]` : text(list[0])
        expect(content(sent, source), sent).to.deep.equal(contentAlone(sent))
      }
    }), { numRuns: 5000, seed: 1 })
  }).timeout(30_000)
})

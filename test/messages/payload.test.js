import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../gateway/batch/batch.js'
import { MAX_FIELDS, MAX_NAME, MAX_ROWS, MAX_SERIES } from '../../gateway/messages/bounds.js'
import { toBatches } from '../../gateway/messages/payload.js'

const NOW = 1_700_000_000_000_000_000n
const T1 = 1_436_509_052_249
const T1_NS = 1_436_509_052_249_000_000n

/** @param {unknown} payload @param {object} [message] @param {object} [options] */
function convert (payload, message = {}, options = {}) {
  return toBatches({ payload, ...message }, { source: 'plant', now: () => NOW, ...options })
}

/** What a batch holds, for comparing. @param {Batch} batch */
function content ({ source, tags, fields, ...rest }) {
  const { time, columns, validity } = rest
  const rows = new Batch({ source, time, fields, columns, validity }).toObjects()
  return {
    source,
    ...(Object.keys(tags).length ? { tags } : {}),
    types: Object.fromEntries(fields.map(({ name, type }) => [name, type])),
    rows
  }
}

/** @param {unknown} payload @param {object} [message] @param {object} [options] */
function contents (payload, message, options) {
  const { batches, refused } = convert(payload, message, options)
  expect(refused).to.deep.equal([])
  return batches.map(content)
}

describe('toBatches', () => {
  describe('accepts', () => {
    it('a batch as it is', () => {
      const batch = new Batch({
        source: 'machine',
        time: BigInt64Array.of(NOW),
        identity: { gateway: 'g', source: 'machine', epoch: 'e', seq: 0 }
      })
      const { batches: [same], refused } = convert(batch)
      expect(same).to.equal(batch)
      expect(refused).to.be.empty
    })

    for (const [value, type] of /** @type {[any, string][]} */ ([
      [21.5, 'float64'],
      [21, 'float64'],
      [7n, 'int64'],
      [true, 'bool'],
      ['open', 'string'],
      ['', 'string'],
      [Buffer.from([1, 2]), 'bytes']
    ])) {
      it(`a bare ${typeof value} ${value} as the field "value" of type ${type}`, () => {
        expect(contents(value)).to.deep.equal([{ source: 'plant', types: { value: type }, rows: [{ time: NOW, value }] }])
      })
    }

    it('an array of bare values as one row', () => {
      expect(contents([230, 50.01, true])).to.deep.equal([
        {
          source: 'plant',
          types: { value0: 'float64', value1: 'float64', value2: 'bool' },
          rows: [{ time: NOW, value0: 230, value1: 50.01, value2: true }]
        }
      ])
    })

    it('an object of values as one row', () => {
      expect(contents({ speed: 1.5, on: false, note: 'ü', lost: null, gone: undefined })).to.deep.equal([
        {
          source: 'plant',
          types: { speed: 'float64', on: 'bool', note: 'string' },
          rows: [{ time: NOW, speed: 1.5, on: false, note: 'ü' }]
        }
      ])
    })

    it('an array of objects as rows, with missing values where a row lacks them', () => {
      expect(contents([{ a: 1, time: T1 }, { b: 'x', time: T1 + 1 }, { a: 3, b: 'y', time: T1 + 2 }])).to.deep.equal([
        {
          source: 'plant',
          types: { a: 'float64', b: 'string' },
          rows: [{ time: T1_NS, a: 1 }, { time: T1_NS + 1_000_000n, b: 'x' }, { time: T1_NS + 2_000_000n, a: 3, b: 'y' }]
        }
      ])
    })

    it('[fields, tags]', () => {
      expect(contents([{ temperature: 20.5, time: T1 }, { room: 'kitchen', floor: '1' }])).to.deep.equal([
        {
          source: 'plant',
          tags: { floor: '1', room: 'kitchen' },
          types: { temperature: 'float64' },
          rows: [{ time: T1_NS, temperature: 20.5 }]
        }
      ])
    })

    it('two objects that are not such a pair as two rows', () => {
      expect(contents([{ state: 'on' }, { state: 'off' }])[0].rows).to.have.length(2)
      expect(contents([{ a: 1 }, { b: 2 }])[0].rows).to.have.length(2)
      expect(contents([{ a: 1 }, { b: 'x', time: T1 }])[0].rows).to.have.length(2)
    })

    it('an array of [fields, tags], one batch for equal tags', () => {
      expect(contents(
        [[{ t: 1 }, { room: 'a', n: 1 }], [{ t: 2 }, { room: 'b' }], [{ t: 3 }, { n: '1', room: 'a' }], [{ t: 4 }]]
      )).to.deep.equal([
        { source: 'plant', tags: { n: '1', room: 'a' }, types: { t: 'float64' }, rows: [{ time: NOW, t: 1 }, { time: NOW, t: 3 }] },
        { source: 'plant', tags: { room: 'b' }, types: { t: 'float64' }, rows: [{ time: NOW, t: 2 }] },
        { source: 'plant', types: { t: 'float64' }, rows: [{ time: NOW, t: 4 }] }
      ])
    })

    it('points, whose measurement is the source', () => {
      expect(contents([
        { measurement: 'cpu', tags: { host: 'pi' }, fields: { load: 0.5 }, timestamp: T1 },
        { measurement: 'disk', fields: { free: 10n }, time: new Date(T1) },
        { ts: T1, values: { x: 1 } }
      ])).to.deep.equal([
        { source: 'cpu', tags: { host: 'pi' }, types: { load: 'float64' }, rows: [{ time: T1_NS, load: 0.5 }] },
        { source: 'disk', types: { free: 'int64' }, rows: [{ time: T1_NS, free: 10n }] },
        { source: 'plant', types: { x: 'float64' }, rows: [{ time: T1_NS, x: 1 }] }
      ])
    })

    it('{source, tags, rows}', () => {
      expect(contents({ source: 'n2k', tags: { bus: 'can0' }, rows: [{ time: T1, rpm: 900 }] })).to.deep.equal([
        { source: 'n2k', tags: { bus: 'can0' }, types: { rpm: 'float64' }, rows: [{ time: T1_NS, rpm: 900 }] }
      ])
    })

    it('objects, arrays and dates of a function node, which come from another realm', () => {
      expect(contents(runInNewContext(`[{ a: 1, time: new Date(${T1}) }]`))[0].rows).to.deep.equal([{ time: T1_NS, a: 1 }])
    })
  })

  describe('finds the time', () => {
    it('in the row, otherwise in msg.timestamp, otherwise now', () => {
      const rows = (/** @type {object} */ message) => contents([{ a: 1, ts: '2015-07-10T06:17:32.249713001Z' }, { a: 2 }], message)[0].rows
      expect(rows({ timestamp: T1 }).map(({ time }) => time)).to.deep.equal([1_436_509_052_249_713_001n, T1_NS])
      expect(rows({}).map(({ time }) => time)).to.deep.equal([1_436_509_052_249_713_001n, NOW])
    })

    it('in the stated unit', () => {
      expect(contents({ a: 1, time: 1436509052.249713 }, {}, { timeUnit: 's' })[0].rows[0].time).to.equal(1_436_509_052_249_713_000n)
    })

    it('in the first of time, timestamp and ts, and leaves the others as values', () => {
      expect(contents({ a: 1, ts: 5, timestamp: T1 })[0].rows).to.deep.equal([{ time: T1_NS, a: 1, ts: 5 }])
    })
  })

  describe('finds the source', () => {
    it('in its options, otherwise in msg.topic', () => {
      expect(contents(1, { topic: 'hall/3' })[0].source).to.equal('plant')
      expect(contents(1, { topic: 'hall/3' }, { source: '' })[0].source).to.equal('hall/3')
    })

    it('or refuses the row', () => {
      expect(convert(1, {}, { source: '' }).refused).to.deep.equal([{
        index: 0,
        reason: 'it has no source: set one, or msg.topic',
        value: { value: 1 }
      }])
    })
  })

  describe('refuses', () => {
    /** @param {unknown} payload @param {object} [message] */
    const refusals = (payload, message) => convert(payload, message).refused.map(({ index, reason }) => `${index}: ${reason}`)

    it('a value that is not finite, and stores the rest of the row', () => {
      const { batches: [batch], refused } = convert([{ a: 1, b: 1 }, { a: NaN, b: 2 }, { a: -Infinity, b: 3 }])
      expect(content(batch).rows).to.deep.equal([{ time: NOW, a: 1, b: 1 }, { time: NOW, b: 2 }, { time: NOW, b: 3 }])
      expect(refused).to.deep.equal([
        { index: 1, reason: '"a" is NaN: treated as missing', value: NaN },
        { index: 2, reason: '"a" is -Infinity: treated as missing', value: -Infinity }
      ])
    })

    it('a nested value, and stores the rest of the row', () => {
      const { batches: [batch], refused } = convert({ a: 1, b: { c: 2 }, d: [3] })
      expect(content(batch).rows).to.deep.equal([{ time: NOW, a: 1 }])
      expect(refused.map(({ reason }) => reason)).to.deep.equal([
        '"b" is an object: send its values as fields of their own',
        '"d" is an array: send its values as fields of their own'
      ])
    })

    it('a row with a value of another type than the first of its column, and stores the others', () => {
      const rows = [{ a: 1 }, { a: 'one' }, { a: 2 }, { a: true }]
      const { batches: [batch], refused } = convert(rows)
      expect(content(batch).rows).to.deep.equal([{ time: NOW, a: 1 }, { time: NOW, a: 2 }])
      expect(refused).to.deep.equal([
        { index: 1, reason: '"a" is string here and float64 in the rows before', value: rows[1] },
        { index: 3, reason: '"a" is bool here and float64 in the rows before', value: rows[3] }
      ])
    })

    it('a row with a bad time, with its code', () => {
      const [noon, zero] = refusals([{ a: 1, time: 'noon' }, { a: 2, time: 0 }])
      expect(noon).to.match(/^0: SLUICE_TIME_FORMAT: "noon" is not a time\./)
      expect(zero).to.match(/^1: SLUICE_TIME_RANGE: The time 0 is not between 1970 and 2262\./)
      expect(refusals(1, { timestamp: 'noon' })[0]).to.match(/^0: SLUICE_TIME_FORMAT: "noon" is not a time\./)
    })

    it('what holds no values', () => {
      expect(refusals({})).to.deep.equal(['0: it holds no values'])
      expect(refusals({ time: T1, a: null })).to.deep.equal(['0: it holds no values'])
      expect(refusals({ a: NaN })).to.deep.equal(['0: "a" is NaN: treated as missing'])
      expect(refusals([])).to.deep.equal(['-1: the payload has no rows'])
      expect(refusals(null)).to.deep.equal(['-1: the message has no payload'])
      expect(refusals(undefined)).to.deep.equal(['-1: the message has no payload'])
    })

    it('what is not a row', () => {
      expect(refusals([{ a: 1 }, 5, [1, 2], new Date()])).to.deep.equal([1, 2, 3].map(
        index => `${index}: it is not an object of values, a point or a [fields, tags] pair`
      ))
      expect(refusals(() => {})).to.deep.equal(['0: "value" is a function'])
      expect(refusals(2n ** 63n)).to.deep.equal(['0: "value" does not fit a 64-bit integer'])
    })

    it('names that no database accepts', () => {
      expect(refusals({ '': 1, ok: 2 })).to.deep.equal(['0: "" has no name'])
      expect(refusals({ ['n'.repeat(MAX_NAME + 1)]: 1, ok: 2 })[0]).to.match(/^0: "n{40}…" has a name of over 255 characters$/)
      expect(refusals({ fields: { time: 5, a: 1 }, time: T1 })).to.deep.equal([
        '0: "time" cannot be the name of a value: it is the name of the time'
      ])
      expect(refusals([[{ a: 1 }, { room: {} }]])).to.deep.equal(['0: its tag "room" is not text'])
      expect(refusals({ measurement: 5, fields: { a: 1 } })).to.deep.equal(['0: its source or measurement is not text'])
    })

    it('more rows, fields or series than its limits', () => {
      expect(refusals(new Array(MAX_ROWS + 1).fill({ a: 1 }))).to.deep.equal([
        `-1: SLUICE_MESSAGE_TOO_LARGE: The message is too large: it has ${MAX_ROWS + 1} rows, over ${MAX_ROWS}. ` +
        'Send it as several messages.'
      ])
      const wide = Object.fromEntries(Array.from({ length: MAX_FIELDS + 1 }, (_, i) => [`f${i}`, i]))
      expect(refusals(wide)).to.deep.equal([`0: there are more than ${MAX_FIELDS} fields`])
      const many = Array.from({ length: MAX_SERIES + 1 }, (_, i) => [{ a: 1 }, { i }])
      expect(refusals(many)).to.deep.equal([`${MAX_SERIES}: the message has more than ${MAX_SERIES} combinations of source and tags`])
    })

    it('what throws when read', () => {
      expect(refusals([{ get a () { throw new Error('gone') } }, { a: 1 }])).to.deep.equal(['0: gone'])
    })
  })

  it('does not change the message', () => {
    const payload = Object.freeze([Object.freeze({ a: 1, time: T1 }), Object.freeze({ a: 'x', b: NaN })])
    const { batches } = toBatches(Object.freeze({ payload, topic: 'x' }))
    expect(batches[0].rows).to.equal(1)
  })

  it('never throws, and loses no row: whatever comes is stored or refused', () => {
    const key = fc.constantFrom(
      'time', 'timestamp', 'ts', 'fields', 'values', 'tags', 'measurement', 'rows', 'source', 'a', 'b', '', '__proto__'
    )
    const leaf = fc.oneof(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withTypedArray: true,
        withMap: true,
        withSparseArray: true,
        withNullPrototype: true,
        maxDepth: 2
      }),
      fc.double(),
      fc.date(),
      fc.constant(T1)
    )
    const { payload: anyPayload } = fc.letrec((/** @type {(key: string) => fc.Arbitrary<unknown>} */ tie) => ({
      payload: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie('payload'), { maxLength: 5 }),
        fc.dictionary(key, tie('payload'), { maxKeys: 5 })
      )
    }))
    fc.assert(fc.property(anyPayload, fc.oneof(leaf, fc.constant('topic')), leaf, (payload, topic, timestamp) => {
      const { batches, refused } = toBatches({ payload, topic, timestamp })
      for (const batch of batches) {
        expect(batch.rows).to.be.greaterThan(0)
        expect(batch.time.every(time => time > 0n)).to.equal(true)
      }
      expect(batches.length + refused.length).to.be.greaterThan(0)
    }), { numRuns: 10_000 })
  })
})

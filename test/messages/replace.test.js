import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../gateway/batch/batch.js'
import { MAX_DEPTH } from '../../gateway/messages/documents.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { MAX_FIELDS } from '../../gateway/messages/bounds.js'

const NOW = 1_700_000_000_000_000_000n
const T1 = 1_436_509_052_249
const T1_NS = 1_436_509_052_249_000_000n

/** @param {Record<string, unknown>} message @param {object} [options] */
const convert = (message, options) => toBatches(message, { now: () => NOW, ...options })

/** Each batch as its source, tags and rows; nothing may be refused. @param {Record<string, unknown>} message @param {object} [options] */
function stored (message, options) {
  const { batches, refused } = convert(message, options)
  expect(refused).to.deep.equal([])
  return batches.map(batch => (
    { source: batch.source, ...(Object.keys(batch.tags).length > 0 ? { tags: batch.tags } : {}), rows: batch.toObjects() }
  ))
}

/** The reasons; nothing may be stored. @param {Record<string, unknown>} message */
function refusals (message) {
  const { batches, refused } = convert(message)
  expect(batches).to.deep.equal([])
  return refused.map(({ index, reason }) => `${index}: ${reason}`)
}

describe('A sink instead of influxdb out', () => {
  const measurement = 'weather'

  it('stores a number, fields, fields with tags, and a list of those in msg.measurement', () => {
    expect(stored({ measurement, payload: 21.5 })).to.deep.equal([{ source: 'weather', rows: [{ time: NOW, value: 21.5 }] }])
    expect(stored({ measurement, payload: { t: 1, time: T1 } })).to.deep.equal([{ source: 'weather', rows: [{ time: T1_NS, t: 1 }] }])
    expect(stored({ measurement, payload: [{ t: 1 }, { room: 'a', floor: 2 }] })).to.deep.equal([{
      source: 'weather',
      tags: { floor: '2', room: 'a' },
      rows: [{ time: NOW, t: 1 }]
    }])
    expect(stored({ measurement, payload: [{ state: 'on' }, { room: 'a' }] })).to.deep.equal([{
      source: 'weather',
      tags: { room: 'a' },
      rows: [{ time: NOW, state: 'on' }]
    }])
    expect(stored({ measurement, payload: [{ t: 1 }, {}] })).to.deep.equal([{ source: 'weather', rows: [{ time: NOW, t: 1 }] }])
    expect(stored({ measurement, payload: [[{ t: 1, time: T1 }, { room: 'a' }], [{ t: 2, time: T1 + 1 }, { room: 'a' }]] })).to.deep.equal([
      { source: 'weather', tags: { room: 'a' }, rows: [{ time: T1_NS, t: 1 }, { time: T1_NS + 1_000_000n, t: 2 }] }
    ])
  })

  it('prefers msg.measurement to its own source and to msg.topic', () => {
    expect(stored({ measurement, payload: 1, topic: 'hall' }, { source: 'plant' })[0].source).to.equal('weather')
    expect(stored({ measurement: 5, payload: 1, topic: 'hall' })[0].source).to.equal('hall')
  })

  for (const [precision, time, ns] of /** @type {[string, unknown, bigint][]} */ ([
    ['ns', '1436509052249713001', 1_436_509_052_249_713_001n], ['us', 1_436_509_052_249_713, 1_436_509_052_249_713_000n],
    ['u', 1_436_509_052_249_713, 1_436_509_052_249_713_000n],
    ['ms', T1, T1_NS], ['s', 1_436_509_052, 1_436_509_052_000_000_000n], ['m', 23_941_817, 1_436_509_020_000_000_000n],
    ['h', '399030', 1_436_508_000_000_000_000n]
  ])) {
    it(`reads times in msg.precision ${precision}`, () => {
      expect(stored({ measurement, precision, payload: { t: 1, time } })[0].rows).to.deep.equal([{ time: ns, t: 1 }])
    })
  }

  it('accepts dates in any precision, and leaves msg.timestamp in milliseconds', () => {
    expect(stored({ measurement, precision: 'h', payload: { t: 1, time: new Date(T1) } })[0].rows[0].time).to.equal(T1_NS)
    expect(stored({ measurement, precision: 's', payload: 1, timestamp: T1 })[0].rows[0].time).to.equal(T1_NS)
  })

  it('refuses times in an unknown precision', () => {
    const refused = refusals({ measurement, precision: 'fortnight', payload: { t: 1, time: T1 } })
    expect(refused[0]).to.match(/^0: SLUICE_TIME_UNIT: "fortnight" is not a time unit\./)
  })

  it('reads "5i" as an integer where a measurement is named', () => {
    expect(stored({ measurement, payload: { count: '-5i', note: '5' } })[0].rows).to.deep.equal([{ time: NOW, count: -5n, note: '5' }])
    expect(stored({ topic: 'x', payload: { count: '5i' } })[0].rows).to.deep.equal([{ time: NOW, count: '5i' }])
  })

  it('stores the points of influxdb batch', () => {
    expect(stored({
      payload: [
        { measurement: 'weather', fields: { temp: 5.5, light: '678i' }, tags: { location: 'garden' }, timestamp: new Date(T1) },
        { measurement: 'alarm', fields: { near: true }, timestamp: '1436509052249' }
      ]
    })).to.deep.equal([
      { source: 'weather', tags: { location: 'garden' }, rows: [{ time: T1_NS, temp: 5.5, light: 678n }] },
      { source: 'alarm', rows: [{ time: T1_NS, near: true }] }
    ])
  })
})

describe('A sink instead of postgresql', () => {
  const params = [new Date(T1), 21.5, 'ü']

  it('stores an INSERT in msg.query with the values in msg.params', () => {
    const query = 'INSERT INTO Sensors (Time, "Temp", note) VALUES ($1, $2, $3);'
    expect(stored({ query, params, topic: 'x', payload: 'not this' }, { source: 'plant' })).to.deep.equal([{
      source: 'sensors',
      rows: [{ time: T1_NS, Temp: 21.5, note: 'ü' }]
    }])
  })

  it('stores named values, several rows, plain values and comments', () => {
    const query = `-- the hall
      insert into public."the ""hall""" (ts, a, b, c, d, e) values
        ($when, $a, NULL, true, 'it''s \\n', -1.5e3), /* now */ (now(), 9007199254740993, 'x', FALSE, 'y', .5)`
    expect(stored({ query, queryParameters: { when: '2015-07-10 06:17:32.249713', a: 7n } })).to.deep.equal([
      {
        source: 'the "hall"',
        rows: [
          { time: 1_436_509_052_249_713_000n, a: 7n, c: true, d: 'it\'s \\n', e: -1500 },
          { time: NOW, a: 9007199254740993n, b: 'x', c: false, d: 'y', e: 0.5 }
        ]
      }
    ])
  })

  it('reads times without a zone as UTC, numbers as milliseconds, and other dates as text', () => {
    const query = 'INSERT INTO t (time, a) VALUES ($1, $2)'
    const timeOf = (/** @type {unknown} */ time) => stored({ query, params: [time, 1] })[0].rows[0].time
    expect(timeOf('2015-07-10 06:17:32')).to.equal(1_436_509_052_000_000_000n)
    expect(timeOf('2015-07-10 08:17:32.249+02')).to.equal(T1_NS)
    expect(timeOf(T1)).to.equal(T1_NS)
    expect(timeOf(null)).to.equal(NOW)
    expect(stored({ query, params: [T1, new Date(T1)] })[0].rows[0].a).to.equal('2015-07-10T06:17:32.249Z')
    const [{ rows }] = stored({ query: 'INSERT INTO t (at, a) VALUES (CURRENT_TIMESTAMP(3), 1)' })
    expect(rows).to.deep.equal([{ time: NOW, at: '2023-11-14T22:13:20.000Z', a: 1 }])
  })

  it('stores the result of a query, although the message still has the query', () => {
    const message = { query: 'SELECT a FROM t', pgsql: { command: 'SELECT' }, payload: [{ a: 1 }], topic: 't' }
    expect(stored(message)[0].rows).to.deep.equal([{ time: NOW, a: 1 }])
  })

  for (const [query, reason] of [
    ['SELECT * FROM t', 'this is "SELECT" at character 1. Keep your node for queries; to store msg.payload, delete msg.query.'],
    ['UPDATE t SET a = 1', 'this is "UPDATE"'],
    ['/* gone */ DELETE FROM t', 'this is "DELETE" at character 12'],
    ['WITH x AS (SELECT 1) INSERT INTO t (a) SELECT 1', 'this is "WITH"'],
    ['INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING', '"ON" at character 30 after the values is more than it can do'],
    ['INSERT INTO t (a) VALUES (1) RETURNING id', '"RETURNING" at character 30 after the values is more than it can do'],
    ['INSERT INTO t (a) VALUES (1); DROP TABLE t', '"DROP" at character 31 after the values'],
    ['INSERT INTO t (a) SELECT 1', '"SELECT" at character 19 stands where VALUES is expected'],
    ['INSERT INTO t VALUES (1)', '"VALUES" at character 15 follows the table where the columns must be named'],
    ['INSERT INTO t (a, b) VALUES (1)', 'row 1 has 1 values for 2 columns'],
    ['INSERT INTO t (a, A) VALUES (1, 2)', 'the column "a" is named twice'],
    ['INSERT INTO t (a) VALUES (random())', '"random" at character 27 is not a plain value'],
    ['INSERT INTO t (a) VALUES (1 + 1)', '"+" at character 29 stands where ) is expected'],
    ['INSERT INTO t (a) VALUES ($1::float8)', '":" at character 29 stands where ) is expected'],
    ['INSERT INTO t (a) VALUES ({{{msg.payload}}})', '"{" at character 27 is not a plain value'],
    ['INSERT INTO t (a) VALUES (', 'its end is not a plain value'],
    ['INSERT INTO t (a) VALUES (\'x', 'The \' at character 27 of the SQL statement is not closed']
  ]) {
    it(`refuses ${query}`, () => {
      const [refusal, ...more] = refusals({ query, params, payload: 1, topic: 'x' })
      expect(refusal).to.match(/^-1: SLUICE_PAYLOAD_SQL: /).and.include(reason)
      expect(more).to.deep.equal([])
    })
  }

  it('keeps a refused statement, and nothing else of the message', () => {
    const query = 'DELETE FROM t WHERE a = $1'
    expect(JSON.parse(JSON.stringify(convert({ query, params: [1], req: 'large' }).refused[0].value))).to.deep.equal({ query, params: [1] })
  })

  it('refuses values that are missing', () => {
    const query = 'INSERT INTO t (a, b) VALUES ($1, $x)'
    expect(refusals({ query })).to.deep.equal([
      '-1: SLUICE_PAYLOAD_SQL: The INSERT statement cannot be filled in: the value for "1" is missing.'
    ])
    expect(refusals({ query, params: [1] })[0]).to.include('the value for "x" is missing')
    expect(refusals({ query: 'INSERT INTO t (a) VALUES ($0)', params: [1] })[0]).to.include('the value for "0" is missing')
  })
})

describe('A sink instead of mysql', () => {
  it('stores an INSERT in msg.topic with the values in msg.payload', () => {
    const topic = 'INSERT INTO plant.`Sensor data` (`time`, Temp, note) VALUES (?, ?, "it\\"s 5\\\\")'
    expect(stored({ topic, payload: [T1, 21.5] })).to.deep.equal([{
      source: 'Sensor data',
      rows: [{ time: T1_NS, Temp: 21.5, note: 'it"s 5\\' }]
    }])
  })

  it('stores named values', () => {
    const topic = 'INSERT sensors (time, a, b) VALUES (:when, :a, :a)'
    expect(stored({ topic, payload: { when: '2015-07-10 06:17:32', a: true } })).to.deep.equal([{
      source: 'sensors',
      rows: [{ time: 1_436_509_052_000_000_000n, a: true, b: true }]
    }])
  })

  for (const [what, topic, payload] of /** @type {[string, string, unknown][]} */ ([
    ['VALUES ?', 'INSERT INTO t (time, a) VALUES ?', [[[T1, 1], [T1 + 1, 2]]]],
    ['VALUES ?, with the rows themselves as payload', 'INSERT INTO t (time, a) VALUES ?', [[T1, 1], [T1 + 1, 2]]],
    ['(?), (?)', 'INSERT INTO t (time, a) VALUES (?), (?)', [[T1, 1], [T1 + 1, 2]]],
    ['(?, ?), (?, ?)', 'INSERT INTO t (time, a) VALUES (?, ?), (?, ?)', [T1, 1, T1 + 1, 2]]
  ])) {
    it(`stores the rows of ${what}`, () => {
      expect(stored({ topic, payload })).to.deep.equal([{ source: 't', rows: [{ time: T1_NS, a: 1 }, { time: T1_NS + 1_000_000n, a: 2 }] }])
    })
  }

  it('refuses rows of the wrong length, and stores the others', () => {
    const { batches: [batch], refused } = convert({ topic: 'INSERT INTO t (a, b) VALUES ?', payload: [[[1, 2], [3], [4, 5]]] })
    expect(batch.toObjects().map(({ a }) => a)).to.deep.equal([1, 4])
    expect(refused.map(({ index, reason, value }) => ({ index, reason, value }))).to.deep.equal([
      { index: 1, reason: 'SLUICE_PAYLOAD_SQL: The INSERT statement cannot be filled in: the row has 1 values for 2 columns.', value: [3] }
    ])
  })

  for (const [topic, reason] of [
    ['INSERT INTO t (a) VALUES (?) ON DUPLICATE KEY UPDATE a = 1', '"ON" at character 30 after the values is more than it can do'],
    ['INSERT IGNORE INTO t (a) VALUES (?)', '"IGNORE" at character 8 is more than it can do'],
    ['REPLACE INTO t (a) VALUES (?)', 'this is "REPLACE"'],
    ['SELECT a FROM t', 'this is "SELECT" at character 1. Keep your node for queries; to store msg.payload, delete msg.topic.'],
    ['INSERT INTO t (a, b) VALUES (?, ?)', 'the value for "?" number 2 is missing'],
    ['INSERT INTO t (a) VALUES (??)', '"?" at character 28 stands where ) is expected']
  ]) {
    it(`refuses ${topic}`, () => {
      const refused = refusals({ topic, payload: [1] })
      expect(refused).to.have.length(1)
      expect(refused[0]).to.include(reason)
    })
  }

  for (const topic of ['select', 'update/sensor', 'insert coin', 'create', 'deleted from here', 'Update setpoint', 'with', 'table']) {
    it(`stores under the topic "${topic}", which is not SQL`, () => {
      expect(stored({ topic, payload: 1 })[0].source).to.equal(topic)
    })
  }
})

describe('A sink instead of the MongoDB nodes', () => {
  it('stores documents in msg.collection, nested values with dots and numbers in their names', () => {
    const document = { _id: 'abc', ts: T1, press: { force: 5, valve: { open: true } }, phases: [1, 2.5, 3], made: new Date(T1), none: {} }
    expect(stored({ collection: 'plant', topic: 'x', payload: document })).to.deep.equal([{
      source: 'plant',
      rows: [{
        time: T1_NS, _id: 'abc', 'press.force': 5, 'press.valve.open': true, phases0: 1, phases1: 2.5, phases2: 3,
        made: '2015-07-10T06:17:32.249Z'
      }]
    }])
    expect(stored({ collection: 'plant', payload: [{ a: 1 }, { b: 'x' }] })[0].rows).to.deep.equal([
      { time: NOW, a: 1 },
      { time: NOW, b: 'x' }
    ])
    expect(stored({ collection: 'plant', payload: 5 })).to.deep.equal([{ source: 'plant', rows: [{ time: NOW, value: 5 }] }])
  })

  it('prefers its own source to msg.collection', () => {
    expect(stored({ collection: 'plant', payload: { a: 1 } }, { source: 'own' })[0].source).to.equal('own')
  })

  it('stores the arguments of insertOne and insertMany, without their options', () => {
    expect(stored({ topic: 't', operation: 'insertOne', payload: [{ a: { b: 1 } }, { w: 'majority' }] })[0].rows).to.deep.equal([
      { time: NOW, 'a.b': 1 }
    ])
    expect(stored({ topic: 't', operation: 'insertMany', payload: [[{ a: 1 }, { b: 'x' }], { ordered: false }] })[0].rows).to.deep.equal([
      { time: NOW, a: 1 },
      { time: NOW, b: 'x' }
    ])
  })

  it('stores [[documents]] whose operation and collection were options of the other node', () => {
    expect(stored({ topic: 't', payload: [[{ a: 1 }, { a: 2 }]] })[0].rows).to.deep.equal([{ time: NOW, a: 1 }, { time: NOW, a: 2 }])
    expect(stored({ topic: 't', payload: [[{ a: 1 }, { b: 2 }, { c: 3 }]] })[0].rows).to.have.length(3)
  })

  it('refuses other operations', () => {
    expect(refusals({ operation: 'updateOne', collection: 'plant', payload: [{ a: 1 }, { $set: { a: 2 } }] })).to.deep.equal([
      '-1: SLUICE_PAYLOAD_OPERATION: A sink only inserts, and msg.operation is "updateOne". Keep your node for that; to store ' +
      'msg.payload, delete msg.operation.'
    ])
  })

  it('refuses values nested too deeply, lists of objects, too many values and two with one name', () => {
    const deep = (/** @type {number} */ depth) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
    expect(stored({ collection: 'c', payload: deep(MAX_DEPTH) })[0].rows[0]).to.have.property(Array(MAX_DEPTH).fill('a').join('.'), 1)
    const refusal = (/** @type {object} */ payload) => refusals({ collection: 'c', payload })[0]
    expect(refusal(deep(MAX_DEPTH + 1))).to.equal('0: "a.a.a.a.a.a.a.a" is an object: send its values as fields of their own')
    expect(refusal({ list: [{ a: 1 }] })).to.equal('0: "list" is an array: send its values as fields of their own')
    expect(refusal({ a: { b: 1 }, 'a.b': 2 })).to.equal('0: SLUICE_PAYLOAD_NAMES: Two values of the document would be called "a.b".')
    const wide = Object.fromEntries(Array.from({ length: MAX_FIELDS + 1 }, (_, i) => [`f${i}`, i]))
    expect(refusal({ wide })).to.equal(`0: SLUICE_PAYLOAD_NAMES: The document has more than ${MAX_FIELDS} values.`)
    const circle = /** @type {any} */ ({ a: 1 })
    circle.self = circle
    expect(convert({ collection: 'c', payload: circle }).batches[0].fields).to.have.length(MAX_DEPTH)
  })
})

describe('A sink instead of other nodes', () => {
  it('never throws and loses nothing: everything is stored or refused', () => {
    const word = fc.constantFrom(
      'INSERT', 'INTO', 'VALUES', '(', ')', ',', ';', '?', '$1', '$a', ':a', '\'', '"', '`', '\\', '--', '/*', '*/', 'NULL', 'NOW()',
      'time', 'a', 't', '1', '-2.5e3', '.', 'ü', '\n', '{{x}}'
    )
    const insert = fc.array(word, { maxLength: 12 }).map(words => `INSERT INTO t (time, a) VALUES (${words.join(' ')}`)
    const statement = fc.oneof(
      insert,
      insert.map(text => `${text})`),
      fc.array(word, { maxLength: 20 }).map(words => words.join(' ')),
      fc.string({ unit: 'grapheme' })
    )
    const kinds = { withBigInt: true, withDate: true, withTypedArray: true, withMap: true, withSparseArray: true, withNullPrototype: true }
    const value = fc.oneof(fc.anything(kinds), fc.constant(T1))
    const message = fc.record({
      payload: fc.oneof(value, fc.array(fc.array(value))),
      topic: fc.oneof(statement, value),
      query: fc.oneof(statement, value),
      params: fc.oneof(value, fc.array(value)),
      queryParameters: fc.oneof(value, fc.dictionary(fc.constantFrom('a', 'time'), value)),
      measurement: fc.oneof(fc.constant('m'), value),
      precision: fc.oneof(fc.constantFrom('ns', 'us', 'u', 'ms', 's', 'm', 'h', 'n', 'x', ''), value),
      collection: fc.oneof(fc.constant('c'), value),
      operation: fc.oneof(fc.constantFrom('insertOne', 'insertMany', 'find'), value)
    }, { requiredKeys: [] })
    fc.assert(fc.property(message, given => {
      const { batches, refused } = toBatches(given)
      expect(batches.length + refused.length).to.be.greaterThan(0)
      for (const batch of batches) expect(batch).to.be.instanceOf(Batch).and.to.have.property('rows').that.is.greaterThan(0)
    }), { numRuns: 5_000 })
  })

  it('reads any plain INSERT as it was written', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(text => text !== 'time' && text !== '__proto__')
    const range = { min: -(2 ** 53), max: 2 ** 53, minExcluded: true, maxExcluded: true, noNaN: true }
    const number = fc.double(range).map(some => some + 0) // no negative zero
    const value = fc.oneof(number, fc.boolean(), fc.string({ unit: 'grapheme' }))
    const columns = fc.uniqueArray(fc.tuple(name, value), { selector: ([column]) => column, minLength: 1, maxLength: 5 })
    const quote = (/** @type {string} */ text, /** @type {string} */ sign) => sign + text.replaceAll(sign, sign + sign) + sign
    const literal = (/** @type {unknown} */ item, /** @type {string} */ sign) => typeof item === 'string' ? quote(item, sign) : String(item)
    fc.assert(fc.property(columns, name, (entries, table) => {
      const names = ['time', ...entries.map(([column]) => column)]
      const expected = [{ source: table, rows: [{ time: T1_NS, ...Object.fromEntries(entries) }] }]
      const statement = (/** @type {string} */ sign, /** @type {unknown[]} */ cells) => {
        const quoted = names.map(column => quote(column, sign))
        return `INSERT INTO ${quote(table, sign)} (${quoted.join(', ')}) VALUES (${cells.join(', ')})`
      }
      const values = [T1, ...entries.map(([, item]) => item)]
      expect(stored({ query: statement('"', values.map(item => literal(item, '\''))) })).to.deep.equal(expected)
      expect(stored({ query: statement('"', values.map((_, i) => `$${i + 1}`)), params: values })).to.deep.equal(expected)
      expect(stored({ topic: statement('`', values.map(() => '?')), payload: values })).to.deep.equal(expected)
    }), { numRuns: 500 })
  })
})

import { expect } from 'chai'
import { readOptions } from '../../gateway/base/options.js'
import { schema as postgresqlSchema } from '../../nodes/sinks/postgresql.schema.js'
import { schema as sqliteSchema } from '../../nodes/sinks/sqlite.schema.js'
import { applies, readOption, readRow, tableProblems } from '../../resources/options.js'

/** @type {import('../../resources/options.js').Property} */
const batchRows = { type: 'integer', title: 'Batch size', minimum: 1, maximum: 1_000_000, default: 5000, 'x-unit': 'rows' }

/** @type {import('../../resources/options.js').Property} */
const tags = {
  type: 'array',
  title: 'Tags',
  maxItems: 10,
  'x-unique': ['name'],
  items: {
    type: 'object',
    required: ['name', 'address'],
    properties: {
      name: { type: 'string', title: 'Name' },
      address: { type: 'integer', title: 'Address', minimum: 0, maximum: 65535 },
      type: { type: 'string', title: 'Type', enum: ['int16', 'string'], default: 'int16' },
      length: { type: 'integer', title: 'Length', minimum: 1, default: 16, 'x-when': { type: 'string' } }
    }
  }
}

describe('options', () => {
  it('of a sink are a name of up to 255 characters, as spools hear of it', () => {
    for (const schema of [sqliteSchema, postgresqlSchema]) {
      const read = (/** @type {number} */ length) => readOptions(schema, { file: 'f', server: 's', name: 'ü'.repeat(length) })
      expect(read(255).name).to.have.length(255)
      expect(() => read(256)).to.throw('Name must have at most 255 characters; it has 256.').with.property('code', 'SLUICE_OPTIONS')
    }
  })

  const problems = [
    [batchRows, 0, 'Batch size must be between 1 and 1,000,000 rows; 0 is too small.'],
    [batchRows, '2000000', 'Batch size must be between 1 and 1,000,000 rows; 2,000,000 is too large.'],
    [batchRows, 'many', 'Batch size must be between 1 and 1,000,000 rows; "many" is not a number.'],
    [batchRows, '1,5', 'Batch size must be between 1 and 1,000,000 rows; "1,5" needs a point: 1.5.'],
    [batchRows, '1,500', 'Batch size must be between 1 and 1,000,000 rows; "1,500" may be 1.5 or 1500: write the one that is meant.'],
    [batchRows, '1.234,5', 'Batch size must be between 1 and 1,000,000 rows; "1.234,5" is written 1234.5.'],
    [batchRows, '1.000.000', 'Batch size must be between 1 and 1,000,000 rows; "1.000.000" is written 1000000.'],
    [batchRows, '1,000,000', 'Batch size must be between 1 and 1,000,000 rows; "1,000,000" is written 1000000.'],
    [batchRows, ' ', 'Batch size must be between 1 and 1,000,000 rows; " " is not a number.'],
    [batchRows, 1.5, 'Batch size must be between 1 and 1,000,000 rows; 1.5 is not a whole number.'],
    [batchRows, NaN, 'Batch size must be between 1 and 1,000,000 rows; "NaN" is not a number.'],
    [{ type: 'number', title: 'Rate' }, Infinity, 'Rate must be a number; ∞ is too large.'],
    [batchRows, [5], 'Batch size must be between 1 and 1,000,000 rows; "[5]" is not a number.'],
    [{ type: 'number', title: 'Speed', minimum: 0, 'x-unit': '×' }, -1, 'Speed must be at least 0 ×; -1 is too small.'],
    [
      { type: 'number', title: 'Period', exclusiveMinimum: 0, maximum: 60, 'x-unit': 's' },
      0,
      'Period must be more than 0 and at most 60 s; 0 is too small.'
    ],
    [{ type: 'integer', title: 'Seed' }, 'x', 'Seed must be a whole number; "x" is not a number.'],
    [{ type: 'string', title: 'TLS', enum: ['off', 'verify'] }, 'on', 'TLS must be one of off, verify; "on" is not one of them.'],
    [{ type: 'boolean', title: 'Loop' }, 'yes', 'Loop must be true or false; "yes" is neither.'],
    [
      { type: 'string', title: 'Address', pattern: '^mqtts?://', default: 'mqtt://127.0.0.1:1883' },
      'localhost',
      'Address must look like mqtt://127.0.0.1:1883; "localhost" does not.'
    ],
    [
      { type: 'string', title: 'Units', pattern: '^[0-9, -]*$', default: '', examples: ['1, 5-12'] },
      'x',
      'Units must look like 1, 5-12; "x" does not.'
    ],
    [{ type: 'string', title: 'Name', maxLength: 3 }, 'four', 'Name must have at most 3 characters; it has 4.'],
    [{ type: 'string', title: 'Name' }, { a: 1 }, 'Name must be a text.'],
    [
      { type: 'array', title: 'Sizes', items: batchRows },
      [1, 0],
      'Sizes, entry 2: Batch size must be between 1 and 1,000,000 rows; 0 is too small.'
    ],
    [
      { type: 'array', title: 'Channels', items: { type: 'object', properties: { rows: batchRows } } },
      [{ rows: 1 }, 7],
      'Channels, row 2: "7" is not an object.'
    ],
    [
      tags,
      [{ name: 'a', address: 1 }, { address: 70000 }],
      'Tags, row 2: Name is missing. Row 2: Address must be between 0 and 65,535; 70,000 is too large.'
    ],
    [
      tags,
      [
        { name: 'a', address: 1 },
        { name: 'b', address: 1 },
        { name: 'a', address: 2 }
      ],
      'Tags, row 3: Name must be unique; "a" is in row 1 too.'
    ],
    [
      tags,
      Array(6).fill({ name: 'a' }),
      'Tags, row 1: Address is missing. Row 2: Address is missing. Row 2: Name must be unique; "a" is in row 1 too. And 8 more.'
    ],
    [
      { ...tags, 'x-unique': ['name', 'address'] },
      [{ name: 'a', address: 1 }, { name: 'a', address: 2 }, { name: 'b', address: 1 }, { name: 'a', address: 1 }],
      'Tags, row 4: Name, Address must be unique; "a", "1" is in row 1 too.'
    ],
    [tags, Array(11).fill({}), 'Tags must have at most 10 entries; it has 11.']
  ]
  for (const [property, given, words] of /** @type {[any, unknown, string][]} */ (problems)) {
    it(`says: ${words}`, () => {
      expect(readOption(property, given)).to.deep.equal({ problem: words })
    })
  }

  it('reads what a form gives as text', () => {
    expect(readOption(batchRows, '200')).to.deep.equal({ value: 200 })
    expect(readOption({ type: 'boolean', title: 'Loop' }, 'false')).to.deep.equal({ value: false })
    expect(readOption({ type: 'array', title: 'Sinks', items: { type: 'string', title: 'Sink' } }, ' a \n\nb')).to.deep.equal({
      value: ['a', 'b']
    })
  })

  it('reads a table with its defaults, and ignores cells that do not matter in their row', () => {
    expect(
      readOption(tags, [
        { name: 'a', address: '7', length: 0 },
        { name: 'b', address: 8, type: 'string', length: '4' }
      ]).value
    ).to.deep.equal([
      { name: 'a', address: 7, type: 'int16', length: 16 },
      { name: 'b', address: 8, type: 'string', length: 4 }
    ])
  })

  it('says which cells of a table are wrong, row by row', () => {
    const rows = [{ name: 'a', address: 1 }, { name: 'a', address: -1 }, { name: 'b' }].map(row =>
      readRow(/** @type {any} */ (tags.items), row)
    )
    expect(tableProblems(tags, rows).map(({ row, column }) => [row, column])).to.deep.equal([[1, 'address'], [1, 'name'], [2, 'address']])
  })

  const schema = {
    type: 'object',
    required: ['broker'],
    properties: {
      broker: { type: 'string', title: 'Broker' },
      fsync: { type: 'string', title: 'Write to disk', enum: ['interval', 'system'], default: 'interval' },
      fsyncIntervalMs: { type: 'integer', title: 'Interval', minimum: 10, default: 1000, 'x-when': { fsync: 'interval' } },
      password: { type: 'string', title: 'Password', 'x-secret': true }
    }
  }

  it('has an option apply for one value of another, or for several', () => {
    const options = ['a', 'b', 'c'].map(fsync => ({ fsync }))
    expect(options.map(each => applies({ type: 'string', title: 'T', 'x-when': { fsync: 'b' } }, each))).to.deep.equal([false, true, false])
    expect(options.map(each => applies({ type: 'string', title: 'T', 'x-when': { fsync: ['a', 'c'] } }, each))).to.deep.equal([
      true,
      false,
      true
    ])
  })

  it('fills in defaults and leaves out what the schema does not know', () => {
    expect(readOptions(schema, { id: '1', type: 'sluice-stage-out', wires: [], broker: 'b', fsync: '' }))
      .to.deep.equal({ broker: 'b', fsync: 'interval', fsyncIntervalMs: 1000 })
  })

  it('ignores what other options make meaningless', () => {
    expect(readOptions(schema, { broker: 'b', fsync: 'system', fsyncIntervalMs: -1 }).fsyncIntervalMs).to.equal(1000)
  })

  it('takes secrets from the credentials', () => {
    expect(readOptions(schema, { broker: 'b' }, { credentials: { password: 'open' } }).password).to.equal('open')
  })

  it('lists all that is wrong in one error', () => {
    expect(() => readOptions(schema, { fsync: 'never', fsyncIntervalMs: 5 }))
      .to.throw('Broker is missing. Write to disk must be one of interval, system; "never" is not one of them.')
      .with.property('code', 'SLUICE_OPTIONS')
  })
})

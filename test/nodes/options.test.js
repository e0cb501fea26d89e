import { expect } from 'chai'
import { readOptions } from '../../gateway/options.js'
import { applies, readOption } from '../../resources/options.js'

/** @type {import('../../resources/options.js').Property} */
const batchRows = { type: 'integer', title: 'Batch size', minimum: 1, maximum: 1_000_000, default: 5000, 'x-unit': 'rows' }

describe('options', () => {
  const problems = [
    [batchRows, 0, 'Batch size must be between 1 and 1,000,000 rows; 0 is too small.'],
    [batchRows, '2000000', 'Batch size must be between 1 and 1,000,000 rows; 2,000,000 is too large.'],
    [batchRows, 'many', 'Batch size must be between 1 and 1,000,000 rows; "many" is not a number.'],
    [batchRows, ' ', 'Batch size must be between 1 and 1,000,000 rows; " " is not a number.'],
    [batchRows, 1.5, 'Batch size must be between 1 and 1,000,000 rows; 1.5 is not a whole number.'],
    [batchRows, NaN, 'Batch size must be between 1 and 1,000,000 rows; "NaN" is not a number.'],
    [{ type: 'number', title: 'Rate' }, Infinity, 'Rate must be a number; ∞ is too large.'],
    [batchRows, [5], 'Batch size must be between 1 and 1,000,000 rows; "[5]" is not a number.'],
    [{ type: 'number', title: 'Speed', minimum: 0, 'x-unit': '×' }, -1, 'Speed must be at least 0 ×; -1 is too small.'],
    [{ type: 'number', title: 'Period', exclusiveMinimum: 0, maximum: 60, 'x-unit': 's' }, 0, 'Period must be more than 0 and at most 60 s; 0 is too small.'],
    [{ type: 'integer', title: 'Seed' }, 'x', 'Seed must be a whole number; "x" is not a number.'],
    [{ type: 'string', title: 'TLS', enum: ['off', 'verify'] }, 'on', 'TLS must be one of off, verify; "on" is none of them.'],
    [{ type: 'boolean', title: 'Loop' }, 'yes', 'Loop must be true or false; "yes" is neither.'],
    [{ type: 'string', title: 'Address', pattern: '^mqtts?://', default: 'mqtt://127.0.0.1:1883' }, 'localhost', 'Address must look like mqtt://127.0.0.1:1883; "localhost" does not.'],
    [{ type: 'string', title: 'Name', maxLength: 3 }, 'four', 'Name must have at most 3 characters; it has 4.'],
    [{ type: 'string', title: 'Name' }, { a: 1 }, 'Name must be a text.'],
    [{ type: 'array', title: 'Sizes', items: batchRows }, [1, 0], 'Sizes, entry 2: Batch size must be between 1 and 1,000,000 rows; 0 is too small.'],
    [{ type: 'array', title: 'Channels', items: { type: 'object', properties: { rows: batchRows } } }, [{ rows: 1 }, 7], 'Channels, entry 2: "7" is not an object.']
  ]
  for (const [property, given, words] of /** @type {[any, unknown, string][]} */ (problems)) {
    it(`says: ${words}`, () => {
      expect(readOption(property, given)).to.deep.equal({ problem: words })
    })
  }

  it('reads what a form gives as text', () => {
    expect(readOption(batchRows, '200')).to.deep.equal({ value: 200 })
    expect(readOption({ type: 'boolean', title: 'Loop' }, 'false')).to.deep.equal({ value: false })
    expect(readOption({ type: 'array', title: 'Sinks', items: { type: 'string', title: 'Sink' } }, ' a \n\nb')).to.deep.equal({ value: ['a', 'b'] })
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
    expect(options.map(each => applies({ type: 'string', title: 'T', 'x-when': { fsync: ['a', 'c'] } }, each))).to.deep.equal([true, false, true])
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
      .to.throw('Broker is missing. Write to disk must be one of interval, system; "never" is none of them.')
      .with.property('code', 'SLUICE_OPTIONS')
  })
})

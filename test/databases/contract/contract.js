import { expect } from 'chai'
import { failureOf } from './batches.js'
import { exactlyOnceTests } from './exactly-once.js'
import { growthTests } from './growth.js'
import { layoutTests } from './layouts.js'
import { recordTests } from './records.js'
import { tableTests } from './tables.js'
import { transactionTests } from './transactions.js'
import { valueTests } from './values.js'

/**
 * What every sink promises, shown against a real database.
 *
 * @typedef {import('../../../gateway/databases/sink.js').Sink} Sink
 * @typedef {import('../../../gateway/batch/batch.js').Batch} Batch
 *
 * @typedef {'checked'|'fits'|'misfits'|'needs'|'view'|'foreign'} Fixture  an existing table "press": with a column `force` that
 *   accepts no value of 100 or more; with columns `id` (7 by default), `count` of 64-bit integers and `force` of doubles; with `force` of
 *   32-bit integers; with a required text `operator`; a view of that name; and one not marked as Sluice's, with `force` of doubles
 *
 * @typedef {object} Harness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {(error: unknown) => boolean} isTransient
 * @property {(table: string) => Promise<Record<string, unknown>[]>} rows  in the order of time; `time` in BigInt nanoseconds, whole numbers
 *   as numbers where safe, otherwise as BigInt, booleans as 0 and 1, bytes in hexadecimal; what is missing is null in a column that other
 *   rows have
 * @property {() => Promise<string[]>} tables  without that of the commit records
 * @property {'transaction'|'keys'} guarantee  all or nothing of a write; or rows that can be written again
 * @property {boolean} hasColumns  tables have columns of a type each
 * @property {Partial<Record<Fixture, string>>} [fixtures]  how to create them; those that the database cannot have are left out
 * @property {(statement: string) => Promise<void>} [execute]  of a fixture
 * @property {() => Promise<Sink>} [elsewhere]  a sink of another database, closed after the test
 * @property {(seq: number) => Promise<void>} [setBack]  behind the sink's back, deletes from this batch on the records, and rows of "press"
 *   (by `force`)
 * @property {(table: string) => Promise<void>} drop
 * @property {unknown} nan  what NaN is read back as; undefined where its row has no value
 * @property {boolean} ignoresCase
 * @property {readonly ('narrow'|'document')[]} layouts  other than wide
 * @property {Record<string, string>} [differs]  titles of tests that this database cannot meet, and why; its own tests show what it does
 *   instead
 *
 * @typedef {object} Running  the running test
 * @property {Sink} sink  which `store` prepares and writes to
 * @property {(title: string, test: () => Promise<void>) => void} it
 * @property {() => Promise<void>} reopen
 * @property {(...batches: Batch[]) => Promise<import('../../../gateway/databases/sink.js').WriteResult>} store
 * @property {(batch: Batch) => Promise<any>} refusal  the error of a batch that is refused for good
 * @property {(fixture: Fixture, title: string, test: () => Promise<void>) => void} itWith
 *
 * @typedef {Harness & Running} Subject
 */

/** In standard SQL. @type {Record<Fixture, string>} */
export const sqlFixtures = {
  checked: 'CREATE TABLE press (force double precision CHECK (force < 100))',
  fits: 'CREATE TABLE press (id integer DEFAULT 7, count bigint, force double precision)',
  misfits: 'CREATE TABLE press (force integer)',
  needs: 'CREATE TABLE press (operator text NOT NULL)',
  view: 'CREATE VIEW press AS SELECT 1 AS force',
  foreign: 'CREATE TABLE press (force double precision)'
}

/**
 * With the mark that lets sources use tables.
 * @param {(sql: string) => string} marked  of CREATE TABLE press
 * @returns {typeof sqlFixtures}
 */
export function markedFixtures (marked) {
  const { view, foreign, ...tables } = sqlFixtures
  const own = Object.entries(tables).map(([name, sql]) => [name, marked(sql)])
  return { .../** @type {any} */ (Object.fromEntries(own)), view, foreign }
}

/** As most databases mark a table. @param {string} sql */
export const withComment = sql => `${sql}; COMMENT ON TABLE press IS 'Sluice'`

/** @param {Harness} harness */
export function sinkContract (harness) {
  const differing = new Set(Object.keys(harness.differs ?? {}))
  /** @type {Subject} */
  const subject = {
    ...harness,
    sink: /** @type {any} */ (null),
    it (title, test) {
      if (!differing.delete(title)) it(title, test)
    },
    async reopen () {
      await subject.sink.close()
      subject.sink = await harness.open()
    },
    async store (...batches) {
      await subject.sink.prepare(batches)
      return subject.sink.write(batches)
    },
    async refusal (batch) {
      const error = await failureOf(() => subject.store(batch))
      expect(harness.isTransient(error), error.message).to.equal(false)
      return error
    },
    itWith (fixture, title, test) {
      const statement = harness.fixtures?.[fixture]
      if (!statement) return
      subject.it(title, async () => {
        await harness.execute?.(statement)
        await test()
      })
    }
  }

  beforeEach(async () => { subject.sink = await harness.open() })

  valueTests(subject)
  growthTests(subject)
  if (harness.hasColumns) tableTests(subject)
  layoutTests(subject)
  exactlyOnceTests(subject)
  recordTests(subject)
  if (harness.guarantee === 'transaction') transactionTests(subject)

  if (differing.size > 0) throw new Error(`The contract has no such tests: ${[...differing].join('; ')}`)
}

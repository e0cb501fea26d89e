import { expect } from 'chai'
import { failureOf } from './batches.js'
import { exactlyOnceTests } from './exactly-once.js'
import { tableTests } from './tables.js'
import { valueTests } from './values.js'

/**
 * What every sink promises, shown against a real database.
 *
 * @typedef {import('../../../gateway/sinks/sink.js').Sink} Sink
 * @typedef {import('../../../gateway/batch/batch.js').Batch} Batch
 *
 * @typedef {object} Harness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {(error: unknown) => boolean} isTransient
 * @property {(sql: string) => Promise<void>} execute
 * @property {(table: string, schema?: string) => Promise<Record<string, unknown>[]>} rows  in the order of time; `time` in BigInt nanoseconds, whole numbers as
 *   numbers where safe and else as BigInt, booleans as 0 and 1, bytes in hexadecimal
 * @property {() => Promise<string[]>} tables  without that of the commit records
 * @property {unknown} nan  what NaN is read back as
 * @property {boolean} ignoresCase
 *
 * @typedef {Harness & {sink: Sink, reopen: () => Promise<void>, store: (...batches: Batch[]) => Promise<import('../../../gateway/sinks/sink.js').WriteResult>,
 *   refusal: (batch: Batch) => Promise<any>}} Subject  with the running test's sink, which it prepares and writes to, and the error of a batch that is refused for good
 */

/** @param {Harness} harness */
export function sinkContract (harness) {
  /** @type {Subject} */
  const subject = {
    ...harness,
    sink: /** @type {any} */ (null),
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
    }
  }

  beforeEach(async () => { subject.sink = await harness.open() })

  valueTests(subject)
  tableTests(subject)
  exactlyOnceTests(subject)
}

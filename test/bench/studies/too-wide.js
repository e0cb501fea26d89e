import { Batch } from '../../../gateway/batch/batch.js'

/** More than a table of SQLite can have. */
const COLUMNS = 2100

/** Batches of a row; every second one has too many columns. */
export function * batchesOf () {
  for (let seq = 0; ; seq++) {
    const fields = Array.from({ length: seq % 2 === 0 ? 1 : COLUMNS }, (_, i) => ({ name: `f${i}`, type: /** @type {const} */ ('int32') }))
    yield new Batch({
      source: 'rows',
      time: BigInt64Array.of(BigInt(seq)),
      fields,
      columns: fields.map(() => Int32Array.of(seq)),
      identity: { gateway: 'bench', source: 'rows', epoch: 'client', seq }
    })
  }
}

import { randomUUID } from 'node:crypto'
import { decide, wantedRecords } from '../claims.js'
import { RecordSet } from '../record-set.js'
import { schema } from './sink.schema.js'

export { schema }

/**
 * A sink that stores nothing, to measure what comes before a database: the batches are gone. It remembers their identities, in memory only,
 * so that spools release them and one that comes twice is a duplicate; a sink that is opened again has none.
 *
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('../../batch/batch.js').Batch} Batch
 */

const NO_TABLE = ''

export const isTransient = () => true

/** @returns {Promise<Sink>} */
export async function open () {
  return new NullSink()
}

/** @implements {Sink} */
class NullSink {
  #records = new RecordSet()
  #store = randomUUID()

  async prepare () {}

  async committed () {
    return { store: this.#store, records: this.#records.committed(() => true) }
  }

  /** @param {Batch[]} batches @param {{signal?: AbortSignal, probe?: boolean}} [options] */
  async write (batches, { signal, probe = false } = {}) {
    signal?.throwIfAborted()
    const wanted = wantedRecords(batches, () => NO_TABLE)
    const { duplicates, clashes, records } = decide(batches, wanted, claim => this.#records.find(claim), probe)
    if (!probe) for (const record of records) this.#records.add(record)
    return { duplicates, clashes }
  }

  notice () { return 'stores nothing' }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) { this.#records.compact(heads, () => true) }

  async close () {}
}

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

  async prepare () {}

  async committed () {
    return this.#records.committed(() => true)
  }

  /** @param {Batch[]} batches @param {{signal?: AbortSignal, probe?: boolean}} [options] */
  async write (batches, { signal, probe = false } = {}) {
    signal?.throwIfAborted()
    const duplicates = batches.filter(({ identity }) => {
      if (!identity) return false
      if (this.#records.has(NO_TABLE, identity)) return true
      if (!probe) this.#records.addBatch(NO_TABLE, identity)
      return false
    })
    return { duplicates }
  }

  notice () { return 'stores nothing' }

  async compact () {}

  async close () {}
}

import { isTransient, open } from '../../gateway/databases/duckdb/sink.js'
import { batchOf, identity } from './contract/batches.js'

/** Enough for several chunks, and now and then for a checkpoint. */
const ROWS = 5000

// Stores batch after batch in the file given, until it is killed, and prints the seq of each once it is stored.
const [file, first] = process.argv.slice(2)
const sink = await open({ file })
for (let seq = Number(first); ; seq++) {
  try {
    await sink.write([batchOf(Array(ROWS).fill(seq), { identity: identity(seq) })])
    process.stdout.write(`${seq}\n`)
  } catch (error) {
    process.stdout.write(`${isTransient(error)} ${/** @type {Error} */ (error).message}\n`)
    break
  }
}

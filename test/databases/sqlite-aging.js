import { open } from '../../gateway/databases/sqlite/sink.js'
import { batchOf, identity, T0 } from './contract/batches.js'

/**
 * A process that stores batches, a second each, and removes what is older than so many of them a few rows at a time, until it is killed.
 * It says which batch it has stored last.
 */

const [file, kept] = process.argv.slice(2)
const SECOND = 1_000_000_000n

const sink = await open({ file })
const { records } = await sink.committed()
for (let seq = (records.at(-1)?.last ?? -1) + 1; ; seq++) {
  const values = Array.from({ length: 20 }, (_, i) => 20 * seq + i)
  const time = BigInt64Array.from(values, (_, i) => T0 + BigInt(seq) * SECOND + BigInt(i))
  await sink.write([batchOf(values, { time, identity: identity(seq) })])
  await sink.span?.()
  while (await sink.removeBefore?.(T0 + BigInt(seq - Number(kept)) * SECOND, { maxRows: 7 }));
  process.stdout.write(`${seq}\n`)
}

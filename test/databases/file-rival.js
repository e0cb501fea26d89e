// Writes batches of one row into a folder until it is killed, from the first that is not stored yet, and prints the seq of each
// stored one.
import { open } from '../../gateway/databases/file/sink.js'
import { batchOf, identity, T0 } from './contract/batches.js'

const [folder, format] = process.argv.slice(2)
const sink = await open({ folder, format })
const { records } = await sink.committed()
for (let seq = records.length; ; seq++) {
  await sink.write([batchOf([seq], { time: BigInt64Array.of(T0 + BigInt(seq)), identity: identity(seq) })])
  console.log(seq)
}

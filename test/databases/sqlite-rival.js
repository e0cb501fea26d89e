import { parentPort, workerData } from 'node:worker_threads'
import { isTransient, open } from '../../gateway/databases/sqlite/sink.js'
import { batchOf } from './contract/batches.js'

// Writes the same batches as its rival and reports how many it stored first.
const sink = await open({ file: workerData.file })
let stored = 0
for (let seq = 0; seq < workerData.batches; seq++) {
  const batch = batchOf([seq], { identity: { gateway: 'gw', source: 'press', epoch: '1-a', seq } })
  const { duplicates } = await persistently(() => sink.write([batch]))
  stored += 1 - duplicates.length
}
await sink.close()
parentPort?.postMessage(stored)

/** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
async function persistently (work, attempts = 100) {
  try {
    return await work()
  } catch (error) {
    if (!isTransient(error) || attempts === 1) throw error
    return persistently(work, attempts - 1)
  }
}

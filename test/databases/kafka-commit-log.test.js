import { createRecordsBatch, listOffsetsV7 } from '@platformatic/kafka'
import { expect } from 'chai'
import { CommitLog } from '../../gateway/databases/kafka/commit-log.js'
import { fetchApi } from '../../gateway/kafka/fetch.js'

const KEY = Buffer.from(JSON.stringify(['press', 'g', 's', '1-a', 0, 'sluice']))
const VALUE = Buffer.from(JSON.stringify({ last: 0, hash: 1, staged: 1, stored: 1, dead: 0, before: 0 }))

/** A broker whose answers are made up: one that has just begun to lead, and does not know yet what all others have. */
class FakeBroker {
  disconnects = 0
  /** Fetches until it knows. */
  ignorant = 3

  async topic () { return { id: 'id', partitions: [{ leader: 1, leaderEpoch: 5, replicas: 3 }] } }

  /** @param {unknown} api */
  async ask (api) {
    if (api === listOffsetsV7.api) return { topics: [{ name: 'sluice_commits', partitions: [{ partitionIndex: 0, offset: 1n }] }] }
    expect(api).to.equal(fetchApi)
    const isKnown = --this.ignorant < 0
    const end = isKnown ? 1n : 0n
    const message = /** @type {any} */ ({ topic: 'sluice_commits', key: KEY, value: VALUE })
    const records = isKnown ? createRecordsBatch([message], { compression: 'none' }).buffer : Buffer.alloc(0)
    const partition = { errorCode: 0, highWatermark: end, lastStableOffset: end, abortedTransactions: null, records }
    return { throttleTimeMs: 0, responses: [{ partitions: [partition] }] }
  }
}

describe('The commit records of a Kafka sink', () => {
  it('are read to the end of the log, though a new leader gives out less at first (a fake broker)', async () => {
    const log = new CommitLog(/** @type {any} */ (new FakeBroker()), 'sluice')
    await log.read()
    expect(log.rows.map(({ table, seq, last }) => [table, seq, last])).to.deep.equal([['press', 0, 0]])
  })
})

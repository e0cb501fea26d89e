import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import * as sqlite from '../../gateway/databases/sqlite/sink.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { createWriter } from '../../gateway/writer/writer.js'
import { FakeMeter, batchOf, range } from './fake-sink.js'

describe('writer with SQLite', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-sqlite-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('stores all rows but those a constraint refuses, once, over a restart', async () => {
    const file = join(folder, 'plant.sqlite')
    const database = new DatabaseSync(file)
    database.exec('CREATE TABLE press (/* Sluice */ time INTEGER, force REAL CHECK (force % 1000 <> 7))')

    const batches = range(0, 10).map(seq => batchOf(range(seq * 1000, (seq + 1) * 1000), seq))
    const odd = batchOf([1, 2], 0, 'lathe')
    const dead = range(0, 10).map(seq => `gw/press/1-a/${seq}/7`)
    for (const outcome of ['stored', 'duplicate']) {
      const sink = await sqlite.open({ file })
      const deadLetters = await openDeadLetterQueue(join(folder, 'dead'))
      const meter = new FakeMeter()
      const writer = createWriter({ sink, isTransient: sqlite.isTransient, deadLetters, meter, options: { batchRows: 4000 } })
      const results = [...batches, odd].map(batch => writer.write(batch))
      await writer.close()
      await sink.close()
      expect((await Promise.all(results)).map(result => result.outcome)).to.deep.equal(Array(11).fill(outcome))
      expect(meter).to.include(outcome === 'stored'
        ? { rows: 9992, deadLetters: 10, duplicates: 0 }
        : { rows: 0, deadLetters: 0, duplicates: 10_002 })

      const letters = await openDeadLetterQueue(join(folder, 'dead'), { readOnly: true })
      expect(letters.keys.toSorted()).to.deep.equal(dead)
      await letters.close()
      const stored = database.prepare('SELECT count(*) AS rows, count(DISTINCT force) AS forces FROM press').get()
      expect(stored).to.deep.include({ rows: 9990, forces: 9990 })
    }
    database.close()
  })
})

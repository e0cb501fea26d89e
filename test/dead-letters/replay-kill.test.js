import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { deadLetter } from '../../gateway/dead-letters/dead-letter.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { batchOf, range } from '../writer/fake-sink.js'

const PROGRAM = fileURLToPath(new URL('processes/replaying.js', import.meta.url))
const BATCHES = 40
const ROWS = 25

describe('A replay of dead letters', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-replay-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('stores each row once, however often its process is killed between hand-over and mark', async () => {
    const file = join(folder, 'plant.sqlite')
    const database = new DatabaseSync(file)
    const columns = '/* Sluice */ time INTEGER, force REAL CHECK (force % 100 <> 7)'
    for (const source of ['press', 'lathe']) database.exec(`CREATE TABLE ${source} (${columns})`)
    await fill()

    for (const [fatal, when] of /** @type {[number, string][]} */ ([
      [0, 'after'], [0, 'before'], [3, 'after'], [5, '1'], [2, 'after'], [0, '0'], [4, '2'], [0, 'after'], [6, 'before'], [1, 'after']
    ])) expect(await replay(fatal, when)).to.equal('SIGKILL')
    expect(await replay(-1, '')).to.equal(0)

    const stored = database.prepare('SELECT force FROM press UNION ALL SELECT force FROM lathe ORDER BY force').all()
    database.close()
    const all = range(0, BATCHES * ROWS)
    expect(stored.map(({ force }) => force)).to.deep.equal(all.filter(force => force % 100 !== 7))
    const queue = await openDeadLetterQueue(folder, { readOnly: true })
    const refused = await queue.list({ limit: 100 })
    await queue.close()
    expect(refused.map(({ values }) => values[0])).to.have.members(all.filter(force => force % 100 === 7))
  })

  /** Letters of two sources in turns: a hand-over for each batch. */
  async function fill () {
    const queue = await openDeadLetterQueue(folder)
    for (let seq = 0; seq < BATCHES; seq++) {
      const batch = batchOf(range(seq * ROWS, (seq + 1) * ROWS), seq, seq % 2 === 0 ? 'press' : 'lathe')
      await queue.append(range(0, ROWS).map(row => deadLetter(batch, row, new Error('refused'))))
    }
    await queue.close()
  }

  /** In a process of its own. @param {number} fatal @param {string} when @returns {Promise<number|string>} how it ended */
  async function replay (fatal, when) {
    const child = spawn(process.execPath, [PROGRAM, folder, join(folder, 'plant.sqlite'), String(fatal), when], { stdio: 'inherit' })
    const [code, signal] = await once(child, 'exit')
    return signal ?? code
  }
})

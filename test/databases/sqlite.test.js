import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect } from 'chai'
import { open, isTransient } from '../../gateway/databases/sqlite/sink.js'
import { batchOf, failureOf, identity, poisoned, rangesOf, T0 } from './contract/batches.js'
import { markedFixtures, sinkContract, sqlFixtures } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { upsertContract } from './contract/upserts.js'
import { writerContract } from './contract/writer.js'

describe('SQLite sink', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let file
  /** @type {import('../../gateway/databases/sink.js').Sink[]} */
  let opened

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-sqlite-'))
    file = join(folder, 'not', 'there yet', 'sluice.sqlite')
    opened = []
  })

  afterEach(async () => {
    for (const sink of opened) await sink.close()
    await rm(folder, { recursive: true })
  })

  const openSink = async (options = {}) => {
    const sink = await open({ file, ...options })
    opened.push(sink)
    return sink
  }

  /** @param {(database: DatabaseSync) => any} work */
  const withDatabase = async work => {
    await mkdir(join(file, '..'), { recursive: true })
    const database = new DatabaseSync(file)
    try {
      return work(database)
    } finally {
      database.close()
    }
  }

  const rows = (/** @type {string} */ table) => withDatabase(database => {
    const name = `"${table.replaceAll('"', '""')}"`
    const read = database.prepare(`SELECT * FROM ${name} ORDER BY ${table === 'sluice_commits' ? 'seq' : 'time'}`)
    read.setReadBigInts(true)
    return read.all()
      .map(row => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, column === 'time' ? value : plain(value)])))
  })

  sinkContract({
    open: openSink,
    isTransient,
    execute: sql => withDatabase(database => database.exec(sql)),
    rows,
    tables: () => withDatabase(database => database.prepare(
      'SELECT name FROM sqlite_schema WHERE type = \'table\' AND name <> \'sluice_commits\''
    ).all().map(({ name }) => String(name))),
    drop: async table => withDatabase(database => database.exec(`DROP TABLE "${table}"`)),
    guarantee: 'transaction',
    hasColumns: true,
    fixtures: markedFixtures(sql => sql.replace('(', '(/* Sluice */ ')),
    elsewhere: () => openSink({ file: join(folder, 'other.sqlite') }),
    setBack: seq => withDatabase(database => database.exec(`DELETE FROM sluice_commits WHERE sink_table <> '' AND seq >= ${seq};
      DELETE FROM press WHERE force >= ${seq}`)),
    layouts: ['narrow', 'document'],
    nan: null,
    ignoresCase: true
  })

  retentionContract({
    open: openSink,
    rows,
    tells: true,
    layouts: ['narrow', 'document'],
    makeForeign: () => withDatabase(database => database.exec(sqlFixtures.foreign))
  })

  upsertContract({
    open: openSink,
    isTransient,
    rows,
    forget: () => withDatabase(database => database.exec('DELETE FROM sluice_commits WHERE sink_table <> \'\'')),
    execute: async sql => withDatabase(database => database.exec(sql))
  })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => {
      await withDatabase(database => database.exec('CREATE TABLE press (/* Sluice */ force REAL CHECK (force >= 0))'))
      return poisoned(batches, isPoison)
    },
    wrong: [{ what: 'a file that cannot be made', options: { file: '/dev/null/plant.sqlite' }, tells: /ENOTDIR|EEXIST/ }]
  })

  it('commits durably, in the write-ahead log', async () => {
    await (await openSink()).committed()
    expect(await withDatabase(database => database.prepare('PRAGMA journal_mode').get())).to.deep.include({ journal_mode: 'wal' })
  })

  it('keeps apart tables and columns whose names differ by case only, also when opened again', async () => {
    for (let i = 0; i < 2; i++) {
      const sink = await openSink()
      await sink.write([batchOf([1], { source: 'Oven' })])
      await sink.write([batchOf([2], { source: 'oven' })])
    }
    expect((await rows('Oven')).map((/** @type {any} */ { force }) => force)).to.deep.equal([1, 1])
    expect((await rows('oven~0')).map((/** @type {any} */ { force }) => force)).to.deep.equal([2, 2])
  })

  it('waits when another process locks the file, and when it cannot be read or created', async () => {
    const sink = await openSink()
    await sink.prepare([batchOf([1])])
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const locked = await failureOf(() => sink.write([batchOf([1])]))
    other.close()
    expect(locked.message).to.match(/locked/).and.to.include(file)
    expect(isTransient(locked)).to.equal(true)
    await sink.write([batchOf([1])])
    expect(await rows('press')).to.have.length(1)

    await writeFile(join(folder, 'text'), 'This is not a database, but a text of some length.'.repeat(100))
    for (const wrong of [join(folder, 'text'), folder, join(folder, 'text', 'sluice.sqlite')]) {
      const error = await failureOf(async () => (await openSink({ file: wrong })).committed())
      expect(error.message).to.include(wrong)
      expect(isTransient(error)).to.equal(true)
    }
  })

  for (const [what, replace] of /** @type {[string, (copy: string) => Promise<void>][]} */ ([
    ['moved over', copy => rename(copy, file)],
    ['put in the place of', async copy => {
      await rename(file, join(folder, 'moved away.sqlite'))
      await copyFile(copy, file)
    }]
  ])) {
    it(`stores again what is missing after an older copy was ${what} its file`, async () => {
      const copy = join(folder, 'copy.sqlite')
      const sink = await openSink()
      const batches = [0, 1, 2, 3].map(seq => batchOf([seq], { identity: identity(seq) }))
      await sink.write(batches.slice(0, 1))
      await withDatabase(database => database.exec(`VACUUM INTO '${copy}'`))
      for (const batch of batches.slice(1, 3)) await sink.write([batch])
      await replace(copy)
      expect(await failureOf(() => sink.write([batches[3]]))).to.have.property('code', 'SLUICE_SINK_SET_BACK')
      expect(rangesOf(await sink.committed())[0].ranges).to.deep.equal([[0, 0]])
      expect((await sink.write(batches)).duplicates).to.deep.equal([batches[0]])
      expect((await rows('press')).map((/** @type {any} */ { force }) => force)).to.deep.equal([0, 1, 2, 3])
    })
  }

  it('begins a new file where its own was deleted, and says so', async () => {
    const sink = await openSink()
    const batches = [0, 1].map(seq => batchOf([seq], { identity: identity(seq) }))
    await sink.write([batches[0]])
    const { store } = await sink.committed()
    await rm(file)
    expect(await failureOf(() => sink.write([batches[1]]))).to.have.property('code', 'SLUICE_SINK_SET_BACK')
    const after = await sink.committed()
    expect([after.records, after.store === store]).to.deep.equal([[], false])
    await sink.write(batches)
    expect(await rows('press')).to.have.length(2)
  })

  it('makes its file and folder for their owner only', async () => {
    await (await openSink()).write([batchOf([1])])
    const modes = await Promise.all([file, `${file}-wal`, join(file, '..')].map(async path => (await stat(path)).mode & 0o777))
    expect(modes).to.deep.equal([0o600, 0o600, 0o700])
  })

  it('does not take over commit records of version 0.1, and tells what to do', async () => {
    await withDatabase(database => database.exec('CREATE TABLE sluice_commits (sink_table TEXT, gateway TEXT, source TEXT, epoch TEXT, ' +
      'seq INTEGER, last INTEGER, PRIMARY KEY (sink_table, gateway, source, epoch, seq)) WITHOUT ROWID'))
    const error = await failureOf(async () => (await openSink()).committed())
    expect(error.code).to.equal('SLUICE_SINK_RECORDS_OLD')
    expect(error.message).to.include(file).and.to.match(/0\.1.*drop this table/)
    expect(isTransient(error)).to.equal(true)
  })

  it('neither loses, keeps nor doubles a row where it is killed while it removes some', async function () {
    this.timeout(60_000)
    const [kept, rowsOfBatch] = [10, 20]
    let last = -1
    for (let kill = 0; kill < 5; kill++) {
      const child = spawn(process.execPath, [fileURLToPath(new URL('./sqlite-aging.js', import.meta.url)), file, String(kept)])
      const ended = once(child, 'close')
      const until = last + 15 + kill
      for await (const line of createInterface({ input: child.stdout })) {
        last = Number(line)
        if (last === until) child.kill('SIGKILL')
      }
      expect((await ended)[1]).to.equal('SIGKILL')
    }
    const sink = await openSink()
    const { records } = await sink.committed()
    expect(rangesOf({ store: '', records })[0].ranges).to.have.length(1).and.to.have.nested.property('[0][0]', 0)
    const newest = records[records.length - 1].last
    expect(newest).to.be.least(last)
    const again = Array.from({ length: newest + 1 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
    expect((await sink.write(again)).duplicates).to.have.length(newest + 1)
    await sink.span?.()
    await sink.removeBefore?.(T0 + BigInt(newest - kept) * 1_000_000_000n, { maxRows: 1e6 })
    const forces = (await rows('press')).map((/** @type {any} */ { force }) => force)
    expect(forces).to.deep.equal(Array.from({ length: (kept + 1) * rowsOfBatch }, (_, i) => (newest - kept) * rowsOfBatch + i))
  })

  it('uses the room again of rows that were removed', async () => {
    const sink = await openSink()
    /** @param {number} seq */
    const round = async seq => {
      const time = BigInt64Array.from({ length: 2000 }, (_, i) => T0 + BigInt(seq * 2000 + i))
      await sink.write([batchOf(Array(2000).fill(seq), { time, identity: identity(seq) })])
      await sink.span?.()
      while (await sink.removeBefore?.(T0 + BigInt((seq - 2) * 2000), { maxRows: 500 }));
    }
    const pages = () => withDatabase(database => database.prepare('PRAGMA page_count').get()?.page_count)
    for (let seq = 0; seq < 5; seq++) await round(seq)
    const after = await pages()
    for (let seq = 5; seq < 25; seq++) await round(seq)
    expect(await pages()).to.be.most(Number(after) * 1.1)
    expect(await rows('press')).to.have.length(6000)
  })

  it('stores one copy of what two threads write at once', async () => {
    await (await openSink()).prepare([batchOf([0])])
    const workers = [0, 1].map(() => new Worker(new URL('./sqlite-rival.js', import.meta.url), { workerData: { file, batches: 150 } }))
    const counts = await Promise.all(workers.map(async worker => (await once(worker, 'message'))[0]))
      .finally(() => workers.map(worker => worker.terminate()))
    expect(counts[0] + counts[1]).to.equal(150)
    expect((await rows('press')).map((/** @type {any} */ { force }) => force)).to.have.members([...Array(150).keys()])
  })
})

/** @param {unknown} value */
function plain (value) {
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : value
  return value instanceof Uint8Array ? `0x${Buffer.from(value).toString('hex')}` : value
}

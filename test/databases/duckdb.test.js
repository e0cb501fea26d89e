import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdir, mkdtemp, rename, rm, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { DuckDBTimestampNanosecondsValue } from '@duckdb/node-api'
import { expect } from 'chai'
import { openSession } from '../../gateway/databases/duckdb/instance.js'
import { open, isTransient } from '../../gateway/databases/duckdb/sink.js'
import { batchOf, failureOf, identity, poisoned, rangesOf } from './contract/batches.js'
import { markedFixtures, sinkContract, sqlFixtures, withComment } from './contract/contract.js'
import { retentionContract } from './contract/retention.js'
import { upsertContract } from './contract/upserts.js'
import { writerContract } from './contract/writer.js'

describe('DuckDB sink', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let file
  /** @type {import('../../gateway/databases/sink.js').Sink[]} */
  let opened
  /** @type {import('node:child_process').ChildProcess[]} */
  let rivals

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-duckdb-'))
    file = join(folder, 'not', 'there yet', 'sluice.duckdb')
    opened = []
    rivals = []
  })

  afterEach(async () => {
    for (const rival of rivals) await kill(rival)
    for (const sink of opened) await sink.close()
    await rm(folder, { recursive: true })
  })

  const openSink = async (options = {}) => {
    const sink = await open({ file, ...options })
    opened.push(sink)
    return sink
  }

  /** @param {string} sql */
  const query = async sql => {
    const { run, close } = await openSession(file)
    try {
      return await run(sql)
    } finally {
      close()
    }
  }

  const rows = async (/** @type {string} */ table) => {
    const order = table === 'sluice_commits' ? 'seq' : 'time'
    const found = await query(`SELECT * FROM "${table.replaceAll('"', '""')}" ORDER BY ${order}`)
    return found.map(row => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, plain(value)])))
  }

  sinkContract({
    open: openSink,
    isTransient,
    execute: async sql => { await query(sql) },
    rows,
    tables: async () => (await query('SELECT table_name AS name FROM duckdb_tables()'))
      .flatMap(({ name }) => name === 'sluice_commits' ? [] : name),
    drop: async table => { await query(`DROP TABLE "${table}"`) },
    guarantee: 'transaction',
    hasColumns: true,
    fixtures: markedFixtures(withComment),
    elsewhere: () => openSink({ file: join(folder, 'other.duckdb') }),
    setBack: async seq => {
      await query(`DELETE FROM sluice_commits WHERE sink_table <> '' AND seq >= ${seq}; DELETE FROM press WHERE force >= ${seq}`)
    },
    layouts: ['narrow', 'document'],
    nan: NaN,
    ignoresCase: true
  })

  retentionContract({
    open: openSink,
    rows,
    tells: true,
    layouts: ['narrow', 'document'],
    makeForeign: async () => { await query(sqlFixtures.foreign) }
  })

  const forget = () => query('DELETE FROM sluice_commits WHERE sink_table <> \'\'')
  upsertContract({ open: openSink, isTransient, rows, forget, execute: sql => query(sql) })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => {
      await query(withComment('CREATE TABLE press (force DOUBLE CHECK (force >= 0))'))
      return poisoned(batches, isPoison)
    },
    wrong: [{ what: 'a file that cannot be made', options: { file: '/dev/null/plant.duckdb' }, tells: /ENOTDIR|EEXIST/ }]
  })

  /** Another process that stores until it is killed. @param {number} [first]  seq */
  const startRival = (first = 0) => {
    const rival = spawn(process.execPath, [fileURLToPath(new URL('./duckdb-rival.js', import.meta.url)), file, String(first)], {
      stdio: ['ignore', 'pipe', 'inherit']
    })
    rivals.push(rival)
    return { rival, lines: createInterface({ input: rival.stdout })[Symbol.asyncIterator]() }
  }

  /** @param {import('node:child_process').ChildProcess} rival */
  const kill = async rival => {
    if (rival.exitCode !== null || rival.signalCode !== null) return
    rival.kill('SIGKILL')
    await once(rival, 'exit')
  }

  it('keeps all that it has called stored, and all or nothing of a batch, when its process is killed', async () => {
    let next = 0
    for (let round = 0; round < 3; round++) {
      const { rival, lines } = startRival(next)
      for (let stored = 0; stored < 5 + 3 * round; stored++) next = Number((await lines.next()).value) + 1
      await kill(rival)
      const sink = await openSink()
      const [{ ranges: [[first, last]] }] = rangesOf(await sink.committed())
      expect([first, last + 1]).to.satisfy((/** @type {number[]} */ [from, end]) => from === 0 && end >= next)
      next = last + 1
      const counts = await query('SELECT force, count(*) AS count FROM press GROUP BY force ORDER BY force')
      expect(counts).to.deep.equal(Array.from({ length: next }, (_, force) => ({ force, count: 5000n })))
      await sink.close()
    }
  })

  it('waits while another process uses the file, and tells what to do', async () => {
    const { rival, lines } = startRival()
    await lines.next()
    const sink = await openSink()
    const error = await failureOf(() => sink.committed())
    expect(error.message).to.include(file).and.to.match(/lock.*one process at a time.*export to Parquet/)
    expect(isTransient(error)).to.equal(true)
    await kill(rival)
    expect(rangesOf(await sink.committed())).to.have.length(1)
    expect((await startRival().lines.next()).value).to.match(/^true .*one process at a time/)
  })

  it('shares the file with other sinks and with queries of its process, also by another name', async () => {
    await mkdir(dirname(file), { recursive: true })
    await symlink(dirname(file), join(folder, 'link'))
    const others = [await openSink({ table: 'other' }), await openSink({ table: 'linked', file: join(folder, 'link', 'sluice.duckdb') })]
    for (let seq = 0; seq < 20; seq++) await Promise.all(others.map(sink => sink.write([batchOf([seq], { identity: identity(seq) })])))
    for (const sink of others) expect(rangesOf(await sink.committed())[0].ranges).to.deep.equal([[0, 19]])
    expect(await rows('linked')).to.have.length(20)
    await others[0].close()
    await others[1].write([batchOf([20])])
    expect(await rows('linked')).to.have.length(21)
  })

  it('has one file open, not two, where a link leads to where nothing is yet', async () => {
    await mkdir(dirname(file), { recursive: true })
    const link = join(folder, 'link.duckdb')
    await symlink(file, link)
    const linked = await openSink({ file: link, table: 'linked' })
    await linked.write([batchOf([1], { identity: identity(0) })])
    const direct = await openSink({ table: 'direct' })
    await direct.write([batchOf([2], { identity: identity(0) })])
    for (const sink of opened.splice(0)) await sink.close()
    expect(await rows('linked')).to.have.length(1)
    expect(await rows('direct')).to.have.length(1)
  })

  for (const [what, columns] of Object.entries({
    'a unique column': 'time TIMESTAMP_NS, force DOUBLE UNIQUE',
    'a primary key': 'time TIMESTAMP_NS, force DOUBLE PRIMARY KEY',
    'a foreign key': 'time TIMESTAMP_NS, force DOUBLE REFERENCES known (force)',
    'a generated column': 'time TIMESTAMP_NS, other DOUBLE, force DOUBLE GENERATED ALWAYS AS (other * 2)'
  })) {
    it(`does not wait for ever with a row that ${what} refuses`, async () => {
      await query(`CREATE TABLE known (force DOUBLE PRIMARY KEY); INSERT INTO known VALUES (1);
        ${withComment(`CREATE TABLE press (${columns})`)}`)
      const sink = await openSink()
      if (!what.includes('generated')) await sink.write([batchOf([1], { identity: identity(0) })])
      const refused = what.includes('foreign') ? 2 : 1
      const error = await failureOf(() => sink.write([batchOf([refused], { identity: identity(1) })]))
      expect(isTransient(error), error.message).to.equal(false)
    })
  }

  it('stores nothing twice when it is opened and closed all the time', async () => {
    const held = await openSink()
    for (let seq = 0; seq < 20; seq++) {
      const sink = await openSink()
      await Promise.all([sink, held].map(each => each.write([batchOf([seq], { identity: identity(seq) })])))
      await Promise.all([sink.close(), seq % 3 === 0 && held.close()])
    }
    expect((await rows('press')).map(({ force }) => force)).to.have.members([...Array(20).keys()])
  })

  it('stores again what is missing after an older copy was moved over its file, once no query reads it', async () => {
    const sink = await openSink()
    const batches = [0, 1, 2].map(seq => batchOf([seq], { identity: identity(seq) }))
    await sink.write([batches[0]])
    await sink.close()
    const copy = join(folder, 'copy.duckdb')
    await copyFile(file, copy)
    expect((await stat(file)).mode & 0o777).to.equal(0o600)
    const again = await openSink()
    await again.write([batches[1]])
    const reading = await openSession(file)
    await rename(copy, file)
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(await failureOf(() => again.write([batches[2]]))).to.have.property('code', 'SLUICE_SINK_SET_BACK')
    }
    reading.close()
    expect(rangesOf(await again.committed())[0].ranges).to.deep.equal([[0, 0]])
    expect((await again.write(batches)).duplicates).to.deep.equal([batches[0]])
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 1, 2])
  })

  it('tells what to install where the package is missing', () => {
    const hidden = 'data:text/javascript,import{registerHooks}from"node:module";registerHooks({resolve(name,context,next){' +
      'if(name.startsWith("@duckdb/"))throw new Error("hidden");return next(name,context)}})'
    const script = `import { sinkTypes } from '${new URL('../../gateway/databases/index.js', import.meta.url)}'
      const { isTransient, open } = await sinkTypes.duckdb()
      const sink = await open({ file: ${JSON.stringify(file)} })
      await sink.committed().catch(error => console.log(error.code, isTransient(error), error.fix))`
    const told = execFileSync(process.execPath, ['--import', hidden, '--input-type=module', '--eval', script], { encoding: 'utf8' })
    expect(told).to.match(/^SLUICE_DUCKDB_MISSING true Run "npm install @duckdb\/node-api"/)
  })
})

/** @param {any} value */
function plain (value) {
  if (value instanceof DuckDBTimestampNanosecondsValue) return value.nanos
  if (typeof value === 'bigint') return BigInt.asIntN(53, value) === value ? Number(value) : value
  if (typeof value === 'boolean') return Number(value)
  return value?.bytes ? `0x${Buffer.from(value.bytes).toString('hex')}` : value
}

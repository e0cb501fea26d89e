import { appendFile, chmod, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Spool } from '../../../broker/spool/spool.js'
import { Batch } from '../../../gateway/batch/batch.js'
import { check } from './check.js'
import { databaseTypes } from '../databases/index.js'
import { Ledger } from './ledger.js'
import { encode } from '../../../gateway/messages/codecs/arrow/arrow.js'
import { serverTypes, sinkTypes } from '../../../gateway/databases/index.js'
import { requireServer } from '../../servers/programs.js'
import { editsOf } from './edits.js'

/**
 * Three rows, with a value of every kind that the chaos flow has, and one that is missing, as is one of the devices.
 * @param {number} first
 * @param {string[]} devices
 */
function batchFrom (first, devices = ['a', '', 'b']) {
  const rows = [first, first + 1, first + 2]
  return new Batch({
    source: 'press.left',
    time: BigInt64Array.from(rows, row => 1_700_000_000_123_456_789n + BigInt(row)),
    fields: [
      { name: 'force', type: 'float64' },
      { name: 'strain', type: 'float32' },
      { name: 'count', type: 'int32' },
      { name: 'step', type: 'int16' },
      { name: 'level', type: 'uint16' },
      { name: 'id', type: 'int64' },
      { name: 'open', type: 'bool' },
      { name: 'phase', type: 'string' }
    ],
    columns: [
      Float64Array.from(rows, row => row / 3),
      Float32Array.from(rows, row => row / 10),
      Int32Array.from(rows, row => -row),
      Int16Array.from(rows),
      Uint16Array.from(rows, row => 65_535 - row),
      BigInt64Array.from(rows, row => 2n ** 62n + BigInt(row)),
      Uint8Array.from(rows, row => row % 2),
      rows.map(row => `"phase" ${row}`)
    ],
    validity: [null, Uint8Array.of(1, 0, 1), null, null, null, null, null, null],
    tags: { bus: 'can0', device: { values: devices, valid: Uint8Array.of(1, 0, 1) } }
  })
}

/** @param {string} type  of database @param {string} program  that it needs, as SLUICE_REQUIRE names it */
function checkTests (type, program) {
  /** @type {import('../databases/index.js').Database} */
  let database
  /** @type {string} */
  let databaseFolder
  /** @type {import('./edits.js').Edits} */
  let edits
  /** @type {string} */
  let folder
  /** @type {Spool} */
  let spool
  /** @type {import('../../../gateway/databases/sink.js').Sink} */
  let sink
  /** @type {import('../../../gateway/databases/sink.js').Server|undefined} */
  let server
  /** @type {import('./check.js').Store} */
  let store

  before(async function () {
    const { missing, start } = await databaseTypes[type]()
    requireServer(this, program, await missing())
    databaseFolder = await mkdtemp(join(tmpdir(), 'sluice-check-'))
    await chmod(databaseFolder, 0o711)
    database = await start(databaseFolder)
    edits = editsOf[database.type](database)
  })

  after(async () => {
    await database?.stop()
    if (databaseFolder) await rm(databaseFolder, { recursive: true })
  })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-check-'))
    await mkdir(join(folder, 'ledger'))
    spool = await Spool.open({
      folder: join(folder, 'spool'),
      gateway: 'gw',
      encode,
      fsync: 'system',
      ledger: join(folder, 'ledger')
    })
    await edits.clear()
    server = database.server && (await serverTypes[database.type]()).connect({ ...database.server, ...database.credentials })
    sink = await (await sinkTypes[database.type]()).open(database.sink, { server })
    store = await database.openStore()
  })

  afterEach(async () => {
    await sink?.close()
    await server?.close()
    await store?.close()
    await rm(folder, { recursive: true })
  })

  /**
   * Three batches are produced; those of some seqs are stored, or others in their place.
   * @param {number[]} seqs
   * @param {(seq: number) => Batch} [stored]
   */
  async function produceAndStore (seqs, stored = seq => batchFrom(3 * seq)) {
    for (const seq of [0, 1, 2]) {
      const batch = batchFrom(3 * seq)
      const [identity] = await spool.append(batch)
      if (!seqs.includes(seq)) continue
      await sink.prepare([stored(seq)])
      await sink.write([stored(seq).withIdentity(identity)])
    }
    await spool.close()
  }

  /** @param {[reported?: Record<string, number>, excusedUntilMs?: number]} why  something may be missing */
  const verdict = async (...why) => check(await Ledger.open([join(folder, 'ledger')], join(folder, 'copies')), store, ...why)

  it('finds that all is there, once', async () => {
    await produceAndStore([0, 1, 2])
    expect(await verdict()).to.deep.equal({ stored: 9, lost: 0, countedLost: 0, doubled: 0, findings: [] })
  })

  it('finds a batch that was not stored', async () => {
    await produceAndStore([0, 2])
    const { stored, lost, doubled, findings } = await verdict()
    expect({ stored, lost, doubled }).to.deep.equal({ stored: 6, lost: 3, doubled: 0 })
    expect(findings[0]).to.match(/^press\.left: lost 1 × 1700000000123456792 .*epoch \d+-\w+, seq 1, row 0; its commit record is not there/)
  })

  it('counts what is missing apart where the gateway reports it, and there is a reason', async () => {
    await produceAndStore([0, 2])
    const lastMs = 1_700_000_000_123
    expect(await verdict({ 'press.left': 3 }, lastMs)).to.include({ stored: 6, lost: 0, countedLost: 3 })
    expect(await verdict({ 'press.left': 2 }, lastMs)).to.include({ lost: 1, countedLost: 2 })
    expect(await verdict({ 'press.left': 3 }, lastMs - 1)).to.include({ lost: 3, countedLost: 0 })
  })

  it('finds that nothing was stored', async () => {
    await produceAndStore([])
    expect(await verdict()).to.include({ stored: 0, lost: 9, doubled: 0 })
  })

  it('finds a row that is missing though its batch was committed', async () => {
    await produceAndStore([0, 1, 2])
    await edits.remove(-4)
    const { stored, lost, doubled, findings } = await verdict()
    expect({ stored, lost, doubled }).to.deep.equal({ stored: 8, lost: 1, doubled: 0 })
    expect(findings).to.have.length(1)
    expect(findings[0]).to.match(/seq 1, row 1; its commit record is there/)
  })

  it('finds a row that was stored twice', async () => {
    await produceAndStore([0, 1, 2])
    await edits.repeat(-4)
    const { stored, lost, doubled, findings } = await verdict()
    expect({ stored, lost, doubled }).to.deep.equal({ stored: 10, lost: 0, doubled: 1 })
    expect(findings[0]).to.match(/^press\.left: 1 × too often .*seq 1, row 1;/)
  })

  it('finds that a row was lost where another makes up the count', async () => {
    await produceAndStore([0, 1, 2])
    await edits.remove(-4)
    await edits.repeat(-5)
    expect(await verdict()).to.include({ stored: 9, lost: 1, doubled: 1 })
  })

  it('takes a row with another value for one that was never produced', async () => {
    await produceAndStore([0, 1, 2])
    await edits.change(-3, 0.5)
    const { stored, lost, doubled, findings } = await verdict()
    expect({ stored, lost, doubled }).to.deep.equal({ stored: 9, lost: 1, doubled: 1 })
    expect(findings[1]).to.match(/strain=0\.5 \(never produced\)$/)
  })

  it('takes rows whose tags have moved for others', async () => {
    await produceAndStore([0, 1, 2], seq => batchFrom(3 * seq, seq === 1 ? ['b', '', 'a'] : undefined))
    const { stored, lost, doubled, findings } = await verdict()
    expect({ stored, lost, doubled }).to.deep.equal({ stored: 9, lost: 2, doubled: 2 })
    expect(findings[0]).to.match(/lost 1 × 1700000000123456792 bus="can0" .*device="a"/)
  })

  it('does not count a batch that was not written whole', async () => {
    await produceAndStore([0, 1, 2])
    const [segment] = await readdir(join(folder, 'ledger'))
    await appendFile(join(folder, 'ledger', segment), encode(batchFrom(9)).subarray(0, 500))
    expect(await verdict()).to.include({ stored: 9, lost: 0, doubled: 0 })
  })
}

describe('Kill test: the check', () => {
  describe('of SQLite', () => checkTests('sqlite', 'sqlite'))
  describe('of DuckDB', () => checkTests('duckdb', 'duckdb'))
  describe('of PostgreSQL', () => checkTests('postgresql', 'postgresql'))
  describe('of MariaDB', () => checkTests('mysql', 'mariadb'))
  describe('of MongoDB', () => checkTests('mongodb', 'mongodb'))
  describe('of InfluxDB', () => checkTests('influxdb', 'influxdb'))
  describe('of ClickHouse', () => checkTests('clickhouse', 'clickhouse'))
  describe('of the old ClickHouse', () => checkTests('clickhouse-old', 'clickhouse-old'))
  describe('of Cassandra', () => checkTests('cassandra', 'cassandra'))
  describe('of Kafka', () => checkTests('kafka', 'kafka'))
  describe('of files', () => checkTests('file', 'file'))
})

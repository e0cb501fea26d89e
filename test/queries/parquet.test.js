import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect } from 'chai'
import { DAY_NS } from '../../gateway/batch/time.js'
import { readerTypes } from '../../gateway/databases/index.js'
import { open as openSink } from '../../gateway/databases/sqlite/sink.js'
import { exportParquet } from '../../gateway/queries/parquet.js'
import { columnsOf, run } from '../../gateway/queries/run.js'
import { batchOf, failureOf, rowOf } from '../databases/contract/batches.js'

/** 2026-11-22 */
const DAY = 20_779n * DAY_NS

describe('Export to Parquet', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let out

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-parquet-'))
    out = join(folder, 'not', 'there yet', 'it\'s')
  })

  afterEach(() => rm(folder, { recursive: true }))

  /** What an independent DuckDB reads. @param {string} sql @returns {Promise<any[]>} */
  const query = async sql => {
    const instance = await DuckDBInstance.create(':memory:')
    const connection = await instance.connect()
    try {
      return await (await connection.run(sql.replace('FILES', `'${join(out, '*.parquet').replaceAll('\'', '\'\'')}'`))).getRowObjects()
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
  }

  /** @param {string} name @param {object} parameters @param {{layout?: string, [more: string]: any}} [options] */
  const exported = async (name, parameters, { layout = 'wide', ...more } = {}) => {
    const reader = await (await readerTypes.sqlite()).open({ file: join(folder, 'store.sqlite'), table: 'press', layout }, {})
    try {
      const pages = run(reader, { name, ...parameters }, { wholeDays: true, limit: Infinity, ...more })
      return await exportParquet(pages, { columns: columnsOf({ name, ...parameters }), folder: out, work: join(folder, 'work'), ...more })
    } finally {
      await reader.close()
    }
  }

  /** @param {string} layout @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const store = async (layout, ...batches) => {
    const sink = await openSink({ file: join(folder, 'store.sqlite'), layout })
    await sink.write(batches)
    await sink.close()
  }

  /** @param {bigint} from @param {bigint} step @param {number} rows */
  const ramp = (from, step, rows) =>
    batchOf(Array.from({ length: rows }, (_, i) => i), { time: BigInt64Array.from({ length: rows }, (_, i) => from + step * BigInt(i)) })

  it('writes a file for each UTC day, its times exact to the nanosecond', async () => {
    await store('wide', ramp(DAY - 3n, 1n, 6), ramp(DAY + 2n * DAY_NS, 1n, 25_000))
    const files = await exported('raw', { sensors: ['force'], from: DAY - DAY_NS, to: DAY + 3n * DAY_NS })
    expect(files.map(({ file, rows }) => [file, rows])).to.deep.equal([
      [join(out, '2026-11-21.parquet'), 3], [join(out, '2026-11-22.parquet'), 3], [join(out, '2026-11-24.parquet'), 25_000]
    ])
    expect((await readdir(out)).toSorted()).to.deep.equal(['2026-11-21.parquet', '2026-11-22.parquet', '2026-11-24.parquet'])
    expect(files.every(({ bytes }) => bytes > 100)).to.equal(true)
    const rows = await query('SELECT time, sensor, value FROM FILES WHERE time < TIMESTAMP \'2026-11-23\' ORDER BY time')
    expect(rows.map(({ time, sensor, value }) => [time.nanos - DAY, sensor, value])).to.deep.equal(
      Array.from({ length: 6 }, (_, i) => [BigInt(i) - 3n, 'force', i]))
    const kept = await query('SELECT count(*) AS count, sum(value) AS sum FROM FILES WHERE time >= TIMESTAMP \'2026-11-24\'')
    expect(kept).to.deep.equal([{ count: 25_000n, sum: 25_000 * 24_999 / 2 }])
  })

  it('exports whole days, and again in place of the files that are there', async () => {
    await store('wide', ramp(DAY, 3_600_000_000_000n, 24))
    const range = { sensors: ['force'], from: DAY + 5n, to: DAY + 6n }
    expect(await exported('raw', range)).to.have.length(1)
    expect(await query('SELECT count(*) AS count FROM FILES')).to.deep.equal([{ count: 24n }])
    await store('wide', ramp(DAY + 1n, 1n, 6))
    await exported('raw', range)
    expect(await query('SELECT count(*) AS count FROM FILES')).to.deep.equal([{ count: 30n }])
  })

  for (const layout of ['wide', 'narrow', 'document']) {
    it(`exports all of a table where no sensors are named: ${layout}`, async () => {
      await store(layout, rowOf({
        n: ['float64', 0.5], big: ['int64', 2n ** 62n + 1n], on: ['bool', 1], text: ['string', 'ü'], no: ['float64', undefined]
      }))
      await exported('raw', { from: 0n, to: DAY }, { layout })
      expect(await query('SELECT * EXCLUDE time FROM FILES ORDER BY sensor')).to.deep.equal([
        { sensor: 'big', value: null, value_int64: 2n ** 62n + 1n, value_string: null },
        { sensor: 'n', value: 0.5, value_int64: null, value_string: null },
        { sensor: 'on', value: 1, value_int64: null, value_string: null },
        { sensor: 'text', value: null, value_int64: null, value_string: 'ü' }
      ])
    })
  }

  it('exports the results of the other queries', async () => {
    await store('wide', ramp(DAY, 3_600_000_000_000n, 48))
    const range = { sensors: ['force'], from: DAY, to: DAY + 2n * DAY_NS }
    expect(await exported('mean', { ...range, bucketHours: 12 })).to.have.length(2)
    const means = await query('SELECT epoch_ns(time) AS time, sensor, mean FROM FILES ORDER BY time')
    expect(means.map(({ time, mean }) => [time - DAY, mean])).to.deep.equal(
      [[0n, 5.5], [DAY_NS / 2n, 17.5], [DAY_NS, 29.5], [DAY_NS * 3n / 2n, 41.5]])
    out = join(folder, 'deviation')
    await exported('deviation', { ...range, perSensor: true })
    expect((await query('SELECT sensor, count, stddev FROM FILES'))).to.deep.equal([{ sensor: 'force', count: 48n, stddev: 14 }])
  })

  it('leaves the day before alone where intervals do not divide a day', async () => {
    await store('wide', ramp(DAY - DAY_NS, 3_600_000_000_000n, 72))
    const hours5 = { sensors: ['force'], bucketHours: 5 }
    const means = () => query('SELECT epoch_ns(time) AS time, mean FROM FILES ORDER BY time')
    const files = await exported('mean', { ...hours5, from: DAY - DAY_NS, to: DAY + 2n * DAY_NS })
    expect(files.map(({ file }) => file.slice(out.length + 1))).to.deep.equal(
      ['2026-11-21.parquet', '2026-11-22.parquet', '2026-11-23.parquet'])
    const whole = await means()
    await exported('mean', { ...hours5, from: DAY + DAY_NS + 5n, to: DAY + DAY_NS + 9n })
    expect(await means()).to.deep.equal(whole)
    expect(await exported('mean', { ...hours5, bucketHours: 168, from: DAY + 5n, to: DAY + 9n })).to.deep.equal([])
  })

  it('removes what an export left that was killed', async () => {
    await store('wide', ramp(DAY, 1n, 1))
    await mkdir(join(folder, 'work', 'killed'), { recursive: true })
    await exported('raw', { sensors: ['force'], from: DAY, to: DAY + 1n })
    expect(await readdir(join(folder, 'work'))).to.deep.equal([])
  })

  it('leaves no half of a file, and none of its own files, when it ends early or cannot write', async () => {
    await store('wide', ramp(DAY, DAY_NS / 10_000n, 30_000))
    const abort = new AbortController()
    const error = await failureOf(() => exported('raw', { sensors: ['force'], from: DAY, to: DAY + 4n * DAY_NS }, {
      pageRows: 1000,
      signal: abort.signal,
      progress: (/** @type {number} */ rows) => { if (rows === 15_000) abort.abort(new Error('enough')) }
    }))
    expect(error.message).to.match(/enough/)
    expect(await readdir(out)).to.deep.equal(['2026-11-22.parquet'])
    expect(await query('SELECT count(*) AS count FROM FILES')).to.deep.equal([{ count: 10_000n }])
    out = join(folder, 'file')
    await writeFile(out, '')
    expect((await failureOf(() => exported('raw', { sensors: ['force'], from: DAY, to: DAY + 1n }))).code).to.equal('SLUICE_QUERY_EXPORT')
  })

  it('has no files of no rows', async () => {
    await store('wide', ramp(DAY, 1n, 1))
    expect(await exported('raw', { sensors: ['force'], from: 0n, to: DAY_NS })).to.deep.equal([])
  })
})

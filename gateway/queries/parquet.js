import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError, describe } from '../base/errors.js'
import { makePrivateFolder, syncFolder } from '../base/files.js'
import { Batch, COLUMN_TYPES } from '../batch/batch.js'
import { floor } from '../batch/layouts.js'
import { DAY_NS, formatTime } from '../batch/time.js'
import { openSession } from '../databases/duckdb/instance.js'
import { appendRows } from '../databases/duckdb/rows.js'
import { dialect } from '../databases/duckdb/tables.js'
import { declarationIn } from '../databases/sql/tables.js'

/**
 * Rows of queries as Parquet files, written by DuckDB.
 *
 * @typedef {import('./index.js').Row} Row
 * @typedef {{file: string, rows: number, bytes: number}} Written
 * @typedef {{name: string, type: 'time'|'int64'|'float64'|'string', valueOf: (row: any) => any}} Column  a value that is missing is null or
 *   undefined
 */

const declaration = declarationIn(dialect)

/** Those of a row's properties; others are numbers. @type {Record<string, Column[]>} */
const COLUMNS = {
  time: [{ name: 'time', type: 'time', valueOf: ({ time }) => time }],
  end: [{ name: 'end', type: 'time', valueOf: ({ end }) => end }],
  sensor: [{ name: 'sensor', type: 'string', valueOf: ({ sensor }) => sensor }],
  other: [{ name: 'other', type: 'string', valueOf: ({ other }) => other }],
  count: [{ name: 'count', type: 'int64', valueOf: ({ count }) => BigInt(count) }],
  // As the narrow layout has it, so that all files of a table have the same columns.
  value: [
    { name: 'value', type: 'float64', valueOf: ({ value }) => /number|boolean/.test(typeof value) ? Number(value) : null },
    { name: 'value_int64', type: 'int64', valueOf: ({ value }) => typeof value === 'bigint' ? value : null },
    { name: 'value_string', type: 'string', valueOf: ({ value }) => typeof value === 'string' ? value : null }
  ]
}

/**
 * Writes a file for each UTC day that has rows, `2026-11-22.parquet`, in the place of one that is there: a program that reads meanwhile
 * finds the old file or the new one, and all of it.
 * @param {AsyncIterable<{rows: any[]}>} pages  rows in the order of time, their times in BigInt
 * @param {object} options
 * @param {readonly string[]} options.columns  of the rows
 * @param {string} options.folder
 * @param {string} options.work  a folder of exports alone, on the same disk: a program may read all that is in `folder` at any time
 * @param {(rows: number) => void} [options.progress]
 * @returns {Promise<Written[]>}
 * @throws {SluiceError} SLUICE_DUCKDB_MISSING, SLUICE_QUERY_EXPORT, and what reading the pages throws
 */
export async function exportParquet (pages, { columns: names, folder, work: root, progress = () => {} }) {
  const columns = names.flatMap(name => COLUMNS[name] ?? numbers(name))
  /** @type {Written[]} */
  const files = []
  try {
    await mkdir(folder, { recursive: true })
    const work = await workFolder(root)
    /** @type {DayRows|undefined} */
    let opened
    try {
      const rows = opened = await DayRows.open(work, columns)
      const finish = async () => { if (rows.count > 0) files.push(await rows.finish(folder)) }
      let total = 0
      for await (const { rows: page } of pages) {
        for (const [day, some] of Map.groupBy(page, ({ time }) => floor(time, DAY_NS))) {
          if (day !== rows.day) await finish()
          await rows.add(day, some)
        }
        progress(total += page.length)
      }
      await finish()
    } finally {
      opened?.close()
      await rm(work, { recursive: true })
      working.delete(work)
    }
  } catch (error) {
    if (error instanceof SluiceError) throw error
    throw new SluiceError('SLUICE_QUERY_EXPORT', `Cannot write Parquet files to "${folder}": ${describe(error)}.`, { cause: error })
  }
  return files
}

/** The folders of the exports that run. @type {Set<string>} */
const working = new Set()

/** A folder for one export. What an earlier process left when it was killed is removed. @param {string} root */
async function workFolder (root) {
  const work = join(root, randomUUID())
  working.add(work)
  await makePrivateFolder(work)
  for (const name of await readdir(root)) {
    if (!working.has(join(root, name))) await rm(join(root, name), { recursive: true, force: true })
  }
  return work
}

/** In one step, even from another disk. @param {string} made @param {string} file */
async function moveInto (made, file) {
  try {
    await rename(made, file)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EXDEV') throw error
    const beside = `${file}.new`
    await copyFile(made, beside)
    await rename(beside, file)
  }
}

/** @param {string} name @returns {Column} */
function numbers (name) {
  return { name, type: 'float64', valueOf: row => row[name] }
}

/** The rows of one day after the other, in a DuckDB file, so that a day may be larger than the memory. */
class DayRows {
  /** @type {bigint|null} */
  day = null
  count = 0

  /**
   * @param {string} work  a folder
   * @param {Column[]} columns  time first
   * @param {import('../databases/duckdb/instance.js').Session} session
   */
  constructor (work, columns, session) {
    this.work = work
    this.columns = columns
    this.session = session
    this.placed = columns.map(({ name, type }, i) => {
      const origin = i === 0 ? /** @type {const} */ ('time') : /** @type {const} */ ('field')
      return { name, type, kind: dialect.columnTypes[type], origin, field: i - 1 }
    })
  }

  /** @param {string} work @param {Column[]} columns */
  static async open (work, columns) {
    return new DayRows(work, columns, await openSession(join(work, 'rows.duckdb')))
  }

  /** @param {bigint} day @param {any[]} rows */
  async add (day, rows) {
    if (this.count === 0) {
      // Rolled back at the day's end, its rows never wait for the disk.
      const declared = this.columns.map(({ name, type }) => declaration({ name, type, origin: 'field' }))
      await this.session.run(`BEGIN; CREATE TABLE rows (${declared.join(', ')})`)
    }
    this.day = day
    this.count += rows.length
    await appendRows(this.session, { table: 'rows', columns: this.placed }, [batchOf(rows, this.columns)])
  }

  /** @param {string} folder @returns {Promise<Written>} */
  async finish (folder) {
    const name = `${formatTime(/** @type {bigint} */ (this.day)).slice(0, 10)}.parquet`
    const made = join(this.work, name)
    await this.session.run(`COPY rows TO '${made.replaceAll('\'', '\'\'')}' (FORMAT parquet, COMPRESSION zstd); ROLLBACK`)
    const handle = await open(made, 'r+')
    await handle.sync()
    const { size: bytes } = await handle.stat()
    await handle.close()
    const file = join(folder, name)
    await moveInto(made, file)
    await syncFolder(file)
    const rows = this.count
    this.count = 0
    return { file, rows, bytes }
  }

  close () {
    this.session.close()
  }
}

/** @param {any[]} rows @param {Column[]} columns  time is the first */
function batchOf (rows, [, ...columns]) {
  const fields = columns.map(({ name, type }) => ({ name, type: type === 'time' ? /** @type {const} */ ('int64') : type }))
  const cells = columns.map(({ valueOf }) => rows.map(valueOf))
  return new Batch({
    source: 'rows',
    time: BigInt64Array.from(rows, ({ time }) => time),
    fields,
    columns: cells.map((values, i) => {
      const { type } = fields[i]
      return /** @type {any} */ (COLUMN_TYPES)[type].from(values, (/** @type {any} */ value) => value ?? (type === 'int64' ? 0n : 0))
    }),
    validity: cells.map(values => Uint8Array.from(values, value => value == null ? 0 : 1))
  })
}

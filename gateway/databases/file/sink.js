import { resolve } from 'node:path'
import { describe, SluiceError } from '../../base/errors.js'
import { decide, wantedRecords } from '../claims.js'
import { committedRecords } from '../commit-records.js'
import { withDefaults } from '../../base/defaults.js'
import { arrangement } from '../../batch/layouts.js'
import { tableNames } from '../names.js'
import { isRefusal } from '../refusal.js'
import { LastRecords, setBack } from '../set-back.js'
import { fitTable, shapeOf, wideColumns } from '../wide.js'
import { removeFiles, spanOfFiles } from './aging.js'
import { useFolder } from './folder.js'
import { formats } from './formats.js'
import { dialect, fileName, fileRules, isFileName } from './names.js'
import { schema } from './sink.schema.js'
import { targetsOf } from './targets.js'

export { schema }

/**
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../sink.js').Sink} Sink
 * @typedef {import('../../base/log.js').Log} Log
 * @typedef {import('./folder.js').Folder} Folder
 * @typedef {import('./folder.js').Opened} Opened
 * @typedef {{table: string, prefix: string, columns: import('./formats.js').Piece['columns']}} Place  where the rows of one shape of batch
 *   go
 */

const MIB = 2 ** 20
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const MAX_SHAPES = 1000

/** Unfinished files of one table, whose columns may keep changing. */
const MAX_FILES = 8

/** @type {Log} */
const SILENT = { info () {}, warn () {}, error () {} }

/** @param {unknown} error */
export function isTransient (error) {
  return !isRefusal(error, () => false)
}

/**
 * The folder is opened when it is first needed, and again after an error: a sink whose disk is not mounted yet waits for it.
 * @param {Record<string, unknown>} options  see the schema
 * @param {{log?: Log}} [context]
 * @returns {Promise<Sink>}
 */
export async function open (options, { log = SILENT } = {}) {
  return new FileSink(withDefaults(schema, options), log)
}

/** @implements {Sink} */
class FileSink {
  #path
  #log
  #options
  #format
  #names
  #arrange
  /** @type {Map<string, Place>} */
  #places = new Map()
  /** @type {Set<string>} */
  #sources = new Set()
  #last = new LastRecords()
  /** @type {Promise<Folder>|null} */
  #folder = null

  /** @param {Record<string, any>} options @param {Log} log */
  constructor ({ folder, file, format, timeFormat, warp10Format, layout, intervalMs, maxMegabytes, maxMinutes, keepDays, fsync }, log) {
    this.#path = resolve(folder)
    this.#log = log
    this.#options = {
      formatName: /** @type {import('./formats.js').FormatName} */ (format),
      writing: { timeFormat, layout, warp10Format },
      maxBytes: maxMegabytes * MIB,
      ageMs: maxMinutes * MINUTE_MS || Math.ceil(keepDays * DAY_MS), // what is to go has to be finished
      syncs: fsync === 'write'
    }
    this.#format = formats[this.#options.formatName]
    this.#names = tableNames(file, fileRules)
    this.#arrange = this.#format.ownLayouts?.includes(layout) ? (/** @type {Batch} */ batch) => batch : arrangement({ layout, intervalMs })
  }

  /** @param {Batch[]} batches */
  async prepare (batches) {
    await this.#attempt(async () => {
      for (const batch of batches) {
        if (batch.rows > 0 && !this.#places.has(keyOf(batch))) this.#place(batch)
      }
    })
  }

  async committed () {
    return this.#attempt(async (_folder, { journal }) => {
      const rows = journal.rows.filter(row => this.#owns(row))
      return { store: journal.store, records: committedRecords(rows), isSetBack: this.#last.read(this.#last.all, rows) }
    })
  }

  /**
   * @param {Batch[]} batches
   * @param {{signal?: AbortSignal, probe?: boolean}} [options]
   */
  async write (batches, { signal, probe = false } = {}) {
    signal?.throwIfAborted()
    return this.#attempt(async (folder, opened) => {
      const last = this.#last.all
      this.#checkLast(last.filter(claim => !opened.journal.find(claim)))
      const wanted = wantedRecords(batches, source => this.#inRecords(source))
      const { fresh, duplicates, clashes, records } = decide(batches, wanted, claim => opened.journal.find(claim), probe)
      const targets = await this.#encoded(folder, opened, fresh)
      if (!probe) {
        /** @type {import('./data-file.js').DataFile[]} */
        const written = []
        for (const target of targets) written.push(await this.#append(folder, opened, target, written))
        if (this.#options.syncs) await Promise.all(written.map(file => file.sync()))
        await folder.commit(opened, records, written)
        this.#last.committed(last, records)
      }
      return { duplicates, clashes }
    })
  }

  /** @param {import('../sink.js').Head[]} heads */
  async compact (heads) {
    await this.#attempt((_folder, { journal }) => journal.compact(heads, row => this.#owns(row)))
  }

  /** @type {NonNullable<Sink['span']>} */
  async span () {
    return this.#attempt((folder, opened) => spanOfFiles(folder.path, opened, this.#namings(opened)))
  }

  /** @type {NonNullable<Sink['removeBefore']>} */
  async removeBefore (before) {
    await this.#attempt((folder, opened) => removeFiles(folder.path, opened, this.#namings(opened), before))
    return 0
  }

  async close () {
    const folder = await this.#folder?.catch(() => null)
    this.#folder = null
    await folder?.release()
  }

  /**
   * The batches' rows as bytes, and the files they go into. Nothing has been written yet.
   * @param {Folder} folder
   * @param {Opened} opened
   * @param {Batch[]} batches
   */
  async #encoded (folder, opened, batches) {
    const pieces = batches.filter(({ rows }) => rows > 0)
      .map(batch => ({ ...this.#places.get(keyOf(batch)) ?? this.#place(batch), batch: this.#arrange(batch) }))
      .filter(({ batch }) => batch.rows > 0)
    const targets = []
    for (const [table, its] of Map.groupBy(pieces, piece => piece.table)) {
      const files = await this.#unfinished(folder, opened, table)
      for (const target of targetsOf(its, files, this.#format)) {
        const buffers = this.#format.encode(target.columns, target.pieces, this.#options.writing)
        if (buffers.length > 0) targets.push({ ...target, table, prefix: its[0].prefix, buffers })
      }
    }
    return targets
  }

  /**
   * The files of a table that can still be appended to, oldest first.
   * @param {Folder} folder
   * @param {Opened} opened
   * @param {string} table
   */
  async #unfinished (folder, opened, table) {
    const files = [...opened.files.values()].filter(({ entry }) => entry.table === table)
    const intact = await Promise.all(files.map(file => file.isIntact()))
    const gone = files.filter((_, i) => !intact[i])
    if (gone.length > 0) await folder.leave(opened, gone)
    const [due, unfinished] = [true, false].map(isDue => files.filter((file, i) => intact[i] && file.isDue === isDue))
    if (due.length > 0) await folder.finish(opened, due)
    return unfinished
  }

  /**
   * @param {Folder} folder
   * @param {Opened} opened
   * @param {import('./targets.js').Target & {table: string, prefix: string, buffers: Buffer[]}} target
   * @param {import('./data-file.js').DataFile[]} written  so far by the same write: these are not finished, as what is in them is not
   *   committed yet
   */
  async #append (folder, opened, { file, columns, table, prefix, buffers }, written) {
    const { formatName, writing, maxBytes, ageMs } = this.#options
    const bytes = buffers.reduce((sum, { length }) => sum + length, 0)
    if (file && file.bytes + bytes <= maxBytes) {
      await file.append(buffers)
      return file
    }
    const unfinished = [...opened.files.values()].filter(({ entry }) => entry.table === table)
    const excess = Math.max(0, unfinished.length - MAX_FILES + 1)
    await folder.finish(opened, file ? [file] : unfinished.filter(each => !written.includes(each)).slice(0, excess))
    const dueMs = ageMs > 0 ? (Math.floor(Date.now() / ageMs) + 1) * ageMs : null
    const begun = await folder.begin(opened, { prefix, table, format: formatName, columns, dueMs })
    await begun.append([this.#format.head(columns, writing), ...buffers])
    return begun
  }

  /** How the files of this sink are called. @param {Opened} opened @returns {import('./aging.js').Naming[]} */
  #namings ({ journal }) {
    for (const row of journal.rows) if (this.#owns(row)) this.#sources.add(row.source)
    const names = new Set(Array.from(this.#sources, source => this.#names.inRecords(source)))
    const { ending } = this.#format
    return Array.from(names).filter(isFileName).map(name => ({ table: `${name}.${ending}`, prefix: fileName(name), ending }))
  }

  /** @param {Batch} batch @returns {Place} */
  #place (batch) {
    const empty = this.#arrange(batch.slice(0, 0))
    const name = this.#names.of(batch.source)
    const wanted = wideColumns(empty, dialect, !this.#names.perSource)
    fitTable(name, wanted, [], dialect)
    const columns = wanted.map(column => column.field === undefined ? column : { ...column, unit: empty.fields[column.field].unit })
    this.#format.encode(columns, [{ batch: empty, columns }], this.#options.writing) // refuses names that the format cannot have
    this.#sources.add(batch.source)
    const place = { table: this.#inRecords(batch.source), prefix: fileName(name), columns }
    if (this.#places.size >= MAX_SHAPES) this.#places.clear()
    this.#places.set(keyOf(batch), place)
    return place
  }

  /** @param {import('../claims.js').Claim[]} missing  of the last records */
  #checkLast (missing) {
    if (missing.length === 0) return
    this.#last.forget(missing)
    throw setBack(`Folder "${this.#path}"`)
  }

  /** @param {{table: string, source: string}} row */
  #owns ({ table, source }) {
    return table === this.#inRecords(source)
  }

  /** @param {string} source */
  #inRecords (source) {
    return `${this.#names.inRecords(source)}.${this.#format.ending}`
  }

  /**
   * @template T
   * @param {(folder: Folder, opened: Opened) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async #attempt (work) {
    try {
      this.#folder ??= useFolder(this.#path, this.#log)
      const folder = await this.#folder.catch(error => {
        this.#folder = null
        throw error
      })
      return await folder.run(opened => work(folder, opened))
    } catch (error) {
      if (error instanceof SluiceError) throw error
      throw new SluiceError('SLUICE_SINK_FILE', `Folder "${this.#path}": ${describe(error)}.`, { cause: error })
    }
  }
}

/** One string for all batches that have a place. @param {Batch} batch */
function keyOf (batch) {
  return shapeOf(batch) + JSON.stringify(batch.fields.map(({ unit }) => unit))
}

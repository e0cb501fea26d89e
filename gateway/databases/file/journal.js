import { LineFile } from '../../base/line-file.js'
import { RecordSet } from '../record-set.js'

/**
 * What a folder's data files hold: which batches, and up to which byte. It is kept beside the data files and not in them, so that those are
 * plain CSV, lines or Arrow to all other programs.
 *
 * A file of lines, one after another (see LineFile for how they survive): data are on the disk before the line that counts them, and that
 * line is the commit of all the files written at once.
 *
 * @typedef {import('../../batch/batch.js').Identity} Identity
 *
 * @typedef {object} Entry  an unfinished data file
 * @property {string} name
 * @property {string} table  whose rows it holds
 * @property {import('./formats.js').FormatName} format
 * @property {number} number  of the table's files so far
 * @property {import('./formats.js').Column[]} columns
 * @property {number} length  bytes of committed rows, and what comes before them
 * @property {number|null} dueMs  when it is finished at the latest, since 1970
 *
 * @typedef {import('../record-set.js').Stored} Stored
 * @typedef {{begun: Entry}|{finished: string}|{stored: Stored[], lengths: Record<string, number>}|{numbers: Record<string, number>}} Line
 */

/** A journal smaller than this is not rewritten. */
const TIDY_BYTES = 2 ** 20
const TIDY_FACTOR = 4

export class Journal {
  /** The unfinished data files by name. @type {Map<string, Entry>} */
  entries = new Map()
  #records = new RecordSet()
  /** The number of each table's last file. @type {Map<string, number>} */
  #numbers = new Map()
  #lines = /** @type {LineFile} */ (/** @type {unknown} */ (null))
  #tidyBytes = 0

  /** @param {string} path  created when missing */
  static async open (path) {
    const journal = new Journal()
    journal.#lines = await LineFile.open(path, line => journal.#add(line))
    return journal
  }

  /** Lines that cannot be read, not counting a torn end. */
  get damaged () { return this.#lines.damaged }

  /** @param {string} table @param {Identity} identity */
  has (table, identity) {
    return this.#records.has(table, identity)
  }

  /** @param {(table: string, source: string) => boolean} isOwn */
  committed (isOwn) {
    return this.#records.committed(isOwn)
  }

  /** @param {string} table */
  lastNumber (table) {
    return this.#numbers.get(table) ?? 0
  }

  /** Announces a data file before it is created: one that is announced and holds nothing is removed after a crash. @param {Entry} entry */
  begin (entry) {
    return this.#append([{ begun: entry }])
  }

  /** @param {string[]} names */
  async finish (names) {
    if (names.length > 0) await this.#append(names.map(name => ({ finished: name })))
  }

  /**
   * Once it has resolved, the rows are stored, whatever happens.
   * @param {{table: string, identity: Identity}[]} batches
   * @param {Record<string, number>} lengths  of the data files written
   */
  commit (batches, lengths) {
    const records = new RecordSet()
    for (const { table, identity } of batches) records.addBatch(table, identity)
    return this.#append([{ stored: records.stored, lengths }])
  }

  /** Rewrites it where most of it is obsolete; once that has failed, it must not be used. */
  async tidy () {
    if (this.#lines.bytes < Math.max(TIDY_BYTES, TIDY_FACTOR * this.#tidyBytes)) return
    const state = [
      { numbers: Object.fromEntries(this.#numbers) },
      ...[...this.entries.values()].map(entry => ({ begun: entry })),
      ...this.#records.stored.map(each => ({ stored: [each], lengths: {} }))
    ]
    this.#lines = await this.#lines.replace((async function * () { yield state })(), () => {})
    this.#tidyBytes = this.#lines.bytes
  }

  close () { return this.#lines.close() }

  /** @param {Line[]} lines */
  async #append (lines) {
    await this.#lines.append(lines)
    for (const line of lines) this.#add(line)
  }

  /** @param {Line} line */
  #add (line) {
    if ('begun' in line) {
      const { name, table, number } = line.begun
      this.entries.set(name, line.begun)
      this.#numbers.set(table, Math.max(number, this.lastNumber(table)))
    } else if ('finished' in line) {
      this.entries.delete(line.finished)
    } else if ('numbers' in line) {
      for (const [table, number] of Object.entries(line.numbers)) this.#numbers.set(table, number)
    } else {
      for (const stored of line.stored) this.#records.add(stored)
      for (const [name, length] of Object.entries(line.lengths)) {
        const entry = this.entries.get(name)
        if (entry) this.entries.set(name, { ...entry, length })
      }
    }
  }
}

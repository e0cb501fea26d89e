import { randomUUID } from 'node:crypto'
import { FileIdentity } from '../../base/file-identity.js'
import { LineFile } from '../../base/line-file.js'
import { SluiceError } from '../../base/errors.js'
import { RECORD_NUMBERS, streamKey } from '../commit-records.js'
import { RecordSet } from '../record-set.js'

/**
 * What a folder's data files hold: which batches, and up to which byte. It is kept beside the data files and not in them, so that those are
 * plain CSV, lines or Arrow to all other programs.
 *
 * A file of lines, one after another (see LineFile for how they survive): data are on the disk before the line that counts them, and that
 * line is the commit of all the files written at once.
 *
 * @typedef {import('../commit-records.js').CommitRow} CommitRow
 * @typedef {import('../commit-records.js').Stream} Stream
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
 * @typedef {Stream & {records: number[][]}} Stored  the numbers of each commit record, in the order of RECORD_NUMBERS
 * @typedef {{store: string}|{begun: Entry}|{finished: string}|{stored: Stored[], lengths: Record<string, number>}|
 *   {numbers: Record<string, number>}} Line  `store`: a random id that names the folder
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
  #identity = /** @type {FileIdentity} */ (/** @type {unknown} */ (null))
  #tidyBytes = 0
  store = ''

  /** @param {string} path  created when missing */
  static async open (path) {
    const journal = new Journal()
    journal.#lines = await LineFile.open(path, line => journal.#add(line))
    try {
      journal.#identity = new FileIdentity(path)
      if (journal.store === '') await journal.#append([{ store: randomUUID() }])
      return journal
    } catch (error) {
      await journal.close()
      throw error
    }
  }

  /** Whether another is in its place, or none. */
  isReplaced () { return this.#identity.isReplaced() }

  /** Lines that cannot be read, not counting a torn end. */
  get damaged () { return this.#lines.damaged }

  /** @param {import('../claims.js').Claim} claim */
  find (claim) {
    return this.#records.find(claim)
  }

  get rows () { return this.#records.rows }

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
   * @param {CommitRow[]} records
   * @param {Record<string, number>} lengths  of the data files written
   */
  commit (records, lengths) {
    return this.#append([{ stored: packed(records), lengths }])
  }

  /** Merges records below what spools hold. @param {import('../sink.js').Head[]} heads @param {(row: CommitRow) => boolean} isOwn */
  async compact (heads, isOwn) {
    const merged = this.#records.compact(heads, isOwn)
    if (merged.length > 0) await this.commit(merged, {})
  }

  /** Rewrites it where most of it is obsolete; once that has failed, it must not be used. */
  async tidy () {
    if (this.#lines.bytes < Math.max(TIDY_BYTES, TIDY_FACTOR * this.#tidyBytes)) return
    const state = [
      { store: this.store },
      { numbers: Object.fromEntries(this.#numbers) },
      ...[...this.entries.values()].map(entry => ({ begun: entry })),
      ...packed(this.#records.rows).map(each => ({ stored: [each], lengths: {} }))
    ]
    this.#lines = await this.#lines.replace((async function * () { yield state })(), () => {})
    this.#identity = new FileIdentity(this.#lines.path)
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
    if ('store' in line) {
      this.store = line.store
    } else if ('begun' in line) {
      const { name, table, number } = line.begun
      this.entries.set(name, line.begun)
      this.#numbers.set(table, Math.max(number, this.lastNumber(table)))
    } else if ('finished' in line) {
      this.entries.delete(line.finished)
    } else if ('numbers' in line) {
      for (const [table, number] of Object.entries(line.numbers)) this.#numbers.set(table, number)
    } else {
      for (const { records, ...stream } of line.stored) {
        if (!records) throw oldJournal()
        for (const [seq, last, hash, staged, stored, dead, before] of records) {
          this.#records.add({ ...stream, seq, last, hash, staged, stored, dead, before })
        }
      }
      for (const [name, length] of Object.entries(line.lengths)) {
        const entry = this.entries.get(name)
        if (entry) this.entries.set(name, { ...entry, length })
      }
    }
  }
}

/** @param {CommitRow[]} rows @returns {Stored[]} */
function packed (rows) {
  return Array.from(Map.groupBy(rows, streamKey).values(), its => {
    const [{ table, gateway, source, epoch }] = its
    return { table, gateway, source, epoch, records: its.map(row => RECORD_NUMBERS.map(name => row[name])) }
  })
}

function oldJournal () {
  return new SluiceError('SLUICE_SINK_RECORDS_OLD', 'The records beside the data files, in the folder .sluice, were left by Sluice 0.1.', {
    fix: 'Once 0.1 has stored what its spools hold, remove the folder .sluice; or set another folder.'
  })
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { qualityText } from '../../batch/quality.js'
import { SluiceError } from '../../base/errors.js'
import { readOptions } from '../../base/options.js'
import { COMPLAINTS, isMissing } from './cells.js'
import { columnsOf } from './columns.js'
import { csvRecords, refuseUnreadableCsv } from './file.js'
import { dateOrder } from './local-dates.js'
import { CsvRows } from './rows.js'
import { schema } from './schema.js'
import { formatOf, timeReader } from './time.js'
import { withDecimals } from './turning-decimal.js'
import { Player } from '../playback/player.js'
import { warnerOnce } from '../warn-once.js'

/**
 * @typedef {import('./file.js').CsvRecord} CsvRecord
 * @typedef {{names: string[]|null, columns: import('./columns.js').Columns, readTime: (text: string) => bigint|undefined}} Plan  how the
 *   rows of the file are read; `names`: its first line
 */

export { schema }

const MAX_ROWS = 1000
const MAX_GROUPS = 1000
/** The types of the columns are decided by so many rows. */
const MAX_PROBED_ROWS = 1000
const MAX_SHOWN_CHARACTERS = 80
const NS_PER_SECOND = 1e9
const DELIMITERS = { auto: 'auto', comma: ',', semicolon: ';', tab: '\t' }

/**
 * Starts to play a CSV file: a batch per tick (50 ms, at most 1000 rows) for each source and set of tags. While it is paused it stands
 * still and loses nothing.
 *
 * A value that does not fit its column is missing, and the row's field `quality` says why. A row whose time cannot be read is left out.
 *
 * Counters: `rows` played; `badLines`, left out because they cannot be read; `undecodable`, cells that do not fit their column;
 * `rounds` played to the end.
 * @param {object} options  as in the schema
 * @param {import('../source.js').SourceContext} context
 * @returns {import('../source.js').Source}
 * @throws {SluiceError} SLUICE_OPTIONS, SLUICE_CSV_FILE; while it plays, `onEnd` is called with SLUICE_CSV_FILE, SLUICE_CSV_COLUMNS,
 *   SLUICE_CSV_TIMES or SLUICE_CSV_EMPTY
 */
export function openCsvPlayer (options, context) {
  const player = new CsvPlayer(readOptions(schema, options), context)
  return { counters: player.counters, trouble: () => player.trouble, close: () => player.close() }
}

class CsvPlayer {
  counters = { rows: 0, badLines: 0, undecodable: 0, rounds: 0 }
  #options
  #warnOnce
  #player
  #delimited
  #zone
  /** @type {Map<string, CsvRows>} by source and tags */
  #groups = new Map()
  /** @type {Plan|undefined} */
  #plan

  /** @param {any} options @param {import('../source.js').SourceContext} context */
  constructor (options, context) {
    this.#options = options
    this.#warnOnce = warnerOnce(context.log)
    refuseUnreadableCsv(options.file)
    this.#delimited = { encoding: options.encoding, delimiter: DELIMITERS[/** @type {keyof DELIMITERS} */ (options.delimiter)] }
    this.#zone = { zone: options.timeZone, decimal: options.decimal }
    timeReader('date', this.#zone) // refuses what is not a time zone
    this.#player = new Player(options, context, () => this.#groups.values())
    this.#player.play(async () => {
      this.#plan ??= await this.#makePlan()
      await this.#playRound(this.#plan)
    })
  }

  get trouble () { return this.#player.trouble }

  close () {
    return this.#player.close()
  }

  /** @returns {Promise<Plan>} */
  async #makePlan () {
    const { file, encoding, header, columns: listed, decimal, timeFormat, times } = this.#options
    const [first, ...rows] = await head(file, this.#delimited)
    if (!first) throw this.#emptyError()
    if (!header) rows.unshift(first)
    if ([first, ...rows].some(cells => cells.some(text => text.includes('\uFFFD')))) {
      this.#warnOnce('encoding', `${file} has characters that are not ${encoding}: choose another encoding.`)
    }
    const columns = columnsOf(header ? first : first.map(() => ''), rows, { columns: listed, decimal, needsTime: timeFormat !== 'none' })
    const isTimed = timeFormat !== 'none'
    const format = timeFormat === 'auto' ? this.#formatOf(rows.map(cells => timeText(cells, columns.time))) : timeFormat
    if (times === 'recorded' && (format === 'none' || format === 'relative')) {
      throw new SluiceError('SLUICE_CSV_TIMES', `${file} has no dates.`, { fix: 'Choose times shifted to now.' })
    }
    columns.fields = await withDecimals(columns.fields, file, {
      delimited: this.#delimited,
      decimal,
      count: columns.count,
      isClosed: () => this.#player.closed
    })
    return { names: header ? first : null, columns, readTime: isTimed ? timeReader(format, this.#zone) : () => undefined }
  }

  /** The format of the first of these that is a time. @param {string[]} texts */
  #formatOf (texts) {
    const text = texts.find(each => timeReader(formatOf(each), this.#zone)(each) !== undefined)
    if (text !== undefined) return formatOf(text)
    const order = dateOrder(texts) ?? 'date'
    if (order !== 'unknown') return order
    throw new SluiceError('SLUICE_CSV_TIMES', `In the dates of ${this.#options.file}, either the day or the month may come first.`, {
      fix: 'Choose the format of times.'
    })
  }

  /** @param {Plan} plan */
  async #playRound (plan) {
    const before = this.counters.rows
    let { names } = plan
    for await (const records of csvRecords(this.#options.file, this.#delimited)) {
      for (const record of records) {
        if (names && 'cells' in record) {
          this.#refuseOtherNames(names, record.cells)
          names = null
          continue
        }
        const ns = this.#timeOf(record, plan, this.counters.rows - before)
        if (ns === undefined) continue
        if (!this.#player.isDue(ns)) await this.#player.waitFor(ns)
        if (this.#player.closed) return
        const { cells, line } = /** @type {CsvRecord} */ (record)
        const rows = await this.#rowsOf(cells, plan)
        this.#add(rows, ns, cells, line, plan)
        if (rows.rows === MAX_ROWS) await this.#player.send(rows)
      }
      await this.#player.flushOld()
      await nextTurn()
      if (this.#player.closed) return
    }
    const rows = this.counters.rows - before
    if (rows === 0) throw this.#emptyError()
    await this.#player.flush()
    this.counters.rounds++
    this.#player.endRound(rows)
  }

  /** A file may be replaced between two rounds. @param {string[]} names @param {string[]} cells */
  #refuseOtherNames (names, cells) {
    if (names.length === cells.length && names.every((name, index) => name === cells[index])) return
    throw new SluiceError('SLUICE_CSV_COLUMNS', `${this.#options.file} has other columns than when it was opened.`, {
      fix: 'Start again, to read it as it is now.'
    })
  }

  /**
   * The time of a row in the file; undefined, and counted, for one that cannot be read.
   * @param {CsvRecord|import('./file.js').BadLine} record @param {Plan} plan @param {number} row  how many were before it
   */
  #timeOf (record, { columns, readTime }, row) {
    if ('reason' in record) return this.#drop('line', record.line, record.reason, record.text)
    const { line, cells } = record
    if (cells.length !== columns.count) {
      return this.#drop('cells', line, `it has ${cells.length} cells where the first line has ${columns.count}`, cells.join(' '))
    }
    if (this.#options.timeFormat === 'none') return BigInt(Math.round(row * NS_PER_SECOND / this.#options.rowsPerSecond))
    const text = timeText(cells, columns.time)
    return readTime(text) ?? this.#drop('time', line, text ? `"${text}" is not a time` : 'it has no time', cells.join(' '))
  }

  /** @param {CsvRows} rows @param {bigint} ns @param {string[]} cells @param {number} line @param {Plan} plan */
  #add (rows, ns, cells, line, { columns: { fields } }) {
    /** @type {Map<string, string>|undefined} */
    let bad
    const values = fields.map(({ index, name, type, read }) => {
      const text = cells[index].trim()
      if (isMissing(text, type)) return undefined
      const value = read(text)
      if (value !== undefined) return value
      this.counters.undecodable++
      const fault = `${this.#options.file}, line ${line}: "${cut(text)}" in the column ${name} is ${COMPLAINTS[type]}`
      this.#warnOnce(`cell ${name}`, `${fault}. Such cells are missing values, and counted.`)
      bad = (bad ?? new Map()).set(name, COMPLAINTS[type])
      return undefined
    })
    rows.add(this.#player.stamp(ns), values, bad && qualityText(bad, fields.length))
    this.counters.rows++
  }

  /** Where a row goes. @param {string[]} cells @param {Plan} plan */
  async #rowsOf (cells, { columns: { source, tags, fields } }) {
    const key = source < 0 && tags.length === 0 ? '' : JSON.stringify([cells[source], ...tags.map(({ index }) => cells[index])])
    const known = this.#groups.get(key)
    if (known) return known
    if (this.#groups.size === MAX_GROUPS) {
      await this.#player.flush()
      this.#groups.clear()
    }
    const part = cells[source]?.trim()
    const rows = new CsvRows({
      source: part ? `${this.#options.name}.${part}` : this.#options.name,
      tags: Object.fromEntries(tags.map(({ index, name }) => [name, cells[index].trim()]).filter(([, value]) => value !== '')),
      fields
    })
    this.#groups.set(key, rows)
    return rows
  }

  /** @param {string} kind @param {number} line @param {string} reason @param {string} text @returns {undefined} */
  #drop (kind, line, reason, text) {
    this.counters.badLines++
    this.#warnOnce(kind, `${this.#options.file}, line ${line}: ${cut(reason)}. Such lines are counted and left out: ${cut(text)}`)
  }

  #emptyError () {
    const fix = this.counters.badLines > 0 ? 'The log shows what is wrong with its lines: check the delimiter and the times.' : undefined
    return new SluiceError('SLUICE_CSV_EMPTY', `${this.#options.file} has no row that can be read.`, { fix })
  }
}

/**
 * The first records of a file, as wide as the first.
 * @param {string} file
 * @param {{encoding: string, delimiter: string}} options
 * @returns {Promise<string[][]>}
 */
async function head (file, options) {
  /** @type {string[][]} */
  const rows = []
  for await (const records of csvRecords(file, options)) {
    for (const record of records) {
      if ('cells' in record && record.cells.length === (rows[0] ?? record.cells).length) rows.push(record.cells)
    }
    if (rows.length > MAX_PROBED_ROWS) break
  }
  return rows.slice(0, MAX_PROBED_ROWS + 1)
}

/** Empty where a part is missing: a date alone would be midnight. @param {string[]} cells @param {number[]} columns */
function timeText (cells, columns) {
  const parts = columns.map(index => cells[index].trim())
  return parts.includes('') ? '' : parts.join(' ')
}

/** @param {string} text */
function cut (text) {
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS - 1)}…` : text
}

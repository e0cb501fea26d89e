import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { LineFile } from '../../../gateway/base/line-file.js'
import { keyWriter } from '../check/row-key.js'

const DATA_FILE = /^(.*)-\d+\.csv$/
const BOOLEANS = new Map([['true', true], ['false', false]])

/** @typedef {import('../check/check.js').Store} Store */

/**
 * CSV files, of times in nanoseconds.
 * @implements {Store}
 */
export class FileStore {
  #folder

  /** @param {string} folder */
  constructor (folder) {
    this.#folder = folder
  }

  async tables () {
    return [...new Set((await this.#files()).map(tableOf))]
  }

  /** @param {string} table */
  async count (table) {
    let count = 0
    for await (const { rows } of this.#contents(table)) count += rows.length
    return count
  }

  /** @param {string} table */
  async * read (table) {
    for await (const { names, rows } of this.#contents(table)) {
      const time = names.indexOf('time')
      const places = names.flatMap((_, place) => place === time ? [] : [place])
      const keyOf = keyWriter(places.map(place => unquoted(names[place])))
      for (const row of rows) yield keyOf(BigInt(row[time]), column => valueOf(row[places[column]]))
    }
  }

  /** @param {string} source @param {{epoch: string, seq: number}} place */
  async hasCommit (source, { epoch, seq }) {
    const path = join(this.#folder, '.sluice', 'journal')
    if (!existsSync(path)) return false
    let found = false
    const journal = await LineFile.open(path, ({ stored = [] }) => {
      for (const its of stored) {
        if (its.source === source && its.epoch === epoch) {
          found ||= its.records.some((/** @type {number[]} */ [first, last]) => first <= seq && seq <= last)
        }
      }
    }, { readOnly: true })
    await journal.close()
    return found
  }

  async close () {}

  /** Of each file. @param {string} table */
  async * #contents (table) {
    for (const name of await this.#files()) {
      if (tableOf(name) !== table) continue
      const [names = [], ...rows] = records(await readFile(join(this.#folder, name), 'utf8'))
      yield { names, rows }
    }
  }

  /** In the order that they were written in. None before a sink has made the folder. */
  async #files () {
    const names = await readdir(this.#folder).catch(() => [])
    return names.filter(name => DATA_FILE.test(name)).sort()
  }
}

/** @param {string} file */
function tableOf (file) {
  return decodeURIComponent(String(DATA_FILE.exec(file)?.[1]))
}

/** The cells of CSV as they are written, quotes and all; what follows the last line end is not a record yet. @param {string} text */
function records (text) {
  /** @type {string[][]} */
  const found = []
  /** @type {string[]} */
  let record = []
  for (const [, cell, end] of text.matchAll(/("(?:[^"]|"")*"|[^",\n]*)(,|\n)/g)) {
    record.push(cell)
    if (end === ',') continue
    found.push(record)
    record = []
  }
  return found
}

/** @param {string} cell */
function valueOf (cell) {
  if (cell === '') return null
  if (cell.startsWith('"')) return unquoted(cell)
  return BOOLEANS.get(cell) ?? (/^-?\d+$/.test(cell) ? BigInt(cell) : Number(cell))
}

/** @param {string} cell */
function unquoted (cell) {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell
}

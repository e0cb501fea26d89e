import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { recordsOf } from '../../../broker/spool/reading.js'
import { decode } from '../../../gateway/messages/codecs/arrow/arrow.js'
import { tagAt } from '../../../gateway/batch/tags.js'
import { SluiceError } from '../../../gateway/base/errors.js'
import { keyWriter } from './row-key.js'

/**
 * @typedef {{epoch: string, seq: number, row: number, time: bigint}} Place  where a row was staged
 */

/** All that the spools of a gateway ever accepted, read from links to their segments that nothing removes. */
export class Ledger {
  /** @type {Map<string, Set<string>>} source → the segments that it is in */
  #segments = new Map()
  /** @type {Set<string>} what was staged again under other identities */
  #replaced = new Set()
  /** Accepted in all. */
  rows = 0

  /**
   * Reads copies: the spools may still be writing.
   * @param {string[]} folders  of several gateways
   * @param {string} copies  a folder for them
   * @throws {SluiceError} SLUICE_CHAOS_LEDGER where a segment is damaged, which killing processes must not do
   */
  static async open (folders, copies) {
    const ledger = new Ledger()
    await mkdir(copies, { recursive: true })
    for (const [i, folder] of folders.entries()) {
      for (const name of await readdir(folder)) {
        const path = join(copies, `${i}.${name}`)
        await copyFile(join(folder, name), path)
        await ledger.#add(path)
      }
    }
    return ledger
  }

  get sources () { return [...this.#segments.keys()].sort() }

  /**
   * Every row of a source as its key, and where it was staged.
   * @param {string} source
   * @returns {AsyncGenerator<{key: string, place: Place}>}
   */
  async * read (source) {
    for (const path of this.#segments.get(source) ?? []) {
      for await (const { source: owner, epoch, seq, payload } of recordsOf(path)) {
        if (owner === source && !this.#replaced.has(nameOf(source, epoch, seq))) yield * rowsOf(payload)
      }
    }
  }

  /** @param {string} path */
  async #add (path) {
    /** @type {Map<import('../../../broker/spool/reading.js').Restaging, string[]>} */
    const restagings = new Map()
    for await (const { source, epoch, seq, rows, isDamaged, restaging } of recordsOf(path)) {
      if (isDamaged) throw new SluiceError('SLUICE_CHAOS_LEDGER', `The segment ${path} is damaged at batch ${seq} of "${source}".`)
      const segments = this.#segments.get(source) ?? new Set()
      this.#segments.set(source, segments.add(path))
      if (!restaging) this.rows += rows
      else restagings.set(restaging, [...restagings.get(restaging) ?? [source], nameOf(source, epoch, seq)])
    }
    for (const [{ count, replaces }, [source, ...staged]] of restagings) {
      const isComplete = staged.length === count
      const replaced = isComplete ? replaces.map(([epoch, seq]) => nameOf(source, epoch, seq)) : staged
      for (const name of replaced) this.#replaced.add(name)
    }
  }
}

/** @param {string} source @param {string} epoch @param {number} seq */
function nameOf (source, epoch, seq) {
  return `${epoch}/${seq}/${source}`
}

/** @param {Uint8Array} payload */
function * rowsOf (payload) {
  const batch = decode(payload)
  const { epoch, seq } = /** @type {import('../../../gateway/batch/batch.js').Identity} */ (batch.identity)
  const tags = Object.entries(batch.tags)
  const fieldCount = batch.fields.length
  const keyOf = keyWriter([...batch.fields.map(({ name }) => name), ...tags.map(([name]) => name)])
  for (let row = 0; row < batch.rows; row++) {
    const time = batch.time[row]
    const key = keyOf(time, column => column < fieldCount ? batch.value(column, row) : tagAt(tags[column - fieldCount][1], row))
    yield { key, place: { epoch, seq, row, time } }
  }
}

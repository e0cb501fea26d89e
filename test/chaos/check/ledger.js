import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Segment } from '../../../broker/spool/segment.js'
import { decode } from '../../../gateway/messages/codecs/arrow/arrow.js'
import { SluiceError } from '../../../gateway/base/errors.js'
import { keyWriter } from './row-key.js'

/**
 * @typedef {{epoch: string, seq: number, row: number, time: bigint}} Place  where a row was staged
 */

/** All that the spools of a gateway ever accepted, read from links to their segments that nothing removes. */
export class Ledger {
  /** @type {Map<string, string[]>} source → its segments */
  #segments = new Map()
  /** Accepted in all. */
  rows = 0

  /**
   * Reads copies: a segment that was being written when its process died ends in the middle of a record, which reading cuts off.
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
      const { segment } = await Segment.recover(path)
      if (!segment) continue
      try {
        for (let seq = segment.first; seq <= segment.last; seq++) yield * rowsOf(/** @type {Uint8Array} */ (await segment.read(seq)))
      } finally {
        await segment.close()
      }
    }
  }

  /** @param {string} path */
  async #add (path) {
    const { segment, damaged } = await Segment.recover(path)
    if (!segment) return
    await segment.close()
    if (damaged.length > 0) throw new SluiceError('SLUICE_CHAOS_LEDGER', `The segment ${path} is damaged at batch ${damaged[0]}.`)
    const { source } = segment.origin
    this.#segments.set(source, [...this.#segments.get(source) ?? [], path])
    this.rows += segment.rows.reduce((sum, rows) => sum + rows, 0)
  }
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
    const key = keyOf(time, column => column < fieldCount ? batch.value(column, row) : tags[column - fieldCount][1])
    yield { key, place: { epoch, seq, row, time } }
  }
}

import { arrow } from './arrow.js'
import { csv } from './csv.js'
import { lines } from './lines.js'
import { warp10 } from './warp10.js'

/**
 * What the formats of data files have in common.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../wide.js').WideColumn} WideColumn
 *
 * @typedef {{name: string, type: import('../wide.js').ValueType, unit?: string}} Column  of a data file
 * @typedef {{batch: Batch, columns: (WideColumn & {unit?: string})[]}} Piece  a batch as its layout arranges it, and its columns
 * @typedef {object} FormatOptions
 * @property {'iso'|'ns'} timeFormat
 * @property {import('../../batch/layouts.js').Layout} layout
 * @property {import('../../messages/codecs/warp10/text.js').Warp10Format} warp10Format
 *
 * @typedef {object} Index  what a format remembers of a data file to finish it
 * @property {(at: number, bytes: Buffer) => void} add  what `encode` has returned, as it is written at a byte of the file
 * @property {(file: import('node:fs/promises').FileHandle, length: number) => Promise<void>} read  instead, of a file that exists already
 * @property {() => Buffer} tail  what comes after the last rows of a finished file
 *
 * @typedef {object} Format
 * @property {string} ending  of file names
 * @property {readonly import('../../batch/layouts.js').Layout[]} [ownLayouts]  those that it writes itself, of batches as they come
 * @property {(has: Column[], needs: Column[]) => boolean} fits  whether rows with these columns can be put into a file with those
 * @property {(columns: Column[], options: FormatOptions) => Buffer} head  what comes before the first row
 * @property {(columns: Column[], pieces: Piece[], options: FormatOptions) => Buffer[]} encode
 * @property {() => Index} [index]
 */

/** @typedef {'csv'|'lines'|'arrow'|'warp10'} FormatName */

/** @type {Record<FormatName, Format>} */
export const formats = { csv, lines, arrow, warp10 }

/**
 * The columns of a new file: those of the first list, and what the others have besides.
 * @param {Column[][]} lists
 * @returns {Column[]}
 */
export function united (lists) {
  /** @type {Map<string, Column>} */
  const columns = new Map()
  for (const { name, type, unit } of lists.flat()) {
    if (!columns.has(name)) columns.set(name, unit === undefined ? { name, type } : { name, type, unit })
  }
  return [...columns.values()]
}

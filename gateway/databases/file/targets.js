import { united } from './formats.js'

/**
 * Which file the rows of a table go into.
 *
 * @typedef {import('./formats.js').Column} Column
 * @typedef {import('./formats.js').Piece} Piece
 * @typedef {import('./data-file.js').DataFile} DataFile
 * @typedef {{file: DataFile|null, columns: Column[], pieces: Piece[]}} Target  `file` is null of one to be begun
 */

/**
 * A piece goes into the newest file that has its columns. Where no file has, it goes into a new one, whose columns are those of the newest
 * file, and what the pieces have besides. A column whose type has changed begins a new file, too; the previous one stays open to rows that
 * still have the previous type.
 * @param {Piece[]} pieces  of one table
 * @param {DataFile[]} files  its unfinished ones, oldest first
 * @param {import('./formats.js').Format} format
 * @returns {Target[]}
 */
export function targetsOf (pieces, files, format) {
  /** @type {Target[]} */
  const targets = files.map(file => ({ file, columns: file.entry.columns, pieces: [] }))
  const earlier = targets.at(-1)?.columns ?? []
  for (const piece of pieces) {
    let target = targets.findLast(({ columns }) => format.fits(columns, piece.columns))
    if (!target) {
      target = { file: null, columns: united([piece.columns, earlier, ...pieces.map(({ columns }) => columns)]), pieces: [] }
      targets.push(target)
    }
    target.pieces.push(piece)
  }
  return targets.filter(target => target.pieces.length > 0)
}

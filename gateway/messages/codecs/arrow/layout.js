import { MAX_COLUMNS } from '../../bounds.js'
import { Type, arrowError } from './format.js'

/** What a column takes of a record batch, whatever its type: so that one which is not read can be passed over. */

const MAX_DEPTH = 64

/** Buffers of each type, those of its children apart. @type {Record<number, number>} */
const BUFFERS = {
  [Type.null]: 0, [Type.runEndEncoded]: 0, [Type.struct]: 1, [Type.fixedSizeList]: 1, [Type.binary]: 3, [Type.utf8]: 3,
  [Type.largeBinary]: 3, [Type.largeUtf8]: 3, [Type.listView]: 3, [Type.largeListView]: 3
}
const BUFFERS_OF_MOST = 2
const DENSE = 1

/**
 * @param {import('./flatbuffer.js').Table} field
 * @param {(dictionary: number) => void} note  is told of the dictionaries that it uses
 * @returns {(body: import('./body.js').Body) => void}
 */
export function passOver (field, note, depth = 0) {
  if (depth > MAX_DEPTH) throw arrowError(`its columns are nested more than ${MAX_DEPTH} deep`)
  const type = field.uint8(2)
  const encoding = field.table(4)
  const children = field.tables(5, MAX_COLUMNS).map(child => passOver(child, note, depth + 1))
  if (encoding) {
    note(encoding.size(0))
    return body => body.passNode(BUFFERS_OF_MOST) // the indices
  }
  const buffers = type === Type.union ? (field.table(3)?.int16(0) === DENSE ? 2 : 1) : BUFFERS[type] ?? BUFFERS_OF_MOST
  return body => {
    body.passNode(buffers)
    if (type === Type.utf8View || type === Type.binaryView) body.passBuffers(body.variadic())
    for (const pass of children) pass(body)
  }
}

import { describe } from '../../base/errors.js'
import { CborReader } from './cbor.js'
import { decodeSenml, isSenml } from './senml.js'

/**
 * SenML in CBOR (RFC 8428, section 6): the same records, with numbers for the labels.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../payload.js').Refused} Refused
 */

export const contentTypes = ['application/senml+cbor', 'application/sensml+cbor']

const LABELS = new Map(/** @type {const} */ ([
  [-1, 'bver'], [-2, 'bn'], [-3, 'bt'], [-4, 'bu'], [-5, 'bv'], [-6, 'bs'],
  [0, 'n'], [1, 'u'], [2, 'v'], [3, 'vs'], [4, 'vb'], [5, 's'], [6, 't'], [7, 'ut'], [8, 'vd']
]))

/** CBOR's own mark, and the first byte of an array and a map: no text begins like that. */
const MARK = [0xd9, 0xd9, 0xf7]
const [ARRAY, MAP] = [4, 5]

/** Whether bytes begin as a pack does. @param {Uint8Array} bytes */
export function mayBeSenmlCbor (bytes) {
  const at = MARK.every((byte, i) => bytes[i] === byte) ? MARK.length : 0
  const isArray = bytes[at] >> 5 === ARRAY
  const headBytes = bytes[at] === 0x98 ? 2 : bytes[at] === 0x99 ? 3 : bytes[at] === 0x9a ? 5 : 1
  return isArray && bytes[at + headBytes] >> 5 === MAP
}

/**
 * @param {Uint8Array} bytes
 * @param {{source?: string, isDeclared: boolean, now: () => bigint}} options  `isDeclared`: their content type says what they are
 * @returns {{batches: Batch[], refused: Refused[]}|null} null where they are something else
 */
export function decodeSenmlCbor (bytes, { source, isDeclared, now }) {
  try {
    const pack = new CborReader(bytes).document()
    if (!Array.isArray(pack)) throw new Error('it is not an array')
    const records = pack.map(recordOf)
    return isDeclared || isSenml(records) ? decodeSenml(records, { source, now, bytes }) : null
  } catch (error) {
    if (!isDeclared) return null
    return { batches: [], refused: [{ index: -1, reason: `it is not SenML in CBOR: ${describe(error)}`, value: bytes }] }
  }
}

/** A record as it would be in JSON; what is none as it is. @param {unknown} map */
function recordOf (map) {
  if (!(map instanceof Map)) return map
  return Object.fromEntries(Array.from(map, ([key, value]) => [LABELS.get(key) ?? String(key), value]))
}

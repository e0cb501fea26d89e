import { bitsAt, derive, fractionAt, mix, stateAt } from '../../base/random.js'
import { Records } from '../records.js'
import { waveform } from '../waveforms.js'

/** @typedef {import('../records.js').RecordColumn} RecordColumn */

const MAX_BATCH_BYTES = 1_000_000
const UPDATED_IDS = 1_000_000
const NUMBERS_BYTES = 12 + 3 * 4 + 3 * 8 + 8
const ID_CHARACTERS = 12

/**
 * The records of Weißbach, Hilbert and Springer on databases inside stream processing, section 3: an id of twelve characters, three
 * integers, three doubles (pseudo-signals of an acceleration sensor), and a BLOB, one prepared object for all records. Section 4.2 has the
 * ways to choose ids; 1,000,000 of them are updated.
 * @type {import('./preset.js').Preset}
 */
export const weissbach = {
  label: 'Acceleration records with BLOB (Weißbach)',
  text: 'Weißbach has records of an id, six numbers and a BLOB.',
  properties: {
    recordsPerSecond: {
      type: 'number',
      title: 'Records',
      description: 'How many are made each second.',
      minimum: 0.001,
      maximum: 1_000_000,
      default: 1000,
      'x-unit': '/s'
    },
    blobBytes: {
      type: 'integer',
      title: 'Size of BLOB',
      description: 'The study has 1, 10,000 and 100,000. A batch has at most 1 MB, or one record.',
      minimum: 1,
      maximum: 10_000_000,
      default: 1,
      'x-unit': 'bytes'
    },
    keys: {
      type: 'string',
      title: 'Ids',
      description: 'New ones, those of a fixed set of 1,000,000 again and again, or half of each. The database turns an id that it has ' +
        'into an update.',
      enum: ['insert', 'update', 'mixed'],
      'x-labels': { insert: 'Insert: new ones', update: 'Update: a fixed set', mixed: 'Mixed: half of each' },
      default: 'insert'
    }
  },
  open: ({ name, recordsPerSecond, blobBytes, keys, seed }, startNs) => new Records({
    source: name,
    columns: [
      { name: 'id', type: 'string', fill: idsOf[keys](seed, startNs) },
      ...[1, 2, 3].map(number => integers(`integer${number}`, derive(seed, number))),
      ...[1, 2, 3].map(number => acceleration(`double${number}`, number, 1 / recordsPerSecond, derive(seed, 3 + number))),
      blobs(blobBytes, seed)
    ],
    perStep: 1,
    stepSeconds: 1 / recordsPerSecond,
    startNs,
    seed,
    maxAtOnce: Math.max(1, Math.floor(MAX_BATCH_BYTES / (NUMBERS_BYTES + blobBytes)))
  })
}

/** @type {Record<string, (seed: number, startNs: bigint) => (column: string[], first: number) => void>} */
const idsOf = {
  insert: (_, startNs) => filler(newIds(startNs)),
  update: seed => filler(knownIds(seed)),
  mixed: (seed, startNs) => {
    const made = newIds(startNs)
    const known = knownIds(seed)
    const coin = derive(seed, 8)
    return filler(index => fractionAt(coin, index) < 0.5 ? made(index) : known(index))
  }
}

/** @param {(index: number) => string} id */
function filler (id) {
  return (/** @type {string[]} */ column, /** @type {number} */ first) => {
    for (let row = 0; row < column.length; row++) column[row] = id(first + row)
  }
}

/**
 * Ids that no other start has, unless it is within as many microseconds as this one has records: digits and letters, "0ABC…".
 * @param {bigint} startNs
 */
function newIds (startNs) {
  const start = Number(startNs / 1000n)
  return (/** @type {number} */ index) => (start + index).toString(36).toUpperCase().padStart(ID_CHARACTERS, '0')
}

/** Ids of the fixed set, "U00000000000" to "U00000999999". @param {number} seed */
function knownIds (seed) {
  const chosen = derive(seed, 9)
  return (/** @type {number} */ index) => `U${String(Math.floor(fractionAt(chosen, index) * UPDATED_IDS)).padStart(ID_CHARACTERS - 1, '0')}`
}

/** @param {string} name @param {number} seed @returns {RecordColumn} */
function integers (name, seed) {
  return {
    name,
    type: 'int32',
    fill (/** @type {Int32Array} */ column, first) {
      const state = stateAt(seed, first)
      for (let row = 0; row < column.length; row++) column[row] = bitsAt(state, row)
    }
  }
}

/**
 * A vibration with noise, with another frequency for each axis.
 * @param {string} name
 * @param {number} axis
 * @param {number} seconds
 * @param {number} seed
 * @returns {RecordColumn}
 */
function acceleration (name, axis, seconds, seed) {
  /** @type {import('../waveforms.js').Channel} */
  const channel = { name, shape: 'sine', offset: 0, amplitude: 10 / axis, frequencyHz: 7 * axis, noise: 1, unit: 'm/s²', type: 'float64' }
  return { name, type: 'float64', unit: channel.unit, fill: waveform(channel, seconds, seed) }
}

/**
 * One prepared object for all records, of bytes that do not compress.
 * @param {number} bytes
 * @param {number} seed
 * @returns {RecordColumn}
 */
function blobs (bytes, seed) {
  const prepared = new Uint8Array(bytes)
  for (let i = 0; i < bytes; i++) prepared[i] = mix(seed + i)
  return { name: 'blob', type: 'bytes', fill: (/** @type {Uint8Array[]} */ column) => column.fill(prepared) }
}

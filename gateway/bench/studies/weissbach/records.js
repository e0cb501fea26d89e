import { mix } from '../../../base/random.js'
import { Batch } from '../../../batch/batch.js'
import { presets } from '../../../simulators/presets/index.js'

/**
 * The records of the study, those of the simulator's preset: an id of twelve characters, three integers, three doubles, and a BLOB. What
 * the database holds of an id is the sum of all that has come for it, so that a read can be compared.
 *
 * @typedef {{id: string, numbers: number[], blob: Uint8Array}} Record  `numbers`: three integers, three doubles
 */

export const SOURCE = 'rows'
const ID_CHARACTERS = 12
const T0 = 1_700_000_000_000_000_000n
const STEP_NS = 1000n

/** Prepared ones, as in the paper: the signals come again after so many records, and a BLOB after so many changes of its record. */
const SIGNALS = 4096
const BLOBS = 4

/** All clients prepare the same. */
export class Prepared {
  #signals
  #blobs
  #fields

  /** @param {number} blobBytes */
  constructor (blobBytes) {
    const options = { name: SOURCE, recordsPerSecond: 1000, blobBytes: 1, keys: 'insert', seed: 1 }
    const [{ fields, columns }] = presets.weissbach.open(options, T0).take(SIGNALS)
    this.#fields = fields
    this.#signals = /** @type {ArrayLike<number>[]} */ (columns.slice(1, 7))
    this.#blobs = Array.from({ length: BLOBS }, (_, seed) => Uint8Array.from({ length: blobBytes }, (_byte, i) => mix(seed + BLOBS * i)))
  }

  /** The numbers that come n-th. @param {number} n */
  signal (n) {
    return this.#signals.map(column => column[n % SIGNALS])
  }

  /** For programs that are not in JavaScript. */
  all () {
    const blobs = this.#blobs.map(blob => Buffer.from(blob).toString('base64'))
    return { signals: Array.from({ length: SIGNALS }, (_, n) => this.signal(n)), blobs }
  }

  /** What has changed so often has this one. @param {number} times */
  blob (times) {
    return this.#blobs[times % BLOBS]
  }

  /**
   * @param {Record[]} records
   * @param {number} first  the number of the first of its client, for its time
   * @param {import('../../../batch/batch.js').Identity} identity
   */
  batch (records, first, identity) {
    const columns = [
      records.map(({ id }) => id),
      ...[0, 1, 2].map(place => Int32Array.from(records, ({ numbers }) => numbers[place])),
      ...[3, 4, 5].map(place => Float64Array.from(records, ({ numbers }) => numbers[place])),
      records.map(({ blob }) => blob)
    ]
    const time = BigInt64Array.from(records, (_, row) => T0 + BigInt(first + row) * STEP_NS)
    return new Batch({ source: SOURCE, time, fields: this.#fields, columns, identity })
  }
}

/** The operator's calculation, "simple additions" as in the paper. @param {number[]} before @param {number[]} numbers */
export function sum (before, numbers) {
  return before.map((value, place) => place < 3 ? value + numbers[place] | 0 : value + numbers[place])
}

/** The numbers of a row that was read. @param {import('../../../databases/reader.js').KeyedRow} row @returns {number[]} */
export function numbersOf (row) {
  return [row.integer1, row.integer2, row.integer3, row.double1, row.double2, row.double3].map(Number)
}

/** Of the fixed set, as the preset has them. @param {number} index */
export function knownId (index) {
  return `U${String(index).padStart(ID_CHARACTERS - 1, '0')}`
}

/** One that nobody else has. @param {number} client @param {number} n  0, 1, … of the client's */
export function newId (client, n) {
  return `N${client.toString(36).padStart(2, '0')}${String(n).padStart(ID_CHARACTERS - 3, '0')}`.toUpperCase()
}

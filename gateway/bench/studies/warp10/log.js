import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { Batch } from '../../../batch/batch.js'
import { decodeWarp10 } from '../../../messages/codecs/warp10/decode.js'
import { encodeWarp10 } from '../../../messages/codecs/warp10/encode.js'
import { warp10 } from '../../../simulators/presets/warp10.js'
import { NO_TROUBLE } from '../../../simulators/samples.js'
import { SOURCE, START_NS } from './published.js'

/**
 * The log of a car, as the study's: the channels of the simulator's vehicle in as many digits as the study prints, which is what its text
 * and the time to read it depend on.
 *
 * @typedef {import('./published.js').Warp10Format} Warp10Format
 * @typedef {{path: string, pieces: {at: number, bytes: number}[], bytes: number, channels: string[]}} Log
 */

const SEED = 1
const POSITION = ['latitude', 'longitude', 'elevation']

/** Steps in a unit of what the car measures in steps. */
const STEPS = new Map(Object.entries({
  intakeairtemp: 1,
  tripdistance: 100,
  engineoiltemp: 1,
  yawrate: 100,
  gammalongitudinal: 256,
  externaltemp: 2,
  boostpressure: 100,
  gammatransversal: 256,
  brakepressure: 10,
  coolanttemp: 1,
  cabintemp: 1,
  throttlepedal: 10
}))
/** Of the others. */
const DIGITS = 12

/**
 * Writes the log into a file as text, in pieces that can be read by themselves.
 * @param {string} path
 * @param {{format: Warp10Format, rows: number, batchRows: number}} options
 * @returns {Log}
 */
export function writeLog (path, { format, rows, batchRows }) {
  const pieces = []
  /** @type {string[]} */
  let channels = []
  let at = 0
  const file = openSync(path, 'w')
  try {
    for (const batch of batchesOf(rows, batchRows)) {
      channels = batch.fields.map(({ name }) => name).filter(name => !POSITION.includes(name))
      const text = Buffer.concat([...encodeWarp10(batch, format)])
      writeSync(file, text)
      pieces.push({ at, bytes: text.length })
      at += text.length
    }
  } finally {
    closeSync(file)
  }
  return { path, pieces, bytes: at, channels }
}

/**
 * The batches that the text of a log is read into, piece by piece.
 * @param {Log} log
 * @returns {Generator<Batch, void, void>}
 * @throws {Error} where a line is refused: all of them are ours
 */
export function * readLog ({ path, pieces, channels }) {
  const file = openSync(path, 'r')
  try {
    for (const [seq, { at, bytes }] of pieces.entries()) {
      const text = Buffer.allocUnsafeSlow(bytes)
      readSync(file, text, 0, bytes, at)
      const { batches: [batch, ...others], refused } = decodeWarp10(text, { fields: channels })
      if (refused.length + others.length > 0) throw new Error(`The log cannot be read: ${refused[0]?.reason ?? 'it has several sources'}`)
      yield batch.withIdentity({ gateway: 'bench', source: SOURCE, epoch: 'log', seq })
    }
  } finally {
    closeSync(file)
  }
}

/** @param {number} rows @param {number} batchRows @returns {Generator<Batch, void, void>} */
export function * batchesOf (rows, batchRows) {
  const car = warp10.open({ ...NO_TROUBLE, name: SOURCE, vehicles: 1, multiple: 1, seed: SEED }, START_NS)
  for (let taken = 0; taken < rows;) {
    const count = Math.min(batchRows, rows - taken, car.maxAtOnce)
    taken += count
    const [{ time, fields, columns }] = car.take(count)
    const printed = columns.map((column, i) => column instanceof Float64Array ? asPrinted(fields[i].name, column) : column)
    yield new Batch({ source: SOURCE, time, fields, columns: printed })
  }
}

/** @param {string} name @param {Float64Array} column */
function asPrinted (name, column) {
  if (POSITION.includes(name)) return column
  const steps = STEPS.get(name)
  return column.map(steps ? value => Math.round(value * steps) / steps : value => Number(value.toPrecision(DIGITS)))
}

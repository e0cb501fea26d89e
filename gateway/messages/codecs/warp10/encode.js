import { byTags } from '../../../batch/groups.js'
import { floor } from '../../../batch/layouts.js'
import { ALL_CHANNELS, escaped, labelOf, MILLIMETRES, NAMES, POSITION, SOURCE_LABEL } from './text.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('./text.js').Warp10Format} Warp10Format
 * @typedef {{name: string, has: (row: number) => boolean, text: (row: number) => string}} Channel
 */

const US_NS = 1000n
const CHUNK_CHARACTERS = 2 ** 18

/**
 * @typedef {object} Options
 * @property {boolean} [names]  a comment says the names of several values in a line
 * @property {bigint} [unitNs]  of times; they are rounded down to it
 * @property {boolean} [isExact]  positions, which a server rounds, are also values of their own
 */

/**
 * A batch as text of Warp 10, in chunks of whole lines, each of which can be read without those before it. A row without any value but its
 * position has no line.
 * @param {Batch} batch
 * @param {Warp10Format} format
 * @param {Options} [options]
 * @returns {Generator<Buffer, void, void>}
 */
export function * encodeWarp10 (batch, format, options = {}) {
  const continues = format !== 'naive' && format !== 'ordered'
  let chunk = ''
  let last = ''
  for (const part of byTags(batch)) {
    for (const [place, head, text] of linesOf(part, format, options)) {
      if (place === NAMES) {
        chunk += NAMES + text + '\n'
        continue
      }
      chunk += continues && head === last ? `=${place} ${text}\n` : `${place} ${head} ${text}\n`
      last = head
      if (chunk.length < CHUNK_CHARACTERS) continue
      yield Buffer.from(chunk)
      chunk = last = ''
    }
    last = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}

/**
 * @param {Batch} batch  with the same tags in all rows
 * @param {Warp10Format} format
 * @param {Options} options
 * @returns {Generator<[place: string, head: string, text: string], void, void>}
 */
function linesOf (batch, format, { names = false, unitNs = US_NS, isExact = false }) {
  const { places, isPlace } = placesOf(batch, unitNs)
  const channels = batch.fields.flatMap((_, field) => isPlace.has(field) && !isExact ? [] : [channelOf(batch, field)])
  const labels = labelsOf(batch)
  switch (format) {
    case 'naive': return byRows(places, channels, labels)
    case 'ordered':
    case 'optimized': return byChannels(places, channels, labels)
    default: return several(places, channels, labels, { open: format === 'uncompressed' ? '[!' : '[', names })
  }
}

/** @param {string[]} places @param {Channel[]} channels @param {string} labels @returns {ReturnType<typeof linesOf>} */
function * byRows (places, channels, labels) {
  const heads = channels.map(({ name }) => escaped(name) + labels)
  for (let row = 0; row < places.length; row++) {
    for (let c = 0; c < channels.length; c++) if (channels[c].has(row)) yield [places[row], heads[c], channels[c].text(row)]
  }
}

/** @param {string[]} places @param {Channel[]} channels @param {string} labels @returns {ReturnType<typeof linesOf>} */
function * byChannels (places, channels, labels) {
  for (const { name, has, text } of channels) {
    const head = escaped(name) + labels
    for (let row = 0; row < places.length; row++) if (has(row)) yield [places[row], head, text(row)]
  }
}

/**
 * @param {string[]} places @param {Channel[]} channels @param {string} labels @param {{open: string, names: boolean}} how
 * @returns {ReturnType<typeof linesOf>}
 */
function * several (places, channels, labels, { open, names }) {
  const head = ALL_CHANNELS + labels
  let isNamed = !names
  for (let row = 0; row < places.length; row++) {
    const present = channels.filter(({ has }) => has(row))
    if (present.length === 0) continue
    if (!isNamed) yield [NAMES, '', channels.map(({ name }) => escaped(name)).join(' ')]
    isNamed = true
    const isWhole = present.length === channels.length
    const values = present.map(channel => isWhole ? channel.text(row) : `${channels.indexOf(channel)}/${channel.text(row)}`).join(' ')
    yield [places[row], head, `${open} ${values} ]`]
  }
}

/** When and where each row was measured, and which fields say where. @param {Batch} batch @param {bigint} unitNs */
function placesOf (batch, unitNs) {
  const { time, fields, columns, validity } = batch
  const numbers = (/** @type {string} */ wanted) => {
    const field = fields.findIndex(({ name, type }) => name === wanted && (type === 'float64' || type === 'float32'))
    const column = /** @type {Float64Array} */ (columns[field])
    return { field, valueOf: (/** @type {number} */ row) => validity[field]?.[row] === 0 ? NaN : column[row] }
  }
  const [latitude, longitude, elevation] = [POSITION.latitude, POSITION.longitude, POSITION.elevation].map(numbers)
  const isLocated = latitude.field !== -1 && longitude.field !== -1
  const isRaised = isLocated && elevation.field !== -1
  const isPlace = new Set([...isLocated ? [latitude.field, longitude.field] : [], ...isRaised ? [elevation.field] : []])
  const places = Array.from(time, (ns, row) => {
    const [north, east] = isLocated ? [latitude.valueOf(row), longitude.valueOf(row)] : [NaN, NaN]
    const millimetres = isRaised ? Math.round(elevation.valueOf(row) * MILLIMETRES) : NaN
    const where = Number.isFinite(north) && Number.isFinite(east) ? `${north}:${east}` : ''
    return `${floor(ns, unitNs) / unitNs}/${where}/${Number.isFinite(millimetres) ? millimetres : ''}`
  })
  return { places, isPlace }
}

/** @param {Batch} batch */
function labelsOf ({ source, tags }) {
  const labels = Object.entries(tags).flatMap(([name, tag]) => typeof tag === 'string' ? [[labelOf(name), tag]] : [])
  return `{${[[SOURCE_LABEL, source], ...labels].map(([name, text]) => `${escaped(name)}=${escaped(text)}`).join(',')}}`
}

/** @param {Batch} batch @param {number} field @returns {Channel} */
function channelOf ({ fields, columns, validity }, field) {
  const { name, type } = fields[field]
  const column = columns[field]
  const valid = validity[field]
  const text = textOf(type)
  return { name, has: row => valid?.[row] !== 0, text: row => text(column[row]) }
}

/** @param {import('../../../batch/batch.js').FieldType} type @returns {(value: any) => string} */
function textOf (type) {
  switch (type) {
    case 'float64':
    case 'float32': return value => {
      const text = Object.is(value, -0) ? '-0e0' : String(value) // a server loses the sign of -0.0
      return Number.isInteger(value) && !text.includes('e') ? `${text}.0` : text // without a point it would be a whole number
    }
    case 'bool': return value => value === 0 ? 'F' : 'T'
    case 'string': return value => `'${escaped(value)}'`
    case 'bytes': return value => `b64:${Buffer.from(value).toString('base64url')}`
    default: return String
  }
}

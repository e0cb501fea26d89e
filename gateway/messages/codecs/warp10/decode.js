import { nowNs } from '../../../clock/system-clock.js'
import { describe } from '../../../base/errors.js'
import { MAX_BYTES, MAX_FIELDS, MAX_TAGS, MAX_VALUES, tooLarge } from '../../bounds.js'
import { Gatherer, nameFault, quoted } from '../../gatherer.js'
import { Refusals } from '../../refusals.js'
import { ALL_CHANNELS, MILLIMETRES, NAMES, POSITION, SOURCE_LABEL, tagOf } from './text.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('../../payload.js').Refused} Refused
 * @typedef {import('../../series.js').Cell} Cell
 * @typedef {Pick<Cell, 'type'|'value'>} Value
 * @typedef {{name: string, key: string, source: string|undefined, tags: Record<string, string>}} Series  class and labels of a line
 * @typedef {{ns: bigint, position: Cell[], rows: Map<string, Row[]>}} Place  in time, too; its rows by labels: more than one where a class
 *   comes twice
 * @typedef {{series: Series, ns: bigint, cells: Map<string, Cell>, index: number, line: string}} Row  of the lines of one place, of which
 *   `line` is the first
 */

/** Of `=`, the place, and the rest. */
export const LINE = /^(=?)(-?\d*\/[^/ ]*\/-?\d*) +(.+)$/
/** That rest: class with labels, and value. */
export const CLASS = /^([^ {]+\{[^}]*\})(?:\{[^}]*\})? +(.+)$/
const WHOLE = /^[+-]?\d+$/
const DECIMAL = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|NaN|Infinity)$/
const PLACED = /^(\d+)\/(.+)$/
/** Of a line that continues none, or a comment or an empty line before it. */
const STARTS = new Set(Buffer.from('0123456789-/#\r\n'))
const US_NS = 1000n
/** Characters of a line that is refused. */
const MAX_SHOWN = 1000
const MAX_US = 2n ** 63n / US_NS

/**
 * The batches in a text of Warp 10 (see `text.js`), in any mixture of its formats: lines of one time and place with the same labels become
 * one row. Several values in a line have the names that the comment before them says, otherwise those of `fields`, or are called by their
 * places, from 0. Never throws for what is in the bytes.
 * @param {Uint8Array} bytes
 * @param {object} [options]
 * @param {string} [options.source]  of lines without the label `id`
 * @param {string[]} [options.fields]
 * @param {() => bigint} [options.now]  called only for lines without a time
 * @returns {{batches: Batch[], refused: Refused[]}} `index`: of the line
 */
export function decodeWarp10 (bytes, { source, fields = [], now = nowNs } = {}) {
  if (bytes.length > MAX_BYTES) return refusedWhole(`it has ${bytes.length} bytes, over ${MAX_BYTES}`, bytes)
  const refused = new Refusals()
  /** Places by their text, and series by theirs: most lines repeat both. @type {Map<string, Place>} */
  const places = new Map()
  /** @type {Map<string, Series>} */
  const known = new Map()
  /** @type {Row[]} */
  const rows = []
  /** @type {Series|null} */
  let last = null
  let names = fields
  let values = 0
  let index = -1
  for (const line of linesOf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString())) {
    index++
    try {
      if (line.startsWith(NAMES)) names = line.slice(NAMES.length).split(' ', MAX_FIELDS).map(unescaped)
      if (line.trim() === '' || line.startsWith('#')) continue
      const parts = LINE.exec(line)
      if (!parts) throw new Error('it is no line TIME/LAT:LON/ELEVATION CLASS{LABELS} VALUE')
      const { series, text } = seriesOf(parts, last, known)
      last = series
      const place = placeOf(parts[2], places, now)
      const cells = cellsOf(series, text, names)
      values += cells.length
      if (values > MAX_VALUES) return refusedWhole(`it has over ${MAX_VALUES} values`, bytes)
      let row = rowFor(place, series, cells)
      if (!row) rows.push(row = newRow(place, series, { index, line }))
      for (const cell of cells) row.cells.set(cell.name, cell)
    } catch (error) {
      if (!refused.addRow(index, describe(error), line.slice(0, MAX_SHOWN))) break
    }
  }
  const gatherer = new Gatherer()
  for (const { series, ns, cells, ...first } of rows) {
    const reason = gatherer.take(series.source ?? source, series.tags, ns, [...cells.values()])
    if (reason && !refused.addRow(first.index, reason, first.line.slice(0, MAX_SHOWN))) break
  }
  return { batches: gatherer.batches(), refused: refused.list(bytes) }
}

/** @param {string} text */
function * linesOf (text) {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from)
    const to = end === -1 ? text.length : end
    yield text.slice(from, text[to - 1] === '\r' ? to - 1 : to)
    from = to + 1
  }
}

/** @param {string} why @param {Uint8Array} bytes @returns {{batches: Batch[], refused: Refused[]}} */
function refusedWhole (why, bytes) {
  return { batches: [], refused: [{ index: -1, reason: describe(tooLarge(why)), value: bytes }] }
}

/** Whether bytes begin as a line of Warp 10 does. @param {Uint8Array} bytes */
export function mayBeWarp10 (bytes) {
  if (!STARTS.has(bytes[0])) return false
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 4096)).toString()
  const line = start.split('\n').find(each => each !== '' && !each.startsWith('#')) ?? ''
  const parts = LINE.exec(line)
  return parts !== null && parts[1] === '' && CLASS.test(parts[3])
}

/** @param {RegExpExecArray} parts  of a line @param {Series|null} last @param {Map<string, Series>} known */
function seriesOf ([, continues, , rest], last, known) {
  if (continues) {
    if (!last) throw new Error('it continues no line')
    return { series: last, text: rest }
  }
  const parts = CLASS.exec(rest)
  if (!parts) throw new Error('it has no class with labels, or no value')
  const [, head, text] = parts
  let series = known.get(head)
  if (!series) known.set(head, series = readSeries(head))
  return { series, text }
}

/** @param {string} head  `CLASS{LABELS}` @returns {Series} */
function readSeries (head) {
  const { name, key, labels } = readHead(head, MAX_TAGS + 2)
  const tags = Object.fromEntries(labels.flatMap(([label, text]) => label === SOURCE_LABEL ? [] : [[tagOf(label), text]]))
  return { name, key, source: labels.find(([label]) => label === SOURCE_LABEL)?.[1], tags }
}

/**
 * @param {string} head  `CLASS{LABELS}`
 * @param {number} [maxLabels]  the others are left out
 * @returns {{name: string, key: string, labels: [label: string, text: string][]}}
 */
export function readHead (head, maxLabels) {
  const at = head.indexOf('{')
  const key = head.slice(at + 1, -1)
  const labels = (key === '' ? [] : key.split(',', maxLabels)).map(label => {
    const [name, ...text] = label.split('=')
    return /** @type {[string, string]} */ ([unescaped(name), unescaped(text.join('='))])
  })
  return { name: unescaped(head.slice(0, at)), key, labels }
}

/** @param {string} text  `TIME/LAT:LON/ELEVATION` @param {Map<string, Place>} places @param {() => bigint} now @returns {Place} */
function placeOf (text, places, now) {
  const hasTime = !text.startsWith('/')
  const ns = hasTime ? undefined : now()
  const key = hasTime ? text : `${ns} ${text}`
  let place = places.get(key)
  if (!place) {
    const [us, latLon, elevation] = text.split('/')
    if (hasTime && (BigInt(us) < 1n || BigInt(us) >= MAX_US)) throw new Error('its time is not between 1970 and 2262')
    places.set(key, place = { ns: ns ?? BigInt(us) * US_NS, position: positionOf(latLon, elevation), rows: new Map() })
  }
  return place
}

/** That of the place which has none of these yet. @param {Place} place @param {Series} series @param {Cell[]} cells */
function rowFor ({ rows }, { key }, cells) {
  return rows.get(key)?.find(row => cells.every(({ name }) => Object.hasOwn(POSITION, name) || !row.cells.has(name)))
}

/** @param {Place} place @param {Series} series @param {{index: number, line: string}} first @returns {Row} */
function newRow ({ ns, position, rows }, series, first) {
  const row = { series, ns, cells: new Map(position.map(cell => [cell.name, cell])), ...first }
  const others = rows.get(series.key)
  if (others) others.push(row)
  else rows.set(series.key, [row])
  return row
}

/** @param {string} latLon @param {string} elevation @returns {Cell[]} */
function positionOf (latLon, elevation) {
  const cell = (/** @type {string} */ name, /** @type {number} */ value, /** @type {string} */ unit) => {
    return { name, type: /** @type {const} */ ('float64'), value, unit }
  }
  const [latitude, longitude, ...more] = latLon === '' ? [] : latLon.split(':').map(Number)
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 && more.length === 0
  if (latLon !== '' && !isOnEarth) throw new Error('its position is not LAT:LON')
  return [
    ...latLon === '' ? [] : [cell(POSITION.latitude, latitude, '°'), cell(POSITION.longitude, longitude, '°')],
    ...elevation === '' ? [] : [cell(POSITION.elevation, Number(elevation) / MILLIMETRES, 'm')]
  ]
}

/** @param {Series} series @param {string} text @param {string[]} names @returns {Cell[]} */
function cellsOf ({ name }, text, names) {
  if (!text.startsWith('[')) return [cellOf(name, text)]
  const list = text.trimEnd()
  if (!list.endsWith(']')) throw new Error('its list of values has no end')
  const tokens = list.slice(list[1] === '!' ? 2 : 1, -1).trim().split(/ +/, MAX_FIELDS + 1)
  const own = name === ALL_CHANNELS ? names : []
  return (tokens[0] === '' ? [] : tokens).map((token, i) => {
    const placed = PLACED.exec(token)
    const place = placed ? Number(placed[1]) : i
    return cellOf(own[place] ?? String(place), placed ? placed[2] : token)
  })
}

/** @param {string} name @param {string} text @returns {Cell} */
function cellOf (name, text) {
  const fault = nameFault(name)
  if (fault) throw new Error(`${quoted(name)} ${fault}`)
  return { name, ...valueOf(text) }
}

/** @param {string} text @returns {Value} */
export function valueOf (text) {
  if (WHOLE.test(text)) {
    const value = BigInt(text.replace('+', ''))
    if (BigInt.asIntN(64, value) !== value) throw new Error('its value does not fit a 64-bit integer')
    return { type: 'int64', value }
  }
  if (DECIMAL.test(text)) return { type: 'float64', value: Number(text) }
  if (/^(?:t|true)$/i.test(text)) return { type: 'bool', value: true }
  if (/^(?:f|false)$/i.test(text)) return { type: 'bool', value: false }
  const quote = /^(['"])(.*)\1$/.exec(text)
  if (quote) return { type: 'string', value: unescaped(quote[2]) }
  const encoded = /^(b64|hex):([\w+/=-]*)$/.exec(text)
  if (encoded) return { type: 'bytes', value: Buffer.from(encoded[2], encoded[1] === 'hex' ? 'hex' : 'base64') }
  throw new Error(`its value ${quoted(text)} is of no type that can be read`)
}

/** @param {string} text */
function unescaped (text) {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

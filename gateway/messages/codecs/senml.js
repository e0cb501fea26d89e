import { MAX_NAME, MAX_RECORDS, tooLarge } from '../bounds.js'
import { Gatherer, nameFault, quoted } from '../gatherer.js'
import { Refusals } from '../refusals.js'
import { isPlainObject } from '../rows.js'
import { typeOf, whyNot as whyNotValue } from '../cells.js'
import { parseTime } from '../../batch/time.js'
import { describe } from '../../base/errors.js'

/**
 * SenML (RFC 8428): an array of records, each with a name, a value and a time, which base values (`bn`, `bt`, `bu`, `bv`, `bs`) abbreviate
 * for all that follow.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../series.js').Cell} Cell
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {Record<string, any>} SenmlRecord
 * @typedef {{index: number, device: string, ns: bigint, name: string, unit: string, baseUnit: string, cells: Cell[]}} Measured  a resolved
 *   record
 * @typedef {{device: string, ns: bigint, cells: Map<string, Cell>}} Row
 */

export const contentTypes = ['application/senml+json', 'application/sensml+json']

const LABELS = new Set(['bn', 'bt', 'bu', 'bv', 'bs', 'bver', 'n', 'u', 'v', 'vs', 'vb', 'vd', 's', 't', 'ut'])
const VALUES = ['v', 'vs', 'vb', 'vd', 's']
const OWN = ['n', 'u', 't', 'ut', ...VALUES]
const VERSION = 10
/** Smaller times are relative to now (section 4.5.3). */
const FIRST_ABSOLUTE_SECOND = 2 ** 28
const NAME = /^[A-Za-z0-9][-A-Za-z0-9:./_]*$/

/**
 * Whether a parsed payload is SenML and nothing else: all labels are known, or, as a reader has to ignore others, all records have some and
 * one of them a base name, which rows of anything else hardly have.
 * @param {unknown} payload
 */
export function isSenml (payload) {
  if (!Array.isArray(payload) || payload.length === 0 || !payload.every(isPlainObject)) return false
  const isNamed = payload.some(({ bn, n }) => typeof (bn ?? n) === 'string')
  if (!isNamed || !payload.some(record => VALUES.some(label => label in record))) return false
  const mayHaveOthers = payload.some(({ bn }) => typeof bn === 'string')
  return payload.every(record => mayHaveOthers ? Object.keys(record).some(isLabel) : Object.keys(record).every(isLabel))
}

/** @param {string} label */
function isLabel (label) {
  return LABELS.has(label)
}

/**
 * The records of one device (its base name) and time are a row; the name after the base name is the field, `value` where it is empty. A sum
 * (`s`) is the field `<name>.sum`. The base name goes into the tag `device`. A pack with a label or version that must be understood and is
 * not known is refused as a whole (section 4.4).
 * @param {any[]} records
 * @param {{source?: string, now: () => bigint, bytes?: Uint8Array}} options  `bytes` from which they were read
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeSenml (records, { source, now, bytes }) {
  const reason = whyNot(records)
  if (reason) return { batches: [], refused: [{ index: -1, reason, value: bytes ?? records }] }
  const gatherer = new Gatherer({ hasOneNumber: true })
  const refused = new Refusals()
  /** @type {Map<string, Row>} */
  const rows = new Map()
  /** @type {bigint|undefined} */
  let nowNs
  const sameNow = () => nowNs ??= now()
  /** @type {Map<string, number>} */
  const turns = new Map()
  const base = { bn: '', bt: 0, bu: '', bv: undefined, bs: undefined }
  /** @type {Measured[]} */
  const measured = []
  records.forEach((record, index) => {
    try {
      if (!isPlainObject(record)) throw 'it is not an object'
      takeBase(base, record)
      if (OWN.some(label => Object.hasOwn(record, label))) measured.push(resolved(record, index, base, sameNow))
    } catch (error) {
      refused.add(index, typeof error === 'string' ? error : describe(error), record)
    }
  })
  if (measured.length === 0 && refused.count === 0) refused.add(-1, 'it holds no values', bytes ?? records)
  const nameOf = namesByUnit(measured)
  for (const record of measured) {
    for (const cell of record.cells) {
      const name = `${nameOf(record)}${cell.name}`
      const fault = nameFault(name)
      if (fault) refused.add(record.index, `${quoted(name)} ${fault}`, records[record.index])
      else addCell({ rows, turns }, record, { ...cell, name })
    }
  }
  for (const { device, ns, cells } of rows.values()) {
    const misfit = gatherer.take(source, device ? { device } : {}, ns, [...cells.values()])
    if (!misfit) continue
    const value = Object.fromEntries(Array.from(cells.values(), cell => [cell.name, cell.value]))
    refused.add(-1, misfit, value)
  }
  return { batches: gatherer.batches(), refused: refused.list(bytes ?? records) }
}

/** Why a pack must not be used; null where it may be. @param {any[]} records */
function whyNot (records) {
  if (records.length > MAX_RECORDS) return describe(tooLarge(`it has ${records.length} records, over ${MAX_RECORDS}`))
  for (const record of records.filter(isPlainObject)) {
    const unknown = Object.keys(record).find(label => label.endsWith('_'))
    if (unknown) return `the label ${quoted(unknown)} must be understood, but is not known`
    const { bver = VERSION } = record
    if (!(Number(bver) <= VERSION)) return `version ${bver} of SenML is not known`
  }
  return null
}

/** The types of base values. @type {Record<string, string[]>} */
const BASE_TYPES = { bn: ['string'], bt: ['number'], bu: ['string'], bv: ['number', 'bigint'], bs: ['number', 'bigint'] }

/** @param {SenmlRecord} base @param {SenmlRecord} record */
function takeBase (base, record) {
  for (const [label, value] of Object.entries(record)) {
    if (!Object.hasOwn(BASE_TYPES, label)) continue
    if (!BASE_TYPES[label].includes(typeof value)) throw `"${label}" is not a ${BASE_TYPES[label][0]}`
    if (String(value).length > MAX_NAME) throw `"${label}" is over ${MAX_NAME} characters`
    base[label] = value
  }
}

/** @param {SenmlRecord} record @param {number} index @param {SenmlRecord} base @param {() => bigint} now @returns {Measured} */
function resolved (record, index, base, now) {
  const { n = '', u, t = 0 } = record
  const values = VALUES.slice(0, 4).filter(label => Object.hasOwn(record, label))
  if (values.length > 1) throw `it has more than one value: ${values.join(', ')}`
  if (typeof u === 'string' && u.length > MAX_NAME) throw `its unit is over ${MAX_NAME} characters`
  const unit = typeof u === 'string' ? u : base.bu
  const cells = cellsOf(record, base, unit)
  if (cells.length === 0) throw 'it has no value'
  if (typeof n !== 'string' || n.length > MAX_NAME || !NAME.test(base.bn + n)) throw `the name ${quoted(String(base.bn + n))} is not valid`
  if (typeof t !== 'number') throw '"t" is not a number'
  const name = n.replace(/^[:./_-]+/, '')
  return { index, device: base.bn.replace(/[:./_-]+$/, ''), ns: timeOf(base.bt + t, now), name, unit, baseUnit: base.bu, cells }
}

/**
 * What its value is called: a field has one unit, so of those that share a name, as longitude and latitude of one position do, the ones in
 * another unit than the base unit are called by theirs as well: `value.lon`.
 * @param {Measured[]} measured
 * @returns {(record: Measured) => string}
 */
function namesByUnit (measured) {
  const keyOf = (/** @type {Measured} */ { device, name }) => `${device} ${name}`
  /** @type {Map<string, Set<string>>} */
  const units = new Map()
  for (const record of measured) {
    const key = keyOf(record)
    const its = units.get(key)
    if (its) its.add(record.unit)
    else units.set(key, new Set([record.unit]))
  }
  return record => {
    const { name, unit, baseUnit } = record
    const isOne = units.get(keyOf(record))?.size === 1 && (name !== '' || baseUnit === '')
    return isOne || unit === baseUnit || unit === '' ? name || 'value' : `${name || 'value'}.${unit}`
  }
}

/**
 * A name that occurs twice at one time gives two rows.
 * @param {{rows: Map<string, Row>, turns: Map<string, number>}} taken  `turns`: how often a device has used a name at a time
 * @param {Measured} measured
 * @param {Cell} cell
 */
function addCell ({ rows, turns }, { ns, device }, cell) {
  const occurrence = `${ns} ${device} ${cell.name}`
  const turn = turns.get(occurrence) ?? 0
  turns.set(occurrence, turn + 1)
  const key = `${ns} ${turn} ${device}`
  const row = rows.get(key)
  if (row) row.cells.set(cell.name, cell)
  else rows.set(key, { device, ns, cells: new Map([[cell.name, cell]]) })
}

/**
 * Its value, under the name '', and its sum. What is missing of a value and its base is 0; a base sum alone is the sum only of the record
 * that it stands in, as it would be nonsense for all other names.
 * @param {SenmlRecord} record @param {SenmlRecord} base @param {string} unit
 * @returns {Cell[]}
 */
function cellsOf ({ v, vs, vb, vd, s, bs: ownBase }, { bv, bs }, unit) {
  /** @type {Cell[]} */
  const cells = []
  const measured = unit ? { unit } : {}
  if (v !== undefined) cells.push({ ...numberCell('', 'v', v, bv), ...measured })
  else if (typeof vb === 'boolean') cells.push({ name: '', type: 'bool', value: vb })
  else if (typeof vs === 'string') cells.push({ name: '', type: 'string', value: vs })
  else if (vd instanceof Uint8Array) cells.push({ name: '', type: 'bytes', value: vd })
  else if (typeof vd === 'string') cells.push({ name: '', type: 'bytes', value: new Uint8Array(Buffer.from(vd, 'base64url')) })
  else if ([vs, vb, vd].some(value => value !== undefined)) throw 'its value is of another type than its label says'
  else if (s === undefined && bv !== undefined) cells.push({ ...numberCell('', 'v', 0, bv), ...measured })
  if (s !== undefined || ownBase !== undefined) cells.push(numberCell('.sum', 's', s ?? 0, bs))
  return cells
}

/** @param {string} name @param {string} label @param {any} value @param {any} [base] @returns {Cell} */
function numberCell (name, label, value, base = 0) {
  if (typeof value !== 'bigint' && !Number.isFinite(value)) throw `"${label}" is not a number`
  const sum = typeof value === 'bigint' || typeof base === 'bigint' ? exactSum(value, base) : value + base
  const type = typeOf(sum)
  if (!type) throw `"${label}" ${whyNotValue(sum)}`
  return { name, type, value: sum }
}

/** @param {number|bigint} value @param {number|bigint} base @returns {number|bigint} */
function exactSum (value, base) {
  const isWhole = [value, base].every(part => typeof part === 'bigint' || Number.isSafeInteger(part))
  return isWhole ? BigInt(value) + BigInt(base) : Number(value) + Number(base)
}

/** @param {number} seconds  rounded to microseconds: the sum of two decimal fractions may be slightly off @param {() => bigint} now */
function timeOf (seconds, now) {
  if (seconds < FIRST_ABSOLUTE_SECOND) return parseTime(now() + BigInt(Math.round(seconds * 1e9)))
  return parseTime(Math.round(seconds * 1e6), 'us')
}

import { MAX_NAME, MAX_RECORDS, tooLarge } from '../bounds.js'
import { Gatherer, nameFault, quoted } from '../gatherer.js'
import { Refusals } from '../refusals.js'
import { isPlainObject } from '../rows.js'
import { parseTime } from '../../batch/time.js'
import { describe } from '../../base/errors.js'

/**
 * SenML in JSON (RFC 8428): an array of records, each with a name, a value and a time, which base values (`bn`, `bt`, `bu`, `bv`, `bs`)
 * abbreviate for all that follow.
 *
 * @typedef {import('../../batch/batch.js').Batch} Batch
 * @typedef {import('../series.js').Cell} Cell
 * @typedef {import('../payload.js').Refused} Refused
 * @typedef {Record<string, any>} SenmlRecord
 * @typedef {{device: string, ns: bigint, cells: Map<string, Cell>}} Row
 */

export const contentTypes = ['application/senml+json', 'application/sensml+json']

const LABELS = new Set(['bn', 'bt', 'bu', 'bv', 'bs', 'bver', 'n', 'u', 'v', 'vs', 'vb', 'vd', 's', 't', 'ut'])
const VALUES = ['v', 'vs', 'vb', 'vd', 's']
const OWN = ['n', 'u', 't', 'ut', ...VALUES]
/** Smaller times are relative to now (section 4.5.3). */
const FIRST_ABSOLUTE_SECOND = 2 ** 28
const NAME = /^[A-Za-z0-9][-A-Za-z0-9:./_]*$/

/** Whether a parsed JSON payload is SenML and nothing else. @param {unknown} payload */
export function isSenml (payload) {
  return Array.isArray(payload) && payload.length > 0 && payload.every(hasOnlyLabels) &&
    payload.some(({ bn, n }) => typeof (bn ?? n) === 'string') && payload.some(record => VALUES.some(label => label in record))
}

/** @param {unknown} record */
function hasOnlyLabels (record) {
  return isPlainObject(record) && Object.keys(record).every(label => LABELS.has(label))
}

/**
 * The records of one device (its base name) and time are a row; the name after the base name is the field, `value` where it is empty. A sum
 * (`s`) is the field `<name>.sum`. The base name goes into the tag `device`.
 * @param {any[]} records
 * @param {{source?: string, now: () => bigint, bytes?: Uint8Array}} options  `bytes` from which they were read
 * @returns {{batches: Batch[], refused: Refused[]}}
 */
export function decodeSenml (records, { source, now, bytes }) {
  if (records.length > MAX_RECORDS) {
    const reason = describe(tooLarge(`it has ${records.length} records, over ${MAX_RECORDS}`))
    return { batches: [], refused: [{ index: -1, reason, value: bytes ?? records }] }
  }
  const gatherer = new Gatherer()
  const refused = new Refusals()
  /** @type {Map<string, Row>} */
  const rows = new Map()
  /** @type {bigint|undefined} */
  let nowNs
  const sameNow = () => nowNs ??= now()
  /** @type {Map<string, number>} */
  const turns = new Map()
  const base = { bn: '', bt: 0, bu: '', bv: 0, bs: 0 }
  records.forEach((record, index) => {
    try {
      if (!isPlainObject(record)) throw 'it is not an object'
      takeBase(base, record)
      addTo({ rows, turns }, record, base, sameNow)
    } catch (error) {
      refused.add(index, typeof error === 'string' ? error : describe(error), record)
    }
  })
  for (const { device, ns, cells } of rows.values()) {
    const reason = gatherer.take(source, device ? { device } : {}, ns, [...cells.values()])
    if (!reason) continue
    const value = Object.fromEntries(Array.from(cells.values(), cell => [cell.name, cell.value]))
    refused.add(-1, reason, value)
  }
  return { batches: gatherer.batches(), refused: refused.list(bytes ?? records) }
}

/** @param {SenmlRecord} base @param {SenmlRecord} record */
function takeBase (base, record) {
  for (const [label, value] of Object.entries(record)) {
    if (!Object.hasOwn(base, label)) continue
    if (typeof value !== typeof base[label]) throw `"${label}" is not a ${typeof base[label]}`
    if (String(value).length > MAX_NAME) throw `"${label}" is over ${MAX_NAME} characters`
    base[label] = value
  }
}

/**
 * @param {{rows: Map<string, Row>, turns: Map<string, number>}} taken  `turns`: how often a device has used a name at a time
 * @param {SenmlRecord} record @param {SenmlRecord} base @param {() => bigint} now
 */
function addTo (taken, record, base, now) {
  const { n = '', u, t = 0, bver = 10 } = record
  if (!OWN.some(label => Object.hasOwn(record, label))) return // only base values
  if (!(bver <= 10)) throw `version ${bver} of SenML is not known`
  const unknown = Object.keys(record).find(label => label.endsWith('_'))
  if (unknown) throw `the label ${quoted(unknown)} must be understood, but is not known`
  const values = VALUES.slice(0, 4).filter(label => Object.hasOwn(record, label))
  if (values.length > 1) throw `it has more than one value: ${values.join(', ')}`
  if (values.length === 0 && !Object.hasOwn(record, 's')) throw 'it has no value'
  if (typeof u === 'string' && u.length > MAX_NAME) throw `its unit is over ${MAX_NAME} characters`
  if (typeof n !== 'string' || n.length > MAX_NAME || !NAME.test(base.bn + n)) throw `the name ${quoted(String(base.bn + n))} is not valid`
  if (typeof t !== 'number') throw '"t" is not a number'
  const name = n.replace(/^[:./_-]+/, '') || 'value'
  const fault = nameFault(name)
  if (fault) throw `${quoted(name)} ${fault}`
  const unit = u ?? base.bu
  const device = base.bn.replace(/[:./_-]+$/, '')
  const ns = timeOf(base.bt + t, now)
  for (const cell of cellsOf(record, base, name, unit)) addCell(taken, device, ns, cell)
}

/**
 * A name that occurs twice at one time gives two rows.
 * @param {{rows: Map<string, Row>, turns: Map<string, number>}} taken
 * @param {string} device
 * @param {bigint} ns
 * @param {Cell} cell
 */
function addCell ({ rows, turns }, device, ns, cell) {
  const occurrence = `${ns} ${device} ${cell.name}`
  const turn = turns.get(occurrence) ?? 0
  turns.set(occurrence, turn + 1)
  const key = `${ns} ${turn} ${device}`
  const row = rows.get(key)
  if (row) row.cells.set(cell.name, cell)
  else rows.set(key, { device, ns, cells: new Map([[cell.name, cell]]) })
}

/** @param {SenmlRecord} record @param {SenmlRecord} base @param {string} name @param {unknown} unit @returns {Cell[]} */
function cellsOf ({ v, vs, vb, vd, s }, { bv, bs }, name, unit) {
  /** @type {Cell[]} */
  const cells = []
  const measured = typeof unit === 'string' && unit !== '' ? { unit } : {}
  if (v !== undefined) cells.push({ name, type: 'float64', value: number(v, 'v') + bv, ...measured })
  else if (typeof vb === 'boolean') cells.push({ name, type: 'bool', value: vb })
  else if (typeof vs === 'string') cells.push({ name, type: 'string', value: vs })
  else if (typeof vd === 'string') cells.push({ name, type: 'bytes', value: new Uint8Array(Buffer.from(vd, 'base64url')) })
  else if (s === undefined) throw 'its value is of another type than its label says'
  if (s !== undefined) cells.push({ name: `${name}.sum`, type: 'float64', value: number(s, 's') + bs })
  return cells
}

/** @param {unknown} value @param {string} label */
function number (value, label) {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw `"${label}" is not a number`
  return value
}

/** @param {number} seconds  rounded to microseconds: the sum of two decimal fractions may be slightly off @param {() => bigint} now */
function timeOf (seconds, now) {
  if (seconds < FIRST_ABSOLUTE_SECOND) return parseTime(now() + BigInt(Math.round(seconds * 1e9)))
  return parseTime(Math.round(seconds * 1e6), 'us')
}

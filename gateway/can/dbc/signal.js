import { bytesNeeded, rawLimits, rawOf, rawReader } from './bits.js'
import { missingValues } from './missing.js'
import { floatRange, rawRange } from './signal-range.js'
import { bitsOfFloat, compileWriter } from './signal-writer.js'

/**
 * A signal of a message: where its bits are, what they mean, and how they are read.
 *
 * @typedef {object} SignalDefinition
 * @property {string} name
 * @property {string} unit
 * @property {number} start  bit number as the DBC writes it: of the least significant bit (Intel), of the most significant (Motorola)
 * @property {number} length  bits
 * @property {boolean} littleEndian
 * @property {boolean} signed
 * @property {0|32|64} floatBits  0 for a whole number
 * @property {number} factor
 * @property {number} offset
 * @property {number} minimum  physical; without a range neither this nor the maximum is finite
 * @property {number} maximum
 * @property {Map<bigint, string>} choices  names of raw values, if any
 *
 * @typedef {number|bigint} Value  physical value
 * @typedef {object} Signal
 * @property {string} name
 * @property {string} unit
 * @property {'float64'|'int64'|'string'} type  int64 for whole numbers beyond ±2^53, string (decimal digits) for those beyond int64;
 *   values of both are read as bigint
 * @property {number} bytes  how many data bytes a frame must have to hold it
 * @property {Value} minimum  of the values it may have
 * @property {Value} maximum
 * @property {number} step  from one value to the next; 0 for a float
 * @property {Map<bigint, string>} choices  names of raw values, if any
 * @property {(data: Uint8Array) => Value|string|undefined} read  undefined where the frame does not hold it or has "not available"; text
 *   only where texts are asked for
 * @property {(data: Uint8Array) => string|undefined} readText  the name of its raw value, otherwise the value's digits
 * @property {(data: Uint8Array) => string|undefined} faultOf  why the frame holds no value where it says so ("error"); undefined where it
 *   has one, has "not available", or does not hold the signal
 * @property {import('./signal-writer.js').Write} write
 */

/**
 * @param {SignalDefinition} definition
 * @param {object} options
 * @param {import('./protocol.js').Protocol} options.protocol  with values that mean that there is none
 * @param {import('./missing.js').Indicators} options.indicators
 * @param {(data: Uint8Array) => boolean} [options.isSelected]  of a multiplexed signal: whether this frame carries it
 * @returns {Signal}
 */
export function compileSignal (definition, { protocol, indicators, isSelected }) {
  const { name, unit, choices } = definition
  const bytes = bytesNeeded(definition)
  const type = typeOf(definition)
  const readRaw = rawReader(definition)
  const toPhysical = converter(definition, type)
  const missing = missingValues(definition, protocol, indicators)
  const [lowest, highest, reasonOf] = reasonsByRaw(definition, missing)
  const texts = textsByRaw(definition)

  /** @param {Uint8Array} data */
  const read = data => {
    if (data.length < bytes) return undefined
    const raw = readRaw(data)
    return raw < lowest || raw > highest || reasonOf(raw) === undefined ? toPhysical(raw) : undefined
  }
  /** A name that the table has for "not available" tells more than a missing value. @param {Uint8Array} data */
  const readText = data => {
    if (data.length < bytes) return undefined
    const raw = readRaw(data)
    return texts.get(raw) ?? (reasonOf(raw) === undefined ? String(toPhysical(raw)) : undefined)
  }
  /** @param {Uint8Array} data */
  const faultOf = data => {
    if (data.length < bytes) return undefined
    const raw = readRaw(data)
    return raw < lowest || raw >= highest ? undefined : reasonOf(raw) || undefined
  }
  const range = definition.floatBits ? null : rawRange(definition, missing.at(0)?.first)
  const [minimum, maximum] = limitsOf(definition, range, toPhysical)
  const absent = protocol && definition.floatBits ? bitsOfFloat(NaN, definition.floatBits) : missing.at(-1)?.last ?? 0n
  return {
    name,
    unit,
    type,
    bytes,
    minimum,
    maximum,
    step: definition.floatBits ? 0 : Math.abs(definition.factor),
    choices,
    read: isSelected ? data => isSelected(data) ? read(data) : undefined : read,
    readText: isSelected ? data => isSelected(data) ? readText(data) : undefined : readText,
    faultOf: isSelected ? data => isSelected(data) ? faultOf(data) : undefined : faultOf,
    write: compileWriter(definition, { isExact: type !== 'float64', minimum, maximum, range, absent })
  }
}

/**
 * @param {SignalDefinition} definition
 * @param {import('./signal-range.js').RawRange|null} range
 * @param {(raw: Value) => Value} toPhysical
 */
function limitsOf (definition, range, toPhysical) {
  const { low, high } = range ?? floatRange(definition)
  if (!range) return [low, high]
  const limits = [low, high].map(raw => toPhysical(rawOf(definition, /** @type {bigint} */ (raw))))
  return definition.factor < 0 ? limits.reverse() : limits
}

/** @param {SignalDefinition} definition @returns {Signal['type']} */
function typeOf (definition) {
  const { floatBits, factor, offset } = definition
  if (floatBits || !Number.isSafeInteger(factor) || !Number.isSafeInteger(offset)) return 'float64'
  const limits = rawLimits(definition).map(raw => raw * BigInt(factor) + BigInt(offset))
  if (limits.every(limit => BigInt.asIntN(54, limit) === limit)) return 'float64'
  return limits.every(limit => BigInt.asIntN(64, limit) === limit) ? 'int64' : 'string'
}

/** @param {SignalDefinition} definition @param {Signal['type']} type @returns {(raw: Value) => Value} */
function converter ({ length, signed, floatBits, factor, offset }, type) {
  if (floatBits) {
    const toFloat = floatBits === 32 ? float32 : float64
    return raw => toFloat(raw) * factor + offset
  }
  if (type !== 'float64') {
    const [wideFactor, wideOffset] = [BigInt(factor), BigInt(offset)]
    return raw => {
      const wide = BigInt(raw)
      return (signed ? BigInt.asIntN(length, wide) : wide) * wideFactor + wideOffset
    }
  }
  if (!signed) return raw => Number(raw) * factor + offset
  const half = 2 ** (length - 1)
  const size = 2 ** length
  return raw => {
    if (typeof raw === 'bigint') return Number(BigInt.asIntN(length, raw)) * factor + offset
    return (raw >= half ? raw - size : raw) * factor + offset
  }
}

/**
 * @param {SignalDefinition} definition
 * @param {import('../j1939/indicators.js').Indicator[]} missing
 * @returns {[lowest: Value, highest: Value, reasonOf: (raw: Value) => string|undefined]}  raw values as they are read; why there is no
 *   value, undefined where there is one
 */
function reasonsByRaw (definition, missing) {
  const ranges = missing.map(({ first, last, reason }) => ({ first: rawOf(definition, first), last: rawOf(definition, last), reason }))
  if (ranges.length === 0) return [Infinity, Infinity, () => undefined]
  return [ranges[0].first, ranges[ranges.length - 1].last, raw => ranges.find(({ first, last }) => raw >= first && raw <= last)?.reason]
}

/**
 * Names by raw value as it is read; those of values that the bits cannot hold are left out.
 * @param {SignalDefinition} definition
 * @returns {Map<Value, string>}
 */
function textsByRaw (definition) {
  const [lowest, highest] = rawLimits(definition)
  const fitting = [...definition.choices].filter(([value]) => value >= lowest && value <= highest)
  return new Map(fitting.map(([value, text]) => [rawOf(definition, value), text]))
}

const scratch = new DataView(new ArrayBuffer(8))

/** @param {Value} raw */
function float32 (raw) {
  scratch.setUint32(0, Number(raw))
  return scratch.getFloat32(0)
}

/** @param {Value} raw */
function float64 (raw) {
  scratch.setBigUint64(0, BigInt(raw))
  return scratch.getFloat64(0)
}

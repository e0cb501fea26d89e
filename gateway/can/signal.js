/**
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
 *
 * @typedef {number|bigint} Value  physical value
 * @typedef {object} Signal
 * @property {string} name
 * @property {string} unit
 * @property {'float64'|'int64'|'string'} type  int64 for whole numbers beyond ±2^53, string (decimal digits) for those beyond int64;
 *   values of both are read as bigint
 * @property {number} bytes  how many data bytes a frame must have to hold it
 * @property {(data: Uint8Array) => Value|undefined} read  undefined where the frame does not hold it or says "not available"
 */

/**
 * @param {SignalDefinition} definition
 * @param {object} options
 * @param {boolean} options.marksMissing  the highest raw value means "not available"
 * @param {(data: Uint8Array) => boolean} [options.isSelected]  of a multiplexed signal: whether this frame carries it
 * @returns {Signal}
 */
export function compileSignal (definition, { marksMissing, isSelected }) {
  const { name, unit } = definition
  const bytes = bytesNeeded(definition)
  const type = typeOf(definition)
  const readRaw = rawReader(definition)
  const toPhysical = converter(definition, type)
  const missing = marksMissing ? highestRaw(definition) : undefined

  /** @param {Uint8Array} data */
  const read = data => {
    if (data.length < bytes) return undefined
    const raw = readRaw(data)
    return raw === missing ? undefined : toPhysical(raw)
  }
  if (!isSelected) return { name, unit, type, bytes, read }
  return { name, unit, type, bytes, read: data => isSelected(data) ? read(data) : undefined }
}

/**
 * Reads the bits as an unsigned number: a bigint where they span more than six bytes. The data must be long enough.
 * @param {SignalDefinition} definition
 * @returns {(data: Uint8Array) => Value}
 */
export function rawReader (definition) {
  const { length } = definition
  const { top, step, count, shift } = layout(definition)
  if (count <= 4) {
    const mask = length === 32 ? -1 : (1 << length) - 1
    return data => {
      let raw = 0
      for (let n = 0, at = top; n < count; n++, at += step) raw = raw << 8 | data[at]
      return (raw >>> shift & mask) >>> 0
    }
  }
  if (count <= 6) {
    const below = 2 ** shift
    const size = 2 ** length
    return data => {
      let raw = 0
      for (let n = 0, at = top; n < count; n++, at += step) raw = raw * 256 + data[at]
      return Math.floor(raw / below) % size
    }
  }
  return data => {
    let raw = 0n
    for (let n = 0, at = top; n < count; n++, at += step) raw = raw << 8n | BigInt(data[at])
    return BigInt.asUintN(length, raw >> BigInt(shift))
  }
}

/** @param {SignalDefinition} definition */
export function bytesNeeded (definition) {
  const { top, step, count } = layout(definition)
  return Math.max(top, top + step * (count - 1)) + 1
}

/**
 * Where the bits are: bytes from the most significant (`top`, then by `step`), and how many bits below the signal to drop.
 * @param {SignalDefinition} definition
 */
function layout ({ start, length, littleEndian }) {
  if (littleEndian) {
    const bottom = start >> 3
    const top = (start + length - 1) >> 3
    return { top, step: -1, count: top - bottom + 1, shift: start & 7 }
  }
  // Motorola: counted from the most significant bit of byte 0, the bits of a signal are in sequence.
  const first = (start & ~7) + 7 - (start & 7)
  const last = first + length - 1
  const top = first >> 3
  return { top, step: 1, count: (last >> 3) - top + 1, shift: 7 - (last & 7) }
}

/** @param {SignalDefinition} definition @returns {Signal['type']} */
function typeOf ({ length, signed, floatBits, factor, offset }) {
  if (floatBits || !Number.isSafeInteger(factor) || !Number.isSafeInteger(offset)) return 'float64'
  const lowest = signed ? -(1n << BigInt(length - 1)) : 0n
  const highest = (1n << BigInt(signed ? length - 1 : length)) - 1n
  const limits = [lowest, highest].map(raw => raw * BigInt(factor) + BigInt(offset))
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
 * The bits of the highest value: all ones, or the largest positive if signed. A single bit has no value to spare, a float has NaN.
 * @param {SignalDefinition} definition
 * @returns {Value|undefined}
 */
function highestRaw (definition) {
  const { length, signed, floatBits } = definition
  if (length < 2 || floatBits) return undefined
  const raw = (1n << BigInt(signed ? length - 1 : length)) - 1n
  return layout(definition).count <= 6 ? Number(raw) : raw
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

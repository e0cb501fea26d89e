/**
 * Values in packets: parameters of statements, and rows of results.
 *
 * @typedef {{name: string, kind: string, length: number}} Column  `kind`: its type in SQL
 */

/** By the numbers of the protocol. @type {Record<string, number>} */
const CODES = { SMALLINT: 2, INTEGER: 3, BIGINT: 4, REAL: 6, DOUBLE: 7, NVARCHAR: 11, VARBINARY: 13, BOOLEAN: 28, TIMESTAMP: 61 }
const NULL = 0x80

/** @param {Column[]} columns  of parameters */
export function parameterMetadata (columns) {
  const bytes = Buffer.alloc(16 * columns.length)
  columns.forEach(({ kind, length }, i) => {
    bytes[16 * i] = 2 // optional
    bytes[16 * i + 1] = CODES[kind]
    bytes[16 * i + 2] = 1 // in
    bytes.writeInt32LE(-1, 16 * i + 4)
    bytes.writeInt16LE(length, 16 * i + 8)
  })
  return { arguments: columns.length, bytes }
}

/** @param {Column[]} columns  of rows */
export function resultMetadata (columns) {
  const heads = Buffer.alloc(24 * columns.length)
  const names = []
  let at = 0
  for (const [i, { name, kind, length }] of columns.entries()) {
    heads[24 * i] = 2
    heads[24 * i + 1] = CODES[kind]
    heads.writeInt16LE(length, 24 * i + 4)
    for (const offset of [8, 12]) heads.writeInt32LE(-1, 24 * i + offset)
    for (const offset of [16, 20]) heads.writeInt32LE(at, 24 * i + offset)
    const text = Buffer.from(name)
    names.push(Buffer.from([text.length]), text)
    at += 1 + text.length
  }
  return { arguments: columns.length, bytes: Buffer.concat([heads, ...names]) }
}

/** The rows of parameters. @param {Buffer} bytes @param {Column[]} columns @returns {any[][]} */
export function readParameters (bytes, columns) {
  const rows = []
  let at = 0
  const take = (/** @type {number} */ length) => bytes.subarray(at, at += length)
  const sized = () => {
    const [length] = take(1)
    return take(length === 246 ? take(2).readUInt16LE() : length === 247 ? take(4).readUInt32LE() : length)
  }
  while (at < bytes.length) {
    rows.push(columns.map(() => {
      const [code] = take(1)
      if (code & NULL) return null
      switch (code) {
        case 2: return BigInt(take(2).readInt16LE())
        case 3: return BigInt(take(4).readInt32LE())
        case 4: return take(8).readBigInt64LE()
        case 6: return take(4).readFloatLE()
        case 7: return take(8).readDoubleLE()
        case 12: return new Uint8Array(sized())
        case 28: return take(1)[0] === 1 ? null : BigInt(bytes[at - 1] === 2)
        case 29: case 30: return fromCesu8(sized())
        case 61: return timeText(take(8).readBigInt64LE())
        default: throw new Error(`a parameter of type ${code} is not known to the fake`)
      }
    }))
  }
  return rows
}

/** @param {any[][]} rows @param {Column[]} columns */
export function resultRows (rows, columns) {
  return Buffer.concat(rows.flatMap(row => row.map((cell, i) => cellOf(cell, columns[i].kind))))
}

/** @param {any} cell @param {string} kind */
function cellOf (cell, kind) {
  switch (kind) {
    case 'SMALLINT': case 'INTEGER': case 'BIGINT': {
      if (cell === null) return Buffer.from([0])
      const bytes = Buffer.alloc(9)
      bytes[0] = 1
      bytes.writeBigInt64LE(BigInt(cell), 1)
      return bytes.subarray(0, { SMALLINT: 3, INTEGER: 5, BIGINT: 9 }[kind])
    }
    case 'REAL': {
      const bytes = Buffer.alloc(4, 0xff)
      if (cell !== null) bytes.writeFloatLE(Number(cell))
      return bytes
    }
    case 'DOUBLE': {
      const bytes = Buffer.alloc(8, 0xff)
      if (cell !== null) bytes.writeDoubleLE(Number(cell))
      return bytes
    }
    case 'BOOLEAN': return Buffer.from([cell === null ? 1 : cell ? 2 : 0])
    default: {
      if (cell === null) return Buffer.from([0xff])
      const bytes = typeof cell === 'string' ? toCesu8(cell) : Buffer.from(cell)
      const head = Buffer.alloc(bytes.length > 245 ? 5 : 1)
      head[0] = bytes.length > 245 ? 247 : bytes.length
      if (bytes.length > 245) head.writeInt32LE(bytes.length, 1)
      return Buffer.concat([head, bytes])
    }
  }
}

/** Of hundreds of nanoseconds since the first day of the Julian calendar, and one. @param {bigint} ticks */
function timeText (ticks) {
  const since1970 = ticks - 1n - 621_357_696_000_000_000n
  const rest = ((since1970 % 10_000_000n) + 10_000_000n) % 10_000_000n
  return new Date(Number((since1970 - rest) / 10_000n)).toISOString().slice(0, 19) + `.${String(rest).padStart(7, '0')}`
}

/** UTF-8, but with surrogates as characters of their own. @param {string} text */
export function toCesu8 (text) {
  return Buffer.concat(Array.from(text, letter => {
    if (letter.length === 1) return Buffer.from(letter)
    const units = [letter.charCodeAt(0), letter.charCodeAt(1)]
    return Buffer.from(units.flatMap(unit => [0xe0 | unit >> 12, 0x80 | unit >> 6 & 0x3f, 0x80 | unit & 0x3f]))
  }))
}

/** @param {Buffer} bytes */
export function fromCesu8 (bytes) {
  let text = ''
  for (let i = 0; i < bytes.length;) {
    const byte = bytes[i]
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : 3
    const bits = [byte & [0, 0x7f, 0x1f, 0x0f][length], ...bytes.subarray(i + 1, i + length).map(more => more & 0x3f)]
    text += String.fromCharCode(bits.reduce((all, more) => all << 6 | more))
    i += length
  }
  return text
}

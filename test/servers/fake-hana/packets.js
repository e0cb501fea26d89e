/**
 * Packets of SAP HANA's SQL Command Network Protocol, as its reference describes them: a header, a segment, and parts in that. Numbers are
 * little-endian.
 *
 * @typedef {{kind: number, arguments: number, bytes: Buffer}} Part
 * @typedef {{type: number, commits: boolean, parts: Part[]}} Request
 */

export const MESSAGE = {
  EXECUTE_DIRECT: 2, PREPARE: 3, EXECUTE: 13, AUTHENTICATE: 65, CONNECT: 66, COMMIT: 67, ROLLBACK: 68, CLOSE_RESULT_SET: 69,
  DROP_STATEMENT_ID: 70, FETCH_NEXT: 71, DISCONNECT: 77
}

export const PART = {
  COMMAND: 3, RESULT_SET: 5, ERROR: 6, STATEMENT_ID: 10, ROWS_AFFECTED: 12, RESULT_SET_ID: 13, PARAMETERS: 32, AUTHENTICATION: 33,
  CONNECT_OPTIONS: 42, FETCH_SIZE: 45, PARAMETER_METADATA: 47, RESULT_SET_METADATA: 48, TRANSACTION_FLAGS: 64
}

export const FUNCTION = { NIL: 0, DDL: 1, INSERT: 2, UPDATE: 3, DELETE: 4, SELECT: 5, FETCH: 10, COMMIT: 11, ROLLBACK: 12, CONNECT: 14 }

const HEADER = 32
const SEGMENT_HEADER = 24
const PART_HEADER = 16
const REPLY = 2
const ERROR = 5
const FATAL_OR_NOT = 1

/** What the client begins with, and what the server answers. */
export const GREETING_BYTES = 14
export const GREETING = Buffer.from([4, 20, 0, 4, 1, 0, 0, 0])

/** The first packet, or null where it is not all there. @param {Buffer} bytes @returns {{request: Request, length: number}|null} */
export function readPacket (bytes) {
  if (bytes.length < HEADER) return null
  const length = HEADER + bytes.readUInt32LE(12)
  if (bytes.length < length) return null
  const segment = bytes.subarray(HEADER, length)
  const parts = []
  let at = SEGMENT_HEADER
  for (let i = 0; i < segment.readInt16LE(8); i++) {
    const size = segment.readInt32LE(at + 8)
    const few = segment.readInt16LE(at + 2)
    parts.push({
      kind: segment[at],
      arguments: few === -1 ? segment.readInt32LE(at + 4) : few,
      bytes: segment.subarray(at + PART_HEADER, at + PART_HEADER + size)
    })
    at += PART_HEADER + aligned(size)
  }
  return { request: { type: segment[13], commits: segment[14] === 1, parts }, length }
}

/** @param {number} functionCode @param {(Part & {attributes?: number})[]} parts */
export function reply (functionCode, parts) {
  return packet(REPLY, functionCode, parts)
}

/** @param {number} code @param {string} message */
export function errorReply (code, message) {
  const text = Buffer.from(message)
  const bytes = Buffer.alloc(18 + aligned(text.length))
  bytes.writeInt32LE(code, 0)
  bytes.writeInt32LE(text.length, 8)
  bytes.writeInt8(FATAL_OR_NOT, 12)
  bytes.write('HY000', 13, 'ascii')
  text.copy(bytes, 18)
  return packet(ERROR, FUNCTION.NIL, [{ kind: PART.ERROR, arguments: 1, bytes }])
}

/** @param {number} kind @param {number} functionCode @param {(Part & {attributes?: number})[]} parts */
function packet (kind, functionCode, parts) {
  const bodies = parts.map(part => {
    const bytes = Buffer.alloc(PART_HEADER + aligned(part.bytes.length))
    bytes[0] = part.kind
    bytes[1] = part.attributes ?? 0
    bytes.writeInt16LE(part.arguments > 32767 ? -1 : part.arguments, 2)
    bytes.writeInt32LE(part.arguments > 32767 ? part.arguments : 0, 4)
    bytes.writeInt32LE(part.bytes.length, 8)
    part.bytes.copy(bytes, PART_HEADER)
    return bytes
  })
  const length = SEGMENT_HEADER + bodies.reduce((sum, { length: its }) => sum + its, 0)
  const header = Buffer.alloc(HEADER + SEGMENT_HEADER)
  header.writeBigUInt64LE(1n, 0)
  header.writeUInt32LE(length, 12)
  header.writeUInt32LE(length, 16)
  header.writeInt16LE(1, 20)
  header.writeInt32LE(length, HEADER)
  header.writeInt16LE(parts.length, HEADER + 8)
  header.writeInt16LE(1, HEADER + 10)
  header.writeInt8(kind, HEADER + 12)
  header.writeInt16LE(functionCode, HEADER + 14)
  return Buffer.concat([header, ...bodies])
}

/** Texts and bytes in a part, each after its length. @param {Buffer} bytes @returns {Buffer[]} */
export function readFields (bytes) {
  const fields = []
  let at = 2
  for (let i = 0; i < bytes.readUInt16LE(0); i++) {
    let length = bytes[at++]
    if (length === 246) {
      length = bytes.readUInt16LE(at)
      at += 2
    }
    fields.push(bytes.subarray(at, at + length))
    at += length
  }
  return fields
}

/** @param {(string|Buffer)[]} given  shorter than 246 bytes */
export function fieldsOf (...given) {
  const all = given.map(field => Buffer.from(field))
  return Buffer.concat([Buffer.from([all.length, 0]), ...all.flatMap(field => [Buffer.from([field.length]), field])])
}

/** @param {number} length */
function aligned (length) {
  return Math.ceil(length / 8) * 8
}

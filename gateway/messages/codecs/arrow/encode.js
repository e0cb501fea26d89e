import { tagColumns } from '../../../batch/tags.js'
import { MAX_CELLS, tooLarge } from '../../bounds.js'
import { bodyOf, MAX_BYTES, pushDictionary, pushOrdinals } from './encode-body.js'
import { BEFORE_TAIL_BYTES, CONTINUATION, DIGITS, PREFIX_BYTES, SEQ_TAIL_BYTES, arrowError, padded } from './format.js'
import { templateOf } from './template.js'

/**
 * @typedef {import('../../../batch/batch.js').Batch} Batch
 * @typedef {import('./encode-body.js').Body} Body
 * @typedef {import('./template.js').RecordTemplate} RecordTemplate
 * @typedef {{template: RecordTemplate, body: Body, bodyLength: number}} Message
 * @typedef {{length: number, copy: (target: Buffer, at: number) => unknown}} Bytes  a Buffer is that, too
 */

/** The batch as an Arrow IPC stream: schema, one record batch, end of stream. @param {Batch} batch @returns {Buffer} */
export function encode (batch) {
  const stream = unwritten(batch)
  const out = Buffer.allocUnsafe(stream.length)
  stream.copy(out, 0)
  return out
}

/**
 * That stream, for who has memory to write it into.
 * @param {Batch} batch
 * @returns {Bytes}
 * @throws {SluiceError} SLUICE_CODEC_ARROW when two fields have one name, a field is called `time`, or it is over 2 GiB;
 *   SLUICE_MESSAGE_TOO_LARGE when no decoder would accept it
 */
export function unwritten (batch) {
  const columns = tagColumns(batch.tags)
  const cells = batch.rows * (batch.fields.length + columns.length + (batch.ordinals ? 2 : 1))
  if (cells > MAX_CELLS) throw tooLarge(`${cells} values and times in a batch, over ${MAX_CELLS}`)
  const { schema, dictionaries, record } = templateOf(batch)
  const body = bodyOf(batch)
  const messages = columns.map(([, tag], i) => messageOf(dictionaries[i], pushDictionary(body, tag)))
  if (batch.ordinals) pushOrdinals(body, batch.ordinals)
  messages.push(messageOf(record, body))
  const total = messages.reduce((sum, { template, bodyLength }) => sum + template.bytes.length + bodyLength, schema.length + PREFIX_BYTES)
  if (total > MAX_BYTES) throw arrowError(`the batch of ${batch.rows} rows takes ${total} bytes, over 2 GiB`)
  const { identity } = batch
  return {
    length: total,
    copy (out, begin) {
      out.set(schema, begin)
      let at = begin + schema.length
      if (identity) setDigits(out, at - SEQ_TAIL_BYTES, identity.seq)
      if (identity?.before !== undefined) setDigits(out, at - BEFORE_TAIL_BYTES, identity.before)
      for (const each of messages) at = put(out, at, each)
      out.writeUInt32LE(CONTINUATION, at)
      out.writeUInt32LE(0, at + 4)
    }
  }
}

/** @param {RecordTemplate} template @param {Body} body @returns {Message} */
function messageOf (template, body) {
  return { template, body, bodyLength: body.buffers.reduce((sum, { byteLength }) => sum + padded(byteLength), 0) }
}

/** @param {Buffer} out @param {number} at @param {Message} message @returns {number} where it ends */
function put (out, at, { template, body: { rows, missing, buffers }, bodyLength }) {
  const setSize = (/** @type {number} */ position, /** @type {number} */ size) => { out.writeUInt32LE(size, at + position) }
  out.set(template.bytes, at)
  setSize(template.lengthAt, rows)
  setSize(template.bodyLengthAt, bodyLength)
  missing.forEach((count, i) => {
    setSize(template.nodesAt + i * 16, rows)
    setSize(template.nodesAt + i * 16 + 8, count)
  })
  const bodyAt = at + template.bytes.length
  let offset = 0
  buffers.forEach((bytes, i) => {
    setSize(template.buffersAt + i * 16, offset)
    setSize(template.buffersAt + i * 16 + 8, bytes.byteLength)
    out.set(bytes, bodyAt + offset)
    const end = offset + bytes.byteLength
    offset = padded(end)
    out.fill(0, bodyAt + end, bodyAt + offset)
  })
  return bodyAt + bodyLength
}

/** @param {Buffer} out @param {number} at @param {number} number */
function setDigits (out, at, number) {
  out.write(String(number).padStart(DIGITS, '0'), at, 'latin1')
}

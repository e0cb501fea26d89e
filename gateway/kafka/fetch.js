import { createAPI, fetchV13, ResponseError } from '@platformatic/kafka'

/**
 * Asks for records as the library does, and leaves them as the bytes that they are: what is in them is read one batch after the other,
 * when there is room for it.
 *
 * @typedef {object} Fetched  of a partition
 * @property {number} partitionIndex
 * @property {number} errorCode
 * @property {bigint} highWatermark
 * @property {bigint} lastStableOffset
 * @property {bigint} logStartOffset
 * @property {{epoch: number, endOffset: bigint}} divergingEpoch  -1: it has not diverged
 * @property {{producerId: bigint, firstOffset: bigint}[]|null} abortedTransactions
 * @property {Buffer} records
 *
 * @typedef {{throttleTimeMs: number, responses: {topicId: string, partitions: Fetched[]}[]}} Answer
 * @typedef {import('@platformatic/kafka').Reader} Reader
 */

const DIVERGING_EPOCH = 0

/**
 * @param {number} _correlation @param {number} key @param {number} version @param {Reader} reader
 * @returns {Answer}
 * @throws {ResponseError} with the answer, where something in it is an error
 */
function read (_correlation, key, version, reader) {
  const throttleTimeMs = reader.readInt32()
  /** @type {Record<string, [number, null]>} */
  const errors = {}
  const note = (/** @type {string} */ path, /** @type {number} */ code) => { if (code !== 0) errors[path] = [code, null] }
  note('/', reader.readInt16())
  reader.readInt32() // of a session, of which there is none
  const responses = reader.readArray((its, i) => ({
    topicId: its.readUUID(),
    partitions: its.readArray((_its, j) => {
      const partition = partitionOf(reader)
      note(`/responses/${i}/partitions/${j}`, partition.errorCode)
      return partition
    }, true, false)
  }))
  const answer = { throttleTimeMs, responses }
  if (Object.keys(errors).length > 0) throw new ResponseError(key, version, errors, /** @type {any} */ (answer))
  return answer
}

/** @param {Reader} reader @returns {Fetched} */
function partitionOf (reader) {
  const partition = {
    partitionIndex: reader.readInt32(),
    errorCode: reader.readInt16(),
    highWatermark: reader.readInt64(),
    lastStableOffset: reader.readInt64(),
    logStartOffset: reader.readInt64(),
    divergingEpoch: { epoch: -1, endOffset: -1n },
    abortedTransactions: reader.readNullableArray(its => ({ producerId: its.readInt64(), firstOffset: its.readInt64() })),
    preferredReadReplica: reader.readInt32(),
    records: /** @type {Buffer} */ (Buffer.alloc(0))
  }
  const length = Math.max(0, reader.readUnsignedVarInt() - 1)
  partition.records = reader.buffer.slice(reader.position, reader.position + length)
  reader.skip(length)
  for (let tags = reader.readUnsignedVarInt(); tags > 0; tags--) {
    const [tag, size] = [reader.readUnsignedVarInt(), reader.readUnsignedVarInt()]
    const end = reader.position + size
    if (tag === DIVERGING_EPOCH) partition.divergingEpoch = { epoch: reader.readInt32(), endOffset: reader.readInt64() }
    reader.position = end
  }
  return partition
}

/** @type {import('./client.js').Api} */
export const fetchApi = createAPI(fetchV13.api.key, fetchV13.api.version, fetchV13.createRequest, read)

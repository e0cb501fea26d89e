import { CellBudget, MAX_RECORDS } from '../messages/bounds.js'
import { BD_SEQ, given, nsOf } from './codec.js'
import { Bad } from './datatypes.js'
import { Definitions } from './definitions.js'
import { Rows } from './rows.js'

/**
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('../messages/payload.js').Refused} Refused
 * @typedef {import('./codec.js').Payload} Payload
 * @typedef {import('./codec.js').Metric} Metric
 * @typedef {Pick<import('./topic.js').Topic, 'groupId'|'nodeId'|'deviceId'>} Descriptor  of a node, or of one of its devices
 */

const MAX_TIME_MS = 2n ** 63n / 1_000_000n - 1n
const OFFLINE = new Bad('offline')
/** Where more of a payload's metrics are refused, the payload is kept once for the rest. */
const MAX_REFUSED = 100

/** Reads one payload into batches. */
export class Reading {
  /** Values that are not stored: transient, or of the protocol. */
  leftOut = 0
  /** Values of metrics that cannot be stored, for which these were refused before. */
  unstorable = 0
  #payload
  #bytes
  #now
  /** @type {Batch[]} */
  #batches = []
  /** @type {Refused[]} */
  #refused = []
  #refusedMore = 0
  #room = { cells: MAX_RECORDS, budget: new CellBudget() }

  /** @param {Payload} payload @param {Uint8Array} bytes  the same, kept where it is refused @param {() => bigint} now */
  constructor (payload, bytes, now) {
    this.#payload = payload
    this.#bytes = bytes
    this.#now = now
  }

  /** @returns {number|undefined} */
  get seq () {
    const seq = given(this.#payload, 'seq')
    return seq === undefined ? undefined : Number(seq)
  }

  /** The number of the session, in its birth and its death. @returns {bigint|undefined} */
  get bdSeq () {
    const value = this.#payload.metrics.find(({ name }) => name === BD_SEQ)?.value
    return value?.case === 'longValue' || value?.case === 'intValue' ? BigInt(value.value) : undefined
  }

  /** How many metrics it has. */
  get metrics () { return this.#payload.metrics.length }

  /** @param {Descriptor} descriptor @param {Definitions} [before]  of the same node or device @returns {Definitions} */
  takeBirth (descriptor, before) {
    const definitions = new Definitions()
    const rows = rowsOf(descriptor, this.#room)
    this.#payload.metrics.forEach((metric, index) => {
      const fault = definitions.add(metric)
      const meaning = fault ?? definitions.find(metric)
      if (typeof meaning !== 'string') return this.#take(meaning, metric, index, rows)
      if (!fault && before?.find(metric) === meaning) this.unstorable++
      else this.#refuseMetric(index, meaning, metric)
    })
    this.#finish(rows)
    return definitions
  }

  /** @param {Descriptor} descriptor @param {Definitions} definitions @returns {boolean} whether all of it matches the birth */
  takeData (descriptor, definitions) {
    const rows = rowsOf(descriptor, this.#room)
    let agrees = true
    this.#payload.metrics.forEach((metric, index) => {
      const disagreement = definitions.disagreement(metric)
      if (disagreement) {
        agrees = false
        return this.#refuseMetric(index, disagreement, metric)
      }
      const meaning = definitions.find(metric)
      if (typeof meaning === 'string') this.unstorable++
      else this.#take(meaning, metric, index, rows)
    })
    this.#finish(rows)
    return agrees
  }

  /** @param {Descriptor} descriptor @param {Definitions} definitions @param {bigint} [ns]  default: the payload's time */
  takeDeath (descriptor, definitions, ns = this.#timeOf(this.#payload) ?? this.#now()) {
    const rows = rowsOf(descriptor, this.#room)
    const reason = rows.takeMissing(definitions.values(), ns, OFFLINE)
    if (reason) this.refuse(reason)
    this.#finish(rows)
  }

  /** Refuses the whole payload. @param {string} reason */
  refuse (reason) {
    this.#refused.push({ index: -1, reason, value: this.#bytes })
  }

  result () {
    if (this.#refusedMore > 0) {
      const reason = `${this.#refusedMore} more of its metrics were refused`
      this.#refused.push({ index: -1, reason, value: this.#bytes, count: this.#refusedMore })
    }
    return { batches: this.#batches, refused: this.#refused }
  }

  /** @param {Rows} rows */
  #finish (rows) {
    this.#batches.push(...rows.batches(reason => this.refuse(reason)))
  }

  /** @param {import('./definitions.js').Definition|null} definition @param {Metric} metric @param {number} index @param {Rows} rows */
  #take (definition, metric, index, rows) {
    if (!definition || metric.isTransient) {
      this.leftOut++
      return
    }
    const ns = this.#timeOf(metric)
    const reason = ns === null ? `the time of "${definition.name}" is not between 1970 and 2262` : rows.take(definition, metric, ns)
    if (reason) this.#refuseMetric(index, reason, metric)
  }

  /** @param {Metric|Payload} of @returns {bigint|null} */
  #timeOf (of) {
    const timestamp = given(/** @type {Metric} */ (of), 'timestamp') ?? given(this.#payload, 'timestamp')
    if (timestamp === undefined) return this.#now()
    return timestamp > 0n && timestamp <= MAX_TIME_MS ? nsOf(timestamp) : null
  }

  /** @param {number} index @param {string} reason @param {Metric} metric */
  #refuseMetric (index, reason, metric) {
    const keys = /** @type {const} */ (['name', 'alias', 'timestamp', 'datatype'])
    const [name, alias, timestamp, datatype] = keys.map(key => given(metric, key))
    if (this.#refused.length === MAX_REFUSED) this.#refusedMore++
    else this.#refused.push({ index, reason, value: { name, alias, timestamp, datatype, value: metric.value.value } })
  }
}

/** @param {Descriptor} descriptor */
export function sourceOf ({ groupId, nodeId, deviceId }) {
  return [groupId, nodeId, ...(deviceId === undefined ? [] : [deviceId])].join('.')
}

/** @param {Descriptor} descriptor @param {import('./rows.js').Room} room */
function rowsOf (descriptor, room) {
  const { groupId: group, nodeId: node, deviceId: device } = descriptor
  return new Rows(sourceOf(descriptor), { group, node, ...(device !== undefined && { device }) }, room)
}

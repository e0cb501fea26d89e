/**
 * @typedef {{timeMs: number, level: 'error'|'warning', text: string}} Remark
 * @typedef {{level: number, id?: string, msg?: unknown, timestamp?: number}} Entry  of Node-RED's log
 * @typedef {{addHandler?: (handler: Said) => void, removeHandler?: (handler: Said) => void}} Log  of Node-RED, or less of it
 */

const [ERROR_LEVEL, WARN_LEVEL] = [20, 30]
const MAX_NODES = 200
const MAX_REMARKS = 10
const MAX_TEXT = 600

/** The last errors and warnings that each node has logged. */
export class Said {
  /** By node, those that spoke last at the end. @type {Map<string, Remark[]>} */
  #remarks = new Map()
  #log

  /** @param {Log|undefined} log */
  constructor (log) {
    this.#log = log
    log?.addHandler?.(this)
  }

  close () { this.#log?.removeHandler?.(this) }

  /** As Node-RED calls its handlers. @param {string} _event @param {Entry} entry */
  emit (_event, { level, id, msg, timestamp = Date.now() }) {
    if (level > WARN_LEVEL || !id) return
    const told = msg instanceof Error ? msg.message : typeof msg === 'string' ? msg : JSON.stringify(msg) ?? ''
    const text = told.length > MAX_TEXT ? `${told.slice(0, MAX_TEXT)}…` : told
    /** @type {Remark} */
    const remark = { timeMs: timestamp, level: level <= ERROR_LEVEL ? 'error' : 'warning', text }
    const before = this.#remarks.get(id) ?? []
    this.#remarks.delete(id)
    this.#remarks.set(id, [remark, ...before].slice(0, MAX_REMARKS))
    if (this.#remarks.size > MAX_NODES) this.#remarks.delete(/** @type {string} */ (this.#remarks.keys().next().value))
  }

  /** Newest first. @param {string|undefined|null} id @returns {Remark[]} */
  of (id) { return this.#remarks.get(id ?? '') ?? [] }
}

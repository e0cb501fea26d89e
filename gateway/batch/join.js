import { Batch, COLUMN_TYPES, MAX_FIELDS, NOTHING } from './batch.js'
import { joinedTag } from './tags.js'

/**
 * @typedef {import('./batch.js').Column} Column
 * @typedef {import('./batch.js').Field} Field
 */

/** Values that a joint batch may have missing for each that is there. */
const MAX_MISSING = 3

/** Batches of one source that are to become one: rows of which some have fields that others lack. */
export class Joint {
  /** @type {Batch[]} */
  batches = []
  rows = 0
  /** @type {Map<string, Field>} */
  #fields = new Map()
  #values = 0

  /**
   * Whether a batch can go with those before: they have no field of another type, and little that is missing.
   * @param {Batch} batch
   */
  takes (batch) {
    if (this.rows === 0) return true
    let added = 0
    for (const { name, type, unit } of batch.fields) {
      const field = this.#fields.get(name)
      if (!field) added++
      else if (field.type !== type || field.unit !== unit) return false
    }
    const fields = this.#fields.size + added
    const cells = (this.rows + batch.rows) * fields
    return fields <= MAX_FIELDS && cells <= (MAX_MISSING + 1) * (this.#values + batch.values)
  }

  /** @param {Batch} batch  that it takes */
  add (batch) {
    for (const field of batch.fields) if (!this.#fields.has(field.name)) this.#fields.set(field.name, field)
    this.batches.push(batch)
    this.rows += batch.rows
    this.#values += batch.values
  }

  /** All rows in the order in which they were added. @returns {Batch} */
  batch () {
    const { batches, rows } = this
    if (batches.length === 1) return batches[0]
    const time = new BigInt64Array(rows)
    const fields = [...this.#fields.values()]
    /** @type {any[]} */
    const columns = fields.map(({ type }) => new (/** @type {any} */ (COLUMN_TYPES[type]))(rows))
    /** @type {(Uint8Array|null)[]} */
    const validity = fields.map(() => null)
    const indexes = new Map(fields.map(({ name }, f) => [name, f]))
    let at = 0
    for (const part of batches) {
      time.set(part.time, at)
      const lacking = new Set(fields.keys())
      for (let p = 0; p < part.fields.length; p++) {
        const f = /** @type {number} */ (indexes.get(part.fields[p].name))
        lacking.delete(f)
        copy(part.columns[p], columns[f], at)
        const valid = part.validity[p]
        if (valid) marks(validity, f, rows).set(valid, at)
      }
      for (const f of lacking) {
        marks(validity, f, rows).fill(0, at, at + part.rows)
        const nothing = NOTHING[fields[f].type]
        if (nothing !== undefined) columns[f].fill(nothing, at, at + part.rows)
      }
      at += part.rows
    }
    const tags = Object.fromEntries([...new Set(batches.flatMap(each => Object.keys(each.tags)))].map(name => {
      return [name, joinedTag(batches.map(part => ({ rows: part.rows, tag: ownTag(part, name) })))]
    }))
    return new Batch({ source: batches[0].source, tags, time, fields, columns, validity })
  }
}

/** @param {Batch[]} batches  that differ in their tags only */
export function joined (batches) {
  const joint = new Joint()
  for (const batch of batches) joint.add(batch)
  return joint.batch()
}

/** It may be called "constructor". @param {Batch} batch @param {string} name */
function ownTag ({ tags }, name) {
  return Object.hasOwn(tags, name) ? tags[name] : undefined
}

/** Of a field, all valid at first. @param {(Uint8Array|null)[]} validity @param {number} field @param {number} rows */
function marks (validity, field, rows) {
  return validity[field] ??= new Uint8Array(rows).fill(1)
}

/** @param {any} from @param {any} to @param {number} at */
function copy (from, to, at) {
  if (Array.isArray(to)) for (let i = 0; i < from.length; i++) to[at + i] = from[i]
  else to.set(from, at)
}

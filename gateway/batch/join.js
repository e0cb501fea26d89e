import { Batch, COLUMN_TYPES, MAX_FIELDS, MAX_TAGS, NOTHING } from './batch.js'
import { JointTag } from './joint-tag.js'

/**
 * @typedef {import('./batch.js').Column} Column
 * @typedef {import('./batch.js').Field} Field
 * @typedef {{field: Field, values: any, valid: Uint8Array|null, rows: number}} JointColumn  `rows`: so many are written
 */

/** Values, and tags, that a joint batch may have missing for each that is there. */
const MAX_MISSING = 3
const FIRST_ROWS = 64
const TIME_BYTES = 8
const TEXT_BYTES = 16
const TAG_BYTES = 8

/**
 * Batches of one source that become one: rows of which some have fields that others lack. They are copied as they come and can be
 * forgotten: mostly they are single rows, thousands of them.
 */
export class Joint {
  rows = 0
  /** About how much memory the rows take. */
  bytes = 0
  #source = ''
  /** The only one so far. @type {Batch|null} */
  #only = null
  #time = new BigInt64Array(0)
  /** @type {Map<string, JointColumn>} */
  #columns = new Map()
  /** The columns of the batch before, in its order. @type {JointColumn[]} */
  #shape = []
  /** @type {Field[]|null} its fields */
  #fields = null
  /** @type {Map<string, JointTag>} */
  #tags = new Map()
  #values = 0
  /** Of all rows. */
  #ownTags = 0

  /**
   * Whether a batch can go with those before: they have no field of another type, none that is a tag there, and little that is missing.
   * @param {Batch} batch
   */
  takes (batch) {
    if (this.rows === 0) return true
    this.#begin()
    return this.#takesTags(batch) && this.#takesFields(batch)
  }

  /** @param {Batch} batch */
  #takesFields (batch) {
    if (this.#isAlike(batch.fields) && this.#shape.length === this.#columns.size) return true
    let added = 0
    for (const { name, type, unit } of batch.fields) {
      const field = this.#columns.get(name)?.field
      if (!field && this.#tags.has(name)) return false
      if (!field) added++
      else if (field.type !== type || field.unit !== unit) return false
    }
    const fields = this.#columns.size + added
    const cells = (this.rows + batch.rows) * fields
    return fields <= MAX_FIELDS && cells <= (MAX_MISSING + 1) * (this.#values + batch.values)
  }

  /** @param {Batch} batch */
  #takesTags ({ tags, rows }) {
    let own = 0
    let added = 0
    for (const name in tags) {
      own++
      if (this.#tags.has(name)) continue
      if (this.#columns.has(name)) return false
      added++
    }
    const size = this.#tags.size + added
    if (added === 0 && own === size) return true
    return size <= MAX_TAGS && (this.rows + rows) * size <= (MAX_MISSING + 1) * (this.#ownTags + rows * own)
  }

  /** @param {Batch} batch  that it takes */
  add (batch) {
    if (this.rows === 0) this.#only = batch
    else {
      this.#begin()
      this.#append(batch)
    }
    this.rows += batch.rows
    this.#values += batch.values
    this.#ownTags += batch.rows * Object.keys(batch.tags).length
    this.bytes += bytesOf(batch)
  }

  /** All rows in the order in which they were added. @returns {Batch} */
  batch () {
    if (this.#only) return this.#only
    const { rows } = this
    const columns = [...this.#columns.values()]
    for (const column of columns) pad(column, rows, this.#time.length)
    return new Batch({
      source: this.#source,
      tags: Object.fromEntries(Array.from(this.#tags, ([name, tag]) => [name, tag.tag(rows)])),
      time: this.#time.subarray(0, rows),
      fields: columns.map(({ field }) => field),
      columns: columns.map(({ values }) => Array.isArray(values) ? values : values.subarray(0, rows)),
      validity: columns.map(({ valid }) => valid && valid.subarray(0, rows))
    })
  }

  /** There will be more than one: the first is copied, too. */
  #begin () {
    const first = this.#only
    if (!first) return
    this.#only = null
    this.#source = first.source
    const { rows } = this
    this.rows = 0
    this.#append(first)
    this.rows = rows
  }

  /** @param {Batch} batch */
  #append (batch) {
    const { rows: at } = this
    const end = at + batch.rows
    if (end > this.#time.length) this.#grow(end)
    this.#time.set(batch.time, at)
    if (!this.#isAlike(batch.fields)) this.#reshape(batch.fields)
    const { columns, validity } = batch
    for (let i = 0; i < this.#shape.length; i++) {
      const column = this.#shape[i]
      if (column.rows < at) pad(column, at, this.#time.length)
      copy(columns[i], column.values, at)
      const valid = validity[i]
      if (valid) (column.valid ??= new Uint8Array(this.#time.length).fill(1)).set(valid, at)
      column.rows = end
    }
    this.#appendTags(batch.tags, at, end)
  }

  /** @param {import('./tags.js').Tags} tags @param {number} at @param {number} end */
  #appendTags (tags, at, end) {
    for (const name in tags) {
      let tag = this.#tags.get(name)
      if (!tag) this.#tags.set(name, tag = new JointTag())
      tag.add(tags[name], at, end)
    }
  }

  /** Whether these are the fields of the batch before. @param {Field[]} fields */
  #isAlike (fields) {
    if (fields === this.#fields) return true
    const shape = this.#shape
    if (fields.length !== shape.length) return false
    for (let i = 0; i < fields.length; i++) {
      const { field } = shape[i]
      const { name, type, unit } = fields[i]
      if (field.name !== name || field.type !== type || field.unit !== unit) return false
    }
    return true
  }

  /** @param {Field[]} fields */
  #reshape (fields) {
    this.#fields = fields
    this.#shape = fields.map(field => {
      let column = this.#columns.get(field.name)
      if (!column) {
        const values = new (/** @type {any} */ (COLUMN_TYPES[field.type]))(field.type in NOTHING ? 0 : this.#time.length)
        this.#columns.set(field.name, column = { field, values, valid: null, rows: 0 })
      }
      return column
    })
  }

  /** @param {number} rows */
  #grow (rows) {
    const room = Math.max(rows, 2 * this.#time.length, FIRST_ROWS)
    this.#time = larger(this.#time, room)
    for (const column of this.#columns.values()) {
      if (!Array.isArray(column.values)) column.values = larger(column.values, room)
      if (column.valid) column.valid = larger(column.valid, room).fill(1, column.valid.length)
    }
  }
}

/** @param {Batch[]} batches  that differ in their tags only */
export function joined (batches) {
  const joint = new Joint()
  for (const batch of batches) joint.add(batch)
  return joint.batch()
}

/** Up to a row, what a column lacks is missing. @param {JointColumn} column @param {number} rows @param {number} room  of all columns */
function pad (column, rows, room) {
  const { field, values } = column
  if (column.rows === rows) return
  column.valid ??= new Uint8Array(room).fill(1)
  column.valid.fill(0, column.rows, rows)
  if (Array.isArray(values)) for (let i = column.rows; i < rows; i++) values[i] = NOTHING[field.type]
  column.rows = rows
}

/** @param {any} from @param {any} to @param {number} at */
function copy (from, to, at) {
  const { length } = from
  if (length === 1) to[at] = from[0] // which is most of them
  else if (Array.isArray(to)) for (let i = 0; i < length; i++) to[at + i] = from[i]
  else to.set(from, at)
}

/** @param {any} array @param {number} length */
function larger (array, length) {
  const copied = new array.constructor(length)
  copied.set(array)
  return copied
}

/** @param {Batch} batch */
function bytesOf ({ rows, columns, validity, tags }) {
  let bytes = rows * TIME_BYTES
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]
    if (!Array.isArray(column)) bytes += column.byteLength
    else for (const { length } of column) bytes += TEXT_BYTES + length
    if (validity[i]) bytes += rows
  }
  for (const name in tags) bytes += rows * TAG_BYTES + name.length
  return bytes
}

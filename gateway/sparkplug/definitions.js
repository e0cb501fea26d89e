import { MAX_NAME } from '../messages/bounds.js'
import { nameFault, quoted } from '../messages/gatherer.js'
import { QUALITY_FIELD } from '../batch/quality.js'
import { BD_SEQ, given, unitOf } from './codec.js'
import { DATATYPES } from './datatypes.js'

/**
 * @typedef {import('./codec.js').Metric} Metric
 *
 * @typedef {object} Definition  of a metric that is stored
 * @property {string} name
 * @property {import('./datatypes.js').Datatype} datatype
 * @property {string} [unit]
 * @property {number} [elements]  of an array: how many its latest value had
 *
 * @typedef {Definition|string|null} Meaning  the reason where a metric is not stored; null where that need not be reported
 */

export const MAX_METRICS = 10_000

/** The names of a metric's fields: its own, or one for each element of an array. @param {Definition} definition */
export function fieldsOf ({ name, elements }) {
  return elements === undefined ? [name] : Array.from({ length: elements }, (_, i) => `${name}[${i}]`)
}

const DATASET = 16
const TEMPLATE = 19

/** How a birth defines the metrics of a node or device. */
export class Definitions {
  /** @type {Map<string, {code: number, meaning: Meaning}>} */
  #byName = new Map()
  /** @type {Map<bigint, string>} */
  #names = new Map()

  get size () { return this.#byName.size }

  /** @param {Metric} metric  of a birth @returns {string|null} why it was refused */
  add (metric) {
    const { name, datatype: code } = metric
    const alias = given(metric, 'alias')
    if (!name) return 'a metric of its birth has no name'
    if (this.#byName.has(name)) return `its birth names the metric ${quoted(name)} twice`
    if (this.#byName.size === MAX_METRICS) return `its birth names more than ${MAX_METRICS} metrics`
    this.#byName.set(name, { code, meaning: meaningOf(metric, name, code) })
    if (alias !== undefined) this.#names.set(alias, name)
    return null
  }

  /** @param {Metric} metric  of a birth or of matching data @returns {Meaning} */
  find (metric) {
    return this.#byName.get(this.#nameOf(metric))?.meaning ?? null
  }

  /** @param {Metric} metric  of data @returns {string|null} how it differs from the birth */
  disagreement (metric) {
    const { name, datatype } = metric
    const known = this.#byName.get(this.#nameOf(metric))
    if (!known) return `its birth has no ${name ? `metric ${quoted(name)}` : `alias ${given(metric, 'alias')}`}: a rebirth was requested`
    if (datatype === 0 || datatype === known.code) return null
    const metricName = quoted(this.#nameOf(metric))
    return `its metric ${metricName} has the data type ${datatype}, ${known.code} in its birth: a rebirth was requested`
  }

  /** The metrics that are stored. @returns {Definition[]} */
  values () {
    return Array.from(this.#byName.values(), ({ meaning }) => meaning).filter(meaning => meaning !== null && typeof meaning === 'object')
  }

  /** @param {Metric} metric */
  #nameOf (metric) {
    const alias = given(metric, 'alias')
    return metric.name || (alias !== undefined && this.#names.get(alias)) || ''
  }
}

/** @param {Metric} metric @param {string} name @param {number} code @returns {Meaning} */
function meaningOf (metric, name, code) {
  const { value, isTransient } = metric
  const isDefinition = value.case === 'templateValue' && value.value.isDefinition
  if (isTransient || isDefinition || name === BD_SEQ || name.startsWith('Node Control/') || name.startsWith('Device Control/')) return null
  const fault = nameFault(name)
  if (fault) return `its metric ${quoted(name)} ${fault}`
  if (code === DATASET || code === TEMPLATE) {
    return `its metric ${quoted(name)} is a ${code === DATASET ? 'DataSet' : 'Template'}: only single values and arrays are stored`
  }
  const datatype = DATATYPES.get(code)
  if (!datatype) return `its metric ${quoted(name)} has the unknown data type ${code}`
  if (name === QUALITY_FIELD && datatype.field !== 'string') {
    return `its metric "${name}" is a ${datatype.name}: the name is reserved for why values are missing`
  }
  const unit = datatype.unit ?? unitOf(metric)
  if (unit !== undefined && unit.length > MAX_NAME) return `its metric ${quoted(name)} has a unit of over ${MAX_NAME} characters`
  return { name, datatype, unit, ...(datatype.isArray && { elements: 0 }) }
}

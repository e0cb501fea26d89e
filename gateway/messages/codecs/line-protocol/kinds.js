/**
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {'float'|'integer'|'boolean'|'string'} FieldKind  what a field is in InfluxDB, by its own name for it
 */

/** @type {Record<FieldType, FieldKind>} */
const KINDS = {
  float64: 'float', float32: 'float', int64: 'integer', int32: 'integer', int16: 'integer', uint16: 'integer', bool: 'boolean', string: 'string', bytes: 'string'
}

/** @param {FieldType} type */
export function fieldKind (type) {
  return KINDS[type]
}

/**
 * Where a narrow line holds a value: what a float holds exactly shares a field.
 * @param {FieldType} type
 * @returns {{name: string, kind: FieldKind}}
 */
export function narrowColumn (type) {
  if (type === 'int64' || type === 'string' || type === 'bytes') return { name: `value_${type}`, kind: KINDS[type] }
  return { name: 'value', kind: 'float' }
}

/**
 * @typedef {import('../../../batch/batch.js').FieldType} FieldType
 * @typedef {'float'|'integer'|'boolean'|'string'|'text'|'binary'} FieldKind  a field's type in InfluxDB, by its own name; of QuestDB,
 *   `text` is a string in which line breaks are escaped, and `binary` a float64 in its eight bytes
 */

/** @type {Record<FieldType, FieldKind>} */
const KINDS = {
  float64: 'float', float32: 'float', int64: 'integer', int32: 'integer', int16: 'integer', uint16: 'integer', bool: 'boolean',
  string: 'string', bytes: 'string'
}

/** @param {FieldType} type */
export function fieldKind (type) {
  return KINDS[type]
}

/**
 * The field that holds a value in a narrow line: values that a float holds exactly share one.
 * @param {FieldType} type
 * @returns {{name: string, kind: FieldKind}}
 */
export function narrowColumn (type) {
  if (type === 'int64' || type === 'string' || type === 'bytes') return { name: `value_${type}`, kind: KINDS[type] }
  return { name: 'value', kind: 'float' }
}

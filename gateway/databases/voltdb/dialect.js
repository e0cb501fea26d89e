import { asciiName, nameOfAscii } from '../names.js'

const MAX_NAME_LETTERS = 120

/** Words of VoltDB's SQL that it takes for no table or column. */
const RESERVED = new Set(`abs all and any approx_count_distinct as assumeunique at avg between bit_length both by call cardinality case cast
  ceil ceiling char_length character_length check coalesce constraint convert corresponding count create cross current_catalog current_date
  current_path current_role current_schema current_time current_user dense_rank distinct drop else end every except exists exp extract
  false floor for foreign from full grant group having ifnull in inner intersect into is join leading left like limit ln localtime
  localtimestamp lower max migrating min mod natural normalize not null nullif nvl occurrences_regex octet_length offset on or order outer
  overlay position position_regex power primary rank references right row row_number select session_user set some sqrt stddev_pop
  stddev_samp stream substring substring_regex sum system_user table then to today trailing translate_regex trigger trim true union unique
  upper user using values var_pop var_samp when where width_bucket with`.split(/\s+/))

/**
 * VoltDB as the wide layout sees it. Columns' kinds are its types. The least value of each type is NULL: what could be that is stored as a
 * wider type.
 * @type {import('../wide.js').Dialect & import('../names.js').NameRules}
 */
export const dialect = {
  product: 'VoltDB',
  maxNameBytes: 1000,
  maxColumns: 1000,
  fold: name => name, // see nameIn
  timeColumns: [],
  ownNames: ['time', 'time_ns', 'source', 'sluice_batch', 'sluice_row'],
  columnTypes: {
    time: 'TIMESTAMP', time_ns: 'BIGINT', float64: 'FLOAT', float32: 'FLOAT', int64: 'BIGINT', int32: 'BIGINT', int16: 'INTEGER',
    uint16: 'INTEGER', bool: 'TINYINT', string: 'VARCHAR', json: 'VARCHAR', bytes: 'VARBINARY'
  },
  accepts: {
    time: ['TIMESTAMP'], time_ns: ['BIGINT'], float64: ['FLOAT'], float32: ['FLOAT'], int64: ['BIGINT'], int32: ['BIGINT'],
    int16: ['INTEGER', 'BIGINT'], uint16: ['INTEGER', 'BIGINT'], bool: ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT'], string: ['VARCHAR'],
    json: ['VARCHAR'], bytes: ['VARBINARY']
  }
}

/**
 * What a table or column of that name is called. VoltDB takes letters for the same that differ by case only, has words of its own, and no
 * quotation marks. So a name may get an end that no other has: _x, then n where an n was put before it because it began with no letter,
 * then which of its letters are capital, as bits in hexadecimal. `Temp` is stored in temp_x8, `power` in power_x.
 * @param {string} name
 */
export function nameIn (name) {
  const small = name.replace(/[A-Z]/g, letter => letter.toLowerCase())
  const bits = BigInt(`0b${Array.from(name, letter => /[A-Z]/.test(letter) ? '1' : '0').join('')}`)
  const isBegun = /^[a-z]/.test(small)
  const isMarked = bits > 0n || !isBegun || RESERVED.has(small)
  const mark = isMarked ? `_x${isBegun ? '' : 'n'}${bits > 0n ? bits.toString(16) : ''}` : ''
  return `${isBegun ? '' : 'n'}${asciiName(small, MAX_NAME_LETTERS - mark.length)}${mark}`
}

/** The name of which `nameIn` has made this one, unless that was too long. @param {string} column */
export function nameOf (column) {
  const [, body, n = '', hex = ''] = /^((?:_x[0-9a-f]+_|(?!_x).)*)(?:_x(n?)([0-9a-f]*))?$/s.exec(column) ?? []
  const letters = Array.from(nameOfAscii(n === '' ? body : body.slice(1)))
  const bits = hex === '' ? '' : BigInt(`0x${hex}`).toString(2).padStart(letters.length, '0')
  return letters.map((letter, i) => bits[i] === '1' ? letter.toUpperCase() : letter).join('')
}

/**
 * What a database's SQL brings to the statements that read its tables: see table-statements.js.
 *
 * @typedef {import('../reader.js').Sample} Sample
 * @typedef {{from: bigint, to: bigint, tags?: import('../reader.js').WantedTags}} Times
 * @typedef {'int64'|'float64'|'text'|'sensor'} ParameterType  a sensor is a text that is compared with what `sensor` returns
 * @typedef {(value: any, type: ParameterType) => string} AddParameter
 *
 * @typedef {object} Column  of a table as it is
 * @property {string} name
 * @property {string} kind  its type, as the dialect knows it
 * @property {boolean} [isComputed]  when it is read
 *
 * @typedef {object} Timestamps  what a column of the database's own type of time is used for
 * @property {string} nanoseconds  the time since 1970, as an expression
 * @property {((times: Times, add: AddParameter) => string)|null} within  the rows of a range and perhaps some at its ends, by a condition
 *   that an index on the column can meet; null where that is of no use
 * @property {boolean} [isExact]  `within` includes no other rows
 * @property {string[]} [order]  what rows are sorted by, where not by the column alone
 *
 * @typedef {object} ReadDialect  what a database supplies
 * @property {(name: string) => string} quote  an identifier
 * @property {readonly string[]} ownNames  columns of a wide table that hold no sensor
 * @property {string} missingTableFix  what to check where a table does not exist
 * @property {string} timeTypes  of columns that can be read as time, for messages
 * @property {(kind: string) => boolean} isNanoseconds  whether such a column can hold nanoseconds since 1970
 * @property {(quoted: string, column: Column) => Timestamps|null} timestamps  of a column; null where that is not of a type of time
 * @property {(column: string, kind: string) => string} sensor  a quoted column of sensors' names or numbers, as text
 * @property {(column: string, kind: string) => string|null} number  the value of a quoted column, NULL where it is NaN or not a number;
 *   null of a column that never holds numbers
 * @property {(numbers: string[]) => string} [firstOf]  the first of them that is not NULL; coalesce unless given
 * @property {(number: string) => string} double  as what is computed with
 * @property {string} [stddev]  its function for that of a sample; without it, all summaries are computed from the samples
 * @property {string} [mean]  its function for the mean; avg unless given
 * @property {(value: any, type: ParameterType, values: any[]) => string} parameter  how a statement refers to the value, which goes to the
 *   end of `values`; it is called in the order in which the parameters stand in the statement
 * @property {(column: string, isBytes: boolean) => string} [cell]  how a quoted column's values are selected, where not as they are;
 *   `isBytes` of a narrow table's column of bytes
 * @property {(kind: string, isBytes: boolean) => (cell: any) => Sample['value']} valueOf  turns a cell, not NULL, into a
 *   sample's value
 * @property {(cell: any) => number} [statistic]  a statistic's cell, not NULL, as a number; Number unless given
 * @property {boolean} [refusesNul]  no text contains the character NUL, and none can be compared with one that does
 */
export {}

/**
 * The contract of a reader: the few ways of reading that all queries are made of. A database's is `gateway/databases/<type>/reader.js`.
 *
 * Times are BigInt nanoseconds since 1970 UTC, ranges include `from` and exclude `to`. Sensors are the columns of a wide table (or the
 * fields of a document), or the values of a narrow table's column of sensors, as text; one that does not exist has no samples.
 * Values that are missing are left out.
 *
 * @typedef {object} ReaderModule
 * @property {object} schema  JSON Schema of the options: which table, layout and columns
 * @property {(options: any, context: {server?: any, log?: import('../base/log.js').Log}) => Promise<Reader>} open  for a database without a
 *   server the options say where it is
 *
 * @typedef {object} Range
 * @property {string[]} sensors
 * @property {bigint} from
 * @property {bigint} to
 * @property {WantedTags} [tags]  only of rows that have these
 * @property {AbortSignal} [signal]  ends the query at the server, too, where it can
 *
 * @typedef {Record<string, (string|null)[]>} WantedTags  of each tag one of these values; null: rows that have no such tag
 * @typedef {{time: bigint, sensor: string, value: number|bigint|string|boolean}} Sample  whole numbers that no number holds exactly are
 *   BigInt
 * @typedef {'count'|'mean'|'min'|'max'|'stddev'|'sum'|'first'|'last'} Statistic  stddev is that of a sample (n − 1); first and last by time
 *   and, at one time, by the order of `sensors`
 * @typedef {{time: bigint, sensor: string} & Partial<Record<Statistic, number>>} Summary  `sensor` is empty of all of them together;
 *   `time` is the start of the bucket, or `from` where there are no buckets; at one time in the order of `sensors`; stddev is missing of
 *   a single value
 *
 * @typedef {string|number|bigint} KeyValue  a text or a whole number
 * @typedef {{time: bigint, [column: string]: unknown}} KeyedRow  all columns but those of the sinks' own; bytes as a Buffer, what is
 *   missing null, or left out of a document
 * @typedef {{key: unknown[], row: KeyedRow}} Found  with what it has under the names asked for, whatever its columns are called
 *
 * @typedef {{name: string, kind: string}} TableColumn  `kind`: its type, as the database calls it
 * @typedef {{columns: TableColumn[], rows: [time: bigint, ...values: unknown[]][]}} Rows  bytes as a Buffer, what is missing as null
 *
 * @typedef {object} Reader
 * @property {(range: Range & {pageRows?: number}) => AsyncGenerator<Sample[], void, void>} samples  in the order of time and, at one time,
 *   of `sensors`;
 *   pages of at most `pageRows` (10,000), fetched as they are asked for; memory stays that of a page or two
 * @property {(range: Range & {bucketNs?: bigint, statistics: Statistic[], together?: boolean}) => Promise<Summary[]>} summaries  computed
 *   by the database where it can, by time and sensor, or by time and over all sensors `together`; buckets begin at multiples of
 *   `bucketNs`, counted from 1970
 * @property {(range: Omit<Range, 'sensors'> & {sensor: string, above?: number, below?: number, last?: boolean}) => Promise<bigint|null>}
 *   edge  the time of the first (or last) value that is over `above` or under `below`
 * @property {(range: Omit<Range, 'sensors'> & {sensor: string}) => Promise<bigint|null>} minimum  the first time of the least value
 * @property {(range: Omit<Range, 'sensors'>) => Promise<string[]>} [sensors]  all that may have samples in the range, where a database can
 *   list them
 * @property {(asked: {names: string[], keys: KeyValue[][], signal?: AbortSignal}) => Promise<Found[]>} [byKey]  whole rows of a wide
 *   table or collection by the values of these fields or tags, one for each name; in any order, and several where sources or gateways
 *   have stored the same key
 * @property {() => Promise<TableColumn[]>} [columns]  of a table, without those of time and of the sinks' own; none where there is no table
 * @property {(range: Omit<Range, 'sensors'> & {pageRows?: number}) => AsyncGenerator<Rows, void, void>} [rows]  whole rows in the order of
 *   time, as they are asked for
 * @property {() => Promise<void>} close
 */

export {}

import { cycle } from './cycle.js'
import { deviation, difference, mean, outOfRange, raw } from './scits.js'

/**
 * The queries by name. Each uses only what the reader of any database can do.
 *
 * @typedef {{time: bigint, sensor: string, [name: string]: unknown}} Row
 *
 * @typedef {object} Query
 * @property {string} title
 * @property {import('../../resources/options.js').Schema} schema  JSON Schema of its parameters
 * @property {(parameters: any) => readonly string[]} columns  what its rows may have
 * @property {(reader: import('../databases/reader.js').Reader, parameters: any, context: {signal?: AbortSignal, pageRows: number}) =>
 *   AsyncGenerator<any[], void, void>} read pages of rows; `parameters` as `readParameters` gives them
 */

/** @type {Record<string, Query>} */
export const queries = { raw, 'out-of-range': outOfRange, deviation, mean, difference, cycle }

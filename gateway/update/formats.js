/**
 * Which versions of what is kept on disk a release reads, and which it writes, by the name of the format: see `broker/formats.js`.
 *
 * @typedef {Record<string, {reads: number[], writes: number}>} Formats
 */

/**
 * Formats that one release writes and another, which knows them, does not read.
 * @param {Formats} writer
 * @param {Formats} reader
 * @returns {string[]} as in "spool 3"
 */
export function unread (writer, reader) {
  return Object.entries(writer)
    .filter(([name, { writes }]) => reader[name] && !reader[name].reads.includes(writes))
    .map(([name, { writes }]) => `${name} ${writes}`)
}

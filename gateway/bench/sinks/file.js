import { openSync, closeSync, fdatasyncSync, mkdirSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decode } from '../../messages/codecs/arrow/arrow.js'
import { openSink } from './open.js'

/**
 * @typedef {import('./sink-bench.js').SinkBench} SinkBench
 * @typedef {import('../../batch/batch.js').Batch} Batch
 */

/** The sink writes no more at a time, either. */
const CHUNK_BYTES = 2 ** 20

/**
 * @typedef {object} FormatBench
 * @property {string} title
 * @property {string} ending
 * @property {(bytes: Buffer) => number} rows
 * @property {(time: bigint, sensor: unknown, value: unknown) => string} [line]  of a text format
 */

/** @type {Record<'arrow'|'csv'|'lines', FormatBench>} */
const FORMATS = {
  arrow: { title: 'Files, Arrow, narrow rows', ending: '.arrow', rows: bytes => decode(new Uint8Array(bytes.subarray(8))).rows },
  csv: {
    title: 'Files, CSV (times in nanoseconds), narrow rows',
    ending: '.csv',
    rows: bytes => lineCount(bytes) - 1,
    line: (time, sensor, value) => `${time},${sensor},${value}\n`
  },
  lines: {
    title: 'Files, line protocol, narrow rows',
    ending: '.lp',
    rows: lineCount,
    line: (time, sensor, value) => `rows sensor=${sensor}i,value=${value} ${time}\n`
  }
}

/**
 * Against a plain loop that writes as much and forces it to disk as often: of Arrow, the same bytes, encoded already; of a text format,
 * lines that it makes of the rows.
 * And against what Node-RED's file node does: a message, a line, an append.
 * @param {keyof typeof FORMATS} format
 * @returns {SinkBench}
 */
function fileBench (format) {
  const { title, ending, rows, line } = FORMATS[format]
  const lineOf = line ?? ((time, sensor, value) => `${time},${sensor},${value}\n`)
  const linesOf = (/** @type {Batch} */ { time, columns: [sensor, value] }) =>
    Array.from(time, (each, i) => lineOf(each, sensor[i], value[i])).join('')
  return {
    title,
    missing: () => null,
    goalRowsPerSecond: format === 'arrow' ? 6_100_000 : undefined,
    async start (folder) {
      const data = join(folder, 'data')
      const copy = join(folder, 'copy')
      const filesIn = () => readdirSync(data).filter(name => name.endsWith(ending)).map(name => readFileSync(join(data, name)))
      const address = { type: 'file', options: { folder: data, format, timeFormat: 'ns', maxMegabytes: 100_000 } }
      return {
        version: `Node's file system, ${process.platform}`,
        address,
        watched: { folder: data },
        async clear () {
          rmSync(data, { recursive: true, force: true })
          rmSync(copy, { force: true })
          mkdirSync(data)
        },
        count: async () => filesIn().reduce((sum, bytes) => sum + rows(bytes), 0),
        loader: line
          ? {
              name: 'plain loop of template strings, write and fdatasync',
              run: async batches => writeAll(copy, batches, batch => Buffer.from(linesOf(batch)))
            }
          : {
              name: 'plain loop of write and fdatasync, the same bytes',
              async run (batches) {
                const { sink, close } = await openSink(address, 1)
                for (const batch of batches) await sink.write([batch])
                await close()
                const bytes = Buffer.concat(filesIn())
                const step = Math.ceil(bytes.length / batches.length)
                return writeAll(copy, batches, (_, i) => bytes.subarray(i * step, (i + 1) * step))
              }
            },
        naive: {
          name: 'a message, a line, an append (Node-RED\'s file node)',
          rows: 20_000,
          async run (batches) {
            const file = join(data, `press-000001${ending}`)
            const start = performance.now()
            for (const { time, columns: [sensor, value] } of batches) {
              for (let i = 0; i < time.length; i++) await appendFile(file, lineOf(time[i], sensor[i], value[i]))
            }
            return (performance.now() - start) / 1000
          }
        },
        async remove () {}
      }
    }
  }
}

/** @param {string} path @param {Batch[]} batches @param {(batch: Batch, i: number) => Buffer} encode @returns {number} seconds */
function writeAll (path, batches, encode) {
  const file = openSync(path, 'w')
  const start = performance.now()
  batches.forEach((batch, i) => {
    const bytes = encode(batch, i)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) writeSync(file, bytes, at, Math.min(CHUNK_BYTES, bytes.length - at))
    fdatasyncSync(file)
  })
  const seconds = (performance.now() - start) / 1000
  closeSync(file)
  return seconds
}

/** @param {Buffer} bytes */
function lineCount (bytes) {
  let count = 0
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) count++
  return count
}

export const bench = [fileBench('arrow'), fileBench('csv'), fileBench('lines')]

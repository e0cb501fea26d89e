import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { parseCandumpLine } from '../can/candump/line.js'
import { readDbcFile } from '../can/dbc/file.js'
import { Decoder } from '../can/dbc/decoder.js'
import { lineBlocks } from '../can/candump/line-blocks.js'
import { describe } from '../base/errors.js'

/**
 * @typedef {import('../can/candump/line.js').Frame} Frame
 * @typedef {{stdin: NodeJS.ReadableStream, stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} Streams
 */

const HELP = `Usage: sluice decode --dbc FILE [LOG]

Decodes lines of candump (-l, or as shown on the screen) from LOG or the standard input, one JSON object a line:
  {"time":"1436509052.249713","id":166793932,"message":"VesselHeading","signals":{"Heading":2.3154}}

time     seconds as in the log, dates (read as UTC) turned into seconds; null where the line has none
id       11 or 29 bits, as a number
signals  physical values. Missing ones ("not available", not in this frame) are left out; whole numbers that a
         double cannot hold, NaN and infinities are text.

What could not be decoded is counted on the standard error.
Exit status: 0; 1 when nothing could be read; 2 for wrong arguments.
`
const PROGRESS_INTERVAL_MS = 500

/**
 * `sluice decode`
 * @param {string[]} args
 * @param {Streams} streams
 * @returns {Promise<number>} exit status
 */
export async function decode (args, { stdin, stdout, stderr }) {
  let options
  try {
    options = readArguments(args)
  } catch (error) {
    stderr.write(`sluice decode: ${error instanceof Error ? error.message : error}\n\n${HELP}`)
    return 2
  }
  if (options.help) {
    stdout.write(HELP)
    return 0
  }
  try {
    const { messages, warnings } = readDbcFile(options.dbc)
    for (const { line, text, reason } of warnings) stderr.write(`${options.dbc}:${line}: ${reason}: ${text.slice(0, 100)}\n`)
    const input = options.log === undefined ? stdin : createReadStream(options.log)
    return await decodeLines(/** @type {AsyncIterable<Uint8Array>} */ (input), new Decoder(messages), { stdout, stderr })
  } catch (error) {
    stderr.write(`sluice decode: ${describe(error)}\n`)
    return 1
  }
}

/** @param {string[]} args @returns {{help: true}|{help: false, dbc: string, log?: string}} */
function readArguments (args) {
  const { values: { help, dbc }, positionals: [log, ...more] } = parseArgs({
    args, allowPositionals: true, options: { dbc: { type: 'string' }, help: { type: 'boolean', short: 'h' } }
  })
  if (help) return { help }
  if (!dbc) throw new Error('--dbc FILE is missing')
  if (more.length > 0) throw new Error(`one LOG only, not also ${more.join(' ')}`)
  return { help: false, dbc, log: log === '-' ? undefined : log }
}

/**
 * @param {AsyncIterable<Uint8Array>} input @param {Decoder} decoder @param {Pick<Streams, 'stdout'|'stderr'>} streams
 * @returns {Promise<number>} exit status
 */
async function decodeLines (input, decoder, { stdout, stderr }) {
  const output = new Output(stdout)
  const count = { frames: 0, unknown: 0, short: 0, other: 0, badLines: 0 }
  const showProgress = progress(stdout, stderr)
  let firstBad = ''
  let lineNumber = 0
  for await (const lines of lineBlocks(input)) {
    let text = ''
    for (const line of lines) {
      lineNumber++
      const frame = parseCandumpLine(line)
      if (frame === null) continue
      if ('reason' in frame) {
        count.badLines++
        firstBad ||= ` (first: line ${lineNumber}, ${frame.reason})`
        continue
      }
      count.frames++
      if (frame.kind !== 'data') count.other++
      else if (!decoder.find(frame.id, frame.extended)) count.unknown++
      else {
        const decoded = jsonLine(frame, decoder)
        if (decoded) text += decoded
        else count.short++
      }
    }
    if (text !== '') await output.write(text)
    if (output.closed) return 0
    showProgress(count.frames)
  }
  const undecoded = [
    [count.unknown, 'with an identifier the DBC does not have'],
    [count.short, 'too short for any of their signals'],
    [count.other, 'remote or error frames']
  ].filter(([n]) => n).map(([n, what]) => `${n} ${what}`)
  if (undecoded.length > 0) stderr.write(`sluice decode: not decoded of ${count.frames} frames: ${undecoded.join(', ')}\n`)
  if (count.badLines > 0) stderr.write(`sluice decode: ${count.badLines} lines are not of candump${firstBad}\n`)
  if (count.frames > 0) return 0
  stderr.write('sluice decode: no CAN frame could be read\n')
  return 1
}

/** @param {Frame} frame @param {Decoder} decoder */
function jsonLine ({ stamp, id, extended, data }, decoder) {
  const decoded = decoder.decode(id, extended, data)
  if (!decoded) return undefined
  const { message, values } = decoded
  /** @type {Record<string, number|string>} */
  const signals = {}
  message.signals.forEach(({ name }, s) => {
    const value = values[s]
    if (value !== undefined) signals[name] = exact(value)
  })
  return `${JSON.stringify({ time: stamp && stamp.text, id, message: message.name, signals })}\n`
}

/** What JSON can hold of a value without changing it. @param {number|bigint} value */
function exact (value) {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return Number.isFinite(value) ? value : String(value)
}

/** Writes at the reader's pace, and notices when the reader has gone (`| head`). */
class Output {
  closed = false
  #stream

  /** @param {NodeJS.WritableStream} stream */
  constructor (stream) {
    this.#stream = stream
    // Each write hears of its own error; without a listener it would end the process.
    stream.on('error', () => {})
  }

  /** @param {string} text @returns {Promise<void>} */
  write (text) {
    return new Promise((resolve, reject) => this.#stream.write(text, error => {
      if (error && !GONE.has(/** @type {NodeJS.ErrnoException} */ (error).code ?? '')) return reject(error)
      if (error) this.closed = true
      resolve()
    }))
  }
}

const GONE = new Set(['EPIPE', 'ERR_STREAM_DESTROYED'])

/**
 * Shows the frames read so far while the output goes to a file and a person watches.
 * @param {NodeJS.WritableStream} stdout
 * @param {NodeJS.WritableStream} stderr
 */
function progress (stdout, stderr) {
  const isTerminal = (/** @type {any} */ stream) => stream.isTTY === true
  if (!isTerminal(stderr) || isTerminal(stdout)) return () => {}
  let nextMs = performance.now() + PROGRESS_INTERVAL_MS
  return (/** @type {number} */ frames) => {
    if (performance.now() < nextMs) return
    nextMs = performance.now() + PROGRESS_INTERVAL_MS
    stderr.write(`\r${frames.toLocaleString('en-US')} frames `)
  }
}

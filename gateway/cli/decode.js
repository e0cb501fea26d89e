import { createReadStream } from 'node:fs'
import { parseArgs } from 'node:util'
import { readDbcFile } from '../can/dbc/file.js'
import { Decoder } from '../can/dbc/decoder.js'
import { LOG_FORMATS } from '../can/logs/log-lines.js'
import { entriesOf } from '../can/logs/log-file.js'
import { qualityText } from '../batch/quality.js'
import { describe } from '../base/errors.js'

/**
 * @typedef {import('../can/candump/line.js').Frame} Frame
 * @typedef {{stdin: NodeJS.ReadableStream, stdout: NodeJS.WritableStream, stderr: NodeJS.WritableStream}} Streams
 */

const HELP = `Usage: sluice decode --dbc FILE [OPTIONS] [LOG]

Decodes a log of a CAN bus, LOG or the standard input, into one JSON object a line:
  {"time":"1436509052.249713","id":166793932,"message":"VesselHeading","signals":{"Heading":2.3154}}
Formats: ${LOG_FORMATS}. Messages of several frames (transport protocol of J1939, fast
packets of NMEA 2000) are put together.

time     seconds as in the log, dates (without a zone: read as UTC) turned into seconds; null where the line has none
id       11 or 29 bits, as a number
signals  physical values. Missing ones ("not available", not in this frame) are left out; whole numbers that a
         double cannot hold, NaN and infinities are text.
quality  why values are missing, where the frame says so: "EngineSpeed: error"

Options:
  --match-groups     find the messages of 29-bit identifiers by parameter group, where the DBC file does not say that
                     it is of J1939 or NMEA 2000 (such as canboat.dbc)
  --keep-indicators  print errors and reserved values of J1939 and NMEA 2000 as the numbers they are

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
    const { messages, warnings, hint } = readDbcFile(options.dbc, options)
    if (hint) stderr.write(`${options.dbc}: ${hint}${options.matching === 'groups' ? '' : ' (--match-groups)'}\n`)
    for (const { line, text, reason } of warnings) stderr.write(`${options.dbc}:${line}: ${reason}: ${text.slice(0, 100)}\n`)
    const input = options.log === undefined ? stdin : createReadStream(options.log)
    const bytes = /** @type {AsyncIterable<Uint8Array>} */ (input)
    return await decodeLog(bytes, options.log ?? 'the standard input', new Decoder(messages), { stdout, stderr })
  } catch (error) {
    stderr.write(`sluice decode: ${describe(error)}\n`)
    return 1
  }
}

/**
 * @param {string[]} args
 * @returns {{help: true}|{help: false, dbc: string, log?: string} & import('../can/dbc/parser.js').DbcOptions}
 */
function readArguments (args) {
  const { values, positionals: [log, ...more] } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      dbc: { type: 'string' },
      'match-groups': { type: 'boolean' },
      'keep-indicators': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  const { help, dbc, 'match-groups': matchesGroups, 'keep-indicators': keepsIndicators } = values
  if (help) return { help }
  if (!dbc) throw new Error('--dbc FILE is missing')
  if (more.length > 0) throw new Error(`one LOG only, not also ${more.join(' ')}`)
  return {
    help: false,
    dbc,
    log: log === '-' ? undefined : log,
    matching: matchesGroups ? 'groups' : 'file',
    indicators: keepsIndicators ? 'numbers' : 'missing'
  }
}

/**
 * @param {AsyncIterable<Uint8Array>} input @param {string} name  of the log
 * @param {Decoder} decoder @param {Pick<Streams, 'stdout'|'stderr'>} streams
 * @returns {Promise<number>} exit status
 */
async function decodeLog (input, name, decoder, { stdout, stderr }) {
  const output = new Output(stdout)
  const assembler = decoder.newAssembler()
  const count = { frames: 0, unknown: 0, short: 0, other: 0, ofPackets: 0, badLines: 0 }
  const showProgress = progress(stdout, stderr)
  let firstBad = ''
  for await (const entries of entriesOf(input, name)) {
    let text = ''
    for (const entry of entries) {
      if ('reason' in entry) {
        count.badLines++
        firstBad ||= ` (first: line ${entry.line}, ${entry.reason})`
        continue
      }
      count.frames++
      const frame = assembler ? assembler.take(entry.frame, entry.ns) : entry.frame
      if (frame === null) continue
      const message = decoder.find(frame.id, frame.extended)
      if (frame.kind !== 'data') count.other++
      else if (!message) count.unknown++
      else if (message.isFastPacket && message.signals.length === 0) count.ofPackets++
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
    [count.ofPackets, 'messages of which the DBC describes the packets only'],
    [assembler?.incomplete, 'messages of several frames that are incomplete'],
    [count.other, 'remote or error frames']
  ].filter(([n]) => n).map(([n, what]) => `${n} ${what}`)
  if (undecoded.length > 0) stderr.write(`sluice decode: not decoded of ${count.frames} frames: ${undecoded.join(', ')}\n`)
  if (count.badLines > 0) stderr.write(`sluice decode: ${count.badLines} lines could not be read${firstBad}\n`)
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
  /** @type {Map<string, string>} */
  const faults = new Map()
  message.signals.forEach(({ name, faultOf }, s) => {
    const value = values[s]
    const fault = value === undefined ? faultOf(data) : undefined
    if (value !== undefined) signals[name] = exact(value)
    if (fault) faults.set(name, fault)
  })
  const quality = qualityText(faults, message.signals.length)
  return `${JSON.stringify({ time: stamp && stamp.text, id, message: message.name, signals, ...quality && { quality } })}\n`
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

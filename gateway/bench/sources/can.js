import { readFileSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { formatCandumpLine, parseCandumpLine, stampOf } from '../../can/candump/line.js'
import { readDbcFile } from '../../can/dbc/file.js'
import { parseDbc } from '../../can/dbc/parser.js'
import { Decoder } from '../../can/dbc/decoder.js'
import { lineBlocks } from '../../can/logs/line-blocks.js'
import { MessageRows } from '../../can/rows/message-rows.js'
import { openCandumpPlayer } from '../../can/candump/player.js'

/**
 * @typedef {import('../../can/candump/line.js').Frame} Frame
 *
 * @typedef {object} CanRow  one run, on one core
 * @property {string} what
 * @property {number} framesPerSecond  read from lines of candump
 * @property {number} signalsPerSecond  from those lines to columns of batches
 * @property {number} decodeOnlySignalsPerSecond  from frames in memory to columns of batches
 */

const LOG = exampleFile('nmea2000.log')
const DBC = exampleFile('nmea2000.dbc')
const LOG_FILE = 'data/nmea2000.log'
const DBC_FILE = 'data/nmea2000.dbc'
const MAX_ROWS = 1000
const CHUNK_CHARACTERS = 65536
const DENSE_MESSAGES = 40
const DENSE_FRAMES = 20_000
const FRAME_NS = 250_000n

/**
 * Reads logs again and again: a real one of NMEA 2000, a third of whose frames its DBC knows, and one of a dense bus, as cars have it: 40
 * messages of 12 signals, in Motorola order.
 * @param {{seconds: number}} options  of each of the four runs
 * @returns {Promise<CanRow[]>}
 */
export async function benchCan ({ seconds }) {
  const real = { what: 'NMEA 2000, a real log', log: readFileSync(LOG, 'utf8'), messages: readDbcFile(DBC).messages }
  const results = []
  for (const { what, log, messages } of [real, dense()]) {
    const fromText = await measure(seconds, async rows => {
      let frames = 0
      for await (const lines of lineBlocks(chunksOf(log))) {
        for (const line of lines) {
          const frame = parseCandumpLine(line)
          if (frame === null || 'reason' in frame) continue
          frames++
          rows.add(frame)
        }
      }
      return frames
    }, messages)
    const frames = framesOf(log)
    const decodeOnly = await measure(seconds, async rows => {
      for (const frame of frames) rows.add(frame)
      await nextTurn()
      return frames.length
    }, messages)
    results.push({
      what,
      framesPerSecond: fromText.framesPerSecond,
      signalsPerSecond: fromText.signalsPerSecond,
      decodeOnlySignalsPerSecond: decodeOnly.signalsPerSecond
    })
  }
  return results
}

/**
 * The same log by the source of the *candump player* node, as fast as it can.
 * @param {{seconds: number}} options
 */
export async function benchPlayback ({ seconds }) {
  let signals = 0
  const log = { info () {}, warn () {}, error () {} }
  const startMs = performance.now()
  const { counters, close } = openCandumpPlayer({ name: 'n2k', logFile: LOG_FILE, dbcFile: DBC_FILE, speed: 0, loop: true }, {
    emit: ({ rows, fields }) => { signals += rows * fields.filter(({ name }) => name !== 'address').length },
    isPaused: () => false,
    log,
    onEnd: error => { if (error) throw error }
  })
  await sleep(1000 * seconds)
  const tookSeconds = (performance.now() - startMs) / 1000
  const measured = { framesPerSecond: counters.frames / tookSeconds, signalsPerSecond: signals / tookSeconds }
  await close()
  return measured
}

/**
 * @param {number} seconds @param {(rows: AllRows) => Promise<number>} round  returns how many frames it has read
 * @param {import('../../can/dbc/message.js').Message[]} messages
 */
async function measure (seconds, round, messages) {
  await round(new AllRows(messages))
  const rows = new AllRows(messages)
  let frames = 0
  const startMs = performance.now()
  while (performance.now() - startMs < 1000 * seconds) frames += await round(rows)
  const tookSeconds = (performance.now() - startMs) / 1000
  return { framesPerSecond: frames / tookSeconds, signalsPerSecond: rows.values / tookSeconds }
}

/** Frames into rows, rows into batches, as the sources do it. */
class AllRows {
  /** Of signals, in batches. */
  values = 0
  #decoder
  /** @type {Map<import('../../can/dbc/message.js').Message, MessageRows>} */
  #rows = new Map()

  /** @param {import('../../can/dbc/message.js').Message[]} messages */
  constructor (messages) {
    this.#decoder = new Decoder(messages)
  }

  /** @param {Frame} frame */
  add (frame) {
    const message = this.#decoder.find(frame.id, frame.extended)
    if (!message || frame.data.length < message.bytes) return
    let rows = this.#rows.get(message)
    if (!rows) this.#rows.set(message, rows = new MessageRows(message, { source: message.name, bus: frame.bus, capacity: MAX_ROWS }))
    rows.add(frame.stamp?.ns ?? 0n, frame)
    // A source address is no signal.
    if (rows.isFull) this.values += rows.take().values - (message.isParameterGroup ? MAX_ROWS : 0)
  }
}

/** @param {string} name */
function exampleFile (name) {
  return fileURLToPath(new URL(`../../../data/${name}`, import.meta.url))
}

/** @param {string} log @returns {AsyncGenerator<string, void>} */
async function * chunksOf (log) {
  for (let at = 0; at < log.length; at += CHUNK_CHARACTERS) yield log.slice(at, at + CHUNK_CHARACTERS)
}

/** @param {string} log @returns {Frame[]} */
function framesOf (log) {
  return log.split('\n').map(parseCandumpLine).flatMap(frame => frame && !('reason' in frame) ? [frame] : [])
}

/** A DBC and a log of its messages in turn. */
function dense () {
  const layout = [[7, 16], [23, 12], [27, 12], [47, 4], [43, 2], [41, 1], [40, 1], [55, 3], [52, 3], [49, 2], [63, 6], [57, 2]]
  const text = Array.from({ length: DENSE_MESSAGES }, (_, m) =>
    [
      `BO_ ${0x100 + m} Message${m}: 8 ECU`,
      ...layout.map(
        ([start, length], s) =>
          ` SG_ signal${s} : ${start}|${length}@0${s % 4 === 0 ? '-' : '+'} ` +
          `(${s % 3 === 0 ? 0.05 : 1},${s % 5 === 0 ? -40 : 0}) [0|0] "" ECU`
      )
    ].join('\n')
  ).join('\n')
  let state = 1
  const random = () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0) >>> 24
  const lines = Array.from({ length: DENSE_FRAMES }, (_, i) => formatCandumpLine({
    stamp: stampOf(1_700_000_000_000_000_000n + BigInt(i) * FRAME_NS),
    bus: 'can0',
    id: 0x100 + i % DENSE_MESSAGES,
    extended: false,
    kind: 'data',
    fd: false,
    data: Uint8Array.from({ length: 8 }, random)
  }))
  return {
    what: `a car's bus: ${DENSE_MESSAGES} messages of ${layout.length} signals`,
    log: `${lines.join('\n')}\n`,
    messages: parseDbc(text).messages
  }
}

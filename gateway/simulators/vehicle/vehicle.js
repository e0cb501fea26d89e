import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../clock/system-clock.js'
import { frameOf } from '../../can/dbc/encoder.js'
import { describe, SluiceError } from '../../base/errors.js'
import { readOptions } from '../../base/options.js'
import { readMessages } from '../../can/dbc/options.js'
import { cycleTimesOf } from './cycle-times.js'
import { CarTraffic, DbcTraffic } from './traffic.js'

/** @typedef {import('../../can/dbc/message.js').Message} Message */

const TICK_MS = 10
const MAX_DELAY_NS = 20_000_000n
const MAX_BACKLOG_NS = 1_000_000_000n
const CAR_FILE = fileURLToPath(new URL('../../../data/vehicle.dbc', import.meta.url))

const ofDbc = { kind: 'dbc' }

export const schema = {
  type: 'object',
  title: 'Vehicle',
  description: 'Simulates the senders on a CAN bus.',
  properties: {
    kind: {
      type: 'string',
      title: 'Sends',
      description: 'The car has the 22 channels of the study of Warp 10 in cyclic messages, and others when it shifts gears, brakes ' +
        'or a door opens: data/vehicle.dbc describes them. The messages of a DBC file of your own get values that ' +
        'move within their ranges.',
      enum: ['car', 'dbc'],
      'x-labels': { car: 'A car', dbc: 'The messages of a DBC file' },
      default: 'car'
    },
    dbcFile: {
      type: 'string',
      title: 'DBC file',
      description: 'Messages are sent by their attribute GenMsgCycleTime. Those of 0, in a file that has others, are sent now and ' +
        'then: once in 5 s on average.',
      minLength: 1,
      default: 'data/vehicle.dbc',
      'x-dbc': true,
      'x-when': ofDbc
    },
    cycleMs: {
      type: 'integer',
      title: 'Cycle time',
      description: 'Of messages for which the file gives none.',
      minimum: 1,
      maximum: 3_600_000,
      default: 100,
      'x-unit': 'ms',
      'x-when': ofDbc
    },
    multiple: {
      type: 'number',
      title: 'Rate',
      description: 'How many times as often cyclic messages come.',
      minimum: 0.01,
      maximum: 100,
      default: 1,
      'x-unit': '×',
      'x-advanced': true
    },
    seed: {
      type: 'integer',
      title: 'Seed',
      description: 'Another seed gives another drive.',
      minimum: 0,
      maximum: 2 ** 31 - 1,
      default: 1,
      'x-advanced': true
    }
  }
}

/**
 * Starts to send to a bus. Frame k of a cyclic message is due at the start plus k periods; what this process was too busy for is sent as
 * soon as it can, up to a second late.
 *
 * Counters: `frames` sent; `late`, those of them sent more than 20 ms after they were due; `missed`, those never sent because the process
 * paused for too long; `errors`, those that the bus did not accept.
 * @param {object} options  as in the schema
 * @param {object} context
 * @param {import('../../can/bus/bus.js').Bus} context.bus
 * @param {import('../../base/log.js').Log} context.log
 * @param {import('../../clock/system-clock.js').Clock} [context.clock]
 * @returns {{counters: Record<string, number>, trouble: () => string|undefined, close: () => Promise<void>}}
 * @throws {SluiceError} SLUICE_OPTIONS, those of readDbcFile, SLUICE_VEHICLE_MESSAGES
 */
export function openVehicle (options, context) {
  const vehicle = new Vehicle(readOptions(schema, options), context)
  return { counters: vehicle.counters, trouble: () => vehicle.trouble, close: () => vehicle.close() }
}

class Vehicle {
  counters = { frames: 0, late: 0, missed: 0, errors: 0 }
  /** Why the bus did not accept the last frame, until it accepts one. @type {string|undefined} */
  trouble
  #bus
  #clock
  #traffic
  #stopTicking

  /** @param {any} options @param {Parameters<typeof openVehicle>[1]} context */
  constructor ({ kind, dbcFile, cycleMs, multiple, seed }, { bus, log, clock = systemClock }) {
    const file = kind === 'car' ? CAR_FILE : dbcFile
    const messages = sendable(readMessages({ dbcFile: file }, log), file, log)
    const cycleTimeOf = cycleTimesOf(readFileSync(file, 'latin1'))
    const periodMsOf = (/** @type {Message} */ message) => (cycleTimeOf(message) ?? cycleMs) / multiple
    this.#bus = bus
    this.#clock = clock
    this.#traffic = new (kind === 'car' ? CarTraffic : DbcTraffic)({ messages, periodMsOf, startNs: clock.nowNs(), seed })
    this.#stopTicking = clock.every(TICK_MS, () => this.#tick())
  }

  async close () {
    this.#stopTicking()
  }

  #tick () {
    const now = this.#clock.nowNs()
    try {
      this.counters.missed += this.#traffic.skip(now - MAX_BACKLOG_NS)
      for (const { ns, message, values } of this.#traffic.take(now)) {
        if (now - ns > MAX_DELAY_NS) this.counters.late++
        this.#send(message, values, ns)
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  /** @param {Message} message @param {Record<string, unknown>} values @param {bigint} ns */
  async #send (message, values, ns) {
    try {
      const { id, extended, fd, data } = frameOf(message, values)
      await this.#bus.send({ stamp: null, bus: this.#bus.name, id, extended, kind: 'data', fd, data }, ns)
      this.counters.frames++
      this.trouble = undefined
    } catch (error) {
      this.#fail(error)
    }
  }

  /** @param {unknown} error */
  #fail (error) {
    this.counters.errors++
    this.trouble = describe(error)
  }
}

/**
 * The messages that fit into a frame; the others are named in the log.
 * @param {Message[]} messages
 * @param {string} file
 * @param {import('../../base/log.js').Log} log
 */
function sendable (messages, file, log) {
  const fitting = []
  const left = []
  for (const message of messages) {
    try {
      frameOf(message, {})
      fitting.push(message)
    } catch {
      left.push(message.name)
    }
  }
  if (fitting.length === 0) throw new SluiceError('SLUICE_VEHICLE_MESSAGES', `No message of ${file} fits into one frame.`)
  if (left.length === 0) return fitting
  const names = `${left.slice(0, 5).join(', ')}${left.length > 5 ? ', …' : ''}`
  log.warn(`${left.length} messages of ${file} do not fit into one frame, and are not sent: ${names}.`)
  return fitting
}

import { LOG_FORMATS } from '../logs/log-lines.js'
import { openPlaybackBus } from './playback.js'
import { openSocketcan } from './socketcan.js'
import { openVirtualBus } from './virtual.js'

/**
 * The contract of a CAN bus. A listener hears every frame that the bus carries, including those that others in this process send through
 * it.
 *
 * @typedef {import('../candump/line.js').Frame} Frame  its `bus` is the interface or the name of the bus; its stamp is the log's, null of a
 *   live bus
 *
 * @typedef {object} Listener
 * @property {import('./id-filter.js').IdFilter|null} filter  null: hears all. Error frames always come
 * @property {(frames: Frame[], times: BigInt64Array) => void} take  frames in order, and when each was on the bus: nanoseconds of the
 *   source clock
 * @property {() => boolean} isPaused  whether it cannot accept more: a played log waits meanwhile
 * @property {(frames: number) => void} miss  a live bus cannot wait: it calls this instead of `take` of a listener that is paused
 * @property {(error?: unknown) => void} end  the bus has no more frames, or failed, or `take` threw this. Not called after `close`
 *
 * @typedef {object} Bus
 * @property {string} name
 * @property {(listener: Listener) => () => void} listen  until the function it returns is called
 * @property {(frame: Frame, dueNs?: bigint) => Promise<void>} send  resolves when the bus has accepted the frame; rejects with
 *   SLUICE_CAN_SEND or SLUICE_CAN_READ_ONLY. `dueNs`: when a simulated sender was to send it, which a bus without a clock of its own takes
 *   as its time
 * @property {Record<string, number>} counters  live: `badLines` of a log, and `drops`, frames that the interface lost
 * @property {() => string|undefined} trouble  what is wrong now, in a few words
 * @property {() => import('../../stats/reader.js').Gauge} gauge
 * @property {() => Promise<void>} close
 *
 * @typedef {object} BusContext
 * @property {import('../../base/log.js').Log} log
 * @property {import('../../clock/system-clock.js').Clock} [clock]
 */

/** @type {Record<string, {label: string, open: (options: any, context: BusContext) => Bus|Promise<Bus>}>} */
const kinds = {
  socketcan: { label: 'SocketCAN interface (Linux)', open: openSocketcan },
  playback: { label: 'Playback of a log', open: openPlaybackBus },
  virtual: { label: 'Virtual: inside this process', open: openVirtualBus }
}

const ofSocketcan = { kind: 'socketcan' }
const ofPlayback = { kind: 'playback' }

export const schema = {
  type: 'object',
  title: 'CAN bus',
  description: 'Where frames come from and go to: shared by the nodes that read and write them.',
  properties: {
    kind: {
      type: 'string',
      title: 'Kind',
      description: 'A played log feeds the same nodes as a real bus. On a virtual bus, nodes of this Node-RED hear each other.',
      enum: Object.keys(kinds),
      'x-labels': Object.fromEntries(Object.entries(kinds).map(([kind, { label }]) => [kind, label])),
      default: 'socketcan'
    },
    interface: {
      type: 'string',
      title: 'Interface',
      description: 'As "ip link" lists it. The system sets it up, its bit rate too: ip link set can0 up type can bitrate 500000.',
      pattern: '^[^\\s/]{1,15}$',
      default: 'can0',
      'x-when': ofSocketcan
    },
    sending: {
      type: 'boolean',
      title: 'Allow sending',
      description: 'Nodes may send frames. A wrong frame on a real bus can move a machine.',
      default: false,
      'x-when': ofSocketcan
    },
    channel: {
      type: 'string',
      title: 'Bus',
      description: 'All virtual buses of this name are one.',
      minLength: 1,
      maxLength: 100,
      default: 'virtual',
      'x-when': { kind: 'virtual' }
    },
    fd: {
      type: 'boolean',
      title: 'CAN FD',
      description: 'Nodes may send CAN FD frames, of up to 64 bytes. They are always received.',
      default: false,
      'x-when': { kind: ['socketcan', 'virtual'] }
    },
    logFile: {
      type: 'string',
      title: 'Log file',
      description: `In one of these formats: ${LOG_FORMATS}. It plays as if it were live, from when the first node listens.`,
      minLength: 1,
      default: 'data/nmea2000.log',
      'x-when': ofPlayback
    },
    speed: {
      type: 'number',
      title: 'Speed',
      description: '1 plays as recorded, 10 ten times as fast, 0 as fast as its readers accept it; times then run ahead of the clock.',
      minimum: 0,
      maximum: 100000,
      default: 1,
      'x-unit': '×',
      'x-when': ofPlayback
    },
    loop: {
      type: 'boolean',
      title: 'Loop',
      description: 'Start again at the end of the log.',
      default: true,
      'x-when': ofPlayback
    },
    bitrate: {
      type: 'integer',
      title: 'Bit rate',
      description: 'Of the bus, to compute its load. 0: as the interface reports it; if it reports none, no load is computed.',
      minimum: 0,
      maximum: 1_000_000,
      default: 0,
      'x-unit': 'bit/s',
      'x-advanced': true
    },
    dataBitrate: {
      type: 'integer',
      title: 'Data bit rate',
      description: 'Of the data of CAN FD frames. 0: as the interface reports it, otherwise the bit rate.',
      minimum: 0,
      maximum: 20_000_000,
      default: 0,
      'x-unit': 'bit/s',
      'x-advanced': true
    }
  }
}

/**
 * @param {any} options  as in the schema, complete
 * @param {BusContext} context
 * @returns {Promise<Bus>}
 * @throws {import('../../base/errors.js').SluiceError} what is known at once: SLUICE_CAN_SOCKETCAN, SLUICE_REPLAY_FILE. An interface that
 *   does not exist is waited for
 */
export async function openBus (options, context) {
  return kinds[options.kind].open(options, context)
}

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

/**
 * What Linux reports of a CAN interface: its counters from /sys/class/net, its state and bit rates from `ip -details -json link show`,
 * where `ip` is installed.
 *
 * @typedef {object} Counts
 * @property {boolean} isUp
 * @property {boolean} hasCarrier  false of one that is up and off the bus
 * @property {number} frames  received and sent since the interface exists
 * @property {number} drops  received and lost, in the controller or for lack of memory
 *
 * @typedef {object} Details
 * @property {string|undefined} state  "error-active", "error-warning", "error-passive", "bus-off", "stopped", "sleeping"; undefined of a
 *   virtual interface
 * @property {number} bitrate  0 where it has none
 * @property {number} dataBitrate
 */

const IFF_UP = 1
const LOST = ['rx_dropped', 'rx_over_errors', 'rx_fifo_errors', 'rx_missed_errors']
const run = promisify(execFile)

export class CanInterface {
  #folder
  #name

  /** @param {string} name @param {string} [sysfs] */
  constructor (name, sysfs = '/sys/class/net') {
    this.#name = name
    this.#folder = path.join(sysfs, name)
  }

  /** Null where the interface does not exist. @returns {Promise<Counts|null>} */
  async counts () {
    const flags = await this.#read('flags')
    if (flags === null) return null
    const [received, sent, ...lost] = await Promise.all(['rx_packets', 'tx_packets', ...LOST].map(name => this.#read(`statistics/${name}`)))
    return {
      isUp: (Number(flags) & IFF_UP) !== 0,
      hasCarrier: await this.#read('operstate') !== 'down',
      frames: Number(received) + Number(sent),
      drops: Math.max(...lost.map(Number)) // drivers count one loss under several of these
    }
  }

  /** Null where `ip` does not report them. @returns {Promise<Details|null>} */
  async details () {
    try {
      const { stdout } = await run('ip', ['-details', '-json', 'link', 'show', 'dev', this.#name], { timeout: 5000 })
      return detailsOf(stdout)
    } catch {
      return null
    }
  }

  /** @param {string} file */
  async #read (file) {
    try {
      return (await readFile(path.join(this.#folder, file), 'latin1')).trim()
    } catch {
      return null
    }
  }
}

/** @param {string} json  as `ip` writes it @returns {Details|null} */
export function detailsOf (json) {
  const data = JSON.parse(json)?.[0]?.linkinfo?.info_data
  if (!data) return null
  return {
    state: data.state?.toLowerCase(),
    bitrate: data.bittiming?.bitrate ?? 0,
    dataBitrate: data.data_bittiming?.bitrate ?? 0
  }
}

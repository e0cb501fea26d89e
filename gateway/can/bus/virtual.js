import { systemClock } from '../../clock/system-clock.js'
import { refuseMisfit } from './sendable.js'
import { Listeners } from './listeners.js'

/** @typedef {import('./bus.js').Bus} Bus */

/** Those of one name are one bus. @type {Map<string, Set<VirtualBus>>} */
const channels = new Map()

/** @param {{channel: string, fd: boolean, bitrate: number, dataBitrate: number}} options @param {import('./bus.js').BusContext} context */
export function openVirtualBus (options, context) {
  return new VirtualBus(options, context)
}

/** @implements {Bus} */
class VirtualBus {
  /** @type {Record<string, number>} */
  counters = {}
  #fd
  #clock
  #listeners

  /** @param {Parameters<typeof openVirtualBus>[0]} options @param {import('./bus.js').BusContext} context */
  constructor ({ channel, fd, bitrate, dataBitrate }, { clock = systemClock }) {
    this.name = channel
    this.#fd = fd
    this.#clock = clock
    this.#listeners = new Listeners({ bitrate, dataBitrate })
    channels.set(channel, (channels.get(channel) ?? new Set()).add(this))
  }

  /** @param {import('./bus.js').Listener} listener */
  listen (listener) {
    return this.#listeners.add(listener)
  }

  /** @param {import('./bus.js').Frame} frame @param {bigint} [dueNs] */
  async send (frame, dueNs = this.#clock.nowNs()) {
    refuseMisfit(frame, this.#fd, this.name)
    const carried = [{ ...frame, stamp: null, bus: this.name }]
    const times = BigInt64Array.of(dueNs)
    for (const member of channels.get(this.name) ?? []) member.#listeners.hear(carried, times)
  }

  /** @returns {string|undefined} */
  trouble () {
    return undefined
  }

  gauge () {
    return this.#listeners.statistics.report(this.#clock.nowNs())
  }

  async close () {
    const members = channels.get(this.name)
    members?.delete(this)
    if (members?.size === 0) channels.delete(this.name)
  }
}

import { mkdtempSync, rmSync, mkdirSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const EXTENDED_FLAG = 0x80000000
const COUNTERS = ['rx_packets', 'tx_packets', 'rx_dropped', 'rx_over_errors', 'rx_fifo_errors', 'rx_missed_errors']

/**
 * The CAN side of a Linux that this machine has not: interfaces that come and go, and the package socketcan as its source (4.3.1,
 * native/can.cc) has it behave.
 */
export class FakeKernel {
  sysfs = mkdtempSync(path.join(os.tmpdir(), 'sluice-sysfs-'))
  /** @type {Map<string, Set<FakeChannel>>} */
  interfaces = new Map()
  /** Times a queue says that it has no room. */
  refusals = 0
  /** How many channels could be made. */
  channels = 0

  load = async () => ({ createRawChannelWithOptions: (/** @type {string} */ name) => new FakeChannel(this, name) })

  /** @param {string} name */
  add (name) {
    this.interfaces.set(name, new Set())
    mkdirSync(path.join(this.sysfs, name, 'statistics'), { recursive: true })
    for (const counter of COUNTERS) this.write(name, `statistics/${counter}`, '0')
    this.set(name, { isUp: true })
  }

  /** @param {string} name @param {{isUp: boolean, hasCarrier?: boolean}} state */
  set (name, { isUp, hasCarrier = isUp }) {
    this.write(name, 'flags', isUp ? '0x40081' : '0x40080')
    this.write(name, 'operstate', hasCarrier ? 'up' : 'down')
  }

  /** @param {string} name @param {string} file @param {string} text */
  write (name, file, text) {
    writeFileSync(path.join(this.sysfs, name, file), `${text}\n`)
  }

  /** Pulls the adapter out. @param {string} name */
  remove (name) {
    const channels = this.interfaces.get(name) ?? []
    this.interfaces.delete(name)
    rmSync(path.join(this.sysfs, name), { recursive: true })
    for (const channel of channels) channel.die()
  }

  /** A frame arrives. @param {string} name @param {any} message @param {FakeChannel} [from] */
  carry (name, message, from) {
    const received = ((message.ext ? message.id | EXTENDED_FLAG : message.id) >>> 0)
    const now = Date.now()
    const stamped = { ts_sec: Math.floor(now / 1000), ts_usec: now % 1000 * 1000, ...message }
    for (const channel of this.interfaces.get(name) ?? []) if (channel !== from) channel.receive(stamped, received)
  }

  close () {
    rmSync(this.sysfs, { recursive: true })
  }
}

class FakeChannel {
  #kernel
  #name
  #running = false
  #bound = true
  #filters = [{ id: 0, mask: 0 }]
  /** @type {Record<string, ((message?: any) => void)[]>} */
  #listeners = { onMessage: [], onStopped: [] }

  /** @param {FakeKernel} kernel @param {string} name */
  constructor (kernel, name) {
    const channels = kernel.interfaces.get(name)
    if (!channels) throw new Error('Error while creating channel')
    channels.add(this)
    kernel.channels++
    this.#kernel = kernel
    this.#name = name
  }

  /** @param {'onMessage'|'onStopped'} event @param {(message?: any) => void} run */
  addListener (event, run) {
    this.#listeners[event].push(run)
  }

  start () {
    this.#running = true
  }

  stop () {
    if (!this.#running) throw new Error('Channel not started')
    this.#running = false
    this.#kernel.interfaces.get(this.#name)?.delete(this)
    for (const run of this.#listeners.onStopped) run()
  }

  die () {
    this.#bound = false
    if (this.#running) this.stop()
  }

  /** @param {{id: number, mask: number}[]} filters */
  setRxFilters (filters) {
    if (filters.length > 0) this.#filters = filters
  }

  /** @param {any} message @param {number} received  with its flags */
  receive (message, received) {
    if (!this.#running) return
    if (!message.err && !this.#filters.some(({ id, mask }) => ((received & mask) >>> 0) === ((id & mask) >>> 0))) return
    for (const run of this.#listeners.onMessage) run(message)
  }

  /** @param {any} message */
  send (message) {
    if (!Buffer.isBuffer(message.data) || message.data.length > 8) throw new Error('Data field too long for a CAN frame (max 8 bytes)')
    return this.#send(message)
  }

  /** @param {any} message */
  sendFD (message) {
    return this.#send(message)
  }

  /** @param {any} message */
  #send (message) {
    if (!this.#bound) return -1
    if (this.#kernel.refusals > 0) {
      this.#kernel.refusals--
      return -1
    }
    this.#kernel.carry(
      this.#name,
      { id: message.id, ...(message.ext && { ext: true }), ...(message.rtr && { rtr: true }), data: Buffer.from(message.data) },
      this
    )
    return 16
  }
}

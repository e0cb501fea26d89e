import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { say } from '../../../resources/sentences.js'
import { encodeLines } from '../../messages/codecs/line-protocol/line-protocol.js'
import { narrowColumn } from '../../messages/codecs/line-protocol/kinds.js'
import { describe, SluiceError } from '../../base/errors.js'
import { quoteTable } from './influxql.js'
import { quantity } from '../../stats/format.js'
import { rowsOf } from './connection.js'

/**
 * @typedef {import('../../messages/codecs/line-protocol/line-protocol.js').Lines} Lines
 * @typedef {import('./versions.js').Place} Place
 * @typedef {{place: Place, measurement: string, from: bigint, to: bigint, values: Map<string, number>}} Sent  how many values of each
 *   field, from time `from` to `to`
 */

const SENT_AT_ONCE = 32
const COUNT_EVERY_MS = 60_000

/** How long the server may gather what has arrived before it can be counted. */
const SETTLING_MS = 2000

/**
 * Sends lines by UDP, and counts afterwards, by HTTP, what has arrived of them: values sent against values read back, by measurement. What
 * is sent twice, or written by others at the same times, makes the count too low or too high.
 */
export class UdpStore {
  #server
  #datagramBytes
  #log
  /** @type {Promise<{socket: import('node:dgram').Socket, address: string}>|null} */
  #opening = null
  /** @type {Map<string, Sent>} by measurement */
  #sent = new Map()
  #timer
  /** Of values, as far as they were counted. */
  #total = 0
  #lost = 0

  /**
   * @param {import('./connection.js').InfluxdbServer} server
   * @param {number} datagramBytes
   * @param {import('../../base/log.js').Log} [log]
   */
  constructor (server, datagramBytes, log) {
    if (server.options.version !== '1') {
      throw new SluiceError('SLUICE_OPTIONS', say('udpVersion'))
    }
    this.#server = server
    this.#datagramBytes = datagramBytes
    this.#log = log
    this.#timer = setInterval(() => this.#count(), COUNT_EVERY_MS)
    this.#timer.unref()
  }

  get notice () { return `may lose: ${quantity(this.#lost)} of ${quantity(this.#total)} values missing` }

  /**
   * Resolves once all is sent, which does not mean that it has arrived.
   * @param {Lines[]} parts
   * @param {Place} place
   * @param {AbortSignal} [signal]
   */
  async write (parts, place, signal) {
    const { socket, address } = await this.#open()
    const { udpPort } = this.#server.options
    /** @type {Promise<void>[]} */
    let sending = []
    for (const datagram of encodeLines(parts, { chunkBytes: this.#datagramBytes })) {
      signal?.throwIfAborted()
      sending.push(new Promise((resolve, reject) => socket.send(datagram, udpPort, address, error => error ? reject(error) : resolve())))
      if (sending.length < SENT_AT_ONCE) continue
      await this.#all(sending)
      sending = []
    }
    await this.#all(sending)
    for (const lines of parts) this.#remember(lines, place)
  }

  async close () {
    clearInterval(this.#timer)
    await this.#count()
    const opening = this.#opening
    this.#opening = null
    await opening?.then(({ socket }) => socket.close(), () => {})
  }

  /** A socket, and the server's address, which is looked up once. */
  #open () {
    this.#opening ??= this.#lookUp().catch(error => {
      this.#opening = null
      throw this.#failure(error)
    })
    return this.#opening
  }

  async #lookUp () {
    const { address, family } = await lookup(this.#server.options.host)
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    socket.on('error', error => this.#log?.warn(`UDP to ${this.#server.place}: ${describe(error)}`))
    socket.unref()
    return { socket, address }
  }

  /** @param {Promise<void>[]} sending */
  async #all (sending) {
    try {
      await Promise.all(sending)
    } catch (error) {
      throw this.#failure(error)
    }
  }

  /** @param {any} error */
  #failure (error) {
    const text = `UDP to ${this.#server.place}: ${describe(error)}.`
    return error.code === 'EMSGSIZE'
      ? new SluiceError('SLUICE_SINK_ROWS', text, { cause: error, fix: 'A point is longer than a datagram can be: send it by HTTP.' })
      : new SluiceError('SLUICE_SINK_CONNECT', text, { cause: error, fix: 'Check the host.' })
  }

  /** @param {Lines} lines @param {Place} place */
  #remember ({ batch, measurement = batch.source, fields = [], narrow }, place) {
    const { time } = batch
    if (time.length === 0) return
    const sent = this.#sent.get(measurement) ?? { place, measurement, from: time[0], to: time[0], values: new Map() }
    for (const each of time) {
      if (each < sent.from) sent.from = each
      if (each > sent.to) sent.to = each
    }
    for (const { name, field } of fields) {
      const key = narrow ? narrowColumn(batch.fields[field].type).name : name
      let count = 0
      for (let row = 0; row < batch.rows; row++) {
        const value = batch.value(field, row)
        if (value !== undefined && (typeof value !== 'number' || Number.isFinite(value))) count++
      }
      sent.values.set(key, (sent.values.get(key) ?? 0) + count)
    }
    this.#sent.set(measurement, sent)
  }

  /** Logs how much of what was sent until now has not arrived. */
  async #count () {
    const all = [...this.#sent.values()]
    this.#sent.clear()
    if (all.length === 0) return
    await sleep(SETTLING_MS)
    for (const sent of all) {
      try {
        await this.#compare(sent)
      } catch (error) {
        this.#log?.warn(`Whether all that was sent by UDP has arrived is unknown: ${describe(error)}`)
      }
    }
  }

  /** @param {Sent} sent */
  async #compare ({ place, measurement, from, to, values }) {
    const table = quoteTable(place.policy, measurement)
    const series = await this.#server.query(`SELECT count(*) FROM ${table} WHERE time >= ${from} AND time <= ${to}`)
    const [counted = {}] = rowsOf(series)
    const total = [...values.values()].reduce((sum, count) => sum + count, 0)
    const lost = [...values].reduce((sum, [field, count]) => sum + Math.max(0, count - Number(counted[`count_${field}`] ?? 0)), 0)
    this.#total += total
    this.#lost += lost
    const percent = (100 * lost / Math.max(1, total)).toFixed(2)
    const text = `UDP: of ${total} values sent to measurement "${measurement}", ${lost} are missing (${percent} %).`
    if (lost > 0) this.#log?.warn(text)
    else this.#log?.info(text)
  }
}

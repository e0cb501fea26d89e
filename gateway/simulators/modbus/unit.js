import { readUnits } from '../../../resources/units.js'
import { derive } from '../../base/random.js'
import { signal } from './shapes.js'

/**
 * @typedef {import('../../modbus/wire/pdu.js').Area} Area
 * @typedef {import('./shapes.js').Moment} Moment
 * @typedef {import('./shapes.js').Signal} Signal
 */

const ADDRESSES = 0x10000

/** One device's registers and bits: values that change, unless they have been written. */
export class Unit {
  /** in the order of their addresses @type {Record<Area, Signal[]>} */
  #signals = { coils: [], 'discrete-inputs': [], 'holding-registers': [], 'input-registers': [] }
  /** @type {Map<Area, {values: Uint16Array, isWritten: Uint8Array}>} */
  #written = new Map()
  #hasOthers

  /**
   * @param {number} number
   * @param {import('./shapes.js').Row[]} rows
   * @param {{hasOthers: boolean, seed: number}} options  `hasOthers`: the addresses that are not in the rows exist too
   */
  constructor (number, rows, { hasOthers, seed }) {
    this.number = number
    this.#hasOthers = hasOthers
    const unitSeed = derive(seed, number)
    rows.forEach((row, index) => {
      if (row.unit === '' || readUnits(row.unit).has(number)) this.#signals[row.area].push(signal(row, derive(unitSeed, index)))
    })
    for (const signals of Object.values(this.#signals)) signals.sort((a, b) => a.address - b.address)
  }

  /** @param {Area} area @param {number} address @param {number} count */
  has (area, address, count) {
    if (address + count > ADDRESSES) return false
    if (this.#hasOthers) return true
    const end = address + count
    let covered = 0
    for (const { address: start, count: size } of this.#among(area, address, end)) {
      covered += Math.min(end, start + size) - Math.max(address, start)
    }
    return covered === count
  }

  /**
   * Registers, or bits as 0 and 1, all of one moment.
   * @param {Area} area @param {number} address @param {number} count @param {Moment} moment
   */
  read (area, address, count, moment) {
    const values = new Uint16Array(count)
    for (const { address: start, count: size, at } of this.#among(area, address, address + count)) {
      const moving = at(moment)
      for (let i = Math.max(0, address - start); i < size && start + i < address + count; i++) values[start + i - address] = moving[i]
    }
    const written = this.#written.get(area)
    if (written) {
      for (let i = 0; i < count; i++) if (written.isWritten[address + i]) values[i] = written.values[address + i]
    }
    return values
  }

  /** @param {Area} area @param {number} address @param {ArrayLike<number>} values */
  write (area, address, values) {
    let written = this.#written.get(area)
    if (!written) this.#written.set(area, written = { values: new Uint16Array(ADDRESSES), isWritten: new Uint8Array(ADDRESSES) })
    written.values.set(values, address)
    written.isWritten.fill(1, address, address + values.length)
  }

  /** @param {Area} area @param {number} start @param {number} end */
  #among (area, start, end) {
    return this.#signals[area].filter(({ address, count }) => address < end && start < address + count)
  }
}

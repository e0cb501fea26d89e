import { SluiceError } from '../../gateway/base/errors.js'

/**
 * @typedef {import('./head.js').HeadSource} HeadSource
 * @typedef {{sources: number, epochs: number, ranges: number}} Size
 */

/** An honest gateway says less in the one MiB of a head. @type {Size} */
const OF_GATEWAY = { sources: 10_000, epochs: 2 ** 15, ranges: 2 ** 16 }
/** @type {Size} */
const IN_ALL = { sources: 50_000, epochs: 2 ** 18, ranges: 2 ** 18 }
const KINDS = /** @type {const} */ (['sources', 'epochs', 'ranges'])
/** What a source takes that is known, and of which no spool has said anything. */
const NOTHING = { sources: 0, epochs: 0, ranges: 0 }

/** Counts what is known of the gateways, before memory is taken for it: no gateway takes the places of the others. */
export class Places {
  #all = { ...NOTHING }
  /** @type {Map<string, Size>} */
  #gateways = new Map()

  /** Without asking whether there is room. @param {string} gateway @param {Partial<Size>} more  may be less */
  add (gateway, more) {
    const own = this.#gateways.get(gateway) ?? { ...NOTHING }
    this.#gateways.set(gateway, own)
    for (const size of [own, this.#all]) for (const kind of KINDS) size[kind] += more[kind] ?? 0
  }

  /**
   * @param {string} gateway
   * @param {Partial<Size>} more
   * @returns {SluiceError|null} SLUICE_PROTOCOL: there is no room
   */
  lack (gateway, more) {
    const own = this.#gateways.get(gateway) ?? NOTHING
    for (const kind of KINDS) {
      const count = more[kind] ?? 0
      if (count <= 0 || (own[kind] + count <= OF_GATEWAY[kind] && this.#all[kind] + count <= IN_ALL[kind])) continue
      const text = `It has more than ${OF_GATEWAY[kind]} ${kind}, or all gateways more than ${IN_ALL[kind]}; what is beyond is ignored.`
      return new SluiceError('SLUICE_PROTOCOL', text)
    }
    return null
  }
}

/** What a spool's word on a source takes. @param {HeadSource|null|undefined} head @returns {Size} */
export function sizeOf (head) {
  const epochs = head?.epochs ?? []
  const ranges = epochs.reduce((sum, { lost, replaced, doubt }) => sum + lost.length + replaced.length + doubt.length, 0)
  return { sources: 0, epochs: epochs.length, ranges }
}

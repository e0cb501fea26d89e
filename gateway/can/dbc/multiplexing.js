import { bytesNeeded, rawReader } from './bits.js'

/**
 * @typedef {import('./message.js').ParsedSignal} ParsedSignal
 * @typedef {import('./message.js').ParsedMessage} ParsedMessage
 * @typedef {(data: Uint8Array) => boolean} IsSelected
 *
 * @typedef {object} Membership
 * @property {number} level  how many switches select it, one above the other; 0: it is always there
 * @property {boolean} isSwitch
 * @property {IsSelected|undefined} isSelected  of a multiplexed signal: whether this frame carries it
 * @property {string} condition  of a multiplexed signal, e.g. "mode is 1, 3-5"
 */

/** Every frame is read through all of them. */
const MAX_LEVELS = 16

/** Which signals of a message its switches select. */
export class Multiplexing {
  #name
  #signals
  #mainSwitch
  #firstSwitches
  /** @type {Map<ParsedSignal, IsSelected|undefined>} */
  #selections = new Map()

  /** @param {ParsedMessage} message */
  constructor ({ name, signals }) {
    const switches = [...signals.values()].filter(({ isSwitch }) => isSwitch)
    this.#name = name
    this.#signals = signals
    this.#mainSwitch = switches.find(({ selectors }) => selectors.length === 0)
    this.#firstSwitches = switches.slice(0, 2)
  }

  /** Why a signal cannot be found in a frame, if so. @param {ParsedSignal} signal @returns {string|undefined} */
  faultOf (signal) {
    if (signal.selectors.some(([first]) => Number.isNaN(first))) {
      return 'multiplexed, but neither a number after m nor an SG_MUL_VAL_ says by which value'
    }
    const seen = new Set([signal])
    for (let at = signal; at.selectors.length > 0;) {
      const parent = this.#parentOf(at)
      if (!parent) return `no multiplexor ${at.parent === null ? '' : `${at.parent} `}in ${this.#name} selects it`
      if (seen.has(parent)) return 'multiplexors that select each other'
      if (seen.size > MAX_LEVELS) return `more than ${MAX_LEVELS} multiplexors above one another`
      seen.add(parent)
      at = parent
    }
  }

  /** Of a signal without fault. @param {ParsedSignal} signal @returns {Membership} */
  membershipOf (signal) {
    let level = 0
    for (let at = signal; at.selectors.length > 0; at = /** @type {ParsedSignal} */ (this.#parentOf(at))) level++
    return { level, isSwitch: signal.isSwitch, isSelected: this.#selectionOf(signal), condition: this.#conditionOf(signal) }
  }

  /** @param {ParsedSignal} signal @returns {IsSelected|undefined} */
  #selectionOf (signal) {
    if (!this.#selections.has(signal)) this.#selections.set(signal, this.#compile(signal))
    return this.#selections.get(signal)
  }

  /** @param {ParsedSignal} signal @returns {IsSelected|undefined} */
  #compile (signal) {
    if (signal.selectors.length === 0) return undefined
    const parent = /** @type {ParsedSignal} */ (this.#parentOf(signal))
    const isParentSelected = this.#selectionOf(parent)
    const readSwitch = rawReader(parent)
    const bytes = bytesNeeded(parent)
    return data => {
      if (data.length < bytes || (isParentSelected && !isParentSelected(data))) return false
      const value = readSwitch(data)
      return signal.selectors.some(([first, last]) => first <= value && value <= last)
    }
  }

  /** @param {ParsedSignal} signal */
  #conditionOf (signal) {
    if (signal.selectors.length === 0) return ''
    const ranges = signal.selectors.map(([first, last]) => first === last ? first : `${first}-${last}`)
    return `${this.#parentOf(signal)?.name} is ${ranges.join(', ')}`
  }

  /** @param {ParsedSignal} signal @returns {ParsedSignal|undefined} */
  #parentOf (signal) {
    if (signal.parent !== null) return this.#signals.get(signal.parent)
    return this.#mainSwitch ?? this.#firstSwitches.find(other => other !== signal)
  }
}

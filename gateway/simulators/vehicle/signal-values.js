import { derive, fractionAt } from '../../base/random.js'
import { waveform } from '../waveforms.js'

/**
 * @typedef {import('../../can/dbc/message.js').Message} Message
 * @typedef {import('../../can/dbc/message.js').MessageSignal} MessageSignal
 */

/** A signal of fewer values goes through all of them. */
const MAX_FEW_STEPS = 16
/** No real signal has a wider range: one that does moves around 0, by the amplitude below. */
const MAX_RANGE = 1e9
const DEFAULT_AMPLITUDE = 100
const MAX_SELECTORS = 256

/**
 * Values for the signals of a message that move within their ranges, each at its own pace; the switches of a multiplexed message take
 * turns. The same for the same seed and index.
 */
export class SignalValues {
  #message
  #switches
  #others

  /** @param {Message} message @param {{seconds: number, seed: number}} options  `seconds` from one to the next */
  constructor (message, { seconds, seed }) {
    const fitting = message.signals.filter(({ bytes }) => bytes <= message.length)
    this.#message = message
    const switches = fitting.filter(({ isSwitch }) => isSwitch).sort((a, b) => a.level - b.level)
    const others = fitting.filter(({ isSwitch }) => !isSwitch)
    this.#switches = switches.map(signal => ({ signal, turns: turnsOf(signal, message) }))
    this.#others = others.map((signal, i) => ({ signal, valueAt: curveOf(signal, seconds, derive(seed, i)) }))
  }

  /** Of those signals that are in the frame of this index. @param {number} index @returns {Record<string, unknown>} */
  at (index) {
    const data = new Uint8Array(this.#message.length)
    /** @type {Record<string, unknown>} */
    const values = {}
    for (const { signal, turns } of this.#switches) {
      if (signal.isSelected && !signal.isSelected(data)) continue
      values[signal.name] = turns[index % turns.length]
      signal.write(data, values[signal.name])
    }
    for (const { signal, valueAt } of this.#others) if (signal.isSelected?.(data) ?? true) values[signal.name] = valueAt(index)
    return values
  }
}

/** The values of a switch that select something. @param {MessageSignal} signal @param {Message} message */
function turnsOf (signal, { length, signals }) {
  const { minimum, maximum, step } = signal
  const data = new Uint8Array(length)
  const possible = Array.from({ length: MAX_SELECTORS }, (_, n) => Number(minimum) + n * step).filter(value => value <= Number(maximum))
  const selecting = possible.filter(value => {
    signal.write(data, value)
    return signals.some(other => other.isSelected?.(data))
  })
  return selecting.length > 0 ? selecting : [possible[0] ?? minimum]
}

/** @param {MessageSignal} signal @param {number} seconds @param {number} seed @returns {(index: number) => number} */
function curveOf ({ name, minimum, maximum, step }, seconds, seed) {
  const [low, high] = [Number(minimum), Number(maximum)]
  const isWide = !(high - low <= MAX_RANGE)
  const few = step > 0 && (high - low) / step < MAX_FEW_STEPS
  const middle = isWide ? Math.min(Math.max(0, low), high) : (low + high) / 2
  const fill = waveform({
    name,
    unit: '',
    type: 'float64',
    shape: few ? 'sawtooth' : 'sine',
    offset: middle,
    amplitude: isWide ? DEFAULT_AMPLITUDE : (high - low) / 2 * (few ? 1 : 0.9),
    frequencyHz: 0.02 + 0.2 * fractionAt(seed, 0),
    noise: 0,
    limits: [low, high]
  }, seconds, seed)
  const one = new Float64Array(1)
  return index => {
    fill(one, index)
    return one[0]
  }
}

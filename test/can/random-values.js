import fc from 'fast-check'

/**
 * @typedef {import('../../gateway/can/dbc/message.js').Message} Message
 * @typedef {import('../../gateway/can/dbc/message.js').MessageSignal} MessageSignal
 */

/**
 * Random values of all signals that a frame of a message can have at once, each one that the signal can be to the bit.
 * @param {Message} message
 * @returns {fc.Arbitrary<Record<string, number|bigint>>}
 */
export function valuesOf (message) {
  const signals = message.signals.filter(({ bytes }) => bytes <= message.length)
  const switches = signals.filter(({ isSwitch }) => isSwitch)
  const switchValues = fc.record(Object.fromEntries(switches.map(signal => [signal.name, valueOf(signal)])))
  return switchValues.chain(chosen => {
    const data = new Uint8Array(message.length)
    /** @type {[string, fc.Arbitrary<number|bigint>][]} */
    const present = []
    for (const signal of [...switches].sort((one, other) => one.level - other.level)) {
      if (!(signal.isSelected?.(data) ?? true)) continue
      signal.write(data, chosen[signal.name])
      present.push([signal.name, fc.constant(chosen[signal.name])])
    }
    for (const signal of signals) {
      if (!signal.isSwitch && (signal.isSelected?.(data) ?? true)) present.push([signal.name, valueOf(signal)])
    }
    return fc.record(Object.fromEntries(present))
  })
}

/** @param {MessageSignal} signal @returns {fc.Arbitrary<number|bigint>} */
function valueOf ({ isSwitch, minimum, maximum, step }) {
  if (typeof minimum === 'bigint') return fc.bigInt(minimum, /** @type {bigint} */ (maximum))
  const [low, high] = [Number(minimum), Number(maximum)]
  // JSON has no -0.
  if (step === 0) {
    return fc.float({ noNaN: true, min: Math.fround(Math.max(low, -1e30)), max: Math.fround(Math.min(high, 1e30)) }).map(float => float + 0)
  }
  const steps = Math.round((high - low) / step)
  // Switches select by small numbers.
  const index = isSwitch
    ? fc.oneof(fc.nat(Math.min(steps, 7)), fc.maxSafeNat().map(n => n % (steps + 1)))
    : fc.maxSafeNat().map(n => n % (steps + 1))
  return index.map(n => low + n * step)
}

/** Where a whole number is in eight bytes, and these. */
export const anySignal = fc.record({
  length: fc.integer({ min: 1, max: 64 }),
  at: fc.nat(),
  littleEndian: fc.boolean(),
  signed: fc.boolean(),
  data: fc.uint8Array({ minLength: 8, maxLength: 8 })
})

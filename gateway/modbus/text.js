import { SluiceError } from '../base/errors.js'
import { swapsBytes } from './bytes.js'

/**
 * Text of one byte a character (ISO 8859-1), two characters a register, the first one in the high byte unless the order swaps bytes. It
 * ends at the first NUL; trailing spaces are removed.
 * @param {number} length  characters
 * @param {import('./bytes.js').Order} order
 * @returns {import('./values.js').Codec}
 */
export function textCodec (length, order) {
  const count = Math.ceil(length / 2)
  const [first, second] = swapsBytes(order) ? [0, 8] : [8, 0]
  return {
    field: 'string',
    count,
    fault: '',
    read (registers, at) {
      let text = ''
      for (let i = 0; i < length; i++) {
        const code = registers[at + (i >>> 1)] >>> (i % 2 === 0 ? first : second) & 0xFF
        if (code === 0) break
        text += String.fromCharCode(code)
      }
      return text.replace(/ +$/, '')
    },
    encode (value) {
      if (typeof value !== 'string') throw refusal('must be text')
      if (value.length > length) throw refusal(`must have at most ${length} characters`)
      const registers = new Uint16Array(count)
      for (let i = 0; i < value.length; i++) {
        const code = value.charCodeAt(i)
        if (code === 0 || code > 0xFF) throw refusal('must consist of characters that fit a byte (ISO 8859-1)')
        registers[i >>> 1] |= code << (i % 2 === 0 ? first : second)
      }
      return registers
    }
  }
}

/** @param {string} problem */
function refusal (problem) {
  return new SluiceError('SLUICE_MODBUS_VALUE', problem)
}

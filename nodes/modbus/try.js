import { describe, SluiceError } from '../../gateway/base/errors.js'
import { ADDRESSES, AREAS, parseAddress } from '../../gateway/modbus/addresses.js'
import { readOptions } from '../../gateway/base/options.js'
import { openDevice } from '../../gateway/modbus/device.js'
import { preview } from '../../gateway/modbus/values.js'
import { isBits } from '../../gateway/modbus/wire/pdu.js'
import { optionsOfForm } from '../form-options.js'
import { servePost } from '../serve-post.js'
import { schema } from './device.schema.js'
import { leaseDevice } from './lease.js'

/**
 * @typedef {{ok: true, registers: string[], values: ReturnType<typeof preview>}|{ok: true, bits: number[]}|{ok: false, text: string}}
 *   Outcome  `registers` in hexadecimal; `values`: what they may mean, by type and order; `text` says what is wrong and what to do
 * @typedef {import('../../gateway/modbus/device.js').Device} Device
 * @typedef {import('../../gateway/modbus/device.js').Area} Area
 */

const DEFAULT_COUNT = 4
const MAX_COUNT = 125

/**
 * Answers POST sluice-modbus/try, only for users who may deploy, since it reads a device. Its body is `{device, area, address, addressing?,
 * count?}`: a config node, as the id of a deployed one or as `{id, options}` with what the editor has, deployed or not; a tag's address as
 * in its table; and how many registers or bits to read (default: four, or as many as exist). The answer is an Outcome.
 * @param {import('../node.js').RED} RED
 * @param {{timeLimitMs?: number}} [options]
 */
export function serveTries (RED, { timeLimitMs = 15_000 } = {}) {
  const answer = async (/** @type {any} */ request, /** @type {any} */ response) => {
    const giveUp = new AbortController()
    const timer = setTimeout(() => giveUp.abort(misuse(`There was no answer within ${timeLimitMs / 1000} s.`)), timeLimitMs)
    response.on('close', () => giveUp.abort())
    const outcome = await outcomeOf(() => read(RED, request.body ?? {}, giveUp.signal))
    clearTimeout(timer)
    response.json(outcome)
  }
  servePost(RED, '/sluice-modbus/try', answer)
}

/** @param {() => Promise<Outcome>} work @returns {Promise<Outcome>} */
async function outcomeOf (work) {
  try {
    return await work()
  } catch (error) {
    return { ok: false, text: error instanceof SluiceError ? error.message : describe(error) }
  }
}

/** @param {import('../node.js').RED} RED @param {any} body @param {AbortSignal} signal @returns {Promise<Outcome>} */
async function read (RED, { device: tried, area, address: text, addressing = 'protocol', count }, signal) {
  if (!AREAS.includes(area)) throw misuse(`There is no area "${area}".`)
  const isCount = Number.isInteger(count) && count >= 1 && count <= MAX_COUNT
  if (count !== undefined && !isCount) throw misuse(`The count must be 1 to ${MAX_COUNT}.`)
  const parsed = parseAddress(String(text).replace(/\.\d+$/, ''), { area, addressing })
  if (parsed.problem !== undefined) throw misuse(`The address ${parsed.problem}.`)
  const { device, closing, release } = await leaseTried(RED, tried)
  try {
    const values = await readSome(device, area, parsed.address, count, AbortSignal.any([signal, closing]))
    if (isBits(area)) return { ok: true, bits: [...values] }
    return {
      ok: true,
      registers: Array.from(values, value => `0x${value.toString(16).toUpperCase().padStart(4, '0')}`),
      values: preview(values)
    }
  } finally {
    release()
  }
}

/**
 * What is deployed as the form has it is shared; anything else is opened for this one question.
 * @param {import('../node.js').RED} RED
 * @param {string|import('../form-options.js').FormNode} tried
 */
async function leaseTried (RED, tried) {
  if (typeof tried !== 'object' || tried === null) return leaseDevice(RED, tried)
  const options = readOptions(schema, optionsOfForm(RED, 'sluice-modbus-device', schema, tried))
  const { shared } = RED.nodes.getNode(tried.id) ?? {}
  if (shared?.isFor(options)) return /** @type {import('./lease.js').SharedDevice} */ (shared).lease()
  const device = openDevice(options)
  return { device, closing: new AbortController().signal, release: () => { device.close() } }
}

/**
 * As many as requested, by default enough for each type, or fewer where the device has no more.
 * @param {Device} device
 * @param {Area} area
 * @param {number} address
 * @param {number|undefined} count
 * @param {AbortSignal} signal
 */
async function readSome (device, area, address, count, signal) {
  const { maxRegisters, maxBits } = device.limits
  const max = Math.min(isBits(area) ? maxBits : maxRegisters, ADDRESSES - address)
  if (count !== undefined) return device.read(area, address, Math.min(count, max), { signal })
  for (let wanted = Math.min(DEFAULT_COUNT, max); ; wanted >>>= 1) {
    try {
      return await device.read(area, address, wanted, { signal })
    } catch (error) {
      const { exception } = /** @type {any} */ (error).details ?? {}
      if (wanted === 1 || (exception !== 2 && exception !== 3)) throw error
    }
  }
}

/** @param {string} text */
function misuse (text) {
  return new SluiceError('SLUICE_MODBUS_TRY', text)
}

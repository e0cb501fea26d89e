/**
 * What a config node is for may itself be in the flow: the broker of an embedded broker, the device of a Modbus simulator. The two meet,
 * so that nobody has to know a port.
 *
 * @typedef {Record<string, any>} EditorNode
 * @typedef {object} Counterpart
 * @property {string} type  of the node in the flow
 * @property {(node: EditorNode) => Record<string, any>|undefined} options  by which it is reached; undefined where that takes more
 * @property {(node: EditorNode) => Record<string, Record<string, any>>} [given]  by type of the node that uses it: what that gets where it
 *   has nothing yet
 */

/** @type {Record<string, Counterpart>} by the type of the config node */
const counterparts = {
  'sluice-broker': {
    type: 'sluice-embedded-broker',
    options: ({ port, credentials }) =>
      Number(port) > 0 && !credentials?.users && !credentials?.has_users ? { url: `mqtt://127.0.0.1:${port}` } : undefined
  },
  'sluice-modbus-device': {
    type: 'sluice-modbus-simulator',
    options: ({ connection, host, port, units }) => connection !== 'rtu' && Number(port) > 0
      ? { connection, host: ANYWHERE.includes(host) ? '127.0.0.1' : host, port: Number(port), unit: firstUnit(units) }
      : undefined,
    given: ({ registers }) => ({ 'sluice-modbus-read': { tags: tagsOf(registers) } })
  }
}

/** The types of config nodes that are as good as any with the usual settings. */
const USUAL = ['sluice-broker']

/** What listens there is reached from this machine, too. */
const ANYWHERE = ['0.0.0.0', '::']

const IS_BIT = new Set(['coils', 'discrete-inputs'])

/** What a new config node has; undefined where somebody has to say. @param {string} type */
export function optionsFor (type) {
  return counterpartOf(type)?.options ?? (USUAL.includes(type) ? {} : undefined)
}

/**
 * The node in the flow that a new config node would be for, or that this one is for.
 * @param {string} type
 * @param {EditorNode|null} [config]
 * @returns {{options: Record<string, any>, given?: Record<string, Record<string, any>>}|undefined}
 */
export function counterpartOf (type, config) {
  const counterpart = counterparts[type]
  if (!counterpart) return
  for (const found of RED.nodes.filterNodes({ type: counterpart.type }).filter(({ d }) => !d)) {
    const usual = Object.entries(defaultsOf(counterpart.type)) // which a flow that somebody wrote need not say
    const node = { credentials: found.credentials, ...Object.fromEntries(usual.map(([name, value]) => [name, found[name] ?? value])) }
    const options = counterpart.options(node)
    const isMeant = options && (!config || Object.entries(options).every(([name, value]) => String(config[name]) === String(value)))
    if (isMeant) return { options, given: counterpart.given?.(node) }
  }
}

/** What a new node of a type has. @param {string} type @returns {Record<string, any>} */
export function defaultsOf (type) {
  return Object.fromEntries(Object.entries(RED.nodes.getType(type).defaults).map(([name, { value }]) => [name, structuredClone(value)]))
}

/** @param {string} units  "1, 3, 5-12" */
function firstUnit (units) {
  return Number.parseInt(units, 10) || 1
}

/** What a row of registers need not say. */
const USUAL_REGISTER = { area: 'holding-registers', address: 0, type: 'uint16', order: 'ABCD', shape: 'constant' }

/** The registers of a simulator as a table of tags, each called by how it moves. @param {EditorNode[]} registers */
function tagsOf (registers) {
  /** @type {Map<string, number>} */
  const taken = new Map()
  return registers.filter(({ unit }) => !unit).map(row => {
    const { area, address, type, order, shape } = { ...USUAL_REGISTER, ...row }
    const count = (taken.get(shape) ?? 0) + 1
    taken.set(shape, count)
    const name = count === 1 ? shape : `${shape} ${count}`
    return { name, area, address: String(address), ...IS_BIT.has(area) ? { type: 'bool' } : { type, order } }
  })
}

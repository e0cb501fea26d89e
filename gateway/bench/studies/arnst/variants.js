import { CHANNELS, MEASUREMENT, RATE_HZ } from './machine.js'

/**
 * How a database stores the machine's samples, and how they are read: what the study calls its implementations.
 *
 * @typedef {'individual'|'bulk'} Layout  a sample at a time, or a second
 * @typedef {Layout|'bulk-1'} Strategy
 *
 * @typedef {object} Writing  one of its writers
 * @property {string} id  as in `published.js`, where the paper has it
 * @property {Layout} layout
 * @property {{id: string, strategy: Strategy}[]} readers  of what it writes
 */

/** Whose layouts are the paper's own. */
const PAPER = ['mysql', 'mongodb']
/** Has one writer, as it gathers by itself. */
const GATHERS = 'influxdb'

const SECOND_MS = 1000

/** @param {string} database @returns {Writing[]} */
export function writingsOf (database) {
  if (database === GATHERS) {
    const strategies = /** @type {const} */ (['individual', 'bulk', 'bulk-1'])
    return [{ id: database, layout: 'individual', readers: strategies.map(strategy => ({ id: `${database}-${strategy}`, strategy })) }]
  }
  return /** @type {const} */ (['individual', 'bulk']).map(layout => {
    const id = `${database}-${layout}`
    return { id, layout, readers: [{ id, strategy: layout }] }
  })
}

/**
 * The options of the sink and of the writer before it.
 * @param {string} database @param {Layout} layout
 */
export function storing (database, layout) {
  const isBulk = layout === 'bulk'
  // Over HTTP a request would cost more than its sample: there the writer gathers as it does unless it is told otherwise.
  const batchRows = isBulk ? RATE_HZ : 1
  return {
    sink: { table: MEASUREMENT, ...layoutOf(database, layout), ...database === GATHERS && { tagFields: '' } },
    writer: database === GATHERS ? {} : { batchRows },
    intervalMs: isBulk ? SECOND_MS : 0
  }
}

/**
 * The options of the reader, and what it calls the channels.
 * @param {string} database @param {Layout} layout
 */
export function reading (database, layout) {
  return {
    reader: { table: MEASUREMENT, ...layoutOf(database, layout) },
    sensors: PAPER.includes(database) ? CHANNELS.map((_, number) => String(number)) : [...CHANNELS]
  }
}

/** @param {string} database @param {Layout} layout */
function layoutOf (database, layout) {
  if (PAPER.includes(database)) return { layout: `paper-${layout}` }
  if (database === GATHERS) return { layout: 'wide' }
  return layout === 'bulk' ? { layout: 'document', intervalMs: SECOND_MS } : { layout: 'narrow' }
}

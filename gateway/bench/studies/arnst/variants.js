import { CHANNELS, MEASUREMENT } from './machine.js'

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
/** Over HTTP each request would cost more than its sample: the product's own age of a batch. */
const GATHERED = { batchRows: 5000, maxAgeMs: 100 }

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
  return {
    sink: { table: MEASUREMENT, ...layoutOf(database, layout), ...database === GATHERS && { tagFields: '' } },
    // A commit for each sample, or for each second, and none before the one before it is done.
    writer: { inFlight: 1, ...database === GATHERS ? GATHERED : { batchRows: isBulk ? SECOND_MS : 1 } },
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

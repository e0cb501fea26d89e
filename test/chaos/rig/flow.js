export const BALANCE_PATH = '/balance'
/** The sink whose rows a flow has changed: they are stored at least once. */
export const CHANGED = 'changed'

const SPLIT = `const { payload } = msg
const half = payload.rows >> 1
setTimeout(() => node.send({ ...msg, payload: payload.slice(half, payload.rows) }), 300)
if (half > 0) return { ...msg, payload: payload.slice(0, half) }`

/** Small: it has a segment every few seconds, so that much leaves it in time for what comes next. */
const SPOOL_MEGABYTES = 4

/** Columns of several types, none of them constant. */
const CHANNELS = [
  { name: 'pressure', shape: 'sine', offset: 5, amplitude: 2, frequencyHz: 1, noise: 0.1, unit: 'bar', type: 'float64' },
  { name: 'temperature', shape: 'random-walk', offset: 60, amplitude: 20, noise: 0, unit: '°C', type: 'float32' },
  { name: 'position', shape: 'sawtooth', offset: 0, amplitude: 1e6, frequencyHz: 0.5, noise: 10, unit: 'µm', type: 'int32' },
  { name: 'torque', shape: 'noise', offset: 0, amplitude: 3000, noise: 0, unit: '', type: 'int16' },
  { name: 'valve', shape: 'square', offset: 2048, amplitude: 1000, frequencyHz: 3, noise: 20, unit: '', type: 'uint16' }
]

/** Each sends messages of one row, some of one device with the same time, some of rows that have no line. */
const DEVICES = `let count = 0
setInterval(() => {
  for (let i = 0; i < ROWS; i++) {
    const number = count++
    const device = 'd' + (number % 3 === 0 ? 0 : number * 7 % 50)
    const tags = number % 10 < 3 ? { device } : { device, line: String(number % 4) }
    node.send({ payload: [{ measurement: 'devices', tags, fields: { count: number, level: Math.sin(number) }, time: Date.now() }] })
  }
}, 50)`

/** So few rows gather that those of one time come in several batches. */
const GATHERED_ROWS = 7

/**
 * @typedef {object} Edits  what deploys have changed
 * @property {Set<string>} renamed  the sinks
 * @property {Set<string>} disabled
 * @property {Set<string>} removed
 * @property {number} moved  how often something was moved
 * @property {number} sources  how many more sources there are
 */

/** @returns {Edits} */
export function noEdits () {
  return { renamed: new Set(), disabled: new Set(), removed: new Set(), moved: 0, sources: 0 }
}

/**
 * A simulated machine, a looping CAN log, and many devices that send messages of one row, which gather: staged through a broker to several
 * sinks, each behind a stage in of its own. Before the sink called `changed` stands a function that splits each batch, and sends its second
 * half later.
 * @param {object} options
 * @param {Pick<import('./brokers.js').Broker, 'node'|'option'>} options.broker
 * @param {Record<string, import('../databases/index.js').Database>} options.databases  by name
 * @param {number} options.rate  rows a second of the machine; the devices together have a fifth of it
 * @param {number} options.seed
 * @param {boolean} options.sources  whether they run
 * @param {Edits} [options.edits]
 */
export function chaosFlow ({ broker, databases, rate, seed, sources, edits = noEdits() }) {
  return [
    { id: 'chaos', type: 'tab', label: 'Chaos' },
    { id: 'broker', ...broker.node },
    node(
      'machine',
      'simulator',
      { name: 'machine', preset: 'channels', channels: CHANNELS, sampleRateHz: rate, seed, autostart: sources },
      'stage-out'
    ),
    node(
      'n2k',
      'candump',
      {
        name: 'n2k',
        logFile: 'data/nmea2000.log',
        dbcFile: 'data/nmea2000.dbc',
        speed: 1,
        times: 'now',
        loop: true,
        autostart: sources
      },
      'stage-out'
    ),
    ...Array.from({ length: edits.sources }, (_, i) => node(
      `machine-${i + 1}`,
      'simulator',
      { name: `machine-${i + 1}`, preset: 'channels', channels: CHANNELS, sampleRateHz: 50, seed: seed + i + 1, autostart: sources },
      'stage-out'
    )),
    node('stage-out', 'stage-out', { ...broker.option, spoolMegabytes: SPOOL_MEGABYTES }),
    {
      id: 'devices', type: 'function', z: 'chaos', x: 100, y: 100, func: 'return null', outputs: 1, wires: [['stage-out-devices']],
      initialize: sources ? DEVICES.replace('ROWS', String(Math.max(1, Math.round(rate / 100)))) : ''
    },
    node(
      'stage-out-devices',
      'stage-out',
      { ...broker.option, spoolMegabytes: SPOOL_MEGABYTES, gatherRows: GATHERED_ROWS }
    ),
    ...balanceNodes(),
    ...Object.entries(databases).flatMap(([name, database]) => sinkNodes(name, database, edits, broker.option))
  ]
}

/** Answers what the gateway's own counters say. */
export function balanceNodes () {
  return [
    { id: 'ask', type: 'http in', z: 'chaos', url: BALANCE_PATH, method: 'get', x: 100, y: 100, wires: [['stats']] },
    node('stats', 'stats', { name: 'balance', intervalMs: 3_600_000 }, 'answer'),
    { id: 'answer', type: 'http response', z: 'chaos', x: 100, y: 100, wires: [] }
  ]
}

/** @param {string} name @param {import('../databases/index.js').Database} database @param {Edits} edits @param {object} brokerOption */
function sinkNodes (name, { type, sink, server }, { renamed, disabled, removed, moved }, brokerOption) {
  const options = { ...sink, name: renamed.has(name) ? `${name} renamed` : name, maxAgeMs: 200, ...(disabled.has(name) ? { d: true } : {}) }
  const behind = removed.has(name) ? [] : [name]
  const wired = { ...node(name, type, server ? { ...options, server: `${name}-server` } : options), y: 100 + moved }
  return [
    node(`stage-in-${name}`, 'stage-in', brokerOption, ...(name === CHANGED ? ['split'] : behind)),
    ...(name === CHANGED ? [{ id: 'split', type: 'function', z: 'chaos', x: 100, y: 100, func: SPLIT, outputs: 1, wires: [behind] }] : []),
    ...(removed.has(name) ? [] : [wired]),
    ...(server ? [{ id: `${name}-server`, type: `sluice-${type}-server`, ...server }] : [])
  ]
}

/** @param {string} id @param {string} type @param {object} options @param {string[]} wires */
export function node (id, type, options, ...wires) {
  return { id, type: `sluice-${type}`, z: 'chaos', x: 100, y: 100, ...options, wires: [wires] }
}

/**
 * What Node-RED keeps beside a flow file; it takes it unencrypted as well.
 * @param {Record<string, import('../databases/index.js').Database>} databases
 */
export function chaosCredentials (databases) {
  return Object.fromEntries(
    Object.entries(databases).flatMap(([name, { credentials }]) => (credentials ? [[`${name}-server`, credentials]] : []))
  )
}

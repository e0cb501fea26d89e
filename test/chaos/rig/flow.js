/** Columns of several types, none of them constant. */
const CHANNELS = [
  { name: 'pressure', shape: 'sine', offset: 5, amplitude: 2, frequencyHz: 1, noise: 0.1, unit: 'bar', type: 'float64' },
  { name: 'temperature', shape: 'random-walk', offset: 60, amplitude: 20, noise: 0, unit: '°C', type: 'float32' },
  { name: 'position', shape: 'sawtooth', offset: 0, amplitude: 1e6, frequencyHz: 0.5, noise: 10, unit: 'µm', type: 'int32' },
  { name: 'torque', shape: 'noise', offset: 0, amplitude: 3000, noise: 0, unit: '', type: 'int16' },
  { name: 'valve', shape: 'square', offset: 2048, amplitude: 1000, frequencyHz: 3, noise: 20, unit: '', type: 'uint16' }
]

/**
 * A simulated machine and a looping CAN log, staged through a broker to several sinks, each behind a stage in of its own.
 * @param {object} options
 * @param {string} options.brokerUrl
 * @param {Record<string, import('../databases/index.js').Database>} options.databases  by name
 * @param {number} options.rate  rows a second of the machine
 * @param {number} options.seed
 * @param {boolean} options.sources  whether they run
 */
export function chaosFlow ({ brokerUrl, databases, rate, seed, sources }) {
  return [
    { id: 'chaos', type: 'tab', label: 'Chaos' },
    { id: 'broker', type: 'sluice-broker', url: brokerUrl },
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
        logFile: 'examples/data/nmea2000.log',
        dbcFile: 'examples/data/nmea2000.dbc',
        speed: 1,
        times: 'now',
        loop: true,
        autostart: sources
      },
      'stage-out'
    ),
    node('stage-out', 'stage-out', { broker: 'broker' }),
    ...Object.entries(databases).flatMap(([name, database]) => sinkNodes(name, database))
  ]
}

/** @param {string} name @param {import('../databases/index.js').Database} database */
function sinkNodes (name, { type, sink, server }) {
  const options = { name, maxAgeMs: 200, ...sink }
  return [
    node(`stage-in-${name}`, 'stage-in', { broker: 'broker' }, name),
    node(name, type, server ? { ...options, server: `${name}-server` } : options),
    ...(server ? [{ id: `${name}-server`, type: `sluice-${type}-server`, ...server }] : [])
  ]
}

/** @param {string} id @param {string} type @param {object} options @param {string[]} wires */
function node (id, type, options, ...wires) {
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

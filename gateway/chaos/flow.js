/** Columns of several types, none of them constant. */
const CHANNELS = [
  { name: 'pressure', shape: 'sine', offset: 5, amplitude: 2, frequencyHz: 1, noise: 0.1, unit: 'bar', type: 'float64' },
  { name: 'temperature', shape: 'random-walk', offset: 60, amplitude: 20, noise: 0, unit: '°C', type: 'float32' },
  { name: 'position', shape: 'sawtooth', offset: 0, amplitude: 1e6, frequencyHz: 0.5, noise: 10, unit: 'µm', type: 'int32' },
  { name: 'torque', shape: 'noise', offset: 0, amplitude: 3000, noise: 0, unit: '', type: 'int16' },
  { name: 'valve', shape: 'square', offset: 2048, amplitude: 1000, frequencyHz: 3, noise: 20, unit: '', type: 'uint16' }
]

/**
 * A simulated machine and a looping CAN log, staged through a broker to two sinks, each behind a stage in of its own.
 * @param {object} options
 * @param {string} options.brokerUrl
 * @param {string} options.sqliteFile
 * @param {{port: number, database: string}} options.postgresql  user and password are in `credentials`
 * @param {number} options.rate  rows a second of the machine
 * @param {number} options.seed
 * @param {boolean} options.sources  whether they run
 */
export function chaosFlow ({ brokerUrl, sqliteFile, postgresql: { port, database }, rate, seed, sources }) {
  const writer = { maxAgeMs: 200, table: '{source}' }
  return [
    { id: 'chaos', type: 'tab', label: 'Chaos' },
    { id: 'broker', type: 'sluice-broker', url: brokerUrl },
    node('machine', 'simulator', { name: 'machine', preset: 'channels', channels: CHANNELS, sampleRateHz: rate, seed, autostart: sources }, 'stage-out'),
    node('n2k', 'candump', {
      name: 'n2k', logFile: 'examples/data/nmea2000.log', dbcFile: 'examples/data/nmea2000.dbc', speed: 1, times: 'now', loop: true, autostart: sources
    }, 'stage-out'),
    node('stage-out', 'stage-out', { broker: 'broker' }),
    node('stage-in-a', 'stage-in', { broker: 'broker' }, 'sqlite'),
    node('sqlite', 'sqlite', { name: 'sqlite', file: sqliteFile, ...writer }),
    node('stage-in-b', 'stage-in', { broker: 'broker' }, 'postgresql'),
    { id: 'postgresql-server', type: 'sluice-postgresql-server', host: '127.0.0.1', port, database },
    node('postgresql', 'postgresql', { name: 'postgresql', server: 'postgresql-server', ...writer })
  ]
}

/** @param {string} id @param {string} type @param {object} options @param {string[]} wires */
function node (id, type, options, ...wires) {
  return { id, type: `sluice-${type}`, z: 'chaos', x: 100, y: 100, ...options, wires: [wires] }
}

/**
 * What Node-RED keeps beside a flow file; it takes it unencrypted as well.
 * @param {{user: string, password: string}} postgresql
 */
export function chaosCredentials ({ user, password }) {
  return { 'postgresql-server': { user, password } }
}

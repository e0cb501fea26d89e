import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { schema as stageIn } from '../../../nodes/staging/stage-in.schema.js'
import { postgresqlNodes, restartGateway, startGateway } from '../pipeline.js'
import { WatchedProcess } from '../process.js'
import { TOPICS } from './messages.js'

/**
 * Both consumers, each configured as well as it can be for these messages: one connection to the broker with a session that outlasts them,
 * QoS 1, acknowledged when stored; one table without index, the device a column.
 *
 * @typedef {import('./messages.js').Shape} Shape
 * @typedef {{mqtt: import('../servers.js').Server, postgresql: import('../servers.js').Server, folder: string, shape: Shape}} Place
 *
 * @typedef {object} Consumer
 * @property {string} name
 * @property {(place: Place) => Promise<WatchedProcess>} start
 * @property {(place: Place) => Promise<WatchedProcess>} restart  after a kill
 */

/** A row waits no longer than this for a fuller write. */
const MAX_AGE_MS = 250
/** Rows in a write: each has what made it fastest. */
const TELEGRAF_ROWS = 5000
const SLUICE_ROWS = 20_000
/** Rows that Telegraf has received and not yet stored, at most. */
const UNDELIVERED_ROWS = 50_000

/** @type {Consumer} */
export const sluiceConsumer = {
  name: 'Sluice',
  async start ({ mqtt, postgresql, folder, shape }) {
    const { user, password } = postgresql
    return startGateway(join(folder, 'sluice'), [
      { id: 'broker', type: 'sluice-broker', url: mqtt.url, protocolVersion: 'auto', verify: true, keepAliveSeconds: 30 },
      {
        id: 'in', type: 'sluice-stage-in', z: 'tab', name: 'in', broker: 'broker', receiveMaximum: 1000, maxSources: 1000,
        ...subscription(shape), wires: [['sink']]
      },
      ...postgresqlNodes(postgresql, { batchRows: SLUICE_ROWS, inFlight: 3, index: 'none', maxAgeMs: MAX_AGE_MS })
    ], { server: { user, password } })
  },
  restart: async ({ folder }) => (await restartGateway(join(folder, 'sluice'))).gateway
}

/** @param {Shape} shape */
function subscription ({ format }) {
  if (!('mappings' in stageIn.properties)) return { foreignTopics: [TOPICS] }
  return { mappings: [format === 'lines' ? { topic: 'bench/{_}' } : { topic: 'bench/{device}', source: 'bench', time: 'time' }] }
}

/** @param {string} program @returns {Consumer} */
export function telegrafConsumer (program) {
  const start = async (/** @type {Place} */ place) => {
    const file = join(place.folder, 'telegraf.conf')
    await writeFile(file, telegrafConfiguration(place), { mode: 0o600 }) // it has a password
    return new WatchedProcess(['--config', file], { program })
  }
  return { name: 'Telegraf', start, restart: start }
}

/** @param {Place} place */
export function telegrafConfiguration ({ mqtt, postgresql, shape }) {
  const undelivered = Math.max(100, Math.ceil(UNDELIVERED_ROWS / shape.rowsPerMessage))
  const login = {
    host: postgresql.host, port: postgresql.port, user: postgresql.user, password: postgresql.password, dbname: postgresql.database,
    sslmode: 'disable'
  }
  const connection = Object.entries(login).map(([name, value]) => `${name}='${String(value).replace(/[\\']/g, '\\$&')}'`).join(' ')
  return `
[agent]
  omit_hostname = true
  metric_batch_size = ${TELEGRAF_ROWS}
  metric_buffer_limit = ${4 * Math.max(UNDELIVERED_ROWS, undelivered * shape.rowsPerMessage)}
  flush_interval = "${MAX_AGE_MS}ms"

[[inputs.mqtt_consumer]]
  servers = ["tcp://${mqtt.host}:${mqtt.port}"]
  topics = ["${TOPICS}"]
  topic_tag = ""
  qos = 1
  client_id = "telegraf"
  persistent_session = true
  max_undelivered_messages = ${undelivered}
${shape.format === 'lines' ? LINES : JSON_OBJECTS}
[[outputs.postgresql]]
  connection = ${JSON.stringify(connection)}
  timestamp_column_type = "timestamp with time zone"
  tags_as_foreign_keys = false
`
}

const LINES = `\
  data_format = "influx"
  influx_parser_type = "upstream"
`

const JSON_OBJECTS = `\
  name_override = "bench"
  data_format = "json"
  json_time_key = "time"
  json_time_format = "unix_ms"
  [[inputs.mqtt_consumer.topic_parsing]]
    topic = "+/+"
    tags = "_/device"
`

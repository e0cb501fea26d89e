import { readFileSync } from 'node:fs'

/**
 * The flows that the gateway of `docker/compose.yml` begins with, one for each of its databases: the default flow, with the Mosquitto and
 * the database of that file in the places of the embedded broker and SQLite. Passwords are in neither: the flow names the secrets' files.
 *
 * @typedef {{type: string, server: Record<string, unknown>, credentials?: Record<string, string>}} Database
 */

/** @param {string} name  of a secret's file, or of what the gateway says of itself */
const secret = name => `\${${name}}`

const PASSWORD = { password: secret('database_password') }

/** By the names of their profiles. @type {Record<string, Database>} */
const DATABASES = {
  postgres: { type: 'postgresql', server: { host: 'postgres', port: 5432, database: 'sluice', user: 'sluice' } },
  timescale: { type: 'postgresql', server: { host: 'timescale', port: 5432, database: 'sluice', user: 'sluice' } },
  mariadb: { type: 'mysql', server: { host: 'mariadb', port: 3306, database: 'sluice', user: 'sluice' } },
  mongodb: { type: 'mongodb', server: { url: 'mongodb://mongodb:27017', database: 'sluice' }, credentials: { user: 'sluice' } },
  influxdb: { type: 'influxdb', server: { version: '2', host: 'influxdb', port: 8086, database: 'sluice', organisation: 'sluice' } },
  clickhouse: { type: 'clickhouse', server: { host: 'clickhouse', port: 8123, database: 'sluice', user: 'sluice' } }
}

const BROKER = {
  id: 'broker',
  type: 'sluice-broker',
  name: 'mosquitto',
  url: 'mqtt://mosquitto:1883',
  credentials: { user: secret('SLUICE_GATEWAY_ID'), password: secret('broker_password') }
}

const REPLACED = ['group-broker', 'embedded-broker', 'broker', 'sqlite']

/** @param {URL} defaultFlow @returns {Map<string, string>} by path */
export function composeFlows (defaultFlow) {
  /** @type {any[]} */
  const nodes = JSON.parse(readFileSync(defaultFlow, 'utf8'))
  const sqlite = nodes.find(({ id }) => id === 'sqlite')
  const rest = nodes.filter(({ id }) => !REPLACED.includes(id))
  const texts = Object.entries(DATABASES).map(([profile, { type, server, credentials }]) => {
    const flow = [
      ...rest.map(node => inPlaceOf(node, type)),
      { ...sqlite, id: type, type: `sluice-${type}`, name: type, file: undefined, server: 'database' },
      { id: 'database', type: `sluice-${type}-server`, name: profile, ...server, credentials: { ...credentials, ...PASSWORD } },
      BROKER
    ]
    return /** @type {const} */ ([`docker/flows/${profile}.json`, `${JSON.stringify(flow, null, 2)}\n`])
  })
  return new Map(texts)
}

/** What named SQLite names the database's sink. @param {any} node @param {string} type */
function inPlaceOf (node, type) {
  const isSink = (/** @type {string} */ id) => id === 'sqlite' ? type : id
  return {
    ...node,
    ...node.wires && { wires: node.wires.map((/** @type {string[]} */ wires) => wires.map(isSink)) },
    ...node.nodes && { nodes: node.nodes.map(isSink) },
    ...node.type === 'tab' && { info: node.info.replace('in an SQLite file', `in ${type}`) }
  }
}

/**
 * By hand: stores the same message by the nodes that Sluice replaces, and by its sinks, in the same table, and prints what stands there.
 *
 *   npm install --prefix FOLDER --ignore-scripts node-red-node-mysql node-red-contrib-influxdb node-red-contrib-mongodb4
 *   node test/by-hand/replace-check.js FOLDER [TIME ZONE OF THE MYSQL NODE]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { MongoClient } from 'mongodb'
import mysql from 'mysql2/promise'
import { startInfluxdb } from '../servers/influxdb.js'
import { startMariadb } from '../servers/mariadb.js'
import { startMongodb } from '../servers/mongodb.js'
import { freePort } from '../servers/ports.js'

/** @typedef {{id: string, type: string, [option: string]: unknown}} FlowNode */

const NODE_RED = join(dirname(createRequire(import.meta.url).resolve('node-red/package.json')), 'red.js')
const HERE = new URL('../..', import.meta.url).pathname

const folder = process.argv[2]
if (!folder) throw new Error('Name the folder with the packages.')

const mariadb = await startMariadb()
const influxdb = await startInfluxdb()
const mongodb = await startMongodb()
const login = (/** @type {{user: string, password: string}} */ { user, password }) => ({ user, password })

const sql = await mysql.createConnection({
  host: '127.0.0.1', port: mariadb.port, database: mariadb.database, ...login(mariadb), dateStrings: true
})
await sql.query('CREATE TABLE readings (ts DATETIME(3), room VARCHAR(20), temperature DOUBLE)')
await influxdb.query('CREATE DATABASE plant')
const mongo = await MongoClient.connect(mongodb.url)

/** Of each database: the function before the node, the node that was there, and Sluice's. */
const cases = {
  mysql: {
    func: 'msg.topic = \'INSERT INTO readings (ts, room, temperature) VALUES (?, ?, ?)\'\n' +
      'msg.payload = [new Date(\'2026-11-23T08:00:00.123Z\'), \'kitchen\', 21.5]\nreturn msg',
    configs: [
      {
        id: 'mysql-old-server', type: 'MySQLdatabase', host: '127.0.0.1', port: mariadb.port, db: mariadb.database,
        tz: process.argv[3] ?? '+00:00', credentials: login(mariadb)
      },
      { id: 'mysql-new-server', type: 'sluice-mysql-server', port: mariadb.port, database: mariadb.database, credentials: login(mariadb) }
    ],
    old: { type: 'mysql', mydb: 'mysql-old-server' },
    own: { type: 'sluice-mysql', server: 'mysql-new-server', table: 'readings' },
    read: async () => (await sql.query('SELECT * FROM readings'))[0]
  },
  influxdb: {
    func: 'msg.measurement = \'weather\'\nmsg.payload = [{ temperature: 21.5, time: Date.now() }, { room: \'kitchen\' }]\nreturn msg',
    configs: [
      { id: 'influxdb-old-server', type: 'influxdb', influxdbVersion: '1.x', hostname: '127.0.0.1', port: influxdb.port, protocol: 'http',
        database: 'plant', usetls: false, credentials: { username: influxdb.user, password: influxdb.password } },
      { id: 'influxdb-new-server', type: 'sluice-influxdb-server', port: influxdb.port, database: 'plant', credentials: login(influxdb) }
    ],
    old: { type: 'influxdb out', influxdb: 'influxdb-old-server', precision: 'ms', retentionPolicy: '' },
    own: { type: 'sluice-influxdb', server: 'influxdb-new-server' },
    read: () => influxdb.query('SELECT * FROM plant.autogen.weather')
  },
  mongodb: {
    func: 'msg.collection = \'weather\'\nmsg.operation = \'insertOne\'\n' +
      'msg.payload = [{ time: new Date(\'2026-11-23T08:00:00.123Z\'), room: \'kitchen\', air: { temperature: 21.5 } }]\nreturn msg',
    configs: [
      { id: 'mongodb-old-server', type: 'mongodb4-client', uriTabActive: 'tab-uri-advanced', uri: mongodb.url, dbName: 'plant' },
      { id: 'mongodb-new-server', type: 'sluice-mongodb-server', url: mongodb.url, database: 'plant' }
    ],
    old: { type: 'mongodb4', clientNode: 'mongodb-old-server', mode: 'collection', collection: '', operation: '', output: 'toArray' },
    own: { type: 'sluice-mongodb', server: 'mongodb-new-server', table: 'weather' },
    read: () => mongo.db('plant').collection('weather').find().toArray()
  }
}

/** @type {any[]} */
const nodes = [{ id: 'flow', type: 'tab', label: 'flow' }]
for (const [name, { func, configs, old, own }] of Object.entries(cases)) {
  nodes.push(...configs)
  for (const [way, target] of [['old', old], ['own', own]]) {
    const id = `${name}-${way}`
    const at = { z: 'flow', x: 1, y: 1 }
    nodes.push({ id: `${id}-in`, type: 'http in', ...at, url: `/${id}`, method: 'get', wires: [[`${id}-make`, `${id}-answer`]] })
    nodes.push({ id: `${id}-answer`, type: 'http response', ...at, wires: [] })
    nodes.push({ id: `${id}-make`, type: 'function', ...at, func: `delete msg.res\ndelete msg.req\n${func}`, outputs: 1, wires: [[id]] })
    nodes.push({ id, name: id, ...at, wires: [[]], .../** @type {any} */ (target) })
  }
}

const port = await freePort()
const settings = {
  uiHost: '127.0.0.1', uiPort: port, flowFile: 'flows.json', credentialSecret: false, nodesDir: [HERE], telemetry: { enabled: false }
}
await writeFile(join(folder, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
await writeFile(join(folder, 'flows.json'), JSON.stringify(nodes.map(({ credentials: _hidden, ...node }) => node)))
await writeFile(join(folder, 'flows_cred.json'), JSON.stringify(
  Object.fromEntries(nodes.filter(({ credentials }) => credentials).map(({ id, credentials }) => [id, credentials]))
))
const nodeRed = spawn(process.execPath, [NODE_RED, '--userDir', folder], { cwd: folder })
let log = ''
for (const stream of [nodeRed.stdout, nodeRed.stderr]) stream.setEncoding('utf8').on('data', text => { log += text })
while (!log.includes('Started flows')) {
  if (nodeRed.exitCode !== null || /missing types/.test(log)) throw new Error(log)
  await sleep(50)
}
await sleep(2000) // until the old nodes are connected, which they do not say

for (const [name, { read }] of Object.entries(cases)) {
  for (const way of ['old', 'own']) {
    await fetch(`http://127.0.0.1:${port}/${name}-${way}`)
    await sleep(3000)
    console.log(name, way, inspect(await read(), { depth: 6, breakLength: Infinity }))
  }
}
console.log(log.split('\n').filter(line => /warn|error/i.test(line)).join('\n'))
nodeRed.kill('SIGTERM')
await once(nodeRed, 'exit')
await sql.end()
await mongo.close()
for (const server of [mariadb, influxdb, mongodb]) await server.remove()
await rm(join(folder, 'flows_cred.json'))

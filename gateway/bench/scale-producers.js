// Run by the scale bench as a process of its own: gateways of many devices, each with a spool and a connection. Each second every gateway
// stages one row of each of its devices, at a moment of its own.
// Arguments: broker url, folder, the first gateway's number, gateways, devices of each, seconds. Prints "connected" when ready, starts on
// SIGUSR2, prints "produced <rows>" at the end and stays until SIGTERM.
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../broker/connection/connection.js'
import { connectKafka } from '../../broker/kafka/connection.js'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { Stage } from '../../broker/out/stage.js'
import { Batch } from '../batch/batch.js'

const [url, folder, ...numbers] = process.argv.slice(2)
const [first, gateways, devices, seconds] = numbers.map(Number)
const SECOND_MS = 1000

/** @param {string} clientId */
function open (clientId) {
  const { protocol, hostname: host, port } = new URL(url)
  if (protocol === 'kafka:') return connectKafka({ host, port: Number(port) }, { clientId })
  return connect({ url }, { clientId, clean: false, sessionExpirySeconds: 600 })
}

const opened = await Promise.all(Array.from({ length: gateways }, async (_, i) => {
  const name = `gateway-${first + i}`
  const connection = open(name)
  const requiredSinks = await RequiredSinks.open({ path: join(folder, name, 'required-sinks.json'), gateway: name })
  const stage = await Stage.open({
    folder: join(folder, name, 'spool'), name: 'out', gateway: name, client: connection.client, requiredSinks,
    fsync: 'system'
  })
  if (!connection.client.connected) await new Promise(resolve => connection.client.once('connect', resolve))
  return { name, connection, requiredSinks, stage, deviceNames: Array.from({ length: devices }, (_device, d) => `${name}-${d}`) }
}))
process.once('SIGTERM', async () => {
  await Promise.all(opened.map(async ({ stage, connection, requiredSinks }) => {
    await stage.close(() => connection.close())
    await requiredSinks.close()
  }))
})
console.log('connected')
await once(process, 'SIGUSR2')

/** @param {string[]} deviceNames @param {number} second */
function batchOf (deviceNames, second) {
  const now = BigInt(Date.now()) * 1_000_000n
  return new Batch({
    source: 'telemetry',
    time: new BigInt64Array(devices).fill(now),
    tags: { device: { values: deviceNames, valid: null } },
    fields: [{ name: 'temperature', type: 'float64' }, { name: 'pressure', type: 'float64' }],
    columns: [Float64Array.from({ length: devices }, (_device, d) => 20 + d / 10 + second / 1000), new Float64Array(devices).fill(second)]
  })
}

const begun = performance.now()
await Promise.all(opened.map(async ({ stage, deviceNames }, i) => {
  for (let second = 0; second < seconds; second++) {
    const dueMs = begun + (second + i / gateways) * SECOND_MS
    await sleep(Math.max(0, dueMs - performance.now()))
    await stage.append(batchOf(deviceNames, second))
  }
}))
console.log(`produced ${gateways * devices * seconds}`)

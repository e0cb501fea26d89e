import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { connectAsync } from 'mqtt'
import { describe, SluiceError } from '../../base/errors.js'
import { WatchedProcess } from '../process.js'
import { VALUES, probe } from './messages.js'
import { Stored } from './stored.js'

/**
 * @typedef {import('./messages.js').Shape} Shape
 * @typedef {import('./consumers.js').Consumer} Consumer
 * @typedef {Awaited<ReturnType<typeof import('../postgresql-server.js').openPostgresql>>} Database
 * @typedef {{servers: import('../servers.js').Servers, database: Database, folder: string}} Around
 * @typedef {{shape: Shape, messages: number}} Load
 *
 * @typedef {object} Measured
 * @property {number} rows  stored within the time that there is
 * @property {boolean} isAll
 * @property {number} rowsPerSecond
 * @property {number} microsecondsPerValue  of processor time
 * @property {number} peakMegabytes
 *
 * @typedef {object} Killed
 * @property {number} kills
 * @property {number} published  rows that the broker has acknowledged to the publisher
 * @property {number} lost
 * @property {number} doubled
 */

const PUBLISHER = fileURLToPath(new URL('publisher.js', import.meta.url))
const BARE_CLIENT = fileURLToPath(new URL('bare-client.js', import.meta.url))
/** The queue of a consumer is in memory, and no window is smaller than the consumer's own. */
const BROKER = ['autosave_interval 0', 'max_inflight_messages 0', 'set_tcp_nodelay true']
/** What comes before the measurement, of its messages. */
const WARM_UP = 0.05
/** The answer of an MQTT 5 broker. */
const NOBODY_SUBSCRIBES = 0x10
const READY_MS = 60_000
/** A consumer that was killed has so long for all, and then so long for what it stores again. */
const RECOVERY_MS = 60_000
const AFTERMATH_MS = 3000

/**
 * How fast a consumer stores what is published as fast as the broker takes it, from the first message to the last row.
 * @param {Consumer} consumer @param {Load} load @param {Around} around @param {{limitMs: number}} limit
 * @returns {Promise<Measured>}
 */
export async function measure (consumer, load, around, { limitMs }) {
  return withConsumer(consumer, load, around, async ({ running, stored, publisher }) => {
    const before = { cpu: running.child.cpuSeconds, ms: performance.now() }
    const rows = load.messages * load.shape.rowsPerMessage
    publisher.child.kill('SIGUSR2')
    const { rows: done, atMs } = await stored.until(rows, { limitMs })
    const { cpuSeconds, peakBytes } = running.child
    return {
      rows: done,
      isAll: done === rows,
      rowsPerSecond: done / (atMs - before.ms) * 1000,
      microsecondsPerValue: (cpuSeconds - before.cpu) / (done * VALUES) * 1e6,
      peakMegabytes: peakBytes / 1e6
    }
  })
}

/**
 * What is stored when a consumer is killed several times in mid-run, each time started again at once.
 * @param {Consumer} consumer @param {Load} load @param {Around} around @param {{kills: number}} options
 * @returns {Promise<Killed>}
 */
export async function measureKills (consumer, load, around, { kills }) {
  return withConsumer(consumer, load, around, async ({ running, stored, publisher, place }) => {
    const published = load.messages * load.shape.rowsPerMessage
    publisher.child.kill('SIGUSR2')
    const start = performance.now()
    for (let kill = 1; kill <= kills; kill++) {
      const enough = published * kill / (kills + 1)
      while ((await stored.count()).distinct < enough && performance.now() - start < RECOVERY_MS) await sleep(20)
      await running.child.kill()
      running.child = await consumer.restart(place)
    }
    await publisher.says(/published/)
    await stored.until(published, { limitMs: RECOVERY_MS })
    await sleep(AFTERMATH_MS)
    const { rows, distinct } = await stored.count()
    return { kills, published, lost: published - distinct, doubled: rows - distinct }
  })
}

/**
 * What a bare MQTT.js client takes for the same messages, which stores nothing.
 * @param {Load} load @param {Around} around
 */
export async function measureBareClient (load, { servers, folder }) {
  const mqtt = await servers('mqtt').start({ folder, conf: BROKER })
  const warmUp = warmUpOf(load)
  const client = new WatchedProcess([BARE_CLIENT, mqtt.url, String(load.messages + warmUp.messages), String(warmUp.messages)])
  const publishers = [warmUp, { ...load, isWarmUp: false }].map(each => startPublisher(mqtt, each))
  try {
    await client.says(/subscribed/)
    for (const publisher of publishers) {
      await publisher.says(/ready/)
      publisher.child.kill('SIGUSR2')
      await publisher.says(/published/)
    }
    const { seconds, cpuSeconds } = JSON.parse((await client.says(/\{.*\}/))[0])
    const rows = load.messages * load.shape.rowsPerMessage
    return { rowsPerSecond: rows / seconds, microsecondsPerValue: cpuSeconds / (rows * VALUES) * 1e6 }
  } finally {
    await Promise.all([client, ...publishers].map(child => child.stop()))
    await mqtt.remove?.()
  }
}

/**
 * A consumer that has stored its first rows, with a broker of its own and an empty database, and a publisher that waits for SIGUSR2.
 * @template T
 * @param {Consumer} consumer @param {Load} load @param {Around} around
 * @param {(ready: {running: {child: WatchedProcess}, stored: Stored, publisher: WatchedProcess, place: import('./consumers.js').Place}) =>
 *   Promise<T>} run  may replace the running process by another
 */
async function withConsumer (consumer, load, { servers, database, folder: parent }, run) {
  const folder = await mkdtemp(join(parent, 'run-'))
  await database.clear()
  await database.query('CHECKPOINT')
  const mqtt = await servers('mqtt').start({ folder, conf: BROKER })
  const place = { mqtt, postgresql: database.server, folder, shape: load.shape }
  const stored = new Stored(database)
  const warmUp = warmUpOf(load)
  const publishers = [warmUp, { ...load, isWarmUp: false }].map(each => startPublisher(mqtt, each))
  const running = { child: await consumer.start(place) }
  try {
    await untilSubscribed(mqtt.url, load.shape)
    for (const publisher of publishers) await publisher.says(/ready/)
    publishers[0].child.kill('SIGUSR2')
    const wanted = warmUp.messages * load.shape.rowsPerMessage
    for (const start = performance.now(); await stored.countWarmUp() < wanted; await sleep(50)) {
      if (performance.now() - start > READY_MS) throw new SluiceError('SLUICE_BENCH_STALLED', 'The rows of the warm-up did not arrive.')
    }
    return await run({ running, stored, publisher: publishers[1], place })
  } catch (error) {
    throw new SluiceError('SLUICE_BENCH_STALLED', `${describe(error)} ${consumer.name} printed:\n${running.child.output}`, { cause: error })
  } finally {
    await Promise.all([running.child, ...publishers].map(child => child.stop()))
    await mqtt.remove?.()
    await rm(folder, { recursive: true })
  }
}

/** @param {Load} load */
const warmUpOf = ({ shape, messages }) => ({ shape, messages: Math.ceil(messages * WARM_UP), isWarmUp: true })

/** @param {import('../servers.js').Server} mqtt @param {import('./messages.js').Load} load */
function startPublisher ({ host, port }, load) {
  return new WatchedProcess([PUBLISHER, host, String(port), JSON.stringify(load)])
}

/** @param {string} url @param {Shape} shape */
async function untilSubscribed (url, shape) {
  const client = await connectAsync(url, { protocolVersion: 5 })
  const { topic, payload } = probe(shape)
  let isHeard = false
  client.on('packetreceive', packet => { isHeard ||= packet.cmd === 'puback' && packet.reasonCode !== NOBODY_SUBSCRIBES })
  try {
    for (const start = performance.now(); !isHeard; await sleep(20)) {
      await client.publishAsync(topic, payload, { qos: 1 })
      if (performance.now() - start > READY_MS) throw new SluiceError('SLUICE_BENCH_STALLED', `Nobody subscribes to ${topic}.`)
    }
  } finally {
    await client.endAsync()
  }
}

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { missingKafka } from '../servers/kafka.js'
import { check } from './check/check.js'
import { Ledger } from './check/ledger.js'
import * as postgresql from './databases/postgresql.js'
import { randomNumbers } from './plan.js'
import { BALANCE_PATH, balanceNodes, chaosCredentials, node } from './rig/flow.js'
import { GatewayProcess } from './rig/gateway-process.js'
import { startStagingKafka } from './rig/kafka.js'

const USAGE = `Usage: node test/chaos/members.js [--seconds N] [--rate N] [--members N] [--every N] [--seed N]

Members of a consumer group of Kafka share what a gateway produces, into one PostgreSQL. One of them, at random, is killed (kill -9) every
so often, and started again. At the end the database must hold exactly the rows that were produced.

  --seconds N  of production (default 300)
  --rate N     values a second (default 200000), of twelve sources of 50 columns each
  --members N  gateways in the group (default 3)
  --every N    seconds between two kills (default 20)
  --seed N     kills the same again (default 1)

The result is one line of JSON. Exit status: 0 when nothing was lost or doubled, 1 when something was.
`

const SOURCES = 12
const COLUMNS = 50
const LOOK_MS = 1000
const STORED = 'SELECT coalesce(sum(stored), 0) AS rows FROM sluice_commits'
const DRAINED_MS = 300_000

/**
 * @typedef {import('./databases/index.js').Database} Database
 * @typedef {{seconds: number, rate: number, members: number, every: number, seed: number}} Settings
 */

/** @param {Settings} options @returns {Promise<number>} the exit code */
async function main (options) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-members-'))
  await chmod(folder, 0o711) // PostgreSQL may run as another user
  await mkdir(join(folder, 'postgresql'))
  /** @type {(() => Promise<unknown>)[]} */
  const closing = []
  try {
    const kafka = await startStagingKafka(join(folder, 'kafka'))
    closing.push(() => kafka.stop())
    const database = await postgresql.start(join(folder, 'postgresql'))
    closing.push(() => database.stop())
    const result = await run(folder, kafka.node, database, options, closing)
    console.log(JSON.stringify({ ...options, ...result, findings: undefined }))
    for (const finding of result.findings) console.error(finding)
    const isClean = result.lost + result.doubled === 0 && result.produced > 0
    if (isClean) closing.unshift(() => rm(folder, { recursive: true }))
    else console.error(`The folder ${folder} is left.`)
    return isClean ? 0 : 1
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

/**
 * @param {string} folder
 * @param {object} kafka  its config node
 * @param {Database} database
 * @param {Settings} options
 * @param {(() => Promise<unknown>)[]} closing
 */
async function run (folder, kafka, database, { seconds, rate, members: count, every, seed }, closing) {
  const flowOf = (/** @type {boolean} */ isProducing) => producing(kafka, rate, isProducing)
  const producer = await gateway(folder, 'producer', flowOf(true), {})
  closing.push(() => producer.close())
  const members = []
  for (let i = 0; i < count; i++) {
    const member = await gateway(folder, `member-${i + 1}`, storing(kafka, database), chaosCredentials({ history: database }))
    members.push(member)
    closing.push(() => member.close())
    member.start()
  }
  for (const member of members) await member.running()
  producer.start()
  await producer.running()
  const watch = await Watch.open(producer, database)
  closing.push(() => watch.close())

  const random = randomNumbers(seed)
  let kills = 0
  const beganMs = performance.now()
  for (const end = beganMs + seconds * 1000; performance.now() < end;) {
    await sleep(Math.min(every * 1000, end - performance.now()))
    if (performance.now() >= end) break
    const member = members[Math.floor(random() * count)]
    await member.kill()
    await sleep(random() * 2000)
    member.start()
    kills++
  }
  for (const member of members) await member.running()
  const producedSeconds = (performance.now() - beganMs) / 1000
  const lag = { atEnd: watch.lag, most: watch.mostLag }
  await producer.deploy(flowOf(false), 'nodes')
  const stoppedMs = performance.now()
  while ((watch.lookedMs < stoppedMs || watch.lag > 0) && performance.now() - stoppedMs < DRAINED_MS) await sleep(100)
  const drainedSeconds = (performance.now() - stoppedMs) / 1000

  const ledger = await Ledger.open([join(folder, 'producer', 'ledger')], join(folder, 'copies'))
  const store = await database.openStore()
  closing.push(() => store.close())
  const { stored, lost, doubled, findings } = await check(ledger, store)
  return {
    kills,
    produced: ledger.rows,
    stored,
    lost,
    doubled,
    valuesPerSecond: Math.round(ledger.rows * COLUMNS / producedSeconds),
    mostLagRows: lag.most,
    lagRowsAtEnd: lag.atEnd,
    drainedSeconds: Math.round(drainedSeconds * 10) / 10,
    findings
  }
}

/** How far the database is behind. */
class Watch {
  lag = Infinity
  mostLag = 0
  /** When it began to look last. */
  lookedMs = -Infinity
  #isClosed = false
  #looking

  /** @param {GatewayProcess} producer @param {pg.Client} client */
  constructor (producer, client) {
    this.#looking = this.#look(producer, client)
  }

  /** @param {GatewayProcess} producer @param {Database} database */
  static async open (producer, { server, credentials }) {
    const client = new pg.Client(/** @type {pg.ClientConfig} */ ({ host: '127.0.0.1', ...server, ...credentials }))
    await client.connect()
    return new Watch(producer, client)
  }

  async close () {
    this.#isClosed = true
    await this.#looking
  }

  /** @param {GatewayProcess} producer @param {pg.Client} client */
  async #look (producer, client) {
    while (!this.#isClosed) {
      const nowMs = performance.now()
      const stored = await client.query(STORED).then(({ rows }) => Number(rows[0].rows), () => 0) // before there is a table
      const staged = await stagedBy(producer).catch(() => null) // before its flow runs
      if (staged !== null) {
        this.lag = Math.max(0, staged - stored)
        this.mostLag = Math.max(this.mostLag, this.lag)
        this.lookedMs = nowMs
        if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K${stored} rows stored, ${this.lag} behind`)
      }
      await sleep(LOOK_MS)
    }
    await client.end()
  }
}

/** Rows. @param {GatewayProcess} producer */
async function stagedBy (producer) {
  /** @type {import('../../gateway/stats/reader.js').Report} */
  const { meters } = await producer.get(BALANCE_PATH)
  return meters.filter(({ stage }) => stage === 'stage').reduce((sum, { totals }) => sum + totals.rows, 0)
}

/** @param {string} folder @param {string} name @param {object[]} flow @param {object} credentials */
async function gateway (folder, name, flow, credentials) {
  const own = join(folder, name)
  const [flowFile, userDir, ledger, logFile] = ['flows.json', 'user', 'ledger', 'gateway.log'].map(each => join(own, each))
  const options = { flowFile, userDir, ledger, logFile }
  await mkdir(options.ledger, { recursive: true })
  await writeFile(options.flowFile, JSON.stringify(flow))
  await writeFile(join(own, 'flows_cred.json'), JSON.stringify(credentials))
  return new GatewayProcess({ ...options, onCrash: error => { throw error } })
}

/** @param {object} kafka @param {number} rate @param {boolean} autostart */
function producing (kafka, rate, autostart) {
  const channels = Array.from({ length: COLUMNS }, (_, i) => {
    return { name: `c${i}`, shape: i === 0 ? 'counter' : 'sine', frequencyHz: 1 + i / 10, amplitude: 10, type: 'float64' }
  })
  const sampleRateHz = rate / SOURCES / COLUMNS
  return [
    { id: 'chaos', type: 'tab', label: 'Producer' },
    { id: 'broker', ...kafka },
    ...Array.from({ length: SOURCES }, (_, i) => {
      const name = `machine-${i + 1}`
      return node(name, 'simulator', { name, preset: 'channels', channels, sampleRateHz, seed: i, autostart }, 'stage-out')
    }),
    node('stage-out', 'stage-out', { via: 'kafka', kafka: 'broker' }),
    ...balanceNodes()
  ]
}

/** @param {object} kafka @param {Database} database */
function storing (kafka, { type, server }) {
  return [
    { id: 'chaos', type: 'tab', label: 'Member' },
    { id: 'broker', ...kafka },
    node('in', 'stage-in', { via: 'kafka', kafka: 'broker', group: 'plant' }, 'history'),
    node('history', type, { name: 'history', server: 'history-server' }),
    { id: 'history-server', type: `sluice-${type}-server`, ...server }
  ]
}

const { values } = parseArgs({
  options: Object.fromEntries(['seconds', 'rate', 'members', 'every', 'seed'].map(name => {
    return [name, { type: /** @type {const} */ ('string') }]
  }))
})
const numberOf = (/** @type {string} */ name, /** @type {number} */ usual) => Number(values[name] ?? usual)
const settings = {
  seconds: numberOf('seconds', 300), rate: numberOf('rate', 200_000), members: numberOf('members', 3), every: numberOf('every', 20),
  seed: numberOf('seed', 1)
}

const missing = Object.values(settings).some(Number.isNaN) ? USAGE : missingKafka() ?? await postgresql.missing()
if (missing) console.error(missing)
process.exitCode = missing ? 2 : await main(settings)
process.stdout.write('', () => process.exit())

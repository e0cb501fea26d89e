import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Consumer, MessagesStreamModes } from '@platformatic/kafka'
import { SluiceError } from '../base/errors.js'
import { manyAtOnce } from '../base/many-at-once.js'
import { quantity } from '../stats/format.js'
import { median, narrowBatches } from './narrow-rows.js'
import { rowsStored, startGateway } from './pipeline.js'
import { benchOf } from './sinks/bench-of.js'
import { bareOptions } from './sinks/kafka.js'
import { openSink } from './sinks/open.js'

/**
 * A topic that is full already into a database, by a gateway, Node-RED and all; in turns with the library's own consumer, which does as
 * little with what it reads as leads to the same end, and with the database's own loader of the same rows.
 *
 * @typedef {import('../batch/batch.js').Batch} Batch
 * @typedef {import('./servers.js').Servers} Servers
 * @typedef {import('./sinks/sink-bench.js').Running} Running
 * @typedef {{take: (value: Buffer) => unknown, end: () => Promise<unknown>}} Work  `end` resolves once it is done
 * @typedef {{name: string, begin: (folder: string) => Promise<Work>}} Alone  what the consumer does
 * @typedef {{format: 'arrow'|'json', sink: string, rows: number, recordRows: number, alone: Alone}} Case
 * @typedef {Case & {rowsPerSecond: number, cpuMicrosecondsPerRow: number, bare: number, loader: {name: string, rowsPerSecond: number}}}
 *   Measured  rates in rows a second
 */

const TURNS = 3
/** Of a batch, as it is given to the Kafka sink, and to the loader. */
const RECORD_ROWS = 1000
const LOADER_ROWS = 20_000
const SOURCE = 'rows'
const WRITER = { batchRows: 20_000, inFlight: 3 }

/** What it reads is read by the database. @type {Alone} */
const READS = { name: 'which does nothing with them', begin: async () => ({ take () {}, end: async () => {} }) }
/** @type {Alone} */
const PARSES = { name: 'which parses them', begin: async () => ({ take: value => JSON.parse(String(value)), end: async () => {} }) }
/** As they came: they are in the format of the file. @type {Alone} */
const KEEPS = {
  name: 'which writes them to a file that it syncs as often',
  async begin (folder) {
    const file = await open(join(folder, 'kept'), 'w')
    /** @type {Buffer[]} */
    let values = []
    let written = Promise.resolve()
    const write = () => {
      const its = values
      values = []
      written = written.then(() => file.writev(its)).then(() => file.datasync())
    }
    return {
      take (value) { if (values.push(value) * RECORD_ROWS === WRITER.batchRows) write() },
      end () {
        if (values.length > 0) write()
        return written.finally(() => file.close())
      }
    }
  }
}

/** @type {Case[]} */
const CASES = [
  { format: 'arrow', sink: 'postgresql', rows: 2_000_000, recordRows: RECORD_ROWS, alone: READS },
  { format: 'json', sink: 'postgresql', rows: 500_000, recordRows: 1, alone: PARSES },
  { format: 'arrow', sink: 'file', rows: 2_000_000, recordRows: RECORD_ROWS, alone: KEEPS }
]

const WRITES = 16
const POLL_MS = 20
/** Without a new row for so long, the bench gives up. */
const STALLED_MS = 30_000

/** @param {Servers} servers @param {{quick: boolean, progress: (text: string) => void}} options @returns {Promise<Measured[]>} */
export async function benchKafkaIn (servers, { quick, progress }) {
  const measured = []
  for (const each of CASES) {
    progress(`Kafka, ${each.format} → ${each.sink}`)
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
    const kafka = await (await benchOf('kafka')).start(folder, servers)
    try {
      const database = await (await benchOf(each.sink)).start(folder, servers)
      try {
        const its = await measure(kafka, database, folder, quick ? { ...each, rows: each.rows / 10 } : each, quick ? 1 : TURNS)
        progress(`  ${quantity(its.rowsPerSecond)} rows/s, read alone ${quantity(its.bare)}, loaded ${quantity(its.loader.rowsPerSecond)}`)
        measured.push(its)
      } finally {
        await database.remove()
      }
    } finally {
      await kafka.remove()
      await rm(folder, { recursive: true })
    }
  }
  return measured
}

/**
 * @param {Running} kafka
 * @param {Running} database
 * @param {string} folder
 * @param {Case} its
 * @param {number} turns
 * @returns {Promise<Measured>}
 */
async function measure (kafka, database, folder, its, turns) {
  const batchesOf = (/** @type {number} */ batchRows) => narrowBatches({ rows: its.rows, batchRows, source: SOURCE })
  await fill({ ...kafka.address, options: { format: its.format } }, batchesOf(RECORD_ROWS))
  const batches = batchesOf(LOADER_ROWS)
  const loader = /** @type {import('./sinks/sink-bench.js').Loader} */ (database.loader)
  /** @type {{rowsPerSecond: number, cpuMicrosecondsPerRow: number}[]} */
  const ours = []
  const [bare, theirs] = [/** @type {number[]} */ ([]), /** @type {number[]} */ ([])]
  for (let turn = 0; turn < turns; turn++) {
    await database.clear()
    ours.push(await throughGateway(kafka, database, join(folder, `gateway-${turn}`), `turn-${turn}`, its.rows))
    const there = await database.count()
    if (there !== its.rows) throw new SluiceError('SLUICE_BENCH_COUNT', `${its.rows} rows were sent, and ${there} are there.`)
    bare.push(await consumed(kafka, folder, `bare-${turn}`, its))
    await database.clear()
    theirs.push(its.rows / await loader.run(batches))
  }
  return {
    ...its,
    rowsPerSecond: median(ours.map(({ rowsPerSecond }) => rowsPerSecond)),
    cpuMicrosecondsPerRow: median(ours.map(({ cpuMicrosecondsPerRow }) => cpuMicrosecondsPerRow)),
    bare: median(bare),
    loader: { name: loader.name, rowsPerSecond: median(theirs) }
  }
}

/** @param {import('./sinks/open.js').SinkAddress} address @param {Batch[]} batches */
async function fill (address, batches) {
  const { sink, close } = await openSink(address, 1)
  await manyAtOnce(WRITES, batches, batch => sink.write([batch]))
  await close()
}

/**
 * From the first rows that are stored to the last: the start of a gateway is not counted.
 * @param {Running} kafka
 * @param {Running} database
 * @param {string} userDir
 * @param {string} group
 * @param {number} rows
 */
async function throughGateway (kafka, { address }, userDir, group, rows) {
  const { host, port, user = '', password = '', login } = /** @type {any} */ (kafka.address.login)
  const { user: databaseUser = '', password: databasePassword = '', ...place } = /** @type {any} */ (address.login ?? {})
  const gateway = await startGateway(userDir, [
    { id: 'kafka', type: 'sluice-kafka-server', host, port, login },
    { id: 'in', type: 'sluice-kafka-in', z: 'tab', name: 'in', server: 'kafka', topics: [SOURCE], group, wires: [['sink']] },
    ...address.login ? [{ id: 'server', type: `sluice-${address.type}-server`, ...place }] : [],
    { id: 'sink', type: `sluice-${address.type}`, z: 'tab', name: 'sink', ...address.options, server: 'server', ...WRITER, wires: [] }
  ], {
    kafka: { user, password }, server: { user: databaseUser, password: databasePassword }
  })
  try {
    let first = { rows: 0, ms: 0, cpu: 0 }
    for (let stored = 0, at = performance.now(); stored < rows;) {
      await sleep(POLL_MS)
      const now = await rowsStored(gateway)
      const ms = performance.now()
      if (now > stored) at = ms
      if (first.rows === 0 && now > 0) first = { rows: now, ms, cpu: gateway.cpuSeconds }
      if (ms - at > STALLED_MS) {
        throw new SluiceError('SLUICE_BENCH_STALLED', `Only ${now} of ${rows} rows arrived. The gateway printed:\n${gateway.output}`)
      }
      stored = now
    }
    const seconds = (performance.now() - first.ms) / 1000
    const cpuSeconds = gateway.cpuSeconds - first.cpu
    const measured = rows - first.rows
    return { rowsPerSecond: measured / seconds, cpuMicrosecondsPerRow: cpuSeconds / measured * 1e6 }
  } finally {
    await gateway.stop()
  }
}

/** @param {Running} kafka @param {string} folder @param {string} groupId @param {Case} its */
async function consumed ({ address }, folder, groupId, { rows, recordRows, alone }) {
  const work = await alone.begin(folder)
  const consumer = new Consumer({ ...bareOptions(/** @type {any} */ (address.login)), groupId, autocommit: false })
  const stream = await consumer.consume({ topics: [SOURCE], mode: MessagesStreamModes.EARLIEST })
  const start = performance.now()
  let records = 0
  await new Promise((resolve, reject) => {
    stream.on('error', reject)
    stream.on('data', ({ value }) => {
      work.take(/** @type {Buffer} */ (value))
      if (++records * recordRows === rows) resolve(null)
    })
  })
  await work.end()
  const seconds = (performance.now() - start) / 1000
  await consumer.close(true)
  return rows / seconds
}

/** @param {Measured[]} measured @returns {import('./sections.js').Table} */
export function kafkaInTable (measured) {
  return measured.flatMap(({ format, sink, rows, recordRows, rowsPerSecond, cpuMicrosecondsPerRow, bare, alone, loader }) => {
    const perSecond = (/** @type {number} */ rate) => `${quantity(rate)} rows/s`
    const ratio = rowsPerSecond / Math.min(bare, loader.rowsPerSecond)
    return /** @type {import('./sections.js').Table} */ ([
      [`Kafka in, ${quantity(rows)} rows, ${recordRows} a record of ${format} → ${sink}`, perSecond(rowsPerSecond), '', null],
      ['  processor time of the gateway', `${cpuMicrosecondsPerRow.toFixed(2)} µs/row`, '', null],
      [`  the library's consumer, ${alone.name}`, perSecond(bare), '', null],
      [`  ${loader.name}, the same rows`, perSecond(loader.rowsPerSecond), '', null],
      ['  ratio to the slower of the two', ratio.toFixed(2), '≥ 0.9', ratio >= 0.9]
    ])
  })
}

import { SluiceError } from '../../../base/errors.js'
import { derive, fractionAt } from '../../../base/random.js'
import { channel } from '../channel.js'
import { cpuMicros } from '../thread-cpu.js'
import { Attempts } from './attempts.js'
import { Ledger } from './ledger.js'
import { openOperator } from './operator.js'
import { numbersOf, Prepared, SOURCE } from './records.js'

/**
 * The thread or process of a client, which does what it is told: see clients.js.
 *
 * @typedef {import('./records.js').Record} Record
 * @typedef {import('../../../databases/reader.js').KeyedRow} KeyedRow
 * @typedef {{place: number, n: number}} Asked  of the fixed set, or -1: the n-th new one; `n` is the number of its signal, too
 */

/** So many of the fixed set are read again in the end, and as many new ones, while there is time. */
const CHECKED = 1000
const CHECK_MS = 2000
const CHECK_AT_ONCE = 100
const NEW = -1
const NOTHING = [0, 0, 0, 0, 0, 0]

const { load, post, told } = await channel()
const { address, pattern, blobBytes, ids, client, clients, batchRows, gatheredRows, warmUpMs, limitMs, maxRecords } = load

const prepared = new Prepared(blobBytes)
const ledger = new Ledger(prepared, { ids, client, clients })
const operator = await openOperator(address, SOURCE)
const seed = derive(1, client)
let reads = new Attempts()
let writes = new Attempts()
let seq = 0
let written = 0
let signals = 0
let makingMicros = 0
let compared = 0

await operator.prepare([batchOf([ledger.fresh(0)])])
const steps = { fill, warmUp: () => runFor(warmUpMs, Infinity), run, check }
let answer = /** @type {unknown} */ ('ready')
for (;;) {
  const next = told()
  post(answer)
  const [step] = await next
  answer = await steps[/** @type {keyof typeof steps} */ (step)]() ?? 'done'
}

async function fill () {
  for (let from = 0; from < ledger.known; from += gatheredRows) {
    const places = Array.from({ length: Math.min(gatheredRows, ledger.known - from) }, (_, i) => from + i)
    await store(places.map(place => ({ place, n: place })), places.map(place => ledger.changed(place, NOTHING, place)))
  }
}

async function run () {
  reads = new Attempts()
  writes = new Attempts()
  makingMicros = 0
  const beganMs = performance.now()
  const beforeMicros = cpuMicros()
  const records = await runFor(limitMs, maxRecords)
  const seconds = (performance.now() - beganMs) / 1000
  return {
    records,
    seconds,
    readMicroseconds: reads.answered,
    writeMicroseconds: writes.answered,
    failedMicroseconds: [...reads.failed, ...writes.failed],
    errors: [...new Set([...reads.errors, ...writes.errors])],
    ...'threadCpuUsage' in process && { cpuSeconds: (cpuMicros() - beforeMicros - makingMicros) / 1e6 }
  }
}

/** @returns what has to be there, and how many of them have been read and compared */
async function check () {
  const known = spread(ledger.known).map(place => ledger.expected(place))
  const made = spread(ledger.made).map(n => ledger.fresh(n))
  const all = [...made, ...known] // these have been compared whenever they were read
  const atOnce = Math.min(gatheredRows, CHECK_AT_ONCE)
  const beganMs = performance.now()
  for (let from = 0; from < all.length && performance.now() - beganMs < CHECK_MS; from += atOnce) {
    const some = all.slice(from, from + atOnce)
    const rows = await operator.read(some.map(({ id }) => id))
    some.forEach((record, i) => compare(rows[i], record))
  }
  await operator.close()
  return { rows: ledger.known + ledger.made, compared }
}

/** @param {number} ms @param {number} max  records */
async function runFor (ms, max) {
  const beganMs = performance.now()
  let records = 0
  while (records < max && performance.now() - beganMs < ms) {
    const asked = choose()
    await message(asked)
    records += asked.length
  }
  return records
}

/** @param {Asked[]} asked */
async function message (asked) {
  if (pattern === 'insert') return store(asked, asked.map(({ n }) => ledger.fresh(n)))
  const rows = await reads.make(() => operator.read(asked.map(({ place, n }) => place === NEW ? ledger.newId(n) : ledger.id(place))))
  asked.forEach(({ place }, i) => compare(rows[i], place === NEW ? null : ledger.expected(place)))
  if (pattern === 'read') return
  const changed = asked.map(({ place, n }, i) => {
    const row = rows[i]
    return row ? ledger.changed(place, numbersOf(row), n) : ledger.fresh(n)
  })
  await store(asked, changed)
}

/** Which records come with the next message: of the fixed set each at most once. @returns {Asked[]} */
function choose () {
  const before = cpuMicros()
  /** @type {Map<string, Asked>} */
  const chosen = new Map()
  let made = ledger.made
  const rows = pattern === 'read' || pattern === 'update' ? Math.min(batchRows, ledger.known) : batchRows
  while (chosen.size < rows) {
    const n = signals++
    const isNew = pattern === 'insert' || (pattern === 'mixed' && fractionAt(derive(seed, 1), n) < 0.5)
    const place = isNew ? NEW : Math.floor(fractionAt(seed, n) * ledger.known)
    if (isNew) chosen.set(`new ${made}`, { place, n: made++ })
    else chosen.set(String(place), { place, n })
  }
  makingMicros += cpuMicros() - before
  return [...chosen.values()]
}

/** @param {Asked[]} asked @param {Record[]} records */
async function store (asked, records) {
  const before = cpuMicros()
  const batch = batchOf(records)
  makingMicros += cpuMicros() - before
  await writes.make(() => operator.store(batch))
  asked.forEach(({ place }, i) => {
    if (place === NEW) ledger.made++
    else ledger.stored(place, records[i].numbers)
  })
}

/** @param {Record[]} records */
function batchOf (records) {
  const first = written
  written += records.length
  return prepared.batch(records, first, { gateway: `client-${client}`, source: SOURCE, epoch: '1-bench', seq: seq++ })
}

/** @param {KeyedRow|null} row @param {Record|null} expected @throws {SluiceError} SLUICE_BENCH_READ */
function compare (row, expected) {
  compared++
  if (row === null && expected === null) return
  const isSame = row && expected && row.id === expected.id && numbersOf(row).every((value, i) => value === expected.numbers[i]) &&
    Buffer.compare(/** @type {Buffer} */ (row.blob), expected.blob) === 0
  if (isSame) return
  const shown = (/** @type {any} */ its) => its ? String(its.id) : 'nothing'
  throw new SluiceError('SLUICE_BENCH_READ', `A read returned ${shown(row)} where ${shown(expected)} was written, or other values of it.`)
}

/** Evenly, the first and the last too. @param {number} count @returns {number[]} */
function spread (count) {
  const some = Math.min(count, CHECKED)
  return Array.from({ length: some }, (_, i) => some === 1 ? 0 : Math.round(i * (count - 1) / (some - 1)))
}

import { readCommit, readResend, readSinks } from '../../broker/control-messages.js'
import { readHead } from '../../broker/in/head.js'
import { ResendRequests } from '../../broker/in/resend-requests.js'
import { Streams } from '../../broker/in/streams.js'

/**
 * @typedef {import('./run.js').Target} Target
 * @typedef {import('./random.js').Random} Random
 */

const NAMES = [
  '7-3f2a90c1', '8-3f2a0000', '1-aaaaaaaa', '9', '-', '', '__proto__', 'constructor', 'press', 'hall/press', 'source', 'sources', 'epochs',
  'rows', 'replacedRows', 'more', 'sinks', 'sink', 'label', 'gateway', 'store', 'reading', 'undelivered', 'lost', 'replaced', 'doubt'
]
const NUMBERS = [0, 1, 2, 9, -1, 1000, 2 ** 31, 2 ** 48, Number.MAX_SAFE_INTEGER, 1e308, 0.5]

/** JSON such as control messages are made of. @param {Random} random @param {number} [depth] @returns {any} */
function invented (random, depth = 0) {
  const kind = random.below(depth > 5 ? 3 : 6)
  if (kind === 0) return random.pick(NUMBERS)
  if (kind === 1) return random.pick(NAMES)
  if (kind === 2) return random.pick([null, true, [], {}])
  const next = () => invented(random, depth + 1)
  if (kind === 3) return Object.fromEntries(Array.from({ length: random.below(4) }, () => [random.pick(NAMES), next()]))
  return Array.from({ length: random.below(7) }, next)
}

/** @param {object} message */
const bytesOf = message => Buffer.from(JSON.stringify(message))

/** @param {string} name @param {object[]} samples @param {(bytes: Buffer) => number} read @returns {Target} */
function control (name, samples, read) {
  const invent = (/** @type {Random} */ random) => {
    const sample = /** @type {Record<string, unknown>} */ (random.pick(samples))
    return bytesOf({ ...sample, [random.pick(Object.keys(sample))]: invented(random) })
  }
  return { name, samples: samples.map(bytesOf), refusals: ['SLUICE_PROTOCOL'], invent, read }
}

/** What a reader makes of a head: what it lacks, asks for, counts and compacts. @param {Buffer} bytes */
function readByReader (bytes) {
  const { sources, isAll } = readHead(bytes)
  const streams = new Streams()
  streams.read('db', [{
    gateway: 'gw', source: 'press', epoch: '7-3f2a90c1', first: 0, last: 14, hash: 5, staged: 150, stored: 150, dead: 0, before: 0
  }], 1)
  streams.setHead('gw', 'out', sources, isAll)
  const missing = [...streams].map(stream => {
    return /** @type {[typeof stream, import('../../broker/in/stream.js').Missing[]]} */ ([stream, stream.missing(['db'], { quiet: true })])
  })
  const requests = new ResendRequests().all(missing, 100)
  for (const stream of streams) {
    stream.balance('db')
    stream.runs('db', 1000)
  }
  return streams.heads().length + requests.size
}

/** The messages by which spools and readers come to terms, which anybody on a broker without accounts can send. @type {Target[]} */
export const controlTargets = [
  control('heads', [{
    rows: 5210,
    sources: [
      {
        source: 'press',
        rows: 5210,
        lostRows: 0,
        replacedRows: 3,
        epochs: [['7-3f2a90c1', 12, 41, 120, 5210, { lost: [[20, 21, 40]], replaced: [[30, 30, 3]], doubt: [[33, 35]] }]]
      },
      { source: 'constructor', rows: 7, epochs: [['8-3f2a0000', 3, -1, 7, 7]] }
    ],
    more: true
  }], readByReader),
  control('commits', [{
    store: '9d41',
    label: 'history',
    reading: [1_793_000_000_000, 17],
    sources: { press: { '7-3f2a90c1': [[12, 32, 176_512_375_921], [36, 41, 99_812_733]] } }
  }], bytes => Object.keys(readCommit(bytes).sources).length),
  control('resends', [{
    sources: { press: { '7-3f2a90c1': [[33, 35]] } }, undelivered: { press: { '7-3f2a90c1': [31] } }
  }], bytes => Object.keys(readResend(bytes).sources).length),
  control('sinks', [{
    gateway: '+', source: '+', sinks: [{ sink: 'a1b2c3', label: 'history', committed: true }]
  }], bytes => readSinks(bytes)?.sinks.length ?? 0)
]

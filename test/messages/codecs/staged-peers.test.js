import { createInterface } from 'node:readline'
import { expect } from 'chai'
import { Batch } from '../../../gateway/batch/batch.js'
import { encode } from '../../../gateway/messages/codecs/arrow/arrow.js'
import { requireArrow, startPython } from '../../servers/python.js'
import { EVERY_TYPE, IDENTITY, batchOf, meaning, tagOf } from './batches.js'

const PEERS = ['pyarrow', 'polars', 'duckdb']
const DEVICES = 10_000

const TIMES = BigInt64Array.from({ length: 2 * DEVICES }, (_, i) => 1_795_248_000_123_456_789n + BigInt(i))

/** Twenty thousand rows of ten thousand devices, every seventh row without one, and a line that few have. */
const MANY_DEVICES = batchOf({
  n: ['int64', Array.from(TIMES, (_, i) => i % 5 === 0 ? undefined : 2n ** 62n + BigInt(i))],
  level: ['float64', Array.from(TIMES, (_, i) => i / 3)]
}, {
  identity: IDENTITY,
  time: TIMES,
  tags: {
    plant: 'Süd',
    device: tagOf(Array.from(TIMES, (_, i) => i % 7 === 0 ? undefined : `device ü ${i % DEVICES}`)),
    line: tagOf(Array.from(TIMES, (_, i) => i > 3 ? undefined : ['a', '', undefined, 'b'][i]))
  }
})

/** @type {Record<string, Batch>} */
const BATCHES = {
  'every type': EVERY_TYPE,
  'every type, with tags by row': new Batch({
    ...EVERY_TYPE, tags: { ...EVERY_TYPE.tags, device: tagOf(Array.from(EVERY_TYPE.time, (_, i) => i % 2 ? undefined : `d${i}`)) }
  }),
  '10,000 devices': MANY_DEVICES,
  'numbers of rows with the same tags and time': new Batch({ ...MANY_DEVICES, ordinals: Int32Array.from(TIMES, (_, i) => i % 3) }),
  'no device at all': batchOf({ a: ['bool', [1, 0]] }, { identity: IDENTITY, tags: { device: tagOf([undefined, undefined]) } })
}

/** What each column says, as `staged_batches.py` has it. @param {Batch} batch */
function columnsOf (batch) {
  const { columns, tags, time } = meaning(batch)
  const varying = Object.entries(tags).filter(([, values]) => Array.isArray(values))
  return {
    time: time.map(String),
    ...Object.fromEntries(batch.fields.map(({ name, type }, f) => [name, columns[f].map(value => plain(value, type))])),
    ...Object.fromEntries(varying),
    ...batch.ordinals && { ordinal: Array.from(batch.ordinals, String) }
  }
}

/** @param {unknown} value @param {string} type */
function plain (value, type) {
  if (value === undefined) return null
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (!type.startsWith('float')) return String(value)
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleBE(Number(value))
  return bytes.toString('hex')
}

describe('Staged batches are read by', () => {
  /** @type {Record<string, Record<string, Record<string, unknown[]>>>} */
  const read = {}

  before(async function () {
    this.timeout(120_000)
    requireArrow(this)
    const child = startPython('staged_batches.py')
    child.stdin.end(Object.values(BATCHES).map(batch => `${encode(batch).toString('base64')}\n`).join(''))
    const names = Object.keys(BATCHES)
    for await (const line of createInterface({ input: child.stdout })) read[String(names.shift())] = JSON.parse(line)
    expect(names, (await child.stderr.toArray()).join('')).to.deep.equal([])
  })

  for (const peer of PEERS) {
    for (const [name, batch] of Object.entries(BATCHES)) {
      it(`${peer}: ${name}`, () => {
        const expected = columnsOf(batch)
        const found = read[name][peer]
        expect(Object.keys(found)).to.deep.equal(Object.keys(expected))
        for (const [column, values] of Object.entries(expected)) expect(found[column], column).to.deep.equal(values)
      })
    }
  }
})

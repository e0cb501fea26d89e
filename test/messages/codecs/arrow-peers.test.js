import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import zlib from 'node:zlib'
import { expect } from 'chai'
import { requireArrow, startPython } from '../../servers/python.js'
import { meaning } from './batches.js'
import { decode } from './decode.js'

const NS = 1_795_248_000_000_000_000n
const LONG = 'a text that is longer than its view'
const TOO_LARGE = 'does not fit a 64-bit integer'

/** What streams of `arrow_streams.py` say, by name; undefined is missing. @type {Record<string, Record<string, unknown[]>>} */
const COLUMNS = {
  pyarrow: {
    uint64: [1n, undefined, undefined],
    decimal32: [12.345, undefined, -0.001],
    decimal64: [12.345, undefined, -0.001],
    decimal128: [12.345, undefined, -0.001],
    decimal256: [12.345, undefined, undefined],
    whole: [-9007199254740993n, undefined, undefined],
    date32: ['2024-02-01', undefined, '1969-12-31'],
    date64: ['2024-02-01', undefined, '1969-12-31'],
    'time32 ms': [3_723_000, undefined, 1000],
    'time64 us': [3_723_000_000n, undefined, 1_000_000n],
    'duration s': [1n, undefined, 0n],
    fixed: ['61626364', undefined, '65666768'],
    'text view': ['a', LONG, undefined],
    'bytes view': ['61', undefined, '79'.repeat(13)],
    list0: [1n, undefined, 2n],
    list1: [undefined, undefined, 3n],
    'fixed list0': [1, 3, undefined],
    'fixed list1': [2, 4, undefined],
    texts0: ['a', undefined, undefined],
    texts1: [undefined, undefined, undefined],
    texts2: [LONG, undefined, undefined],
    words0: ['on', 'off', undefined],
    words1: [undefined, 'on', undefined],
    unsigned0: [1n, 2n, undefined],
    unsigned1: [undefined, undefined, undefined],
    'fixed texts0': ['a', undefined, undefined],
    dictionary: ['on', 'off', 'on'],
    last: [1.5, undefined, 2.5]
  },
  polars: {
    text: ['short', undefined, LONG],
    category: ['on', 'off', 'on'],
    enum: ['a', 'b', 'a'],
    uint64: [1n, 2n, undefined],
    date: ['2024-02-01', undefined, '1969-12-31'],
    decimal: [1.25, undefined, -2.5],
    binary: ['78', undefined, '79'.repeat(20)],
    'duration us': [1_000_000n, undefined, 0n],
    'clock ns': [3_723_000_000_000n, undefined, 1_000_000_000n],
    list0: [1n, 2n, undefined],
    list1: [undefined, undefined, undefined],
    texts0: ['a', undefined, undefined],
    texts1: [LONG, undefined, undefined],
    categories0: ['on', 'off', undefined],
    categories1: [undefined, 'on', undefined],
    array0: [1.5, undefined, 3.5],
    array1: [2.5, undefined, undefined],
    'times0 us': [NS / 1000n, undefined, undefined],
    last: [1.5, undefined, 2.5]
  },
  many: {
    number: Array.from({ length: 1000 }, (_, i) => BigInt(i)),
    text: Array.from({ length: 1000 }, (_, i) => `${LONG} ${i % 7}`)
  }
}

/** @type {Record<string, string[]>} */
const REFUSED = {
  pyarrow: [
    ...Object.entries({
      struct: 'struct', 'coded struct': 'struct', nested: 'list of list', structs: 'list of struct', map: 'map',
      'list view': 'list view', 'sparse union': 'union', 'dense union': 'union', runs: 'run-end encoded', interval: 'interval'
    }).map(([name, type]) => `-1: ${notRead(name, type)}`),
    `2: "uint64" ${TOO_LARGE}`, '2: "decimal256" has more digits than a number holds', '1: "whole" has more digits than a number holds',
    `1: "unsigned" ${TOO_LARGE}`
  ],
  polars: [
    `-1: ${notRead('nested', 'large list of large list')}`,
    `2: "uint64" ${TOO_LARGE}`
  ],
  many: []
}

/** @param {string} name @param {string} type */
function notRead (name, type) {
  return `column "${name}" is of type ${type}, which is not supported; ` +
    'send numbers, bool, texts, bytes, timestamps, dates, decimals, or lists of them'
}

/** @param {string} line  of `arrow_streams.py` */
function expectRead (line) {
  const { name, bytes } = JSON.parse(line)
  const { batches: [batch], refused } = decode(Buffer.from(bytes, 'base64'))
  expect(refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal(REFUSED[name])
  const { columns, time } = meaning(batch)
  expect(time).to.deep.equal(time.map((_, row) => name === 'many' ? NS : NS + BigInt(row) * 1_000_000_000n))
  const names = batch.fields.map(field => field.unit ? `${field.name} ${field.unit}` : field.name)
  expect(Object.fromEntries(names.map((key, c) => [key, columns[c]]))).to.deep.equal(COLUMNS[name])
}

describe('Arrow streams of pyarrow and polars', () => {
  const recorded = readFileSync(new URL('../../data/arrow/streams.jsonl', import.meta.url), 'utf8').trim().split('\n')

  it('are read as recorded: views, decimals, dates, 64 bits, lists, compressed by LZ4 and ZSTD; what is not read is named', () => {
    expect(recorded).to.have.length(6)
    for (const line of recorded) expectRead(line)
  })

  it('are refused where Node.js is too old for ZSTD, with what to do', () => {
    const { zstdDecompressSync } = zlib
    try {
      // @ts-expect-error as before 22.15
      zlib.zstdDecompressSync = undefined
      const { refused } = decode(Buffer.from(JSON.parse(recorded[4]).bytes, 'base64'))
      expect(refused.map(({ reason }) => reason)).to.deep.equal([
        `SLUICE_CODEC_ARROW: Arrow stream: its record batches are compressed with ZSTD, which Node.js ${process.versions.node} does not ` +
        'know; use LZ4 or none.'
      ])
    } finally {
      zlib.zstdDecompressSync = zstdDecompressSync
    }
  })

  it('are read as the installed versions write them', async function () {
    requireArrow(this)
    const child = startPython('arrow_streams.py')
    let streams = 0
    for await (const line of createInterface({ input: child.stdout })) {
      expectRead(line)
      streams++
    }
    expect(streams, (await child.stderr.toArray()).join('')).to.equal(9)
  }).timeout(60_000)
})

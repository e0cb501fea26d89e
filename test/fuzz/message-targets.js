import { readFileSync } from 'node:fs'
import * as apache from 'apache-arrow'
import { encode, peekIdentity, recognises } from '../../gateway/messages/codecs/arrow/arrow.js'
import { decodeMessage } from '../../gateway/messages/codecs/index.js'
import { Mapper } from '../../gateway/messages/mapping/mapping.js'
import { encodePayload } from '../../gateway/sparkplug/codec.js'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'
import { stream, times } from '../messages/codecs/apache.js'
import { cbor } from '../messages/codecs/cbor.js'
import { EVERY_TYPE, IDENTITY, NOW, batchOf } from '../messages/codecs/batches.js'

/**
 * @typedef {import('./run.js').Target} Target
 * @typedef {import('./random.js').Random} Random
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 */

const MS = 1_700_000_000_000n
const NAMES = [
  'time', 'ts', 'timestamp', 'value', 'rows', 'tags', 'source', 'fields', 'measurement', 'node', 'group', 'values', 'errors', 'n',
  'v', 'bn', 'bt', 't', 'u', 'quality', '__proto__', 'constructor', 'a', 'b', 'é', ''
]
const SCALARS = [
  '1', '-0', '1e400', '1700000000000', '1700000000123456789', '"2015-07-10T06:17:32Z"', '"x"', 'true', 'null', '""', '"\\ud800"'
]

/**
 * How many values are in batches, each of which can be written down like one that was accepted.
 * @param {Batch[]} batches
 */
function valuesIn (batches) {
  for (const batch of batches) encode(batch.withIdentity({ ...IDENTITY, source: batch.source }))
  return batches.reduce((sum, { values, time }) => sum + values + time.length, 0)
}

/** @param {{batches: Batch[], refused: {reason: string}[]}} content */
function accounted ({ batches, refused }) {
  if (batches.length === 0 && refused.length === 0) throw new Error('neither accepted nor refused')
  for (const { reason } of refused) if (/^\w*Error\b|^it cannot be read/.test(reason)) throw new Error(`no reason: ${reason}`)
  return valuesIn(batches)
}

/** @param {string} [contentType] @returns {Target['read']} */
const message = contentType => bytes => accounted(decodeMessage(bytes, { source: 'plant', contentType, now: () => NOW }))

/** @param {Random} random @param {number} depth @returns {string} */
function json (random, depth = 0) {
  const kind = depth > 5 ? 2 : random.below(4)
  const items = kind > 1 ? [] : Array.from({ length: random.small(8) }, () => json(random, depth + 1))
  if (kind === 0) return `[${items.join()}]`
  if (kind === 1) return `{${items.map(item => `${JSON.stringify(random.pick(NAMES))}:${item}`).join()}}`
  return random.pick(SCALARS)
}

/** Rows that share few fields, as nothing else expands so much. @param {Random} random */
function rows (random) {
  const fields = 1 + random.below(1200)
  return JSON.stringify(Array.from({ length: random.small(3000) }, (_, i) => ({ [`k${random.below(fields)}`]: i })))
}

/** @param {Random} random */
function lines (random) {
  const word = () => random.pick(['cpu', 'a b', 'a\\ b', 'é', '', 't=1', ',', '"', '\\', '#', 'quality'])
  const value = () => random.pick(['1', '1i', '1u', 't', '"x"', '"', '1e400', '99999999999999999999i', 'nan', '"\\""'])
  return Array.from({ length: random.small(40) }, () => {
    const tags = Array.from({ length: random.small(4) }, () => `,${word()}=${word()}`).join('')
    const fields = Array.from({ length: 1 + random.small(5) }, () => `${word()}=${value()}`).join()
    return `${word()}${tags} ${fields} ${random.pick(['', '1700000000000000000', '-1', '1.5', 'x'])}`
  }).join('\n')
}

/** @param {Random} random */
function metrics (random) {
  return Array.from({ length: random.small(12) }, () => ({
    ...(!random.oneIn(4) && { name: random.pick(['a', 'b', 'bdSeq', 'quality', 'time', '', '__proto__']) }),
    ...(random.oneIn(3) && { alias: BigInt(random.below(4)) }),
    ...(!random.oneIn(3) && { datatype: random.below(36) }),
    ...(random.oneIn(2) && { timestamp: random.pick([MS, MS + BigInt(random.below(100)), 0n, 2n ** 64n - 1n]) }),
    ...(random.oneIn(4) && { isHistorical: true }),
    value: random.pick([
      { case: 'intValue', value: random.bits() },
      { case: 'longValue', value: BigInt(random.bits()) * 3n ** 20n },
      { case: 'doubleValue', value: 1.5 },
      { case: 'stringValue', value: 'x' },
      { case: 'bytesValue', value: random.bytes(random.small(2000)) },
      { case: 'booleanValue', value: true },
      { case: 'templateValue', value: { isDefinition: random.oneIn(2) } }
    ])
  }))
}

const TYPES = ['NBIRTH', 'NDATA', 'DBIRTH', 'DDATA', 'NDEATH', 'DDEATH']

/** @param {Random} random @returns {Buffer} */
const sparkplug = random => encodePayload(/** @type {any} */ ({ timestamp: MS, seq: BigInt(random.below(256)), metrics: metrics(random) }))

const BIRTH = encodePayload({
  timestamp: MS,
  seq: 0n,
  metrics: [
    { name: 'bdSeq', datatype: 4, value: { case: 'longValue', value: 1n } },
    { name: 'a', alias: 1n, datatype: 10, value: { case: 'doubleValue', value: 1 } },
    { name: 'b', alias: 2n, datatype: 26, value: { case: 'bytesValue', value: new Uint8Array(5) } },
    { name: 'd', datatype: 16, value: { case: 'datasetValue', value: { columns: ['x'], types: [3], rows: [{ elements: [{}] }] } } },
    { name: 't', datatype: 19, value: { case: 'templateValue', value: { metrics: [{ name: 'x' }] } } }
  ]
})

const PACK = cbor([
  new Map(/** @type {[any, unknown][]} */ ([[-2, 'urn:dev:1:'], [-3, 1.7e9], [-4, 'Cel'], [0, 't'], [2, 1.5]])),
  new Map(/** @type {[any, unknown][]} */ ([[0, 'h'], [3, 'x'], [6, -1], ['other', [1, null, true]]])),
  new Map(/** @type {[any, unknown][]} */ ([[0, 's'], [5, 3], [8, Buffer.from('AA')]]))
])

/** Of pyarrow and polars: every type, also compressed. */
const PEERS = readFileSync(new URL('../data/arrow/streams.jsonl', import.meta.url), 'utf8').trim().split('\n')
  .map(line => Buffer.from(JSON.parse(line).bytes, 'base64'))

const DICTIONARY = apache.vectorFromArray(['open', 'closed', 'open'], new apache.Dictionary(new apache.Utf8(), new apache.Int8()))

/** Mappings of all kinds, for what `json` invents. */
const mapper = new Mapper([
  { topic: 'a/{x}/#', tags: ['n', 'group=values.group'], time: 'timestamp' },
  { topic: 'b/{x}/{rest…}', values: 'values', tags: ['node'], exclude: ['q*'] },
  { topic: 'c/{field}/#', prefix: 'p', timeFormat: 'us' },
  { topic: 'd/#', rows: 'rows', tags: ['source'] }
])

/** What comes over MQTT. @type {Target[]} */
export const messageTargets = [{
  name: 'arrow',
  samples: [
    encode(EVERY_TYPE), encode(batchOf({ a: ['float64', [1, undefined, 3]] })),
    stream({
      time: times([NOW, null, NOW]), text: /** @type {any} */ (DICTIONARY), n: apache.vectorFromArray([1, 2, 3], new apache.Uint8())
    }),
    ...PEERS
  ],
  invent: random => encode(batchOf(Object.fromEntries(Array.from({ length: random.small(20) }, (_, i) => [
    `f${i}`, random.oneIn(2) ? ['bool', [1, undefined, 0]] : ['string', ['x'.repeat(random.below(50)), '', undefined]]
  ])))),
  refusals: ['SLUICE_CODEC_ARROW', 'SLUICE_MESSAGE_TOO_LARGE'],
  read (bytes, ...more) {
    const values = message('application/vnd.apache.arrow.stream')(bytes, ...more)
    if (recognises(bytes)) peekIdentity(bytes)
    return values
  }
}, {
  name: 'json',
  samples: [
    '{"source":"s","tags":{"a":"b"},"rows":[{"time":"2015-07-10T06:17:32.249713000Z","speed":1.5},{"time":1436509052249,"on":true}]}',
    '[{"bn":"urn:dev:1:","bt":1.7e9,"bu":"Cel","n":"t","v":1},{"n":"h","vs":"x","t":-1},{"n":"s","s":3,"vd":"AA"}]',
    '{"node":"plc","group":"g","timestamp":1700000000000,"values":{"a":1},"errors":{"b":3002}}',
    '{"node":"plc","group":"g","timestamp":1700000000000,"tags":[{"name":"a","value":1},{"name":"b","error":3}]}',
    '{"fields":{"a":1.5,"b":9007199254740993},"name":"cpu","tags":{"host":"x"},"timestamp":1458229140}',
    '{"metrics":[{"fields":{"a":1},"name":"cpu","tags":{},"timestamp":1458229140000}]}',
    '[[{"a":1,"ts":1700000000123456789},{"room":"x"}]]', '{"a":{"b":[1,2,{"c":3}]},"d":[true,null]}', '21.5'
  ].map(text => Buffer.from(text)),
  invent: random => Buffer.from(random.oneIn(4) ? rows(random) : json(random)),
  read (bytes, random) {
    const source = `plant ${random.below(1000)}`
    const values = () => accounted(decodeMessage(bytes, { source, contentType: 'application/json', now: () => NOW }))
    const first = values()
    // Rows of a shape that is known take another way.
    if (bytes.length < 10_000 && values() !== first) throw new Error('read again, it is something else')
    return first
  }
}, {
  name: 'mapped json',
  samples: [
    '{"n":"x","timestamp":1700000000000,"values":{"a":1,"group":"g","b":[1,2]},"node":7}',
    '[{"n":1,"a":1},{"n":null,"a":2,"timestamp":"2015-07-10T06:17:32Z"}]',
    '{"source":"s","rows":[{"timestamp":1700000000000,"v":1},{"source":"t","v":{"a":2}}]}', '[1,2,3]', '21.5', 'on'
  ].map(text => Buffer.from(text)),
  invent: random => Buffer.from(random.oneIn(4) ? rows(random) : json(random)),
  read (bytes, random) {
    const topic = `${random.pick(['a', 'b', 'c', 'd', 'e'])}/${random.below(1000)}/x`
    const values = () => {
      const content = mapper.decode(bytes, { topic, now: () => NOW })
      return content.batches.length + content.refused.length === 0 ? 0 : accounted(content) // what a mapping leaves out is no value
    }
    const first = values()
    if (bytes.length < 10_000 && values() !== first) throw new Error('read again, it is something else')
    return first
  }
}, {
  name: 'senml in cbor',
  samples: [PACK],
  invent: random => Buffer.concat([Buffer.from([0x9f]), ...Array.from({ length: random.small(3000) }, () => random.pick([
    PACK.subarray(1), Buffer.from([0xa0]), Buffer.from([0xa1, 0x02, random.below(24)]), random.bytes(random.oneIn(50) ? 4 : 0)
  ])), Buffer.from([0xff])]),
  read: message('application/senml+cbor')
}, {
  name: 'line protocol',
  samples: [
    'cpu,host=gate,cpu=0 usage_idle=97.25,uptime=86400i,on=t,name="a \\"b\\"" 1700000000000000000\ncpu,host=gate usage_idle=1\n# c\n\n',
    'a\\ b,t\\,u=v\\=w f=1u\r\n', 'plain text'
  ].map(text => Buffer.from(text)),
  invent: random => Buffer.from(lines(random)),
  read: message()
}, {
  name: 'sparkplug',
  samples: [BIRTH, encodePayload({ timestamp: MS, seq: 1n, metrics: [{ alias: 1n, value: { case: 'doubleValue', value: 2 } }] })],
  invent: sparkplug,
  read (bytes, random) {
    const host = new SparkplugHost({ requestRebirth: () => {}, now: () => NOW })
    let values = valuesIn(host.receive('spBv1.0/g/NBIRTH/n', BIRTH).batches)
    for (let i = 0; i < 2; i++) {
      const type = random.pick(TYPES)
      const { batches, refused } = host.receive(`spBv1.0/g/${type}/n${type[0] === 'D' ? '/d' : ''}`, bytes)
      values += valuesIn(batches)
      for (const { reason } of refused) if (/^\w*Error\b/.test(reason)) throw new Error(`no reason: ${reason}`)
    }
    return values
  }
}]

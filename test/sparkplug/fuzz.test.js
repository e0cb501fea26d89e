import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import fc from 'fast-check'
import { encodePayload } from '../../gateway/sparkplug/codec.js'
import { SparkplugEdge } from '../../gateway/sparkplug/edge.js'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'

const MS = 1_700_000_000_000n
const TYPES = ['NBIRTH', 'DBIRTH', 'NDATA', 'DDATA', 'NDEATH', 'DDEATH']

const value = fc.oneof(
  fc.record({ case: fc.constant('intValue'), value: fc.nat() }),
  fc.record({ case: fc.constant('longValue'), value: fc.bigInt(0n, 2n ** 64n - 1n) }),
  fc.record({ case: fc.constant('floatValue'), value: fc.float() }),
  fc.record({ case: fc.constant('doubleValue'), value: fc.double() }),
  fc.record({ case: fc.constant('booleanValue'), value: fc.boolean() }),
  fc.record({ case: fc.constant('stringValue'), value: fc.string() }),
  fc.record({ case: fc.constant('bytesValue'), value: fc.uint8Array({ maxLength: 20 }) }),
  fc.record({ case: fc.constant('templateValue'), value: fc.record({ isDefinition: fc.boolean() }) }),
  fc.constant({ case: undefined })
)
const metric = fc.record({
  name: fc.option(fc.constantFrom('a', 'b', 'bdSeq', 'quality', 'time', '', '__proto__', 'constructor'), { nil: undefined }),
  alias: fc.option(fc.bigInt(0n, 3n), { nil: undefined }),
  timestamp: fc.option(fc.oneof(fc.constant(MS), fc.bigInt(0n, 2n ** 64n - 1n)), { nil: undefined }),
  datatype: fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined }),
  isNull: fc.boolean(),
  isHistorical: fc.boolean(),
  isTransient: fc.boolean(),
  value
})
const payload = fc.record({
  timestamp: fc.option(fc.constant(MS), { nil: undefined }),
  seq: fc.option(fc.bigInt(0n, 300n), { nil: undefined }),
  metrics: fc.array(metric, { maxLength: 6 })
})
  .map(parts => encodePayload(/** @type {any} */ (parts)))
const mutated = fc.tuple(
  payload,
  fc.array(fc.tuple(fc.nat(200), fc.nat(255)), { maxLength: 4 }),
  fc.nat(200)
).map(([bytes, changes, length]) => {
  for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte
  return bytes.subarray(0, Math.max(0, bytes.length - (length > 150 ? length - 150 : 0)))
})
const compressed = fc.tuple(mutated, fc.nat(60)).map(([inner, cut]) => {
  const body = gzipSync(inner)
  return encodePayload({ uuid: 'SPBV1.0_COMPRESSED', body: cut < 50 ? body : body.subarray(0, body.length - cut + 49) })
})
const bytes = fc.oneof({ weight: 2, arbitrary: payload }, { weight: 3, arbitrary: mutated }, { weight: 1, arbitrary: compressed }, {
  weight: 1,
  arbitrary: fc.uint8Array({ maxLength: 60 })
})
const topic = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(fc.constantFrom(...TYPES), fc.constantFrom('x', 'y')).map(([type, device]) => (
      `spBv1.0/g/${type}/n${type[0] === 'D' ? `/${device}` : ''}`
    ))
  },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(fc.constantFrom('spBv1.0', 'STATE', 'NCMD', ...TYPES), fc.string({ maxLength: 5 })),
      { maxLength: 6 }
    ).map(levels => levels.join('/'))
  }
)

describe('Sparkplug with random bytes', function () {
  this.timeout(60_000)

  it('never throws, and turns 40,000 messages into valid batches or reasons', () => {
    let batches = 0
    let refused = 0
    fc.assert(fc.property(fc.array(fc.tuple(topic, bytes), { minLength: 20, maxLength: 20 }), messages => {
      const host = new SparkplugHost({ requestRebirth: () => {} })
      for (const [itsTopic, itsBytes] of messages) {
        const result = host.receive(itsTopic, itsBytes)
        for (const batch of result.batches) {
          batches++
          batch.toObjects()
          expect(new Set(batch.fields.map(({ name }) => name)).size).to.equal(batch.fields.length)
          expect(batch.time.every(ns => ns > 0n)).to.equal(true)
        }
        for (const { reason } of result.refused) {
          refused++
          expect(reason).to.be.a('string').and.not.match(/^\w*Error/)
        }
      }
    }), { seed: 4, numRuns: 2000 })
    expect(batches).to.be.above(500)
    expect(refused).to.be.above(500)
  })

  it('throws in an edge node at none of 5,000 commands', () => {
    const edge = new SparkplugEdge({ groupId: 'g', nodeId: 'n', outlet: { publish: () => {}, hasRoom: () => true } })
    edge.begin(0n)
    fc.assert(fc.property(bytes, itsBytes => edge.command(itsBytes)), { seed: 4, numRuns: 5000 })
  })
})

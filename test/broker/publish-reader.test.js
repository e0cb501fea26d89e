import { expect } from 'chai'
import fc from 'fast-check'
import mqttPacket from 'mqtt-packet'
import { PublishReader } from '../../broker/in/publish-reader.js'

/** @typedef {import('../../broker/in/publish-reader.js').Publish} Publish */

const VERSIONS = /** @type {const} */ ([4, 5])
const RUNS = 300

/** @param {any} packet @param {4|5} protocolVersion */
const encode = (packet, protocolVersion) => mqttPacket.generate(packet, { protocolVersion })

/** @param {object} packet */
const publish = packet => {
  return { cmd: 'publish', topic: 'plant/hall', payload: Buffer.from('21'), qos: 1, messageId: 7, retain: false, dup: false, ...packet }
}

/**
 * What is read of chunks, and what is passed on.
 * @param {Buffer[]} chunks @param {4|5} version
 */
function read (chunks, version) {
  /** @type {Publish[]} */
  const taken = []
  /** @type {Buffer[]} */
  const passed = []
  const reader = new PublishReader({
    isVersion5: version === 5, hasRoom: () => true, take: packet => taken.push(packet), pass: bytes => passed.push(Buffer.from(bytes))
  })
  for (const chunk of chunks) reader.read(chunk)
  return { taken, passed: Buffer.concat(passed) }
}

/** What mqtt-packet reads of them: the independent judge. @param {Buffer} bytes @param {4|5} protocolVersion */
function judged (bytes, protocolVersion) {
  const parser = mqttPacket.parser({ protocolVersion })
  /** @type {any[]} */
  const packets = []
  parser.on('packet', packet => packets.push(packet))
  parser.on('error', error => { throw error })
  parser.parse(bytes)
  return packets
}

/** What both say of a PUBLISH. @param {any} packet */
const plain = ({ topic, payload, qos, retain, dup, messageId, properties = {} }) => {
  const { contentType, subscriptionIdentifier } = properties
  return { topic, payload: String(payload.toString('hex')), qos, retain, dup, id: messageId || 0, contentType, subscriptionIdentifier }
}

const properties5 = fc.record({
  payloadFormatIndicator: fc.boolean(),
  messageExpiryInterval: fc.nat(),
  responseTopic: fc.string(),
  correlationData: fc.uint8Array({ maxLength: 20 }).map(bytes => Buffer.from(bytes)),
  userProperties: fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { noNullPrototype: true }),
  subscriptionIdentifier: fc.oneof(
    fc.integer({ min: 1, max: 2 ** 28 - 1 }), fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 4 })),
  contentType: fc.string({ unit: 'grapheme', minLength: 1 })
}, { requiredKeys: [] })

const publishes = fc.record({
  topic: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)), fc.nat(20_000).map(length => Buffer.alloc(length, 1))),
  qos: fc.constantFrom(0, 1),
  messageId: fc.integer({ min: 1, max: 65_535 }),
  retain: fc.boolean(),
  dup: fc.boolean(),
  properties: properties5
}).map(packet => publish({ ...packet, dup: packet.qos === 1 && packet.dup }))

const others = fc.constantFrom(
  { cmd: 'pingresp' },
  { cmd: 'puback', messageId: 3 },
  { cmd: 'suback', messageId: 4, granted: [0, 1, 128] },
  { cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: true },
  publish({ qos: 2, messageId: 9 })
)

describe('the reader of PUBLISH packets', () => {
  for (const version of VERSIONS) {
    describe(`of MQTT ${version === 5 ? '5' : '3.1.1'}`, () => {
      const stream = [
        { cmd: 'connack', returnCode: 0, reasonCode: 0, sessionPresent: true },
        publish({
          topic: 'plänt/hall', payload: 'x'.repeat(200), properties: { subscriptionIdentifier: [1, 300], contentType: 'text/plain' }
        }),
        publish({ qos: 0, payload: '', retain: true }),
        { cmd: 'pingresp' },
        publish({ dup: true, messageId: 65_535, properties: { userProperties: { a: 'b' } } }),
        publish({ qos: 2 }),
        { cmd: 'puback', messageId: 5 }
      ].map(packet => encode(packet, version))
      const isRead = (/** @type {Buffer} */ packet) => packet[0] >> 4 === 3 && (packet[0] >> 1 & 3) < 2
      const wanted = {
        taken: stream.filter(isRead).flatMap(packet => judged(packet, version)).map(plain),
        passed: Buffer.concat(stream.filter(packet => !isRead(packet)))
      }
      const bytes = Buffer.concat(stream)

      it('reads the same wherever the stream is cut', () => {
        for (let first = 0; first <= bytes.length; first++) {
          for (const second of [first, first + 1, first + 2, bytes.length]) {
            const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)]
            const { taken, passed } = read(chunks.filter(({ length }) => length > 0), version)
            expect({ taken: taken.map(plain), passed }, `cut at ${first} and ${second}`).to.deep.equal(wanted)
          }
        }
        const { taken, passed } = read([...bytes].map(byte => Buffer.from([byte])), version)
        expect({ taken: taken.map(plain), passed }, 'byte by byte').to.deep.equal(wanted)
      })

      it('reads what mqtt-packet reads, and passes on all else, in order', () => {
        fc.assert(fc.property(fc.array(fc.oneof(publishes, others), { maxLength: 8 }), fc.array(fc.nat()), (packets, cuts) => {
          const encoded = packets.map(packet => encode(packet, version))
          const whole = Buffer.concat(encoded)
          const places = [0, ...cuts.map(cut => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length]
          const chunks = places.slice(1).map((to, i) => whole.subarray(places[i], to)).filter(({ length }) => length > 0)
          const { taken, passed } = read(chunks, version)
          expect(taken.map(plain)).to.deep.equal(encoded.filter(isRead).flatMap(packet => judged(packet, version)).map(plain))
          expect(passed).to.deep.equal(Buffer.concat(encoded.filter(packet => !isRead(packet))))
        }), { numRuns: RUNS })
      })

      it('refuses what mqtt-packet refuses of a packet with a broken byte, and reads the one behind it', () => {
        fc.assert(fc.property(publishes, fc.nat(), fc.integer({ min: 0, max: 255 }), (packet, place, value) => {
          const broken = encode({ ...packet, payload: packet.payload.subarray(0, 100) }, version)
          const head = broken.length > 129 ? 3 : 2
          broken[head + place % (broken.length - head)] = value
          const both = Buffer.concat([broken, encode(publish({ topic: 'end', payload: 'end' }), version)])
          let taken
          try {
            ({ taken } = read([both], version))
          } catch (error) {
            expect(error).to.include({ code: 129 })
            return
          }
          expect(taken.map(plain)).to.deep.equal(judged(both, version).map(plain))
        }), { numRuns: RUNS })
      })
    })
  }

  it('stops before a message that there is no room for, and goes on there', () => {
    const bytes = Buffer.concat([1, 2, 3, 4, 5].map(n => encode(publish({ payload: String(n), messageId: n }), 4)))
    let room = 2
    /** @type {string[]} */
    const taken = []
    const reader = new PublishReader({
      isVersion5: false,
      hasRoom: () => room > 0,
      take: ({ payload }) => {
        room--
        taken.push(String(payload))
      },
      pass () {}
    })
    expect(reader.read(bytes.subarray(0, 55))).to.equal(false)
    expect(reader.read(bytes.subarray(55))).to.equal(false)
    expect(taken.join()).to.equal('1,2')
    room = 1
    expect(reader.read()).to.equal(false)
    room = 5
    expect(reader.read()).to.equal(true)
    expect(taken.join()).to.equal('1,2,3,4,5')
  })

  it('passes on what is no PUBLISH though there is no room', () => {
    const pingresp = encode({ cmd: 'pingresp' }, 5)
    /** @type {Buffer[]} */
    const passed = []
    const reader = new PublishReader({ isVersion5: true, hasRoom: () => false, take () {}, pass: bytes => passed.push(bytes) })
    expect(reader.read(pingresp)).to.equal(true)
    expect(passed).to.deep.equal([pingresp])
  })

  it('reads a message of megabytes in time: its chunks are put together once', () => {
    const payload = Buffer.alloc(2 ** 24, 'megabytes ')
    const bytes = encode(publish({ payload }), 5)
    const chunks = []
    for (let at = 0; at < bytes.length; at += 1000) chunks.push(bytes.subarray(at, at + 1000))
    const copied = []
    const { concat } = Buffer
    Buffer.concat = (...args) => {
      copied.push(args[0].length)
      return Reflect.apply(concat, Buffer, args)
    }
    try {
      const { taken: [packet] } = read(chunks, 5)
      expect(packet.payload.equals(payload)).to.equal(true)
    } finally {
      Buffer.concat = concat
    }
    expect(copied.length).to.be.at.most(3)
  })

  it('reads 100,000 subscriptions of one message: each was added to a copy of those before, for minutes', () => {
    const subscriptionIdentifier = Array.from({ length: 100_000 }, (_, i) => i + 1)
    const { taken: [packet] } = read([encode(publish({ properties: { subscriptionIdentifier } }), 5)], 5)
    expect(packet.properties?.subscriptionIdentifier).to.deep.equal(subscriptionIdentifier)
  })

  for (const [what, bytes] of Object.entries({
    'a length of more than four bytes': [0x30, 0xff, 0xff, 0xff, 0xff, 0x01],
    'no QoS that there is': [0x36, 5, 0, 1, 0x61, 0, 1],
    'a topic longer than the packet': [0x30, 3, 0, 9, 0x61],
    'no packet id': [0x32, 3, 0, 1, 0x61],
    'a topic alias': [0x30, 8, 0, 1, 0x61, 3, 35, 0, 1, 0x62],
    'a property of other packets': [0x30, 9, 0, 1, 0x61, 5, 17, 0, 0, 0, 1],
    'two content types': [0x30, 12, 0, 1, 0x61, 8, 3, 0, 1, 0x62, 3, 0, 1, 0x63],
    'the subscription 0': [0x30, 6, 0, 1, 0x61, 2, 11, 0],
    'properties that are longer than it says': [0x30, 8, 0, 1, 0x61, 3, 3, 0, 9, 0x62]
  })) {
    it(`refuses a PUBLISH with ${what}`, () => {
      expect(() => read([Buffer.from(bytes), Buffer.alloc(20)], 5)).to.throw().with.property('code', 129)
    })
  }
})

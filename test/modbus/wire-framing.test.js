import { expect } from 'chai'
import { crc16 } from '../../gateway/modbus/wire/crc16.js'
import { Mbap, mbapFrame } from '../../gateway/modbus/wire/mbap.js'
import { readRequest, writeRequest } from '../../gateway/modbus/wire/pdu.js'
import { Rtu, rtuFrame } from '../../gateway/modbus/wire/rtu.js'
import { registersPdu } from './wire-fake-slaves.js'

const hex = (/** @type {Uint8Array} */ bytes) => Buffer.from(bytes).toString('hex')
const bytesOf = (/** @type {string} */ text) => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'))

describe('A Modbus request', () => {
  it('follows the specification', () => {
    expect(hex(readRequest('coils', 0x13, 0x13).pdu)).to.equal('0100130013')
    expect(hex(readRequest('discrete-inputs', 0xC4, 0x16).pdu)).to.equal('0200c40016')
    expect(hex(readRequest('holding-registers', 0x6B, 3).pdu)).to.equal('03006b0003')
    expect(hex(readRequest('input-registers', 8, 1).pdu)).to.equal('0400080001')
    expect(hex(writeRequest('coils', 0xAC, [1]).pdu)).to.equal('0500acff00')
    expect(hex(writeRequest('holding-registers', 1, [3]).pdu)).to.equal('0600010003')
    expect(hex(writeRequest('coils', 0x13, [1, 0, 1, 1, 0, 0, 1, 1, 1, 0]).pdu)).to.equal('0f0013000a02cd01')
    expect(hex(writeRequest('holding-registers', 1, [0x0A, 0x0102]).pdu)).to.equal('100001000204000a0102')
    expect(hex(writeRequest('holding-registers', 1, [3], { multiple: true }).pdu)).to.equal('1000010001020003')
  })

  it('reads the replies of the specification', () => {
    expect(readRequest('coils', 0x13, 0x13).read(bytesOf('01 03 CD 6B 05'))).to.deep.equal({
      values: Uint8Array.from([1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1])
    })
    expect(readRequest('holding-registers', 0x6B, 3).read(bytesOf('03 06 02 2B 00 00 00 64'))).to.deep.equal({
      values: Uint16Array.of(0x22B, 0, 0x64)
    })
    expect(readRequest('coils', 0, 1).read(bytesOf('81 02'))).to.deep.equal({ exception: 2 })
    expect(writeRequest('holding-registers', 1, [3]).read(bytesOf('06 00 01 00 03'))).to.deep.equal({ values: new Uint16Array(0) })
  })

  it('accepts nothing else as an answer', () => {
    const problemOf = (/** @type {string} */ reply) => /** @type {any} */ (readRequest(
      'holding-registers',
      0,
      2
    ).read(bytesOf(reply))).problem
    expect(problemOf('04 04 00 01 00 02')).to.equal('function 4 instead of 3')
    expect(problemOf('03 02 00 01')).to.equal('4 bytes instead of 6')
    expect(problemOf('03 06 00 01 00 02')).to.equal('it announces 6 bytes of data instead of 4')
    expect(problemOf('83')).to.equal('an exception of 1 bytes')
    expect(writeRequest('coils', 1, [1, 1]).read(bytesOf('0F 00 01 00 03'))).to.deep.equal({ problem: 'it confirms another write' })
  })

  it('that is invalid is not created', () => {
    const refused = (/** @type {() => unknown} */ make) => expect(make).to.throw().with.property('code', 'SLUICE_MODBUS_REQUEST')
    refused(() => readRequest('holding-registers', 0, 126))
    refused(() => readRequest('coils', 0, 2001))
    refused(() => readRequest('coils', 0, 0))
    refused(() => readRequest('coils', 65_535, 2))
    refused(() => readRequest('coils', -1, 1))
    refused(() => readRequest(/** @type {any} */ ('files'), 0, 1))
    refused(() => writeRequest(/** @type {any} */ ('input-registers'), 0, [1]))
    refused(() => writeRequest('holding-registers', 0, [65_536]))
    refused(() => writeRequest('holding-registers', 0, [1.5]))
    refused(() => writeRequest('holding-registers', 0, new Uint16Array(124)))
  })
})

describe('Modbus framing', () => {
  const two = readRequest('holding-registers', 0, 2)
  const replyPdu = Uint8Array.from(registersPdu(3, [7, 8]))
  const answer = { values: Uint16Array.of(7, 8) }

  it('has the checksum of the specification', () => {
    expect(crc16(bytesOf('02 07'))).to.equal(0x1241)
    expect(hex(rtuFrame(0x11, bytesOf('03 00 6B 00 03')))).to.equal('1103006b00037687')
  })

  it('of TCP assembles replies that come in single bytes or all at once', () => {
    const mbap = new Mbap()
    const exchanges = [1, 2, 3].map(unit => ({ unit, request: two }))
    const frames = exchanges.map(exchange => {
      const sent = mbap.start(exchange)
      return mbapFrame(sent[0] << 8 | sent[1], exchange.unit, replyPdu)
    })
    const arrivals = [...frames[2]].flatMap(byte => mbap.receive(Uint8Array.of(byte)))
    arrivals.push(...mbap.receive(Buffer.concat([frames[1], frames[0]])))
    expect(arrivals).to.deep.equal([exchanges[2], exchanges[1], exchanges[0]].map(exchange => ({ exchange, answer })))
  })

  it('of TCP detects a stream that is not Modbus', () => {
    expect(new Mbap().receive(Buffer.from('HTTP/1.1 400'))).to.deep.equal([{ lost: 'protocol 21584 instead of 0 in a header' }])
    expect(new Mbap().receive(bytesOf('0001 0000 0FFF 01'))).to.deep.equal([{ lost: 'a frame of 4095 bytes' }])
  })

  it('of TCP never uses a transaction twice at a time', () => {
    const mbap = new Mbap()
    const first = mbap.start({ unit: 1, request: two })
    for (let i = 0; i < 65_535; i++) {
      const exchange = { unit: 1, request: two }
      mbap.start(exchange)
      mbap.end(exchange)
    }
    expect(hex(mbap.start({ unit: 1, request: two }).slice(0, 2))).to.not.equal(hex(first.slice(0, 2)))
  })

  it('of RTU finds the reply in single bytes, after noise, an echo and replies to others', () => {
    const rtu = new Rtu()
    const exchange = { unit: 5, request: two }
    const sent = rtu.start(exchange)
    const noise = [
      bytesOf('00 FF 05 03'),
      sent,
      rtuFrame(6, replyPdu),
      rtuFrame(5, Uint8Array.from(registersPdu(3, [1]))),
      rtuFrame(5, Uint8Array.from(registersPdu(4, [1, 2])))
    ]
    expect([...Buffer.concat(noise)].flatMap(byte => rtu.receive(Uint8Array.of(byte)))).to.deep.equal([])
    expect([...rtuFrame(5, replyPdu)].flatMap(byte => rtu.receive(Uint8Array.of(byte)))).to.deep.equal([{ exchange, answer }])
  })

  it('of RTU reports what came instead of the reply', () => {
    const rtu = new Rtu()
    const exchange = { unit: 5, request: two }
    const spoilt = rtuFrame(5, replyPdu)
    spoilt[4] ^= 1
    rtu.start(exchange)
    expect(rtu.complaint()).to.equal(null)
    expect(rtu.receive(spoilt.subarray(0, 5))).to.deep.equal([])
    expect(rtu.complaint()).to.deep.equal({ text: 'it ends too soon', isWhole: false })
    expect(rtu.receive(spoilt.subarray(5))).to.deep.equal([])
    expect(rtu.complaint()).to.deep.equal({ text: 'its checksum is wrong', isWhole: true })
  })

  it('survives 40,000 streams of corrupt replies, cut anywhere', () => {
    const random = seeded(4711)
    const below = (/** @type {number} */ most) => Math.floor(random() * most)
    const requests = [two, readRequest('coils', 0, 13), writeRequest('holding-registers', 3, [1]), writeRequest('coils', 3, [1, 0, 1])]
    const replies = [
      '03 04 0007 0008', '01 02 FF 1F', '06 0003 0001', '0F 0003 0003', '83 02', '81 06', '03 06 0001 0002 0003'
    ].map(bytesOf)
    const seen = { values: 0, exception: 0, problem: 0, lost: 0 }
    for (let round = 0; round < 40_000; round++) {
      const framing = round % 2 ? new Rtu() : new Mbap()
      const exchange = { unit: below(3), request: requests[below(requests.length)] }
      const sent = framing.start(exchange)
      const frames = Array.from({ length: 1 + below(3) }, () => {
        const pdu = replies[below(replies.length)]
        const frame = below(8) === 0
          ? Uint8Array.from(
              { length: below(300) },
              () => below(256)
            )
          : round % 2 ? rtuFrame(below(3), pdu) : mbapFrame(sent[1] + below(2), below(3), pdu)
        if (below(3) === 0 && frame.length > 0) frame[below(frame.length)] = below(256)
        return below(6) === 0 ? frame.subarray(0, below(frame.length)) : frame
      })
      const stream = Buffer.concat(frames)
      for (let at = 0; at < stream.length;) {
        const end = at + 1 + below(stream.length)
        for (const arrival of framing.receive(stream.subarray(at, end))) {
          if ('lost' in arrival) seen.lost++
          else {
            expect(arrival.exchange).to.equal(exchange)
            seen[/** @type {keyof typeof seen} */ (Object.keys(arrival.answer)[0])]++
          }
        }
        at = end
      }
    }
    for (const count of Object.values(seen)) expect(count).to.be.greaterThan(100)
  })
})

/** Mulberry32. @param {number} seed */
function seeded (seed) {
  return () => {
    seed = seed + 0x6D2B79F5 | 0
    let word = Math.imul(seed ^ seed >>> 15, 1 | seed)
    word = word + Math.imul(word ^ word >>> 7, 61 | word) ^ word
    return ((word ^ word >>> 14) >>> 0) / 2 ** 32
  }
}

import { CanDecoder } from '../../gateway/can/decode.js'
import { framesOf } from '../../gateway/can/payload.js'
import { Mbap, mbapFrame } from '../../gateway/modbus/wire/mbap.js'
import { readRequest, writeRequest } from '../../gateway/modbus/wire/pdu.js'
import { Rtu, rtuFrame } from '../../gateway/modbus/wire/rtu.js'

/**
 * @typedef {import('./run.js').Target} Target
 * @typedef {import('./random.js').Random} Random
 */

const UNIT = 3
const REQUESTS = [
  readRequest('holding-registers', 0, 10), readRequest('coils', 7, 19), readRequest('input-registers', 100, 125),
  writeRequest('holding-registers', 1, [3]), writeRequest('coils', 1, [1, 0, 1])
]
const REPLIES = [
  Buffer.from([3, 20, ...new Array(20).fill(7)]), Buffer.from([1, 3, 0xcd, 0x6b, 5]), Buffer.from([4, 250, ...new Array(250).fill(1)]),
  Buffer.from([6, 0, 1, 0, 3]), Buffer.from([15, 0, 1, 0, 3]), Buffer.from([0x83, 2]), Buffer.from([0x84, 11])
]

/** Bytes in chunks of any length. @param {Buffer} bytes @param {Random} random */
function * chunksOf (bytes, random) {
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random.small(Math.min(bytes.length, 1500))
    yield bytes.subarray(at, at += length)
  }
}

/**
 * The values in the answers that a master finds in what came back.
 * @param {import('../../gateway/modbus/wire/framing.js').Framing} framing @param {number} pending  requests
 * @param {Buffer} bytes @param {Random} random
 */
function valuesOf (framing, pending, bytes, random) {
  let values = 0
  for (let i = 0; i < pending; i++) framing.start({ unit: UNIT, request: random.pick(REQUESTS) })
  for (const chunk of chunksOf(bytes, random)) {
    for (const arrival of framing.receive(chunk)) {
      if ('lost' in arrival) framing.reset()
      else if ('values' in arrival.answer) values += arrival.answer.values.length
      else if (!('exception' in arrival.answer) && typeof arrival.answer.problem !== 'string') throw new Error('an answer that is none')
    }
    framing.complaint()
  }
  return values
}

const CANDUMP = [
  '(1436509052.249713) can0 18FEF100#0102030405060708\n(1436509052.249714) can0 123#R8\n',
  '(1436509052.249713) vcan0 12345678##1001122334455667788 R\n',
  '  can0  18ECFF00   [8]  20 0E 00 02 FF E3 FE 00\n  can0  18EBFF00   [8]  01 01 02 03 04 05 06 07\n',
  ' (2015-07-10 06:17:32.249713)  can1  TX - -  123   [3]  11 22 33   \'."3\'\n# a comment\n\n',
  '123#DEADBEEF\n20000080#0000000000000000\n',
  'date Wed Apr 16 09:21:13 am 2014\nbase hex timestamps absolute\n 1.5 1 6F9 Rx d 2 05 0C\n 2.5 CANFD 1 Rx 300 1 0 8 2 05 0C 1 2 303000',
  ';$FILEVERSION=2.1\n;$STARTTIME=44548.602\n;$COLUMNS=N,O,T,B,I,d,R,L,D\n 1 1.5 FB 2 18EF4AF1 Rx - 2 11 22\n 2 2.5 RR 1 0100 Rx - 1\n',
  '2016-02-28T19:57:02.364Z,2,127250,7,255,8,ff,10,3b,ff,7f,ce,f5,fc\n,6,126208,0,67,9,01,16,f0,01,ff,01,02,0e,01\n',
  'A173321.107 23FF7 1F513 012F3070002F30709F\n'
].map(text => Buffer.from(text))

const decoder = new CanDecoder(
  { dbcFile: new URL('sample.dbc', import.meta.url).pathname, name: 'can' },
  { log: { info () {}, warn () {}, error () {} }, nowNs: () => 10n ** 18n }
)

/** What field buses bring. @type {Target[]} */
export const busTargets = [{
  name: 'modbus-tcp',
  samples: REPLIES.map((pdu, i) => Buffer.from(mbapFrame(i + 1, UNIT, pdu))),
  invent: random => Buffer.concat(Array.from({ length: 1 + random.below(6) }, () => {
    const pdu = random.oneIn(3) ? random.bytes(random.below(250)) : random.pick(REPLIES)
    return mbapFrame(1 + random.below(4), random.oneIn(5) ? random.below(256) : UNIT, pdu)
  })),
  read: (bytes, random) => valuesOf(new Mbap(), 4, bytes, random)
}, {
  name: 'modbus-rtu',
  samples: REPLIES.map(pdu => Buffer.from(rtuFrame(UNIT, pdu))),
  invent: random => Buffer.concat(Array.from({ length: 1 + random.below(6) }, () => {
    return random.oneIn(3) ? random.bytes(random.below(40)) : Buffer.from(rtuFrame(UNIT, random.pick(REPLIES)))
  })),
  read: (bytes, random) => valuesOf(new Rtu(), 1, bytes, random)
}, {
  name: 'candump',
  samples: CANDUMP,
  invent: random => Buffer.from(Array.from({ length: 1 + random.below(10) }, () => {
    const id = random.bits().toString(16).padStart(8, '0').slice(0, random.pick([3, 8]))
    return `(${random.below(2e9)}.${random.below(1e6)}) can${random.below(3)} ${id}#${random.bytes(random.below(9)).toString('hex')}\n`
  }).join('')),
  read (bytes) {
    framesOf(bytes)
    return decoder.decode(bytes.toString()).batches.reduce((sum, batch) => sum + batch.values, 0)
  }
}]

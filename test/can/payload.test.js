import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../gateway/batch/batch.js'
import { framesOf } from '../../gateway/can/payload.js'
import { CanDecoder } from '../../gateway/can/decode.js'
import { quiet } from './bus/rig.js'

/** The frames of a payload in one line each. @param {unknown} payload */
function linesOf (payload) {
  const { frames, refused } = framesOf(payload)
  const lines = frames.map(({ frame: { bus, id, extended, kind, fd, data }, ns }) =>
    `${ns ?? 'now'} ${bus} ${id.toString(16)}${extended ? 'x' : ''} ${kind}${fd ? ' fd' : ''} ${Buffer.from(data).toString('hex')}`.trim())
  return [...lines, ...refused.map(({ reason }) => reason)]
}

describe('frames from anywhere', () => {
  /** @type {[string, unknown, string[]][]} */
  const examples = [
    ['a line of a log', '(1700000000.000001) can0 123#0102', ['1700000000000001000 can0 123 data 0102']],
    ['lines of the screen', '  can0  123   [2]  01 02\n  can1  18FEF100   [1]  07\n', [
      'now can0 123 data 0102', 'now can1 18fef100x data 07'
    ]],
    ['a buffer of lines', Buffer.from('(1700000000.000001) can0 123#0102\n'), ['1700000000000001000 can0 123 data 0102']],
    ['what cansend takes', '123#DEADBEEF\n18FEF100##1AABBCC\n7ff#R', [
      'now can 123 data deadbeef', 'now can 18fef100x data fd aabbcc', 'now can 7ff remote'
    ]],
    ['an object', { id: 0x123, data: Buffer.of(1, 2) }, ['now can 123 data 0102']],
    [
      'one with all there is',
      { id: 5, extended: true, data: '01 02', fd: true, bus: 'can3', timestamp: 1700000000000000001n },
      ['1700000000000000001 can3 5x data fd 0102']
    ],
    ['a remote one', { id: 5, remote: true }, ['now can 5 remote']],
    [
      'that of node-red-contrib-socketcan',
      { timestamp: 1700000000000, ext: false, canid: 291, dlc: 2, rtr: false, data: [1, 2], err: false, rawData: Buffer.of(1, 2) },
      ['1700000000000000000 can 123 data 0102']
    ],
    ['that with bytes in a text', { canid: 291, ext: 0, dlc: 3, data: '1,2,255' }, ['now can 123 data 0102ff']],
    [
      'that of the package socketcan',
      { id: 0x18FEF100, ext: true, ts_sec: 1700000000, ts_usec: 25, data: Buffer.of(7) },
      ['1700000000000025000 can 18fef100x data 07']
    ],
    ['that of node-red-contrib-canbus', { canid: 0x7FF, dlc: 1, data: Buffer.of(7, 0, 0, 0, 0, 0, 0, 0) }, ['now can 7ff data 07']],
    [
      'one that was JSON in between',
      JSON.parse(JSON.stringify({ id: '0x123', data: Buffer.of(1, 2), time: '2023-11-14T22:13:20Z' })),
      ['1700000000000000000 can 123 data 0102']
    ],
    [
      'times by their size',
      [1.7e9, 1.7e12, 1.7e15].map(timestamp => ({ id: 1, timestamp })),
      new Array(3).fill('1700000000000000000 can 1 data')
    ],
    ['an array of all kinds', ['123#01', { id: 2 }], ['now can 123 data 01', 'now can 2 data']],
    ['nothing', [], []],
    ['comments and blank lines', '# log\n\n', []]
  ]
  for (const [what, payload, lines] of examples) it(`may be ${what}`, () => expect(linesOf(payload)).to.deep.equal(lines))

  /** @type {[unknown, string][]} */
  const faults = [
    [7, 'a number is not a frame'],
    [null, 'null is not a frame'],
    [undefined, 'undefined is not a frame'],
    [{}, 'it has no id'],
    [{ id: -1 }, 'it has no id'],
    [{ id: 1.5 }, 'it has no id'],
    ['nonsense', 'not a line of candump'],
    [{ id: 0x20000000 }, 'the id 536870912 exceeds 29 bits'],
    [{ id: 0x800, extended: false }, 'the id 2048 exceeds 11 bits'],
    [{ id: 1, data: 'xyz' }, 'its data is not bytes'],
    [{ id: 1, data: [256] }, 'its data is not bytes'],
    [{ id: 1, data: 7 }, 'its data is not bytes'],
    [{ id: 1, data: new Uint8Array(1786) }, '1786 data bytes'],
    ['(999999999999.0) can0 123#', 'the time 999999999999.0 is beyond 2262'], [[[]], 'it has no id']
  ]
  for (const [payload, reason] of faults) {
    const shown = typeof payload === 'string' ? payload : JSON.stringify(payload)?.slice(0, 40)
    it(`are not ${shown}: ${reason}`, () => expect(linesOf(payload)).to.deep.equal([reason]))
  }

  it('are refused with a time that is not one', () => {
    expect(linesOf({ id: 1, timestamp: 'soon' })[0]).to.match(/SLUICE_TIME_FORMAT.*"soon" is not a time/)
  })

  it('may be rows of can read', () => {
    const batch = new Batch({
      source: 'can',
      time: BigInt64Array.of(5n, 6n),
      fields: [
        { name: 'id', type: 'int32' }, { name: 'extended', type: 'bool' }, { name: 'fd', type: 'bool' }, { name: 'kind', type: 'string' },
        { name: 'data', type: 'bytes' }
      ],
      columns: [Int32Array.of(1, 2), Uint8Array.of(0, 1), Uint8Array.of(0, 0), ['data', 'remote'], [Uint8Array.of(7), new Uint8Array(0)]],
      tags: { bus: 'can1' }
    })
    expect(linesOf(batch)).to.deep.equal(['5 can1 1 data 07', '6 can1 2x remote'])
    expect(linesOf(new Batch({ source: 'other', time: BigInt64Array.of(5n) }))).to.deep.equal(['undefined is not a frame'])
  })
})

describe('can decode', () => {
  const decoder = () => {
    const options = { name: 'boat', dbcFile: 'data/nmea2000.dbc' }
    return new CanDecoder(options, { log: quiet, nowNs: () => 1_700_000_000_000_000_000n })
  }

  it('makes batches of signals, by message and bus, of what it can read, and reports what it cannot', () => {
    const decoding = decoder()
    const { batches, refused } = decoding.decode('(1436509052.249713) can0 09F11204#A94C3F00007D0AFD\nnonsense\n123#00')
    expect(batches.map(({ source, tags, rows }) => [source, tags.bus, rows])).to.deep.equal([['boat.VesselHeading', 'can0', 1]])
    expect(batches[0].time[0]).to.equal(1436509052249713000n)
    expect(refused).to.deep.equal([{ value: 'nonsense', reason: 'not a line of candump' }])
    expect(decoding.gauge()).to.include({ frames: 2, rows: 1, refused: 1, unknownIds: 1 })
  })

  it('never throws, whatever it is given (100,000 payloads)', () => {
    const decoding = decoder()
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withTypedArray: true,
      withObjectString: true,
      withNullPrototype: true,
      maxDepth: 2
    })
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 70 }), fc.array(fc.nat(300), { maxLength: 10 }))
    const value = fc.oneof(anything, fc.nat(), fc.constant('0x123'), bytes)
    const key = fc.constantFrom(
      'id', 'canid', 'data', 'rawData', 'ext', 'extended', 'fd', 'rtr', 'err', 'dlc', 'timestamp', 'time', 'ts_sec', 'ts_usec', 'bus',
      'kind'
    )
    const line = fc.tuple(fc.constantFrom('(1436509052.249713) can0 ', '  can0  ', ''), fc.stringMatching(/^[0-9A-Fa-f#R. [\]]{0,40}$/))
      .map(parts => parts.join(''))
    const payload = fc.oneof(
      anything,
      line,
      fc.array(line, { maxLength: 3 }),
      fc.dictionary(key, value, { maxKeys: 6 }),
      fc.array(fc.dictionary(key, value, { maxKeys: 4 }), { maxLength: 3 })
    )
    fc.assert(fc.property(payload, given => {
      const { batches, refused } = decoding.decode(given)
      return Array.isArray(batches) && Array.isArray(refused)
    }), { seed: 1, numRuns: 100_000 })
  }).timeout(60_000)
})

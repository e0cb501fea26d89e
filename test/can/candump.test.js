import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { formatCandumpLine, parseCandumpLine, stampOf } from '../../gateway/can/candump/line.js'
import { lineBlocks } from '../../gateway/can/logs/line-blocks.js'
import { findProgram, requireServer } from '../servers/programs.js'

/** @param {string} line @returns {any} a frame, its data as hexadecimal text */
function frame (line) {
  const parsed = parseCandumpLine(line)
  return parsed && 'data' in parsed ? { ...parsed, data: Buffer.from(parsed.data).toString('hex') } : parsed
}

describe('candump lines', () => {
  it('reads the log format with exact nanoseconds', () => {
    expect(frame('(1436509052.249713) vcan0 044#2A366C2BBA')).to.deep.equal({
      stamp: { ns: 1436509052249713000n, text: '1436509052.249713', absolute: true },
      bus: 'vcan0', id: 0x44, extended: false, kind: 'data', fd: false, data: '2a366c2bba'
    })
    expect(frame('(1436509052.123456789) can0 044#').stamp.ns).to.equal(1436509052123456789n)
  })

  it('tells 29-bit identifiers by their eight digits', () => {
    expect(frame('(1436509052.249713) can0 00000044#11')).to.include({ id: 0x44, extended: true })
    expect(frame('  can0  00000044   [1]  11')).to.include({ id: 0x44, extended: true })
    expect(frame('  can0  044   [1]  11')).to.include({ id: 0x44, extended: false })
  })

  it('reads FD, remote and error frames', () => {
    expect(frame('(1436509052.249713) can0 123##1AABBCC')).to.include({ fd: true, data: 'aabbcc' })
    expect(frame('(1436509052.249713) can0 123#R8')).to.include({ kind: 'remote', data: '' })
    expect(frame('(1436509052.249713) can0 20000004#0004000000000000')).to.include({ kind: 'error', id: 4 })
    expect(frame('  can0  123  [12]  00 01 02 03 04 05 06 07 08 09 0A 0B')).to.include({ fd: true, data: '000102030405060708090a0b' })
    expect(frame('  can0  123   [8]  remote request')).to.include({ kind: 'remote' })
    expect(frame('  can0  20000004   [8]  00 04 00 00 00 00 00 00   ERRORFRAME')).to.include({ kind: 'error' })
  })

  it('reads every kind of time stamp on the screen', () => {
    expect(frame(' (1436509052.249713)  can0  123   [2]  11 22').stamp).to.deep.include({ ns: 1436509052249713000n, absolute: true })
    expect(frame(' (000.100027)  can0  123   [2]  11 22').stamp).to.deep.equal({ ns: 100027000n, text: '000.100027', absolute: false })
    expect(frame(' (2015-07-10 06:17:32.249713)  can0  123   [2]  11 22').stamp).to.deep.equal({
      ns: 1436509052249713000n, text: '1436509052.249713', absolute: true
    })
    expect(frame('  can0  123   [2]  11 22').stamp).to.equal(null)
  })

  it('reads direction and ASCII columns', () => {
    expect(frame('(1436509052.249713) can0 123#1122 R')).to.include({ data: '1122' })
    expect(frame(' (000.000000)  can0  RX - -  123   [2]  41 42   \'AB\'')).to.include({ id: 0x123, data: '4142' })
  })

  it('passes over blank lines and comments', () => {
    for (const line of ['', '   ', '\r', '# recorded at sea']) expect(parseCandumpLine(line)).to.equal(null)
  })

  it('reports what is wrong with a bad line', () => {
    /** @type {[string, string][]} */
    const bad = [
      ['hello', 'not a line of candump'],
      ['(1436509052.249713) can0 044#2A3', 'half a data byte'],
      ['(1436509052.249713) can0 044#2X', 'data that is not hexadecimal'],
      ['(1436509052.249713) can0 044#112233445566778899', '9 data bytes'],
      ['(1436509052.249713) can0 FFF#11', 'identifier FFF exceeds 11 bits'],
      ['(1436509052.249713) can0 12345#11', 'identifier 12345 has neither 3 nor 8 digits'],
      ['(1436509052.249713) can0 FFFFFFFF#11', 'identifier FFFFFFFF exceeds 29 bits'],
      ['(1436509052.249713) can0 123##', 'CAN FD frame without flags'],
      ['  can0  123   [8]  11 22', '2 data bytes where [8] are announced'],
      [' (yesterday)  can0  123   [1]  11', 'time stamp (yesterday)'],
      ['(9223372036.9) can0 123#11', 'the time 9223372036.9 is beyond 2262']
    ]
    for (const [line, reason] of bad) expect(parseCandumpLine(line), line).to.deep.equal({ reason })
  })

  it('reads every line of a real log on the screen', () => {
    const lines = readFileSync('test/data/can/nmea2000-screen.candump', 'utf8').split('\n')
    const frames = lines.map(frame).filter(parsed => parsed !== null)
    expect(frames).to.have.length(402)
    expect(frames.every(({ kind }) => kind === 'data')).to.equal(true)
    expect(frames[0]).to.include({ id: 0x09F8027F, extended: true, bus: 'can0', data: '00fcffff0000ffff', stamp: null })
  })

  it('reads any frame back that is written in the log format', () => {
    const parts = fc.record({
      seconds: fc.integer({ min: 1e8, max: 4e9 }),
      micros: fc.integer({ min: 0, max: 999999 }),
      extended: fc.boolean(),
      id: fc.integer({ min: 0, max: 0x7FF }),
      data: fc.uint8Array({ maxLength: 8 })
    })
    fc.assert(fc.property(parts, ({ seconds, micros, extended, id, data }) => {
      const digits = id.toString(16).toUpperCase().padStart(extended ? 8 : 3, '0')
      const text = `${seconds}.${String(micros).padStart(6, '0')}`
      const hex = Buffer.from(data).toString('hex')
      expect(frame(`(${text}) can1 ${digits}#${hex}`)).to.deep.equal({
        stamp: { ns: BigInt(seconds) * 1_000_000_000n + BigInt(micros) * 1000n, text, absolute: true },
        bus: 'can1', id, extended, kind: 'data', fd: false, data: hex
      })
    }), { numRuns: 5000 })
  })

  it('is written as candump does', () => {
    const lines = [
      '(1436509052.249713) vcan0 044#2A366C2BBA', '(1436509052.249713) can0 00000044#', '(1436509052.123456789) can0 7FF#R',
      '(0000000012.000001) can0 20000004#0004000000000000',
      '(1436509052.249713) can0 123##1AABBCC00'
    ]
    const recorded = readFileSync('data/nmea2000.log', 'utf8').split('\n').filter(line => line.startsWith('('))
    for (const line of [...lines, ...recorded]) expect(formatCandumpLine(/** @type {any} */ (parseCandumpLine(line)))).to.equal(line)
  })

  it('reads back as the frame it is written of', () => {
    const kind = fc.constantFrom(/** @type {const} */ ('data'), /** @type {const} */ ('remote'), /** @type {const} */ ('error'))
    const parts = fc.record({
      ns: fc.bigInt(0n, 4n * 10n ** 18n),
      id: fc.nat(0x1FFFFFFF),
      extended: fc.boolean(),
      kind,
      fd: fc.boolean(),
      data: fc.uint8Array({ maxLength: 8 })
    })
    fc.assert(fc.property(parts, ({ ns, fd, data, ...more }) => {
      const extended = more.extended || more.kind === 'error'
      const whole = {
        ...more,
        stamp: stampOf(ns),
        bus: 'can0',
        extended,
        id: extended ? more.id : more.id % 0x800,
        fd: fd && more.kind === 'data',
        data: more.kind === 'remote' ? new Uint8Array(0) : data
      }
      expect(parseCandumpLine(formatCandumpLine(whole))).to.deep.equal(whole)
    }), { numRuns: 5000, seed: 1 })
  })

  it('is read by can-utils', function () {
    const program = findProgram('log2asc')
    requireServer(/** @type {Mocha.Context} */ (this), 'can-utils', program ? null : 'log2asc is not on this machine (Debian: can-utils)')
    const written = ['(1436509052.249713) can0 044#2A366C2BBA', '(1436509052.250000) can0 0CF00421#', '(1436509052.250001) can0 123#R']
      .map(line => formatCandumpLine(/** @type {any} */ (parseCandumpLine(line))))
    const { stdout } = spawnSync(/** @type {string} */ (program), ['-n', 'can0'], { input: `${written.join('\n')}\n`, encoding: 'utf8' })
    const events = stdout.split('\r\n').flatMap(line => / (\S+) +Rx +(\S.*)$/.exec(line)?.slice(1).map(part => part.trim()).join(' ') ?? [])
    expect(events).to.deep.equal(['44 d 5 2A 36 6C 2B BA', 'CF00421x d 0', '123 r 0'])
  })

  it('never throws, whatever the line', () => {
    const piece = fc.oneof(fc.constantFrom(
      '(', ')', '1436509052.249713', 'can0', '#', '##', '[8]', 'R', '123', '12345678', ' ', '  ', '.', '_9', '00 ', '\'', '-', ':'
    ), fc.string())
    const line = fc.oneof(fc.string({ unit: 'binary' }), fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join('')))
    fc.assert(fc.property(line, text => {
      const parsed = parseCandumpLine(text)
      expect(parsed === null || 'reason' in parsed || parsed.data.length <= 64).to.equal(true)
    }), { numRuns: 10000 })
  })
})

describe('line blocks', () => {
  /** @param {Uint8Array[]} chunks */
  async function linesOf (chunks) {
    const lines = []
    for await (const block of lineBlocks((async function * () { yield * chunks })())) lines.push(...block)
    return lines
  }

  it('finds the same lines however the bytes are cut, and a last one without an end', async () => {
    const bytes = Buffer.from('first\n\nµ-second\nlast')
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)])).to.deep.equal(['first', '', 'µ-second', 'last'])
    }
  })

  it('cuts what goes on without end', async () => {
    const lines = await linesOf(Array.from({ length: 5 }, () => Buffer.alloc(50000, 'x')))
    expect(lines.every(line => line.length <= 65536)).to.equal(true)
    expect(lines.join('')).to.have.length(250000)
  })
})

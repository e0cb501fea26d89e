import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Readable, Writable } from 'node:stream'
import { expect } from 'chai'
import { decode } from '../../gateway/cli/decode.js'

const DBC = `BO_ 100 Motor: 8 X
 SG_ speed : 0|16@1+ (0.5,0) [0|0] "rpm" X
 SG_ load : 16|8@1+ (1,0) [0|0] "%" X
BO_ 101 Serial: 8 X
 SG_ number : 0|64@1+ (1,0) [0|0] "" X
BO_ 102 Float: 4 X
 SG_ f : 0|32@1- (1,0) [0|0] "" X
SIG_VALTYPE_ 102 f : 1;
`

describe('sluice decode', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-decode-'))
  const dbc = path.join(folder, 'bus.dbc')
  writeFileSync(dbc, DBC)
  after(() => rmSync(folder, { recursive: true }))

  /**
   * @param {string[]} args @param {string} [input]
   * @returns {Promise<{code: number, lines: any[], out: string, err: string}>}
   */
  async function run (args, input = '') {
    let out = ''
    let err = ''
    const sink = (/** @type {(text: string) => void} */ add) => new Writable({ write (chunk, _, done) { add(String(chunk)); done() } })
    const code = await decode(args, {
      stdin: Readable.from([Buffer.from(input)]), stdout: sink(text => { out += text }), stderr: sink(text => { err += text })
    })
    const lines = out.startsWith('{') ? out.trim().split('\n').map(line => JSON.parse(line)) : []
    return { code, lines, out, err }
  }

  it('prints one JSON object a frame, missing signals left out, and nothing else', async () => {
    const { code, lines, err } = await run(['--dbc', dbc], '(1436509052.249713) can0 064#0300FF\n(1436509052.250000) can0 064#0300\n')
    expect(lines).to.deep.equal([
      { time: '1436509052.249713', id: 100, message: 'Motor', signals: { speed: 1.5, load: 255 } },
      { time: '1436509052.250000', id: 100, message: 'Motor', signals: { speed: 1.5 } }
    ])
    expect({ code, err }).to.deep.equal({ code: 0, err: '' })
  })

  it('writes as text what JSON numbers cannot hold', async () => {
    const { lines } = await run(
      ['--dbc', dbc],
      ['065#0100000000000000', '065#FFFFFFFFFFFFFFFF', '066#0000C07F', '066#000080FF'].map(frame => `(1.0) can0 ${frame}`).join('\n')
    )
    expect(lines.map(({ signals }) => signals)).to.deep.equal([
      { number: 1 },
      { number: '18446744073709551615' },
      { f: 'NaN' },
      { f: '-Infinity' }
    ])
  })

  it('reads a file, or the screen format without times', async () => {
    const log = path.join(folder, 'screen.log')
    writeFileSync(log, '  can0  064   [3]  03 00 FF\n')
    expect((await run(['--dbc', dbc, log])).lines).to.deep.equal([
      { time: null, id: 100, message: 'Motor', signals: { speed: 1.5, load: 255 } }
    ])
  })

  it('counts on the standard error what could not be decoded', async () => {
    const { code, lines, err } = await run(
      ['--dbc', dbc],
      ['(1.0) can0 064#0300FF', '(1.0) can0 7FF#00', '(1.0) can0 064#', '(1.0) can0 064#R', 'garbage', '(1.0) can0 06'].join('\n')
    )
    expect(lines).to.have.length(1)
    expect(err).to.equal('sluice decode: not decoded of 4 frames: 1 with an identifier the DBC does not have, ' +
      '1 too short for any of their signals, 1 remote or error frames\n' +
      'sluice decode: 2 lines could not be read (first: line 5, not a line of candump)\n')
    expect(code).to.equal(0)
  })

  describe('of J1939 and NMEA 2000', () => {
    const GROUPS = `BO_ ${0x80000000 + 0x18FECAFE} Faults: 10 X
 SG_ lamp : 0|2@1+ (1,0) [0|0] "" X
 SG_ last : 72|8@1+ (1,0) [0|0] "" X
BO_ ${0x80000000 + 0x19F805FE} Gnss: 8 X
 SG_ sequence : 0|8@1+ (1,0) [0|0] "" X
 SG_ days : 8|16@1+ (1,0) [0|0] "" X
`
    const groups = path.join(folder, 'groups.dbc')
    const undeclared = path.join(folder, 'undeclared.dbc')
    writeFileSync(groups, `${GROUPS}BA_ "ProtocolType" "J1939";\n`)
    writeFileSync(undeclared, GROUPS)

    it('puts the messages of the transport protocol together, with the time of the last frame', async () => {
      const { lines, err } = await run(['--dbc', groups], `(1436509052.000000) can0 1CECFF07#200A0002FFCAFE00
(1436509052.050000) can0 1CEBFF07#0100010203040506
(1436509052.100000) can0 1CEBFF07#0207085AFFFFFFFF
`)
      expect(lines).to.deep.equal([
        { time: '1436509052.100000', id: 0x1CFECA07, message: 'Faults', signals: { lamp: 0, last: 0x5A } }
      ])
      expect(err).to.equal('')
    })

    it('prints no packet of a fast packet as a message, though the DBC describes no more bytes than it has', async () => {
      const { lines, err } = await run(['--dbc', groups], `(1.000000) can0 0DF80507#400A0134120000FF
(1.010000) can0 0DF80507#4100000000FFFFFF
(1.020000) can0 0DF80507#600A0234120000FF
`)
      expect(lines).to.deep.equal([{ time: '1.010000', id: 0x0DF80507, message: 'Gnss', signals: { sequence: 1, days: 0x1234 } }])
      expect(err).to.equal('sluice decode: not decoded of 3 frames: 1 messages of several frames that are incomplete\n')
    })

    it('matches by parameter group where it is told to, and says when it may have to be', async () => {
      const frame = '(1.0) can0 18FECA07#02000000000000000000\n(1.0) can0 18FECA07#02\n'
      const asItStands = await run(['--dbc', undeclared], frame)
      expect(asItStands.lines).to.deep.equal([])
      expect(asItStands.err).to.match(/undeclared\.dbc: It looks like a file for J1939 or NMEA 2000.* \(--match-groups\)/)
      const matched = await run(['--dbc', undeclared, '--match-groups', '--keep-indicators'], frame)
      expect(matched.lines.map(({ signals }) => signals)).to.deep.equal([{ lamp: 2 }])
    })

    it('states why a value is missing', async () => {
      const gnss = '2016-02-28T19:57:02.364Z,3,129029,7,255,10,01,fe,ff,00,00,00,00,00,00,00\n'
      const { lines } = await run(['--dbc', groups], gnss)
      expect(lines).to.deep.equal([
        { time: '1456689422.364000', id: 0x0DF80507, message: 'Gnss', signals: { sequence: 1 }, quality: 'days: out of range' }
      ])
      expect((await run(['--dbc', groups, '--keep-indicators'], gnss)).lines[0].signals).to.deep.equal({ sequence: 1, days: 65534 })
    })

    it('leaves out messages of which the DBC describes the packets', async () => {
      writeFileSync(undeclared, `${GROUPS}BO_ ${0x80000000 + 0x19F814FE} Datum: 8 X\n SG_ fastPacketData : 8|56@1+ (1,0) [0|0] "" X\n`)
      const log = '2016-02-28T19:57:02Z,3,129044,7,255,9,1,2,3,4,5,6,7,8,9\n'
      const { lines, err } = await run(['--dbc', undeclared, '--match-groups'], log)
      expect(lines).to.deep.equal([])
      expect(err).to.equal(`${undeclared}: 1 messages are left out, such as Datum: the file describes their packets, not the messages\n` +
        'sluice decode: not decoded of 1 frames: 1 messages of which the DBC describes the packets only\n')
    })
  })

  it('refuses a log in a binary format by its name', async () => {
    const { code, err } = await run(['--dbc', dbc], 'LOGG....')
    expect(code).to.equal(1)
    expect(err).to.include('SLUICE_CAN_LOG_FORMAT').and.include('the standard input is a Vector BLF log, which is not read')
  })

  it('fails when nothing could be read', async () => {
    for (const input of ['', 'garbage\n']) expect(await run(['--dbc', dbc], input)).to.include({ code: 1, out: '' })
    const noLog = await run(['--dbc', dbc, path.join(folder, 'none.log')])
    expect(noLog.code).to.equal(1)
    expect(noLog.err).to.include('none.log')
    const noDbc = await run(['--dbc', path.join(folder, 'none.dbc')])
    expect(noDbc.code).to.equal(1)
    expect(noDbc.err).to.include('SLUICE_DBC_FILE')
  })

  it('prints its help', async () => {
    for (const args of [[], ['--wrong'], ['--dbc', dbc, 'a', 'b']]) {
      const { code, out, err } = await run(args)
      expect({ code, out }).to.deep.equal({ code: 2, out: '' })
      expect(err).to.include('Usage: sluice decode --dbc FILE [OPTIONS] [LOG]')
    }
    expect((await run(['--help'])).out).to.include('Usage: sluice decode')
  })

  it('waits for a slow reader and stops when the reader goes away', async () => {
    const log = '(1436509052.249713) can0 064#0300FF\n'.repeat(20000)
    let taken = 0
    let waiting = 0
    const slow = new Writable({
      highWaterMark: 1000,
      write (chunk, _, done) {
        waiting = Math.max(waiting, ++taken - 1)
        setImmediate(() => {
          taken--
          done(chunk.length > 0 && ++writes > 5 ? Object.assign(new Error('gone'), { code: 'EPIPE' }) : null)
        })
      }
    })
    let writes = 0
    const blocks = Array.from({ length: 100 }, (_, i) => Buffer.from(log.slice(i * log.length / 100, (i + 1) * log.length / 100)))
    const code = await decode(['--dbc', dbc], {
      stdin: Readable.from(blocks),
      stdout: slow,
      stderr: new Writable({ write (_, __, done) { done() } })
    })
    expect(code).to.equal(0)
    expect({ waiting, writes }).to.deep.equal({ waiting: 0, writes: 6 })
  })
})

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
      'sluice decode: 2 lines are not of candump (first: line 5, not a line of candump)\n')
    expect(code).to.equal(0)
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
      expect(err).to.include('Usage: sluice decode --dbc FILE [LOG]')
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

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { openCanRead } from '../../gateway/can/read.js'
import { recorder } from '../sources/manual-clock.js'
import { closers, Ear, frame, open } from './bus/rig.js'

const GROUP = 0x80000000 + 0x18FF00FE
const LONG = 0x80000000 + 0x18FECAFE

const DBC = `BO_ 99 Alive: 0 X
BO_ 100 Motor: 8 X
 SG_ speed : 0|16@1+ (0.5,0) [0|0] "rpm" X
 SG_ mode : 16|8@1+ (1,0) [0|0] "" X
BO_ ${GROUP} Group: 8 X
 SG_ level : 0|8@1+ (1,0) [0|0] "" X
BO_ ${LONG} Faults: 12 X
 SG_ last : 88|8@1+ (1,0) [0|0] "" X
SG_ lost : 0|8@1+ what
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_ "VFrameFormat" BO_ ${GROUP} 3;
BA_ "VFrameFormat" BO_ ${LONG} 3;
VAL_ 100 mode 0 "off" 1 "on" ;
`

const MS = 1_000_000n

describe('can read', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-can-read-'))
  const dbcFile = path.join(folder, 'bus.dbc')
  writeFileSync(dbcFile, DBC)
  after(() => rmSync(folder, { recursive: true }))

  const closeLater = closers()

  /** A bus and one who reads it; `send` takes frames a millisecond from each other. @param {object} [options] */
  async function reading (options = {}) {
    const recording = recorder()
    const bus = await open({ kind: 'virtual', channel: 'read', fd: true }, { clock: recording.clock })
    closeLater(() => bus.close())
    const source = openCanRead({ name: 'car', dbcFile, ...options }, { ...recording, isPaused: () => recording.isPaused(), bus })
    closeLater(() => source.close())
    const start = recording.clock.ns
    const send = async (/** @type {import('./bus/rig.js').Frame[]} */ ...frames) => {
      for (const [i, each] of frames.entries()) await bus.send(each, start + BigInt(i) * MS)
    }
    return { recording, source, bus, start, send }
  }

  it('makes a source of each message, with a column for each signal, and batches what comes within 50 ms', async () => {
    const { recording, start, send, source } = await reading()
    await send(frame(100, [0x64, 0, 1]), frame(100, [0xC8, 0]), frame(0x18FF0021, [5]), frame(0x77))
    expect(recording.batches).to.deep.equal([])
    recording.clock.advance(50)
    expect(recording.batches.map(({ source: name, tags }) => [name, tags.bus])).to.deep.equal([
      ['car.Motor', 'read'],
      ['car.Group', 'read']
    ])
    expect(recording.rows()).to.deep.equal([
      { time: start, speed: 50, mode: 1 },
      { time: start + MS, speed: 100 },
      { time: start + 2n * MS, address: 0x21, level: 5 }
    ])
    expect(source.counters).to.include({ frames: 4, rows: 3, unknownIds: 1, missed: 0 })
    recording.clock.advance(50)
    expect(recording.batches).to.have.length(2)
  })

  it('makes no row of a message without signals, which no database could hold', async () => {
    const { recording, send, source } = await reading()
    await send(frame(99), frame(100, [], { kind: 'remote' }))
    recording.clock.advance(50)
    expect(recording.batches).to.deep.equal([])
    expect(source.counters).to.include({ frames: 2, rows: 0, otherFrames: 2, unknownIds: 0 })
  })

  it('decodes to the names of values, if asked to', async () => {
    const { recording, send } = await reading({ choices: 'texts' })
    await send(frame(100, [0, 0, 1]), frame(100, [0, 0, 7]))
    recording.clock.advance(50)
    expect(recording.rows().map(({ mode }) => mode)).to.deep.equal(['on', '7'])
  })

  it('reassembles messages of several frames', async () => {
    const { recording, send, source } = await reading()
    await send(
      frame(0x18ECFFFE, [32, 12, 0, 2, 0xFF, 0xCA, 0xFE, 0]),
      frame(0x18EBFFFE, [1, 0, 1, 2, 3, 4, 5, 6]), frame(0x18EBFFFE, [2, 7, 8, 9, 10, 42, 0xFF, 0xFF])
    )
    recording.clock.advance(50)
    expect(recording.batches.map(batch => batch.source)).to.deep.equal(['car.Faults'])
    expect(recording.rows()).to.have.nested.property('[0].last', 42)
    expect(source.gauge?.()).to.include({ frames: 3, transfers: 1, timeouts: 0, unknownIds: 0 })
  })

  it('reads frames as they are', async () => {
    const { recording, start, send } = await reading({ mode: 'frames', dbcFile: 'nowhere' })
    await send(frame(0x123, [1, 2]), frame(0x18FF0021, new Array(12).fill(7), { fd: true }), frame(5, [], { kind: 'remote' }))
    recording.clock.advance(50)
    const [batch] = recording.batches
    expect(batch.fields.map(({ name, type }) => `${name} ${type}`)).to.deep.equal([
      'id int32', 'extended bool', 'fd bool', 'kind string', 'length uint16', 'data bytes'
    ])
    expect(batch.toObjects()).to.deep.equal([
      { time: start, id: 0x123, extended: false, fd: false, kind: 'data', length: 2, data: Uint8Array.of(1, 2) },
      { time: start + MS, id: 0x18FF0021, extended: true, fd: true, kind: 'data', length: 12, data: new Uint8Array(12).fill(7) },
      { time: start + 2n * MS, id: 5, extended: false, fd: false, kind: 'remote', length: 0, data: new Uint8Array(0) }
    ])
  })

  for (const mode of ['signals', 'frames']) {
    it(`sends at most 1000 rows of ${mode} in a batch`, async () => {
      const { recording, send } = await reading({ mode })
      await send(...Array.from({ length: 2500 }, (_, i) => frame(100, [i & 255, i >> 8, 0])))
      recording.clock.advance(50)
      expect(recording.batches.map(({ rows }) => rows)).to.deep.equal([1000, 1000, 500])
    })
  }

  it('reads only the identifiers that are wanted', async () => {
    const { source, send } = await reading({ filter: '64' })
    await send(frame(0x64, [0, 0, 0]), frame(0x65))
    expect(source.counters).to.include({ frames: 1, rows: 1, unknownIds: 0 })
  })

  it('drops and counts what a live bus carries while it is paused, and keeps what it has', async () => {
    const { recording, source, send } = await reading()
    await send(frame(100, [0, 0, 1]))
    recording.isPaused = () => true
    await send(frame(100, [0, 0, 2]), frame(100, [0, 0, 3]))
    recording.clock.advance(200)
    expect(recording.batches).to.deep.equal([])
    recording.isPaused = () => false
    await send(frame(100, [0, 0, 4]))
    recording.clock.advance(50)
    expect(recording.rows().map(({ mode }) => mode)).to.deep.equal([1, 4])
    expect(source.counters).to.include({ missed: 2, frames: 2 })
  })

  it('sends what it has when it is closed, or counts it while it is paused', async () => {
    const { recording, source, send } = await reading()
    await send(frame(100, [0, 0, 1]), frame(100, [0, 0, 2]))
    await source.close()
    expect(recording.rows().map(({ mode }) => mode)).to.deep.equal([1, 2])
    await source.close()
    expect(recording.batches).to.have.length(1)

    const other = await reading()
    await other.send(frame(100, [0, 0, 1]), frame(100, [0, 0, 2]))
    other.recording.isPaused = () => true
    await other.source.close()
    expect(other.recording.batches).to.deep.equal([])
    expect(other.source.counters).to.include({ rows: 2, missed: 2 })
  })

  it('has a played log wait, loses nothing, and ends with the log', async () => {
    const recording = recorder()
    const logFile = path.join(folder, 'bus.log')
    const log = Array.from({ length: 3000 }, (_, i) => {
      return `(1700000000.${String(i).padStart(6, '0')}) can7 064#0000${(i % 256).toString(16).padStart(2, '0')}`
    })
    writeFileSync(logFile, ['bad', ...log].join('\n'))
    const bus = await open({ kind: 'playback', logFile, loop: false, speed: 0 }, { clock: recording.clock })
    let asked = 0
    recording.isPaused = () => asked++ % 10 !== 9
    const source = openCanRead({ name: 'car', dbcFile }, { ...recording, isPaused: () => recording.isPaused(), bus })
    expect(await recording.ended).to.equal(undefined)
    await bus.close()
    expect(recording.rows().map(({ mode }) => mode)).to.deep.equal(Array.from({ length: 3000 }, (_, i) => i % 256))
    expect(recording.batches.every(({ tags }) => tags.bus === 'can7')).to.equal(true)
    expect(source.counters).to.include({ frames: 3000, missed: 0, badLines: 1 })
  })

  for (const rows of [1, 1000]) {
    it(`ends where its batches are refused, and spares the others on the bus: after ${rows} rows`, async () => {
      const { recording, bus, send } = await reading()
      const other = new Ear()
      bus.listen(other)
      recording.emit = () => { throw new Error('no room') }
      const source = openCanRead({ dbcFile }, { ...recording, bus })
      closeLater(() => source.close())
      await send(...Array.from({ length: rows }, () => frame(100, [0, 0, 1])), frame(100, [0, 0, 2]))
      recording.clock.advance(50)
      expect(await recording.ended).to.have.property('message', 'no room')
      expect(other.frames).to.have.length(rows + 1)
      expect(recording.rows()).to.have.length(rows + 1)
    })
  }

  it('reports which lines of the DBC file are bad', async () => {
    const { recording } = await reading()
    expect(recording.warnings).to.deep.equal([`${dbcFile}, line 9: not a signal.`])
  })

  it('reads any number of buses of a log, many of them as one', async () => {
    const recording = recorder()
    const logFile = path.join(folder, 'many.log')
    writeFileSync(logFile, Array.from({ length: 100 }, (_, i) => `(1700000000.0) bus${i} 064#000000`).join('\n'))
    const bus = await open({ kind: 'playback', logFile, loop: false, speed: 0 }, { clock: recording.clock })
    openCanRead({ dbcFile }, { ...recording, bus })
    await recording.ended
    expect(recording.rows()).to.have.length(100)
    expect(recording.batches).to.have.length(33)
  })

  /** @type {[string, object, string][]} */
  const faults = [
    ['a filter that is not one', { filter: 'what' }, 'SLUICE_CAN_FILTER'],
    ['no DBC file', { dbcFile: 'nowhere.dbc' }, 'SLUICE_DBC_FILE'],
    ['an option out of range', { batchMs: 1 }, 'SLUICE_OPTIONS']
  ]
  for (const [what, options, code] of faults) {
    it(`refuses ${what}`, async () => {
      expect(await reading(options).catch(error => error)).to.have.property('code', code)
    })
  }
})

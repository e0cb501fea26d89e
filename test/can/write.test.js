import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { CanWriter } from '../../gateway/can/write.js'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'
import { openCanRead } from '../../gateway/can/read.js'
import { valuesOf } from './random-values.js'
import { recorder } from '../sources/manual-clock.js'
import { closers, Ear, open } from './bus/rig.js'

const DBC = `BO_ 100 Motor: 2 X
 SG_ speed : 0|8@1+ (0.5,0) [0|100] "rpm" X
 SG_ mode : 8|8@1+ (1,0) [0|0] "" X
BO_ 101 Door: 1 X
 SG_ open : 0|1@1+ (1,0) [0|1] "" X
VAL_ 100 mode 0 "off" 1 "on" ;
`
const DBC_FOLDER = 'test/data/can/dbc'

describe('can write', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-can-write-'))
  const dbcFile = path.join(folder, 'bus.dbc')
  writeFileSync(dbcFile, DBC)
  after(() => rmSync(folder, { recursive: true }))

  const closeLater = closers()

  /** @param {object} [options] */
  async function writing (options = {}) {
    const { clock } = recorder()
    const bus = await open({ kind: 'virtual', channel: 'write' }, { clock })
    const ear = new Ear()
    bus.listen(ear)
    const writer = new CanWriter({ dbcFile, ...options }, { bus, clock })
    closeLater(async () => writer.close(), () => bus.close())
    return { writer, ear, clock, bus }
  }

  /** @type {[string, {payload: unknown, topic?: string}, string[]][]} */
  const examples = [
    ['a message by name', { payload: { message: 'Motor', signals: { speed: 50, mode: 'on' } } }, ['64#6401']],
    ['the message of the topic', { topic: 'Motor', payload: { speed: 1.5 } }, ['64#0300']],
    ['the message at the end of the topic', { topic: 'car.Door', payload: { open: true } }, ['65#01']],
    ['several messages', { payload: [{ message: 'Door', signals: { open: 1 } }, { message: 'Door' }] }, ['65#01', '65#00']],
    ['a frame as it is', { payload: { id: 0x123, data: [1, 2] } }, ['123#0102']],
    ['lines', { payload: '123#01\n18FEF100#02' }, ['123#01', '18FEF100#02']]
  ]
  for (const [what, message, lines] of examples) {
    it(`sends ${what}`, async () => {
      const { writer, ear } = await writing()
      await writer.write(message)
      expect(ear.lines).to.deep.equal(lines)
      expect(writer.counters).to.include({ sent: lines.length, refused: 0, failed: 0 })
    })
  }

  /** @type {[string, {payload: unknown, topic?: string}, string, RegExp][]} */
  const faults = [
    ['a value out of range', { payload: { message: 'Motor', signals: { speed: 101 } } }, 'SLUICE_CAN_ENCODE', /speed cannot be 101/],
    ['a signal that is none', { payload: { message: 'Motor', signals: { torque: 1 } } }, 'SLUICE_CAN_ENCODE', /no signal torque/],
    ['a message that is none', { payload: { message: 'Engine', signals: {} } }, 'SLUICE_CAN_MESSAGE', /no message "Engine"/],
    ['signals that are none', { payload: { message: 'Motor', signals: 7 } }, 'SLUICE_CAN_FRAME', /must be an object/],
    ['a period that is none', { payload: { message: 'Motor', signals: {}, cycleMs: -1 } }, 'SLUICE_CAN_FRAME', /cycleMs/],
    ['signals of no message', { topic: 'car', payload: { speed: 1 } }, 'SLUICE_CAN_FRAME', /it has no id\. Nor is its topic a message/],
    ['nothing', { payload: '' }, 'SLUICE_CAN_FRAME', /nothing to send/],
    ['a remote frame of CAN FD', { payload: { id: 1, rtr: true, fd: true } }, 'SLUICE_CAN_SEND', /no remote frames/],
    ['a frame that no bus could carry', { payload: { id: 1, data: new Array(9).fill(0), fd: false } }, 'SLUICE_CAN_SEND', /at most 8/]
  ]
  for (const [what, message, code, text] of faults) {
    it(`refuses ${what}`, async () => {
      const { writer, ear } = await writing()
      const error = await writer.write(message).catch(thrown => thrown)
      expect(error).to.have.property('code', code)
      expect(error.message).to.match(text)
      expect(ear.frames).to.deep.equal([])
      expect(writer.counters.refused + writer.counters.failed).to.equal(1)
    })
  }

  it('sends nothing of a message that is partly wrong', async () => {
    const { writer, ear } = await writing()
    await writer.write({ payload: [{ message: 'Door' }, { message: 'Dor' }] }).catch(() => {})
    expect(ear.frames).to.deep.equal([])
  })

  describe('cyclic', () => {
    const turn = () => new Promise(resolve => setImmediate(resolve))

    /**
     * Time passes, and what is sent meanwhile is taken.
     * @param {import('../sources/manual-clock.js').ManualClock} clock
     * @param {number} ms
     */
    async function pass (clock, ms) {
      for (let passed = 0; passed < ms; passed++) {
        await turn()
        clock.advance(1)
      }
      await turn()
    }

    it('repeats the last values of the messages in its table, on the grid of the first', async () => {
      const { writer, ear, clock } = await writing({ cyclic: [{ message: 'Motor', periodMs: 20 }] })
      const start = clock.ns
      clock.advance(100)
      expect(ear.frames).to.deep.equal([])
      await writer.write({ topic: 'Motor', payload: { speed: 1 } })
      await writer.write({ topic: 'Door', payload: { open: 1 } })
      await pass(clock, 60)
      expect(ear.lines).to.deep.equal(['64#0200', '65#01', '64#0200', '64#0200', '64#0200'])
      expect(ear.times.map(ns => Number(ns - start) / 1e6)).to.deep.equal([100, 100, 120, 140, 160])
    })

    it('is started and ended by messages', async () => {
      const { writer, ear, clock } = await writing()
      await writer.write({ payload: { message: 'Door', signals: { open: 1 }, cycleMs: 10 } })
      await pass(clock, 30)
      await writer.write({ payload: { message: 'Door', signals: { open: 0 }, cycleMs: 0 } })
      clock.advance(100)
      expect(ear.lines).to.deep.equal(['65#01', '65#01', '65#01', '65#01', '65#00'])
      expect(writer.gauge()).to.include({ sent: 5, repeated: 3, cyclicMessages: 0 })
    })

    it('does not send in a burst what it could not send in time', async () => {
      const { writer, ear, clock } = await writing()
      await writer.write({ payload: { message: 'Door', cycleMs: 10 } })
      clock.stall(100)
      await pass(clock, 10)
      expect(ear.frames).to.have.length(3)
      expect(writer.counters.skipped).to.equal(9)
    })

    it('does not send a second one while the bus has not accepted the first', async () => {
      const { writer, ear, clock, bus } = await writing()
      await writer.write({ payload: { message: 'Door', cycleMs: 10 } })
      const { send } = bus
      const { promise: room, resolve: makeRoom } = Promise.withResolvers()
      bus.send = async sent => {
        await room
        await Reflect.apply(send, bus, [sent])
      }
      clock.advance(1000)
      bus.send = send
      makeRoom(undefined)
      await turn()
      expect(ear.frames).to.have.length(2)
      expect(writer.counters.skipped).to.equal(99)
      await pass(clock, 20)
      expect(ear.frames).to.have.length(4)
    })

    it('is not started by what is still being sent when it is closed', async () => {
      const { writer, ear, clock } = await writing()
      const sending = writer.write({ payload: [{ message: 'Motor' }, { message: 'Door', cycleMs: 10 }] })
      writer.close()
      expect(await sending.catch(error => error)).to.have.property('code', 'SLUICE_CAN_SEND')
      clock.advance(100)
      expect(ear.lines).to.deep.equal(['64#0000'])
    })

    it('reports what is wrong while it fails, and goes on', async () => {
      const { writer, clock, bus } = await writing()
      await writer.write({ payload: { message: 'Door', cycleMs: 10 } })
      const { send } = bus
      bus.send = () => Promise.reject(new Error('no bus'))
      clock.advance(10)
      await turn()
      expect(writer.trouble()).to.equal('no bus')
      bus.send = send
      clock.advance(10)
      await turn()
      expect(writer.trouble()).to.equal(undefined)
      expect(writer.counters).to.include({ sent: 2, failed: 1 })
    })

    it('needs messages that exist', async () => {
      expect(await writing({ cyclic: [{ message: 'Engine' }] }).catch(error => error)).to.have.property('code', 'SLUICE_CAN_MESSAGE')
      await (await open({ kind: 'virtual', channel: 'write' })).close()
    })
  })

  const files = [
    ...readdirSync(DBC_FOLDER).filter(name => name.endsWith('.dbc')).map(name => `${DBC_FOLDER}/${name}`),
    'data/nmea2000.dbc',
    'data/vehicle.dbc'
  ]
  for (const file of files) {
    it(`gets to can read as it was: every signal of ${path.basename(file)}`, async function () {
      const messages = messagesOf(file)
      if (messages.length === 0) return
      const recording = recorder()
      const bus = await open({ kind: 'virtual', channel: 'round', fd: true }, { clock: recording.clock })
      const source = openCanRead({ name: 'x', dbcFile: file }, { ...recording, bus })
      const writer = new CanWriter({ dbcFile: file }, { bus, clock: recording.clock })
      closeLater(() => source.close(), async () => writer.close(), () => bus.close())
      const decoder = new Decoder(messages)
      let frames = 0
      for (const message of messages) {
        // Not one that others hide, nor what needs several frames.
        const maxBytes = message.isParameterGroup ? 8 : 64
        if (message.length > maxBytes || message.signals.length === 0) continue
        if (decoder.find(message.id, message.extended) !== message) continue
        for (const values of fc.sample(valuesOf(message), { numRuns: 5, seed: 4 })) {
          recording.batches.length = 0
          await writer.write({ payload: { message: message.name, signals: values } })
          recording.clock.advance(50)
          const [row] = recording.rows()
          for (const [name, value] of Object.entries(values)) {
            expectSame(row?.[name], value, message.signals.find(signal => signal.name === name), `${message.name}.${name}`)
          }
          frames++
        }
      }
      expect(source.counters).to.include({ frames, rows: frames, unknownIds: 0, undecodable: 0, missed: 0 })
    })
  }
})

/** @param {string} file */
function messagesOf (file) {
  try {
    return readDbcFile(file).messages
  } catch (error) {
    if (/** @type {any} */ (error).code === 'SLUICE_DBC_EMPTY') return []
    throw error
  }
}

/** @param {unknown} read @param {number|bigint} written @param {any} signal @param {string} what */
function expectSame (read, written, { step }, what) {
  if (typeof written === 'bigint') expect(BigInt(/** @type {any} */ (read)), what).to.equal(written)
  else expect(Number(read), what).to.be.closeTo(written, Number(step) / 2 + Math.abs(written) * 1e-6)
}

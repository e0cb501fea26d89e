import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { systemClock } from '../../../gateway/clock/system-clock.js'
import { openSocketcan } from '../../../gateway/can/bus/socketcan.js'
import { requireServer } from '../../servers/programs.js'
import { recorder } from '../../sources/manual-clock.js'
import { describeBus } from './contract.js'
import { FakeKernel } from './fake-kernel.js'
import { Ear, frame, open, quiet } from './rig.js'
import { noVcan } from './vcan.js'

/** @typedef {import('../../../gateway/can/bus/bus.js').Frame} Frame */

let buses = 0

/** @param {import('../../../gateway/can/bus/bus.js').Bus} bus @param {Frame[]} frames */
async function sendAll (bus, frames) {
  for (const each of frames) await bus.send(each)
}

/** @param {Frame} frame @param {number} i  a millisecond each */
function logLine ({ id, extended, kind, data }, i) {
  const content = kind === 'remote' ? 'R' : Buffer.from(data).toString('hex')
  return `(1700000000.${String(i).padStart(3, '0')}) can0 ${id.toString(16).padStart(extended ? 8 : 3, '0')}#${content}\n`
}

const socketcanOptions = { interface: 'can0', sending: true, fd: true, bitrate: 0, dataBitrate: 0 }

describe('CAN buses', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-can-'))
  const logFile = path.join(folder, 'bus.log')
  after(() => rmSync(folder, { recursive: true }))

  describeBus({
    name: 'virtual',
    async make (frames) {
      const channel = `bus${buses++}`
      const [bus, other] = [await open({ kind: 'virtual', channel }), await open({ kind: 'virtual', channel })]
      return { bus, carry: () => sendAll(other, frames), close: () => other.close() }
    }
  })

  describeBus({
    name: 'playback',
    waits: true,
    async make (frames) {
      writeFileSync(logFile, frames.map(logLine).join(''))
      return { bus: await open({ kind: 'playback', logFile, loop: false }) }
    }
  })

  describeBus({
    name: 'SocketCAN over a fake kernel',
    async make (frames) {
      const kernel = new FakeKernel()
      kernel.add('can0')
      const context = { log: quiet, clock: systemClock }
      const [bus, other] = [await openSocketcan(socketcanOptions, context, kernel), await openSocketcan(socketcanOptions, context, kernel)]
      return { bus, carry: () => sendAll(other, frames), close: () => other.close().then(() => kernel.close()) }
    }
  })

  describe('SocketCAN', () => {
    const name = `sluice${process.pid % 10_000}`
    before(async function () {
      requireServer(this, 'vcan', await noVcan(name))
    })
    after(() => { spawnSync('ip', ['link', 'delete', name]) })

    describeBus({
      name: 'a virtual interface of the kernel',
      async make (frames) {
        const options = { kind: 'socketcan', interface: name, sending: true }
        const [bus, other] = [await open(options), await open(options)]
        return { bus, carry: () => sendAll(other, frames), close: () => other.close() }
      }
    })
  })

  describe('virtual', () => {
    it('has its listeners hear what is sent through it', async () => {
      const bus = await open({ kind: 'virtual', channel: 'one' })
      const ear = new Ear()
      bus.listen(ear)
      await bus.send(frame(0x123, [1]), 42n)
      expect({ lines: ear.lines, times: ear.times, buses: ear.frames.map(each => each.bus) }).to.deep.equal({
        lines: ['123#01'],
        times: [42n],
        buses: ['one']
      })
      await bus.close()
    })

    it('is another bus by another name, and no bus once it is closed', async () => {
      const [one, other] = [await open({ kind: 'virtual', channel: 'one' }), await open({ kind: 'virtual', channel: 'other' })]
      const ear = new Ear()
      one.listen(ear)
      await other.send(frame(1))
      await one.close()
      await other.close()
      expect(ear.frames).to.deep.equal([])
    })

    /** @type {[string, Frame, RegExp][]} */
    const misfits = [
      ['an identifier of too many bits', frame(0x800, [], { extended: false }), /exceeds 11 bits/],
      ['a long one', frame(1, new Array(9).fill(0)), /without CAN FD it has at most 8/],
      ['a CAN FD frame where that is off', frame(1, new Array(12).fill(0), { fd: true }), /does not send CAN FD/],
      ['a length that no frame has', frame(1, new Array(13).fill(0), { fd: true }), /No frame has 13 bytes/],
      ['an error frame', frame(4, [], { kind: 'error' }), /error frame cannot be sent/]
    ]
    for (const [what, misfit, reason] of misfits) {
      it(`refuses ${what}`, async () => {
        const bus = await open({ kind: 'virtual', channel: 'strict' })
        const error = await bus.send(misfit).catch(thrown => thrown)
        await bus.close()
        expect(error).to.have.property('code', 'SLUICE_CAN_SEND')
        expect(error.message).to.match(reason)
      })
    }

    it('reports its load', async () => {
      const clock = recorder().clock
      const bus = await open({ kind: 'virtual', channel: 'load', bitrate: 500_000 }, { clock })
      for (let ms = 0; ms < 1000; ms++) await bus.send(frame(0x123, [1, 2, 3, 4, 5, 6, 7, 8]), clock.ns + BigInt(ms) * 1_000_000n)
      clock.ns += 1_000_000_000n
      const { framesPerSecond, loadPercent } = /** @type {any} */ (bus.gauge())
      await bus.close()
      expect(framesPerSecond).to.equal(1000)
      expect(loadPercent).to.be.within(22, 26.5) // 111 to 132 bits a frame
    })
  })

  describe('playback', () => {
    /** @param {string[]} lines @param {object} [options] @param {ReturnType<typeof recorder>} [recording] */
    async function play (lines, options = {}, recording = recorder()) {
      writeFileSync(logFile, lines.join('\n'))
      const bus = await open({ kind: 'playback', logFile, loop: false, ...options }, { clock: recording.clock, log: recording.log })
      const ear = new Ear()
      bus.listen(ear)
      return { bus, ear, recording }
    }
    const log = Array.from({ length: 100 }, (_, i) => logLine(frame(i), i * 10).trim())

    for (const speed of [1, 10, 0]) {
      it(`keeps the distances of the log at speed ${speed}`, async () => {
        const { ear } = await play(log, { speed })
        expect(await ear.ended).to.equal(undefined)
        expect(ear.times.map(ns => Number(ns - ear.times[0]) / 1e6)).to.deep.equal(log.map((_, i) => i * 10 / (speed || 1)))
      })
    }

    it('begins again where it loops, its times going on', async () => {
      const { ear, bus } = await play(log, { loop: true })
      await ear.heard(250)
      await bus.close()
      expect(ear.frames.slice(0, 250).map(({ id }) => id)).to.deep.equal(Array.from({ length: 250 }, (_, i) => i % 100))
      const times = ear.times.slice(0, 250).map(ns => Number(ns - ear.times[0]) / 1e6)
      expect(times).to.deep.equal(Array.from({ length: 250 }, (_, i) => i * 10))
    })

    it('starts over for a listener that comes after its end', async () => {
      const { ear, bus } = await play(log)
      await ear.ended
      const later = new Ear()
      bus.listen(later)
      expect(await later.ended).to.equal(undefined)
      expect(later.lines).to.deep.equal(ear.lines)
      expect(later.times[0] > ear.times[ear.times.length - 1]).to.equal(true)
      await bus.close()
    })

    it('reports that the times of the log jump, when the next frame is far away', async () => {
      const { ear, bus } = await play(['(0.1) can0 123#01', '(1700000000.0) can0 123#02'], { speed: 1 })
      await ear.heard(1)
      while (!bus.trouble()) await new Promise(resolve => setImmediate(resolve))
      expect(bus.trouble()).to.match(/^the times jump: the next frame plays in 1967[45] days$/)
      await bus.close()
    })

    it('passes error frames on to all', async () => {
      const recording = recorder()
      const { ear, bus } = await play(['(1700000000.0) can0 20000004#0010000000000000'], {}, recording)
      await ear.ended
      expect(ear.frames.map(({ kind }) => kind)).to.deep.equal(['error'])
      expect(bus.gauge()).to.include({ errorFrames: 1, state: 'error-passive' })
    })

    it('counts bad lines, and warns of the first', async () => {
      const { ear, bus, recording } = await play(['bad', log[0], 'worse'])
      await ear.ended
      expect(bus.counters).to.deep.equal({ badLines: 2 })
      expect(recording.warnings).to.deep.equal([`${logFile}, line 1: not a line of candump. Bad lines are counted and left out.`])
    })

    it('ends with an error where the log holds no frame', async () => {
      const { ear } = await play(['bad'], { loop: true })
      expect(await ear.ended).to.have.property('code', 'SLUICE_REPLAY_EMPTY')
    })

    it('refuses frames', async () => {
      const { bus } = await play(log)
      expect(await bus.send(frame(1)).catch(error => error)).to.have.property('code', 'SLUICE_CAN_READ_ONLY')
      await bus.close()
    })

    it('needs a log', async () => {
      const failure = await open({ kind: 'playback', logFile: path.join(folder, 'none.log') }).catch(error => error)
      expect(failure).to.have.property('code', 'SLUICE_REPLAY_FILE')
    })
  })
})

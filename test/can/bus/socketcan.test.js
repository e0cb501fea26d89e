import { expect } from 'chai'
import { parseIdFilter } from '../../../gateway/can/bus/id-filter.js'
import { detailsOf } from '../../../gateway/can/bus/interface.js'
import { KernelClock } from '../../../gateway/can/bus/kernel-clock.js'
import { openSocketcan } from '../../../gateway/can/bus/socketcan.js'
import { recorder } from '../../sources/manual-clock.js'
import { FakeKernel } from './fake-kernel.js'
import { Ear, frame, open } from './rig.js'

const MS = 1_000_000n

describe('SocketCAN', () => {
  /** @type {FakeKernel} */
  let kernel
  /** @type {any} */
  let bus
  /** @type {ReturnType<typeof recorder>} */
  let recording
  beforeEach(() => { kernel = new FakeKernel() })
  afterEach(async () => {
    await bus?.close()
    bus = undefined
    kernel.close()
  })

  /** A bus on can0, and one who hears it. @param {object} [options] */
  async function listen (options = {}) {
    recording = recorder()
    bus = await openSocketcan({ interface: 'can0', sending: true, fd: false, bitrate: 0, dataBitrate: 0, ...options }, recording, kernel)
    const ear = new Ear()
    bus.listen(ear)
    return ear
  }

  /** @param {number} id */
  const arrive = id => kernel.carry('can0', { id, data: Buffer.of(1) })

  it('waits for an interface that does not exist yet', async () => {
    const ear = await listen()
    expect(bus.trouble()).to.equal('there is no interface can0')
    kernel.add('can0')
    await bus.look()
    expect(bus.trouble()).to.equal(undefined)
    arrive(0x123)
    await ear.heard(1)
  })

  it('waits for one that is down', async () => {
    kernel.add('can0')
    kernel.set('can0', { isUp: false })
    const ear = await listen()
    expect(bus.trouble()).to.equal('can0 is down')
    kernel.set('can0', { isUp: true })
    await bus.look()
    arrive(0x123)
    await ear.heard(1)
    expect(bus.trouble()).to.equal(undefined)
  })

  it('hears again after the interface has disappeared and come back, fifty times', async () => {
    kernel.add('can0')
    const ear = await listen()
    for (let round = 1; round <= 50; round++) {
      arrive(round)
      await ear.heard(round)
      kernel.remove('can0')
      if (round % 2 === 0) {
        await bus.look()
        expect(bus.trouble()).to.equal('there is no interface can0')
      }
      kernel.add('can0')
      await bus.look()
    }
    expect(ear.frames.map(({ id }) => id)).to.deep.equal(Array.from({ length: 50 }, (_, i) => i + 1))
    expect(bus.gauge()).to.include({ reopened: 50 })
    expect(kernel.interfaces.get('can0')?.size).to.equal(1)
  })

  it('is retried each second at first, then less and less often', async () => {
    const { interfaces } = kernel
    kernel.add('can0')
    kernel.interfaces = new Map() // sysfs shows it, the socket does not get it
    await listen()
    const tries = /** @type {number[]} */ ([])
    for (let look = 1; look <= 40; look++) {
      kernel.interfaces = /** @type {any} */ ({ get: () => { tries.push(look) } })
      await bus.look()
    }
    expect(tries).to.deep.equal([1, 3, 7, 15, 31])
    expect(bus.trouble()).to.match(/can0 cannot be opened: Error while creating channel/)
    expect(recording.warnings).to.have.length(1)
    kernel.interfaces = interfaces
    for (let look = 0; look < 30; look++) await bus.look()
    expect(bus.trouble()).to.equal(undefined)
  })

  it('reports that it is bus-off, and when it is back', async () => {
    kernel.add('can0')
    const ear = await listen()
    kernel.carry('can0', { id: 0x40, err: true, data: Buffer.alloc(8) })
    await ear.heard(1)
    expect(bus.trouble()).to.equal('can0: bus-off')
    kernel.set('can0', { isUp: true, hasCarrier: false })
    await bus.look()
    expect(bus.gauge()).to.include({ state: 'bus-off', errorFrames: 1, busOffs: 1 })
    kernel.set('can0', { isUp: true })
    kernel.carry('can0', { id: 0x100, err: true, data: Buffer.alloc(8) })
    await ear.heard(2)
    await bus.look()
    expect(bus.trouble()).to.equal(undefined)
  })

  it('counts what the interface lost since it was opened', async () => {
    kernel.add('can0')
    kernel.write('can0', 'statistics/rx_over_errors', '7')
    await listen()
    kernel.write('can0', 'statistics/rx_over_errors', '10')
    kernel.write('can0', 'statistics/rx_fifo_errors', '10')
    await bus.look()
    expect(bus.counters.drops).to.equal(3)
    expect(bus.gauge()).to.include({ drops: 3 })
  })

  it('has the kernel filter out what no listener wants, and still reports the counts of all frames', async () => {
    kernel.add('can0')
    const ear = await listen()
    ear.filter = parseIdFilter('100-1FF')
    const stop = bus.listen({ ...ear, filter: parseIdFilter('7FF'), isPaused: () => false, take () {} })
    for (const id of [0x100, 0x200, 0x1FF]) arrive(id)
    await ear.heard(2)
    expect(bus.gauge()).to.include({ frames: 2 })
    kernel.write('can0', 'statistics/rx_packets', '250')
    await bus.look()
    expect(bus.gauge()).to.include({ framesPerSecond: 250 })
    stop()
    bus.listen(new Ear())
    arrive(0x200)
    await new Promise(resolve => setImmediate(resolve))
    expect(bus.gauge()).to.include({ frames: 3 })
  })

  describe('sending', () => {
    it('is heard by the listeners of the same bus', async () => {
      kernel.add('can0')
      const ear = await listen()
      await bus.send(frame(0x123, [1, 2]))
      await bus.send(frame(0x18FEF100, [], { kind: 'remote' }))
      await ear.heard(2)
      expect(ear.lines).to.deep.equal(['123#0102', '18FEF100 remote#'])
    })

    it('keeps the order of frames that wait for room', async () => {
      kernel.add('can0')
      const ear = await listen()
      kernel.refusals = 5
      await Promise.all([1, 2, 3].map(id => bus.send(frame(id))))
      await ear.heard(3)
      expect(ear.frames.map(({ id }) => id)).to.deep.equal([1, 2, 3])
    })

    it('reports why it fails, and goes on afterwards', async () => {
      kernel.add('can0')
      const ear = await listen()
      kernel.refusals = 8
      const error = await bus.send(frame(1)).catch((/** @type {unknown} */ thrown) => thrown)
      expect(error).to.have.property('code', 'SLUICE_CAN_SEND')
      expect(error.message).to.match(/can0 does not accept the frame: its queue is full/)
      await bus.send(frame(2))
      await ear.heard(1)
    })

    it('opens another socket after the interface came back', async () => {
      kernel.add('can0')
      const ear = await listen()
      await bus.send(frame(1))
      kernel.remove('can0')
      await bus.look()
      expect((await bus.send(frame(2)).catch((/** @type {unknown} */ error) => error)).message).to.match(/there is no interface can0/)
      kernel.add('can0')
      await bus.look()
      await bus.send(frame(3))
      await ear.heard(2)
      expect(ear.frames.map(({ id }) => id)).to.deep.equal([1, 3])
    })

    it('has at most 1000 frames wait', async () => {
      kernel.add('can0')
      await listen()
      const results = await Promise.allSettled(Array.from({ length: 1001 }, () => bus.send(frame(1))))
      const rejected = /** @type {any[]} */ (results.filter(({ status }) => status === 'rejected'))
      expect(rejected.map(({ reason }) => reason.message)).to.deep.equal([
        'can0 does not accept the frame: 1000 frames wait to be sent already.'
      ])
    })

    it('needs to be allowed, CAN FD too', async () => {
      kernel.add('can0')
      await listen({ sending: false })
      expect((await bus.send(frame(1)).catch((/** @type {unknown} */ error) => error)).message).to.match(/Sending to can0 is not allowed/)
      await bus.close()
      await listen({ sending: true })
      const failure = await bus.send(frame(1, new Array(12).fill(0), { fd: true })).catch((/** @type {unknown} */ error) => error)
      expect(failure.message).to.match(/does not send CAN FD/)
    })
  })

  it('explains how to install the package where it is missing', async () => {
    const error = await open({ kind: 'socketcan' }).catch(thrown => thrown)
    if (!(error instanceof Error)) return error.close() // it is installed here
    expect(error).to.have.property('code', 'SLUICE_CAN_SOCKETCAN')
    expect(error.message).to.match(/npm install socketcan|part of Linux/)
  })

  it('reads the output of ip', () => {
    const can = { linkinfo: { info_kind: 'can', info_data: {
      state: 'ERROR-PASSIVE',
      berr_counter: { tx: 128, rx: 0 },
      bittiming: { bitrate: 500000 },
      data_bittiming: { bitrate: 2000000 }
    } } }
    expect(detailsOf(JSON.stringify([can]))).to.deep.equal({ state: 'error-passive', bitrate: 500000, dataBitrate: 2000000 })
    expect(detailsOf(JSON.stringify([{ linkinfo: { info_kind: 'vcan' } }]))).to.equal(null)
  })
})

describe('times of the kernel', () => {
  /** A wall clock a day ahead of the source clock, read in whole milliseconds. */
  function clocks () {
    const { clock } = recorder()
    const wall = { aheadNs: 86_400_000n * MS }
    const wallNs = () => clock.ns + wall.aheadNs
    const kernelClock = new KernelClock(clock, () => Number(wallNs() / MS))
    /** The source clock's time of a frame that arrived some time ago. @param {bigint} agoNs */
    const timeOf = agoNs => {
      const ns = wallNs() - agoNs
      return kernelClock.timeOf(Number(ns / 1_000_000_000n), Number(ns % 1_000_000_000n / 1000n))
    }
    return { clock, wall, timeOf, kernelClock }
  }

  it('become those of the source clock, to microseconds once a millisecond was seen to begin', () => {
    const { clock, timeOf } = clocks()
    for (let step = 0; step < 1000; step++) {
      clock.ns += 9_999_000n
      timeOf(0n)
    }
    clock.ns += 9_123_456n
    expect(Math.abs(Number(timeOf(500_000n) - (clock.ns - 500_000n)))).to.be.below(3000)
  })

  it('follow a step of the wall clock, and never go back', () => {
    const { clock, wall, timeOf } = clocks()
    let last = 0n
    for (let step = 0; step < 1000; step++) {
      clock.ns += 10n * MS
      if (step === 500) wall.aheadNs -= 3_600_000n * MS
      const ns = timeOf(2n * MS)
      expect(ns >= last).to.equal(true)
      expect(clock.ns - ns <= 3n * MS).to.equal(true)
      last = ns
    }
  })

  it('are now where they are missing or impossible', () => {
    const { clock, kernelClock } = clocks()
    expect(kernelClock.timeOf(undefined)).to.equal(clock.ns)
    clock.ns += MS
    expect(kernelClock.timeOf(0)).to.equal(clock.ns)
    clock.ns += MS
    expect(kernelClock.timeOf(2 ** 31)).to.equal(clock.ns)
  })
})

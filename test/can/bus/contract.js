import { expect } from 'chai'
import { systemClock } from '../../../gateway/clock/system-clock.js'
import { parseIdFilter } from '../../../gateway/can/bus/id-filter.js'
import { closers, Ear, frame } from './rig.js'

/**
 * What every kind of bus does.
 * @typedef {import('../../../gateway/can/bus/bus.js').Frame} Frame
 * @typedef {object} Rig
 * @property {import('../../../gateway/can/bus/bus.js').Bus} bus
 * @property {() => Promise<void>} [carry]  has the frames on the bus, where it does not do so by itself
 * @property {() => Promise<void>} [close]
 *
 * @param {{name: string, waits?: boolean, make: (frames: Frame[]) => Promise<Rig>}} kind  `make` makes a bus on which there will be these
 *   frames; `waits`: for those who are paused
 */
export function describeBus ({ name, waits = false, make }) {
  describe(`${name}: a bus`, () => {
    const closeLater = closers()

    /** @param {Frame[]} frames @param {Ear[]} ears */
    async function listening (frames, ...ears) {
      const rig = await make(frames)
      closeLater(() => rig.bus.close(), rig.close ?? (async () => {}))
      const stops = ears.map(ear => rig.bus.listen(ear))
      return { stops, ...rig, carry: rig.carry ?? (async () => {}) }
    }

    const some = [
      frame(0x123, [1, 2, 3]), frame(0x18FEF100, [0xFF, 0, 0xFF, 0, 1, 2, 3, 4]), frame(0, []), frame(0x7FF, [7]),
      frame(5, [], { extended: true }), frame(0x321, [], { kind: 'remote' })
    ]
    const lines = ['123#010203', '18FEF100#FF00FF0001020304', '0#', '7FF#07', '5#', '321 remote#']

    it('has all listeners hear every frame, in order', async () => {
      const ears = [new Ear(), new Ear()]
      const { carry } = await listening(some, ...ears)
      await carry()
      for (const ear of ears) {
        await ear.heard(some.length)
        expect(ear.lines).to.deep.equal(lines)
        expect(ear.frames.map(({ extended }) => extended)).to.deep.equal([false, true, false, false, true, false])
      }
    })

    it('gives each frame a time of the source clock, never one before the last', async () => {
      const ear = new Ear()
      const before = systemClock.nowNs()
      const { carry } = await listening(some, ear)
      await carry()
      await ear.heard(some.length)
      expect(ear.times.every((ns, i) => ns >= before - 2_000_000n && (i === 0 || ns >= ear.times[i - 1]))).to.equal(true)
      expect(Number(ear.times[0] - before) / 1e9).to.be.below(60)
    })

    it('has each listener hear only what it wants', async () => {
      const [standard, extended, all] = [new Ear(), new Ear(), new Ear()]
      standard.filter = parseIdFilter('100-1FF')
      extended.filter = parseIdFilter('18FEF1FF:FFFF00')
      const { carry } = await listening(some, standard, extended, all)
      await carry()
      await all.heard(some.length)
      expect(standard.lines).to.deep.equal([lines[0]])
      expect(extended.lines).to.deep.equal([lines[1]])
    })

    it('is not heard any more after listening is stopped', async () => {
      const [ear, other] = [new Ear(), new Ear()]
      const { carry, stops } = await listening(some, ear, other)
      stops[0]()
      await carry()
      await other.heard(some.length)
      expect(ear.frames).to.deep.equal([])
    })

    it(waits ? 'waits for a paused listener' : 'counts what a paused listener misses, and does not wait', async () => {
      const [paused, other] = [new Ear(), new Ear()]
      paused.paused = true
      paused.filter = parseIdFilter('123 7FF')
      const { carry } = await listening(some, paused, other)
      await carry()
      if (waits) {
        for (let turn = 0; turn < 10; turn++) await new Promise(resolve => setImmediate(resolve))
        expect(other.frames).to.deep.equal([])
        paused.paused = false
        await paused.heard(2)
      } else await other.heard(some.length)
      expect([paused.frames.length, paused.missed]).to.deep.equal(waits ? [2, 0] : [0, 2])
    })

    it('reports how many frames it has carried', async () => {
      const ear = new Ear()
      const { bus, carry } = await listening(some, ear)
      await carry()
      await ear.heard(some.length)
      expect(bus.gauge()).to.include({ frames: some.length, errorFrames: 0, state: 'error-active', drops: 0 })
      expect(bus.trouble()).to.equal(undefined)
    })
  })
}

import { execFileSync, spawnSync } from 'node:child_process'
import { expect } from 'chai'
import { parseIdFilter } from '../../../gateway/can/bus/id-filter.js'
import { requireServer } from '../../servers/programs.js'
import { closers, Ear, frame, open } from './rig.js'
import { noVcan } from './vcan.js'

/** What the kernel keeps of a socket that is not read meanwhile, unless it is told otherwise, is some more. */
const FRAMES = 200

/** What only a kernel knows: an interface that goes and comes back, and other programs on the same bus. */
describe('SocketCAN on a kernel', () => {
  const name = `kernel${process.pid % 10_000}`
  const closeLater = closers()
  /** @param {string} text */
  const ip = text => execFileSync('ip', text.split(' '), { stdio: 'pipe' })
  before(async function () {
    requireServer(this, 'vcan', await noVcan(name))
  })
  after(() => { spawnSync('ip', ['link', 'delete', name], { stdio: 'ignore' }) })

  /** @param {object} [options] */
  async function listening (options = {}) {
    const bus = /** @type {any} */ (await open({ kind: 'socketcan', interface: name, sending: true, ...options }))
    const ear = new Ear()
    bus.listen(ear)
    closeLater(() => bus.close())
    return { bus, ear }
  }

  it('is down, and is heard again once it is up', async () => {
    const { bus, ear } = await listening()
    for (let round = 1; round <= 5; round++) {
      ip(`link set ${name} down`)
      await bus.look()
      expect(bus.trouble()).to.equal(`${name} is down`)
      expect(await bus.send(frame(1)).catch((/** @type {unknown} */ error) => error)).to.have.property('code', 'SLUICE_CAN_SEND')
      ip(`link set ${name} up`)
      await bus.look()
      expect(bus.trouble()).to.equal(undefined)
      await bus.send(frame(round))
      await ear.heard(round)
    }
    expect(ear.frames.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5])
  })

  it('is deleted, and is heard again once there is another of its name', async () => {
    const { bus, ear } = await listening()
    for (let round = 1; round <= 5; round++) {
      await bus.send(frame(round))
      await ear.heard(round)
      ip(`link delete ${name}`)
      await bus.look()
      expect(bus.trouble()).to.equal(`there is no interface ${name}`)
      expect(await bus.send(frame(1)).catch((/** @type {unknown} */ error) => error)).to.have.property('code', 'SLUICE_CAN_SEND')
      ip(`link add dev ${name} type vcan`)
      ip(`link set ${name} up`)
      await bus.look()
      expect(bus.trouble()).to.equal(undefined)
    }
    expect(ear.frames.map(({ id }) => id)).to.deep.equal([1, 2, 3, 4, 5])
  })

  it('carries CAN FD', async () => {
    ip(`link set ${name} down`)
    ip(`link set ${name} mtu 72`)
    ip(`link set ${name} up`)
    const { bus, ear } = await listening({ fd: true })
    const bytes = Array.from({ length: 64 }, (_, i) => i)
    await bus.send(frame(0x123, bytes, { fd: true }))
    await ear.heard(1)
    expect(ear.frames[0]).to.include({ id: 0x123, fd: true })
    expect([...ear.frames[0].data]).to.deep.equal(bytes)
  })

  it('hears all that another program sends as fast as it can', async () => {
    const { bus, ear } = await listening()
    execFileSync('cangen', [name, '-g', '0', '-I', '42', '-L', '8', '-D', 'i', '-n', String(FRAMES), '-p', '1000'])
    await ear.heard(FRAMES)
    const counts = ear.frames.map(({ data }) => Buffer.from(data).readUInt32LE())
    expect(counts).to.deep.equal(Array.from(counts, (_, i) => counts[0] + i))
    expect(bus.gauge()).to.include({ drops: 0 })
  })

  it('has the kernel keep from it what it does not want', async () => {
    const { ear } = await listening()
    ear.filter = parseIdFilter('200-2FF 18FEF100x')
    const { ear: other } = await listening()
    for (const text of ['1FF#01', '200#02', '2FF#', '300#04', '18FEF100#05', '00000200#06', '7FF#R']) execFileSync('cansend', [name, text])
    await other.heard(7)
    expect(ear.lines).to.deep.equal(['200#02', '2FF#', '18FEF100#05'])
  })
})

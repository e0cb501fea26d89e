import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { LocalMonitor } from '../../../gateway/stats/monitor/monitor.js'
import { Sampler } from '../../../gateway/stats/monitor/sampler.js'
import { requireLinux } from './linux.js'

const WORKER = fileURLToPath(new URL('processes/worker.js', import.meta.url))
const TMPFS = 0x01021994

describe('Monitor of running processes', () => {
  /** @type {string} */
  let folder
  /** @type {import('node:child_process').ChildProcess[]} */
  let started

  before(function () { requireLinux(this) })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-monitor-'))
    started = []
  })

  afterEach(async () => {
    for (const child of started) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true })
  })

  /** A process that does what it is told and answers. */
  async function worker () {
    const child = fork(WORKER)
    started.push(child)
    await once(child, 'message')
    return {
      pid: /** @type {number} */ (child.pid),
      /** @param {string} command @param {unknown[]} args @returns {Promise<any>} */
      ask: async (command, ...args) => {
        child.send([command, ...args])
        return (await once(child, 'message'))[0]
      }
    }
  }

  it('reports a busy loop of a known share within 5 points', async () => {
    const { pid, ask } = await worker()
    await ask('burn', 0.3)
    const sampler = new Sampler(new LocalMonitor({ processes: { loop: { pid } } }), { intervalMs: 200 })
    const before = await ask('used')
    await sampler.start()
    await sleep(3000)
    await sampler.stop()
    const after = await ask('used')
    const share = (after.cpuMs - before.cpuMs) / (after.atMs - before.atMs) * 100
    const { loop } = sampler.summary().processes
    expect(loop.cpuPercent.mean, `of the ${share.toFixed(1)} % that it has measured itself`).to.be.closeTo(share, 5)
    expect(loop.userPercent.mean + loop.systemPercent.mean).to.be.closeTo(share, 5)
    expect(loop.cpuPercent.max).to.be.at.least(loop.cpuPercent.mean)
  })

  it('counts the processor time of children that came and went between two readings', async () => {
    const { pid, ask } = await worker()
    const monitor = new LocalMonitor({ processes: { parent: { pid } } })
    const before = (await monitor.read({ fresh: true })).processes.parent
    const { cpuMs } = await ask('children', 3, 100)
    const after = (await monitor.read({ fresh: true })).processes.parent
    expect(after.processes).to.equal(1)
    expect(cpuMs).to.be.at.least(300)
    expect(Number(after.cpuSeconds) - Number(before.cpuSeconds)).to.be.at.least((cpuMs - 50) / 1000)
  })

  it('counts the processor time of threads that came and went', async () => {
    const { pid, ask } = await worker()
    const monitor = new LocalMonitor({ processes: { parent: { pid, isAlone: true } } })
    const before = { seen: (await monitor.read({ fresh: true })).processes.parent, own: await ask('used') }
    await ask('thread', 200)
    const after = { seen: (await monitor.read({ fresh: true })).processes.parent, own: await ask('used') }
    const seconds = Number(after.seen.cpuSeconds) - Number(before.seen.cpuSeconds)
    expect(after.own.cpuMs - before.own.cpuMs).to.be.at.least(200)
    expect(seconds * 1000).to.be.closeTo(after.own.cpuMs - before.own.cpuMs, 60)
  })

  it('counts what a process has written and forced to the disk, its memory and its switches', async function () {
    const { pid, ask } = await worker()
    const monitor = new LocalMonitor({ processes: { writer: { pid } }, folders: { data: folder } })
    const before = await monitor.read({ fresh: true })
    if (before.processes.writer.writtenBytes === undefined || (await statfs(folder)).type === TMPFS) {
      console.log('      skipped: the disk use of a process may not be seen here, or the temporary folder is in memory')
      this.skip()
    }
    await ask('write', join(folder, 'file'), 8 * 2 ** 20)
    const after = await monitor.read({ fresh: true })
    const grown = Number(after.processes.writer.writtenBytes) - Number(before.processes.writer.writtenBytes)
    expect(grown).to.be.within(8 * 2 ** 20, 9 * 2 ** 20)
    expect(after.folders.data.sizeBytes - before.folders.data.sizeBytes).to.equal(8 * 2 ** 20)
    expect(after.folders.data.files).to.equal(1)
    expect(after.processes.writer.writeCalls).to.be.above(Number(before.processes.writer.writeCalls))
    expect(after.processes.writer.voluntarySwitches).to.be.above(Number(before.processes.writer.voluntarySwitches))
    expect(after.processes.writer.rssBytes).to.be.above(10e6)
    expect(after.processes.writer.pssBytes).to.be.within(1e6, Number(after.processes.writer.rssBytes))
  })

  it('has nothing of one that has ended but what it had used', async () => {
    const { pid } = await worker()
    const monitor = new LocalMonitor({ processes: { gone: { pid } } })
    await monitor.read()
    started[0].kill('SIGKILL')
    await once(started[0], 'exit')
    const { processes: { gone }, notes } = await monitor.read()
    expect(gone.processes).to.equal(0)
    expect(gone.cpuSeconds).to.be.above(0)
    expect(gone).not.to.have.property('rssBytes')
    expect(notes.join()).to.contain('gone: there is no such process')
  })
})

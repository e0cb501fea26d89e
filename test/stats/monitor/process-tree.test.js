import { expect } from 'chai'
import { LocalMonitor } from '../../../gateway/stats/monitor/monitor.js'
import { FakeRoot } from './fake-root.js'

describe('Monitor of a process tree, from a fake /proc', () => {
  /** @type {FakeRoot} */
  let root
  beforeEach(() => { root = new FakeRoot() })
  afterEach(() => root.remove())

  /** @param {boolean} [isAlone] */
  function watch (isAlone = false) {
    const monitor = new LocalMonitor({ processes: { server: { pid: 10, isAlone } } }, { root: root.path })
    return async () => (await monitor.read({ fresh: true })).processes.server
  }

  it('adds up all descendants', async () => {
    root.process(10, { userTicks: 100, systemTicks: 20, children: [11], written: 1000 })
    root.process(11, { parent: 10, userTicks: 50, children: [12], written: 200 })
    root.process(12, { parent: 11, userTicks: 5, written: 30 })
    root.process(13, { parent: 1, userTicks: 7777 })
    const usage = await watch()()
    expect(usage).to.include({
      processes: 3, threads: 3, cpuSeconds: 1.75, userSeconds: 1.55, systemSeconds: 0.2, writtenBytes: 1230, readBytes: 3 * 4096,
      rssBytes: 3 * 1000 * 1024, pssBytes: 3 * 600 * 1024, swapBytes: 3 * 8 * 1024, voluntarySwitches: 90, involuntarySwitches: 12
    })
    expect(usage).not.to.have.property('peakRssBytes')
  })

  it('watches a process alone where that is asked for, with its peak', async () => {
    root.process(10, { userTicks: 100, reapedTicks: 900, children: [11] })
    root.process(11, { parent: 10, userTicks: 50 })
    expect(await watch(true)()).to.include({ processes: 1, cpuSeconds: 1, peakRssBytes: 2000 * 1024 })
  })

  it('keeps the time of children that came and went unseen, as the kernel has counted it', async () => {
    root.process(10, { userTicks: 100, reapedTicks: 40 })
    const read = watch()
    expect((await read()).cpuSeconds).to.equal(1.4)
    root.process(10, { userTicks: 100, reapedTicks: 90 })
    expect((await read()).cpuSeconds).to.equal(1.9)
  })

  it('counts a child that ended once, whether it was seen, waited for, or both', async () => {
    root.process(10, { userTicks: 100, reapedTicks: 40, children: [11, 12] })
    root.process(11, { parent: 10, userTicks: 30 })
    root.process(12, { parent: 10, userTicks: 20 })
    const read = watch()
    expect((await read()).cpuSeconds).to.be.closeTo(1.9, 1e-9)
    root.remove('proc/11')
    root.process(10, { userTicks: 100, reapedTicks: 70, children: [12] })
    expect((await read()).cpuSeconds, 'seen and waited for').to.be.closeTo(1.9, 1e-9)
    root.remove('proc/12')
    root.process(10, { userTicks: 100, reapedTicks: 70 })
    expect((await read()).cpuSeconds, 'seen, and nobody waited').to.be.closeTo(1.9, 1e-9)
    root.process(10, { userTicks: 100, reapedTicks: 95 })
    expect((await read()).cpuSeconds, 'waited for later, having used more').to.be.closeTo(1.95, 1e-9)
  })

  it('counts what children wrote once, whether their parent takes it over or not', async () => {
    root.process(10, { written: 1000, children: [11, 12] })
    root.process(11, { parent: 10, written: 500 })
    root.process(12, { parent: 10, written: 70 })
    const read = watch()
    expect((await read()).writtenBytes).to.equal(1570)
    root.remove('proc/11')
    root.process(10, { written: 1500, children: [12] })
    expect((await read()).writtenBytes, 'taken over').to.equal(1570)
    root.remove('proc/12')
    root.process(10, { written: 1500 })
    expect((await read()).writtenBytes, 'not taken over').to.equal(1570)
    root.process(10, { written: 1600 })
    expect((await read()).writtenBytes).to.equal(1670)
  })

  it('keeps those whose parent has ended, and what that had used', async () => {
    root.process(10, { userTicks: 1, children: [11] })
    root.process(11, { parent: 10, userTicks: 30, children: [12] })
    root.process(12, { parent: 11, userTicks: 20 })
    const read = watch()
    await read()
    root.remove('proc/11')
    root.process(10, { userTicks: 1 })
    root.process(12, { parent: 1, userTicks: 25 })
    expect(await read()).to.include({ processes: 2 }).and.property('cpuSeconds').closeTo(0.56, 1e-9)
  })

  it('keeps everything when all of them have ended, and does not take another process of the same id for one of them', async () => {
    root.process(10, { userTicks: 100, children: [11] })
    root.process(11, { parent: 10, userTicks: 30 })
    const read = watch()
    await read()
    root.remove('proc/11')
    root.remove('proc/10')
    expect(await read()).to.include({ processes: 0, cpuSeconds: 1.3 }).and.not.have.property('rssBytes')
    root.process(10, { userTicks: 3, start: '99' })
    expect(await read()).to.include({ processes: 0, cpuSeconds: 1.3 })
  })

  it('counts threads in nanoseconds, and those that ended with what they had', async () => {
    root.process(10, { userTicks: 0, threads: { 10: 1_234_567, 14: 2_000_000 } })
    const read = watch()
    expect((await read()).cpuSeconds).to.be.closeTo(0.003234567, 1e-12)
    root.process(10, { userTicks: 0, threads: { 10: 1_234_568 } })
    expect(await read()).to.include({ voluntarySwitches: 60, threads: 1 }).and.property('cpuSeconds').closeTo(0.003234568, 1e-12)
    // Another one came and went unseen: of that, only the ticks of the process tell.
    root.process(10, { userTicks: 5, threads: { 10: 1_300_000 } })
    expect((await read()).cpuSeconds).to.be.closeTo(0.05, 1e-12)
  })

  it('takes a thread for ended that ends while it is read', async () => {
    root.process(10, { threads: { 10: 1_000_000, 14: 2_000_000 } })
    const read = watch()
    await read()
    root.remove('proc/10/task/14/status')
    root.remove('proc/10/task/14/schedstat')
    const last = { voluntarySwitches: 60, involuntarySwitches: 8 }
    expect(await read()).to.include(last).and.property('cpuSeconds').closeTo(0.003, 1e-12)
    root.process(10, { threads: { 10: 1_500_000 } })
    expect(await read()).to.include(last).and.property('cpuSeconds').closeTo(0.0035, 1e-12)
  })

  it('leaves out what cannot be read of one of them: a sum without it would be wrong', async () => {
    root.process(10, { userTicks: 100, children: [11] })
    root.process(11, { parent: 10, written: null })
    const usage = await watch()()
    expect(usage).to.include({ processes: 2, cpuSeconds: 1 })
    for (const key of ['readBytes', 'writtenBytes', 'readCalls', 'writeCalls']) expect(usage).not.to.have.property(key)
  })

  it('has nothing of a process that is not there, and says so', async () => {
    const { processes, notes } = await new LocalMonitor({ processes: { server: { pid: 10 } } }, { root: root.path }).read()
    expect(processes.server).to.deep.equal({ processes: 0 })
    expect(notes.join()).to.match(/server: there is no such process/)
  })

  it('reads the id from a file, again when the process has ended, and adds up what all of them have used', async () => {
    root.write({ 'server.pid': '10\n/data\n' })
    root.process(10, { userTicks: 100 })
    const monitor = new LocalMonitor({ processes: { server: { pid: `${root.path}/server.pid` } } }, { root: root.path })
    expect((await monitor.read()).processes.server.cpuSeconds).to.equal(1)
    root.write({ 'server.pid': '20\n/data\n' })
    root.remove('proc/10')
    root.process(20, { userTicks: 7 })
    expect((await monitor.read()).processes.server).to.include({ processes: 1 }).and.property('cpuSeconds').closeTo(1.07, 1e-9)
  })
})

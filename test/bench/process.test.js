import { expect } from 'chai'
import { WatchedProcess } from '../../gateway/bench/process.js'
import { requireLinux } from '../stats/monitor/linux.js'

/** Burns 200 ms in a thread, and says how much processor time it has used once that has ended. */
const PROGRAM = `
  const { Worker } = require('node:worker_threads')
  const thread = new Worker('while (process.threadCpuUsage().user < 200_000);', { eval: true })
  thread.on('exit', () => {
    const { user, system } = process.cpuUsage()
    console.log('used ' + (user + system) / 1e6)
    setInterval(() => {}, 1000)
  })`

describe('A process that the bench watches', () => {
  /** @type {WatchedProcess} */
  let watched
  before(function () { requireLinux(this) })
  afterEach(() => watched?.stop())

  it('has used what its threads have used that have ended', async () => {
    watched = new WatchedProcess(['-e', PROGRAM])
    const used = Number((await watched.says(/used ([\d.]+)/))[1])
    expect(used).to.be.at.least(0.2)
    expect(watched.cpuSeconds).to.be.at.least(used - 0.03)
    expect(watched.peakBytes).to.be.at.least(watched.memoryBytes / 2)
  })

  it('has used nothing that could be told once it has ended', async () => {
    watched = new WatchedProcess(['-e', ''])
    await watched.stop()
    expect(() => watched.cpuSeconds).to.throw(/does not run/)
    expect(() => watched.memoryBytes).to.throw(/does not run/)
  })
})

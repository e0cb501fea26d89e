import { link, mkdtemp, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { folderUsage } from '../../../gateway/stats/monitor/folder.js'
import { Ration } from '../../../gateway/stats/monitor/ration.js'
import { Sampler } from '../../../gateway/stats/monitor/sampler.js'
import { summarise } from '../../../gateway/stats/monitor/summary.js'

/** @typedef {import('../../../gateway/stats/monitor/usage.js').Sample} Sample */

/** @param {number} elapsedSeconds @param {object} server @returns {Sample} */
function sample (elapsedSeconds, server) {
  const processes = { server: { processes: 1, ...server } }
  return { timeMs: 1e12 + elapsedSeconds * 1000, elapsedSeconds, processes, folders: {}, notes: [] }
}

describe('Summary of samples', () => {
  it('has percent of one core, rates and growth of counters, and mean, maximum and growth of levels', () => {
    const { seconds, samples, processes: { server } } = summarise([
      sample(10, { cpuSeconds: 5, writtenBytes: 1000, rssBytes: 10, cgroup: { version: 2, throttledSeconds: 1 } }),
      sample(11, { cpuSeconds: 5.9, writtenBytes: 1000, rssBytes: 30, cgroup: { version: 2, throttledSeconds: 1.5 } }),
      sample(14, { cpuSeconds: 6, writtenBytes: 9000, rssBytes: 20, cgroup: { version: 2, throttledSeconds: 1.5 } })
    ])
    expect([seconds, samples]).to.deep.equal([4, 3])
    expect(server).to.have.all.keys('processes', 'cpuPercent', 'writtenBytesPerSecond', 'rssBytes', 'cgroup.throttledPercent')
    expect(server.cpuPercent.growth).to.be.closeTo(1, 1e-9)
    expect(server.cpuPercent.mean).to.be.closeTo(25, 1e-9)
    expect(server.cpuPercent.max).to.be.closeTo(90, 1e-9)
    expect(server.writtenBytesPerSecond.growth).to.equal(8000)
    expect(server.writtenBytesPerSecond.mean).to.equal(2000)
    expect(server.writtenBytesPerSecond.max).to.be.closeTo(8000 / 3, 1e-9)
    expect(server.rssBytes).to.deep.equal({ growth: 10, mean: 20, max: 30 })
    expect(server['cgroup.throttledPercent'].mean).to.be.closeTo(12.5, 1e-9)
  })

  it('takes what is not in every sample from those that have it, and has nothing of what none has', () => {
    const { processes: { server } } = summarise([
      sample(0, { receivedBytes: 100, pssBytes: 7 }), sample(1, {}), sample(2, { receivedBytes: 300, pssBytes: 9 }), sample(3, {})
    ])
    expect(server.receivedBytesPerSecond).to.deep.equal({ growth: 200, mean: 100, max: 100 })
    expect(server.pssBytes).to.deep.equal({ growth: 2, mean: 8, max: 9 })
    expect(server).not.to.have.property('writtenBytesPerSecond')
  })

  it('counts nothing twice or below nothing when a counter begins again', () => {
    const { seconds, processes: { server } } = summarise([
      sample(100, { cpuSeconds: 50 }), sample(101, { cpuSeconds: 51 }), sample(1, { cpuSeconds: 0.5 }), sample(2, { cpuSeconds: 1.5 })
    ])
    expect(seconds).to.equal(2)
    expect(server.cpuPercent).to.deep.equal({ growth: 2, mean: 100, max: 100 })
  })
})

describe('Sampler', () => {
  it('reads at its interval, with everything at the beginning and the end, and goes on over a reading that fails', async () => {
    /** @type {boolean[]} */
    const asked = []
    const monitor = {
      async read ({ fresh = false } = {}) {
        asked.push(fresh)
        if (asked.length === 3) throw new Error('it is away')
        return sample(asked.length, { cpuSeconds: asked.length * 2 })
      }
    }
    const sampler = new Sampler(monitor, { intervalMs: 5 })
    await sampler.start()
    while (asked.length < 5) await sleep(5)
    const samples = await sampler.stop()
    expect(asked[0]).to.equal(true)
    expect(asked.at(-1)).to.equal(true)
    expect(asked.slice(1, -1)).to.not.include(true)
    expect(samples).to.have.length(asked.length - 1)
    expect([sampler.failed, sampler.lastError]).to.deep.equal([1, 'it is away'])
    expect(sampler.summary().processes.server.cpuPercent.mean).to.equal(200)
  })

  it('has no rate over the moment between the last beat and the end', async () => {
    let beats = 0
    const monitor = {
      async read ({ fresh = false } = {}) {
        // At the end a tick has just passed.
        if (fresh && beats > 0) return sample(beats - 0.999, { cpuSeconds: (beats - 1) / 10 + 0.01 })
        return sample(beats, { cpuSeconds: beats++ / 10 })
      }
    }
    const sampler = new Sampler(monitor, { intervalMs: 20 })
    await sampler.start()
    while (beats < 3) await sleep(5)
    const samples = await sampler.stop()
    expect(samples).to.have.length(beats)
    expect(samples.at(-1)?.elapsedSeconds).to.be.closeTo(beats - 0.999, 1e-9)
    expect(sampler.summary().processes.server.cpuPercent.max).to.be.within(10, 11)
  })

  it('fails where there is nothing to watch from the beginning', async () => {
    const sampler = new Sampler({ read: async () => { throw new Error('it is not there') } })
    expect(await sampler.start().catch(error => error.message)).to.equal('it is not there')
  })

  it('keeps a long series within bounds, from its first sample on', async () => {
    let count = 0
    const sampler = new Sampler({ read: async () => sample(++count, { cpuSeconds: count }) }, { intervalMs: 1, maxSamples: 8 })
    await sampler.start()
    while (count < 30) await sleep(1)
    const samples = await sampler.stop()
    expect(samples.length).to.be.at.most(9)
    expect(samples[0].elapsedSeconds).to.equal(1)
    expect(sampler.summary().processes.server.cpuPercent.mean).to.equal(100)
  })
})

describe('Ration', () => {
  it('lets what is dear be read at first, seldom after that, and whenever it has to be fresh', () => {
    const ration = new Ration(0.001)
    const read = (/** @type {boolean} */ fresh) => {
      ration.begin(fresh)
      if (ration.isDue) ration.spend(() => { for (const end = performance.now() + 5; performance.now() < end;); })
      ration.end()
      return ration.isDue
    }
    expect([read(false), read(false), read(true), read(false)]).to.deep.equal([true, false, true, false])
  })
})

describe('Size of a folder', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-folder-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('is that of all files in it, each once, without what links lead to', async () => {
    await mkdir(join(folder, 'a', 'b'), { recursive: true })
    await writeFile(join(folder, 'a', 'b', 'one'), Buffer.alloc(5000))
    await writeFile(join(folder, 'two'), Buffer.alloc(70))
    await link(join(folder, 'two'), join(folder, 'a', 'same'))
    await symlink('/usr', join(folder, 'a', 'elsewhere'))
    expect(await folderUsage(folder)).to.deep.include({ sizeBytes: 5070, files: 2 })
  })

  it('has what its files are long, and what they take of the disk', async () => {
    await writeFile(join(folder, 'sparse'), '')
    await truncate(join(folder, 'sparse'), 50e6)
    const usage = await folderUsage(folder)
    expect(usage?.sizeBytes).to.equal(50e6)
    expect(usage?.diskBytes).to.be.below(1e6)
  })

  it('is absent, not 0, where there is no such folder', async () => {
    expect(await folderUsage(join(folder, 'none'))).to.equal(undefined)
  })
})

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { bench as postgresql } from '../../../gateway/bench/sinks/postgresql.js'
import { bench as sqlite } from '../../../gateway/bench/sinks/sqlite.js'
import { serversOf } from '../../../gateway/bench/servers.js'
import { listenerOf } from '../../../gateway/bench/listening.js'
import { writeByClients } from '../../../gateway/bench/studies/clients.js'
import { watching } from '../../../gateway/bench/studies/resources.js'
import { LocalMonitor } from '../../../gateway/stats/monitor/monitor.js'
import { serveMonitor } from '../../../gateway/stats/monitor/server.js'
import { measuredServers } from '../../servers/measured.js'
import { requirePostgresql, startPostgresql } from '../../servers/postgresql.js'
import { requireLinux } from '../../stats/monitor/linux.js'

const WORKER = fileURLToPath(new URL('../../stats/monitor/processes/worker.js', import.meta.url))
const ROWS = { url: new URL('../../../gateway/bench/studies/haenisch/batches.js', import.meta.url).href, options: { batchRows: 100 } }

const servers = serversOf({}, {}, measuredServers)

describe('the resources of a cell', function () {
  this.timeout(60_000)
  /** @type {string} */
  let folder
  /** @type {import('node:child_process').ChildProcess[]} */
  let started
  before(function () { requireLinux(this) })
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    started = []
  })
  afterEach(async () => {
    for (const child of started) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true })
  })

  /** A process that takes a share of a core, and says how much it got: on a busy machine less. @param {number} share */
  async function burner (share) {
    const child = fork(WORKER)
    started.push(child)
    await once(child, 'message')
    const ask = async (/** @type {unknown[]} */ ...command) => {
      child.send(command)
      return (await once(child, 'message'))[0]
    }
    await ask('burn', share)
    return { pid: Number(child.pid), used: () => ask('used') }
  }

  it('are those of the server, its data, the client and the machine, and how they changed', async function () {
    requirePostgresql(this)
    const running = await postgresql.start(folder, servers)
    try {
      const write = () => writeByClients({ address: running.address, batches: ROWS, clients: 2, limitMs: 700 })
      const { result, usage, series } = await watching({ running, clientPid: process.pid, intervalMs: 200 }, write)
      expect(result.rows).to.equal(await running.count())
      expect(running.settings, 'as the server tells them').to.contain('fsync on').and.to.contain('shared_buffers ')
      const { processes: { server, client }, folders, machine } = usage
      expect(server.processes.max, 'those of the connections included').to.be.above(3)
      expect(server.cpuPercent.mean).to.be.above(0)
      expect(server.rssBytes.max).to.be.above(10e6)
      expect(folders.data.sizeBytes.growth).to.be.above(0)
      expect(client.processes.max, 'not the server, which this process has started').to.equal(1)
      expect(client.cpuPercent.mean).to.be.above(0)
      expect(machine.cores.max).to.be.above(0)
      expect(Object.keys(series)).to.include.members([
        'serverCpuPercent', 'serverRssBytes', 'machineUserPercent', 'machineSystemPercent', 'machineIowaitPercent',
        'machineContextSwitchesPerSecond', 'machineSwapBytes'
      ])
      for (const { seconds, values } of Object.values(series)) {
        expect(seconds).to.have.length(values.length)
        expect(values.every(Number.isFinite)).to.equal(true)
      }
    } finally {
      await running.remove()
    }
  })

  it('of a known share of a core are reported within 5 points, in the server\'s place and in the client\'s', async () => {
    const burners = [await burner(0.2), await burner(0.1), await burner(0.4)]
    const [one, other, client] = burners
    const watched = { running: { watched: { pid: [one.pid, other.pid] } }, clientPid: client.pid, intervalMs: 500 }
    const used = () => Promise.all(burners.map(each => each.used()))
    const { result: [before, after], usage, series } = await watching(watched, async () => [await used(), await sleep(3000).then(used)])
    const [oneShare, otherShare, clientShare] = before.map(({ cpuMs, atMs }, i) => (after[i].cpuMs - cpuMs) / (after[i].atMs - atMs) * 100)
    const serverShare = oneShare + otherShare
    expect(usage.processes.server.cpuPercent.mean, 'of two programs that are one server').to.be.closeTo(serverShare, 5)
    expect(usage.processes.client.cpuPercent.mean).to.be.closeTo(clientShare, 5)
    const { seconds, values } = series.serverCpuPercent
    const busy = seconds.reduce((sum, second, i) => sum + (second - (seconds[i - 1] ?? 0)) * values[i], 0)
    expect(busy / seconds[seconds.length - 1]).to.be.closeTo(serverShare, 5)
  })

  it('of an embedded database are its data and the client', async () => {
    const running = await sqlite.start(folder, servers)
    const { usage } = await watching({ running, clientPid: process.pid }, () => writeFile(join(folder, 'more'), Buffer.alloc(100_000)))
    expect(usage.processes).to.have.all.keys('client')
    expect(usage.folders.data.sizeBytes.growth).to.equal(100_000)
  })

  describe('of a server of the user', () => {
    /** @type {import('../../servers/postgresql.js').PostgresqlServer} */
    let server
    before(async function () {
      requirePostgresql(this)
      server = await startPostgresql()
    })
    after(() => server?.remove())

    /** @param {Record<string, string>} urls @param {NodeJS.ProcessEnv} [environment] */
    const watchedAt = async (urls, environment = {}) => {
      const { port, user, password, database } = server
      const own = `postgresql://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
      return (await serversOf({ postgresql: own, ...urls }, environment, {})('postgresql').start({ folder })).watched
    }

    it('are those of the process that listens on its port', async () => {
      expect(await watchedAt({})).to.deep.equal({ pid: server.pid })
    })

    it('are told by a monitor on its machine', async () => {
      const token = 'a token of the test'.replaceAll(' ', '-')
      const processes = { postgresql: { pid: Number(server.pid) }, mysql: { pid: process.pid } }
      const local = new LocalMonitor({ processes, folders: { data: server.data }, machine: true })
      const served = await serveMonitor(local, { token })
      try {
        const watched = await watchedAt({ monitor: served.url }, { SLUICE_MONITOR_TOKEN: token })
        const { usage } = await watching({ running: { watched }, clientPid: process.pid }, () => sleep(50))
        expect(usage.processes).to.have.all.keys('server', 'client')
        expect(usage.processes.server.processes.max, 'PostgreSQL\'s').to.be.above(3)
        expect(usage.processes.client.processes.max).to.equal(1)
        expect(usage.folders.data.sizeBytes.mean).to.be.above(1e6)
        expect(usage.machine.cores.mean).to.be.above(0)
      } finally {
        await served.close()
      }
    })

    it('are not asked of a monitor without a token, or without such a server', () => {
      const monitor = 'http://127.0.0.1:1879'
      expect(() => serversOf({ monitor }, {}, {})).to.throw('token')
      expect(() => serversOf({ monitor }, { SLUICE_MONITOR_TOKEN: 'x'.repeat(16) }, {})).to.throw('--monitor goes with the URL of a server')
    })
  })

  it('are not those of a program that only passes on what comes for a server', async () => {
    const proxy = createServer().listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address())
    expect(listenerOf(port, /^postgres/)).to.equal(undefined)
    expect(listenerOf(port, /./)).to.equal(process.pid)
    proxy.close()
  })

  it('are absent where there is nothing to watch', async () => {
    const { usage, series } = await watching({ running: {} }, async () => {})
    expect(usage.processes).to.deep.equal({})
    expect(usage.folders).to.deep.equal({})
    expect(Object.keys(series).filter(name => !name.startsWith('machine'))).to.deep.equal([])
  })

  it('do not hide what went wrong meanwhile', async () => {
    const error = new Error('the disk is full')
    expect(await watching({ running: {} }, () => Promise.reject(error)).catch(reason => reason)).to.equal(error)
  })
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { RemoteMonitor } from '../../gateway/stats/monitor/remote.js'
import { requireLinux } from '../stats/monitor/linux.js'
import { sluice } from './process.js'

const TOKEN = '5e1b9a-token-of-a-test'

describe('sluice monitor', () => {
  /** @type {string} */
  let folder
  /** @type {string} */
  let tokenFile

  before(function () { requireLinux(this) })

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-monitor-command-'))
    tokenFile = join(folder, 'token')
    await writeFile(tokenFile, `${TOKEN}\n`)
    await writeFile(join(folder, 'pid'), `${process.pid}\n`)
  })

  afterEach(() => rm(folder, { recursive: true }))

  it('serves what was asked for to whoever has the token, until it is told to stop', async () => {
    const watched = ['--process', `tests=${join(folder, 'pid')}`, '--process', `none=${2 ** 22 + 1}`, '--folder', `data=${folder}`]
    const monitor = sluice('monitor', ...watched, '--port', '0', '--token-file', tokenFile)
    try {
      const [, url] = await monitor.says(/Samples are at (http:\/\/127\.0\.0\.1:\d+)\/sample/)
      const { processes, folders, machine } = await new RemoteMonitor({ url, token: TOKEN }).read({ fresh: true })
      expect(processes.tests.cpuSeconds).to.be.above(0)
      expect(processes.tests.processes).to.be.at.least(2) // the monitor was started by this process
      expect(processes.none).to.deep.equal({ processes: 0 })
      expect(folders.data.files).to.equal(2)
      expect(machine?.memoryBytes).to.be.above(1e6)
      expect((await fetch(`${url}/sample`, { headers: { Authorization: 'Bearer wrong-wrong-wrong-wrong' } })).status).to.equal(401)
    } finally {
      monitor.child.kill('SIGTERM')
    }
    const { code, stdout, stderr } = await monitor.exit
    expect(code).to.equal(0)
    expect(stderr).to.contain('Absent: none: there is no such process.')
    expect(stdout + stderr).not.to.contain(TOKEN)
  })

  it('does not start without a token', async () => {
    const { code, stderr } = await sluice('monitor', '--port', '0').exit
    expect(code).to.equal(2)
    expect(stderr).to.contain('SLUICE_MONITOR_ACCESS: There is no token')
  })

  it('names what is wrong with its arguments', async () => {
    const wrong = async (/** @type {string[]} */ ...args) => {
      const { code, stderr } = await sluice('monitor', '--token-file', tokenFile, ...args).exit
      expect(code).to.equal(2)
      return stderr
    }
    expect(await wrong('--process', '17')).to.contain('SLUICE_USAGE: --process must be NAME=VALUE; it is "17".')
    expect(await wrong('--port', '70000')).to.contain('--port must be a number')
  })
})

import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startGateway } from '../browser/gateway.js'
import { freePort } from '../servers/ports.js'
import { sluice } from './process.js'

describe('sluice doctor', () => {
  /** @type {string} */
  let userDir
  beforeEach(async () => { userDir = await mkdtemp(join(tmpdir(), 'sluice-doctor-')) })
  afterEach(() => rm(userDir, { recursive: true }))

  it('needs no gateway, and leaves nothing behind', async () => {
    const { code, stdout } = await sluice('doctor', '--user-dir', userDir, '--port', String(await freePort())).exit
    expect(stdout).to.match(/^ {2}• Flow, .*flows\.json\n {6}There is no flow yet\.\n {6}→ Start the gateway once/m)
    expect(stdout).to.match(/\n\n(Nothing is wrong|0 problems, \d+ warnings?)\.\n$/)
    expect(stdout, 'colours').not.to.include('\u001b')
    expect(code).to.equal(0)
    expect(await readdir(userDir)).to.deep.equal([])
  })

  it('ends with 1 where there is a problem, and reports it as JSON', async () => {
    await writeFile(join(userDir, 'flows.json'), JSON.stringify([
      { id: 'tab', type: 'tab' }, { id: 'out', type: 'sluice-stage-out', z: 'tab', broker: 'gone', wires: [] }
    ]))
    const { code, stdout } = await sluice('doctor', '--json', '--user-dir', userDir, '--port', String(await freePort())).exit
    const report = JSON.parse(stdout)
    expect(report).to.include.keys('sluice', 'time', 'userDir', 'gateway', 'ok', 'counts', 'checks', 'findings')
    expect(report.findings[0]).to.deep.equal({
      check: 'flow',
      level: 'problem',
      what: 'Broker: the node it names is not in the flow, or disabled.',
      where: 'stage out out',
      fix: 'Open the node in the editor, correct it and deploy.'
    })
    expect(report.ok).to.equal(false)
    expect(code).to.equal(1)
  })

  it('finds a gateway that runs, and does not disturb it', async () => {
    const port = await freePort()
    const flow = [
      { id: 'tab', type: 'tab' },
      { id: 'embedded', type: 'sluice-embedded-broker', z: 'tab', port, wires: [] },
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', broker: 'broker', wires: [] },
      { id: 'stats', type: 'sluice-stats', z: 'tab', wires: [[]] }
    ]
    const gateway = await startGateway(flow)
    try {
      const bundle = join(userDir, 'bundle.tar.gz')
      const { port: editorPort } = new URL(gateway.editorUrl)
      const args = ['--json', '--user-dir', gateway.userDir, '--port', editorPort, '--bundle', bundle]
      const { stdout } = await sluice('doctor', ...args).exit
      const { gateway: found, findings } = JSON.parse(stdout)
      expect(found.state).to.equal('running')
      const said = findings.map((/** @type {{level: string, what: string}} */ { level, what }) => `${level}: ${what}`)
      expect(said).to.include(`ok: The gateway runs as process ${found.process}.`)
      expect(said).to.include('ok: The gateway answers there.')
      expect(said).to.include(`ok: It listens on port ${port}.`)
      expect(await (await fetch(`${gateway.liveUrl}health`)).json()).to.include({ status: 'running' })
      expect(execFileSync('tar', ['-xzOf', bundle, '--wildcards', '*/stats.json'], { encoding: 'utf8' })).to.include('"meters"')
      expect(statSync(bundle).mode & 0o077).to.equal(0)
    } finally {
      await gateway.stop()
    }
  })

  it('refuses wrong arguments, and a bundle that cannot be written', async () => {
    for (const args of [['--nonsense'], ['--port', 'x'], ['--bundle', 'file.rar'], ['extra']]) {
      expect((await sluice('doctor', ...args).exit).code, args.join(' ')).to.equal(2)
    }
    const { code, stderr } = await sluice('doctor', '--user-dir', userDir, '--bundle', join(userDir, 'no', 'such.tar.gz')).exit
    expect(stderr).to.include('SLUICE_DOCTOR_BUNDLE')
    expect(code).to.equal(2)
  })
})

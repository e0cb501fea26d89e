import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { Gateway, node } from '../end-to-end/gateway.js'
import { oldestNode, requireOlderNodes, tooOldNode } from '../servers/node.js'
import { freePort } from '../servers/ports.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = join(ROOT, 'gateway/cli/sluice.js')
const run = promisify(execFile)

/** Programs that run when they are imported, what only a browser imports, and what the repository's own packages measure. */
const NOT_IMPORTED = new RegExp(`^gateway/(${[
  'cli/sluice', 'bench/producer', 'bench/scale-producers', 'bench/telegraf/(bare-client|publisher)', 'bench/sources/modbus-server',
  'bench/studies/(.*/)?client', '(live|site)/page/.*'
].join('|')})\\.js$`)

describe('The version of Node', function () {
  this.timeout(300_000)

  before(function () {
    requireOlderNodes(this)
  })

  it('is named by the command line when it is too old', async () => {
    const version = (await run(tooOldNode, ['-p', 'process.versions.node'])).stdout.trim()
    const { code, stderr } = await run(tooOldNode, [PROGRAM, 'start', '--help']).catch(error => error)
    expect(code).to.equal(1)
    expect(stderr).to.equal(
      `sluice: SLUICE_NODE_VERSION: Sluice needs Node 22.13 or newer; this is Node ${version}. Install a newer Node from https://nodejs.org.\n`
    )
    expect((await run(tooOldNode, [PROGRAM, '--help'])).stdout).to.match(/^Usage: sluice/)
  })

  it('may be the oldest that is allowed: every module of the engine and every node can be imported', async () => {
    const files = ['gateway', 'broker', 'nodes'].flatMap(folder => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .map(name => `${folder}/${name}`)
      .filter(name => name.endsWith('.js') && !NOT_IMPORTED.test(name)))
    expect(files.length).to.be.greaterThan(200)
    const script = `for (const file of ${JSON.stringify(files)}) await import('${ROOT}' + file).catch(error => {
      console.log(file, error.stack)
    })
    process.exit()`
    const { stdout } = await run(oldestNode, ['--input-type=module', '--eval', script])
    expect(stdout).to.equal('')
  })

  it('may be the oldest that is allowed: the gateway stages what a simulator makes and stores it in SQLite', async () => {
    const gateway = await Gateway.start({}, oldestNode)
    const port = await freePort()
    try {
      await gateway.deploy([
        { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
        node('embedded', '-embedded-broker', { port }),
        node(
          'press',
          '-simulator',
          { name: 'press', preset: 'machine-tool', sampleRateHz: 1000, maxSamples: 5000, autostart: true },
          'out'
        ),
        node('out', '-stage-out', { name: 'out', broker: 'broker' }),
        node('in', '-stage-in', { name: 'in', broker: 'broker' }, 'sink'),
        node('sink', '-sqlite', { name: 'sink', file: join(gateway.folder, 'rows.sqlite'), maxAgeMs: 200 })
      ])
      await gateway.until(
        async () => (await gateway.meter('sink', 'sink'))?.rows === 5000,
        async () => JSON.stringify(await gateway.report())
      )
      const database = new DatabaseSync(join(gateway.folder, 'rows.sqlite'))
      expect(database.prepare('SELECT count(*) AS rows, count(DISTINCT time) AS times FROM press').get()).to.include({
        rows: 5000,
        times: 5000
      })
      database.close()
      expect(gateway.log).to.not.contain('[error]')
    } finally {
      await gateway.remove()
    }
  })
})

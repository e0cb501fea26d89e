import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { sectionOf } from '../browser/tour/readme.js'
import { oldestNodeRed, requireOldestNodeRed } from '../servers/node-red.js'
import { freePort } from '../servers/ports.js'

const NODE_RED = join(dirname(createRequire(import.meta.url).resolve('node-red/package.json')), 'red.js')

describe('The packed package, installed into a stock Node-RED', () => packageTests(NODE_RED))

describe('The packed package, installed into the oldest Node-RED that it runs in', () => {
  before(function () {
    requireOldestNodeRed(this)
  })

  packageTests(oldestNodeRed)

  it('is that of package.json', async () => {
    const { 'node-red': { version }, peerDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
    const { version: tested } = JSON.parse(await readFile(join(dirname(oldestNodeRed), 'package.json'), 'utf8'))
    expect([version, peerDependencies['node-red']]).to.deep.equal(Array(2).fill(`>=${tested.split('.', 2).join('.')}`))
  })
})

/** @param {string} program */
function packageTests (program) {
  /** @type {string} */
  let folder
  /** @type {string} */
  let userDir
  /** @type {import('node:child_process').ChildProcessWithoutNullStreams} */
  let nodeRed
  /** @type {number} */
  let port
  /** @type {string[]} */
  let files
  let log = ''

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-package-'))
    userDir = join(folder, 'user')
    await mkdir(userDir)
    const [packed] = JSON.parse(npm(process.cwd(), 'pack', '--json', '--pack-destination', folder))
    files = packed.files.map((/** @type {{path: string}} */ { path }) => path)
    await writeFile(join(userDir, 'package.json'), '{"private": true}')
    installAsReadme(packed.filename)
    port = await freePort()
    const settings = { uiHost: '127.0.0.1', uiPort: port, flowFile: 'flows.json', telemetry: { enabled: false } }
    await writeFile(join(userDir, 'settings.js'), `module.exports = ${JSON.stringify(settings)}`)
    await writeFile(join(userDir, 'flows.json'), await defaultFlow())

    nodeRed = spawn(process.execPath, [program, '--userDir', userDir], { cwd: userDir })
    process.on('exit', () => nodeRed.kill('SIGKILL'))
    for (const stream of [nodeRed.stdout, nodeRed.stderr]) stream.setEncoding('utf8').on('data', text => { log += text })
    while (!log.includes('Started flows')) {
      if (nodeRed.exitCode !== null) throw new Error(`Node-RED ended:\n${log}`)
      await sleep(50)
    }
  })

  after(async () => {
    if (nodeRed?.exitCode === null) {
      nodeRed.kill('SIGTERM')
      await once(nodeRed, 'exit')
    }
    await rm(folder, { recursive: true })
  })

  /** Types what the README says, where this test has what it names. @param {string} filename  of the package */
  function installAsReadme (filename) {
    const [{ text }] = sectionOf('In a Node-RED you have').filter(({ kind }) => kind === 'commands')
    expect(text).to.include(`~/.node-red\n`).and.include(`/path/to/${filename}`)
    const commands = text.replaceAll('~/.node-red', userDir).replaceAll('/path/to', folder)
    const env = { ...process.env, npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
    execFileSync('sh', ['-e', '-c', commands], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  }

  /** What the installed package brings, its broker on a port that is free. */
  async function defaultFlow () {
    const text = await readFile(join(userDir, 'node_modules/@sluice/node-red/flows/flows.json'), 'utf8')
    return text.replaceAll('1883', String(await freePort()))
  }

  it('has its documentation, no tests, and the text of every licence that package.json names', async () => {
    expect(files.filter(path => /^(test|tools|docs\/studies)\/|\.test\.js$/.test(path))).to.deep.equal([])
    expect(files).to.include.members(['docs/promise.md', 'docs/reference/stage-out.md'])
    const { license } = JSON.parse(await readFile('package.json', 'utf8'))
    expect(license).to.equal('Apache-2.0 AND EPL-2.0')
    expect(files).to.include.members(['LICENSE', 'gateway/sparkplug/LICENSE'])
  })

  it('loads every node type', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/nodes`, { headers: { Accept: 'application/json' } })
    /** @type {{module: string, types: string[], enabled: boolean, err?: string}[]} */
    const sets = (await response.json()).filter((/** @type {{module: string}} */ { module }) => module === '@sluice/node-red')
    const { nodes } = JSON.parse(await readFile('package.json', 'utf8'))['node-red']
    expect(sets.map(({ types, enabled, err }) => ({ types, enabled, err })).sort((a, b) => a.types[0] < b.types[0] ? -1 : 1))
      .to.deep.equal(Object.keys(nodes).sort().map(name => ({ types: [`sluice-${name}`], enabled: true, err: undefined })))
  })

  it('runs its default flow without a warning', async () => {
    const rowsOf = (/** @type {string} */ table) => {
      const database = new DatabaseSync(join(userDir, 'sluice', 'sluice.sqlite'), { timeout: 10_000 })
      try {
        const isThere = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table)
        return isThere ? Number(database.prepare(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows) : 0
      } finally {
        database.close()
      }
    }
    while (rowsOf('machine') < 1000 || rowsOf('n2k.Attitude') === 0) await sleep(100)
    expect(log).to.not.match(/\[error\]|\[warn\] \[/) // a node's own begin with its type; Node-RED warns of its settings
    expect(await (await fetch(`http://127.0.0.1:${port}/sluice/`)).text()).to.include('<title>')
  })
}

/** @param {string} cwd @param {...string} args */
function npm (cwd, ...args) {
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel', 'error'], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe']
  })
}

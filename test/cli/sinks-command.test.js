import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect } from '../../broker/connection/connection.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { RequiredSinks } from '../../broker/out/required-sinks.js'
import { connected } from '../../broker/preflight/probing.js'
import { sinks } from '../../gateway/cli/sinks.js'
import { until } from '../broker/pipeline.js'

const silent = { info () {}, warn () {}, error () {} }
const wired = { consumer: 'gw', sink: 'n1', label: 'sqlite', gateway: '+', source: '+' }
const listOf = (/** @type {string[]} */ ...names) => ({
  gateway: '+', source: 'press', sinks: names.map(sink => ({ sink, label: `the ${sink}`, committed: true }))
})

describe('sluice sinks', () => {
  /** @type {string} */
  let userDir
  /** @type {RequiredSinks} */
  let required

  beforeEach(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-sinks-'))
    const spool = join(userDir, 'sluice', 'spool', 'out')
    await mkdir(spool, { recursive: true })
    await writeFile(join(spool, 'segment'), Buffer.alloc(2000))
    await writeFile(`${spool}.receipts`, 'beside it')
    required = await RequiredSinks.open({ path: join(userDir, 'sluice', 'required-sinks', 'b1.json'), gateway: 'gw', log: silent })
    required.wire([wired])
    required.heard('other', 'other.in', Buffer.from(JSON.stringify(listOf('kept', 'gone'))))
    await until(() => required.saved.length === 3)
  })
  afterEach(async () => {
    await required.close()
    await rm(userDir, { recursive: true })
  })

  /** @param {string[]} args */
  async function run (...args) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const status = await sinks([...args, '--user-dir', userDir], { stdin: process.stdin, stdout, stderr })
    stdout.end()
    stderr.end()
    return { status, stdout: await text(stdout), stderr: await text(stderr) }
  }

  const keysNow = async () => (await run('list', '--json')).stdout.trim().split('\n').map(line => JSON.parse(line).key).slice(1)

  it('lists the spools and what they wait for, and why', async () => {
    const { status, stdout } = await run('list', '--json')
    expect(status).to.equal(0)
    expect(stdout.trim().split('\n').map(line => JSON.parse(line))).to.deep.equal([
      { spool: 'out', bytes: 2000 },
      { key: 'gw/n1', label: 'sqlite', broker: 'b1', gateway: '+', source: '+', isWired: true, committed: true },
      { key: 'other/kept', label: 'the kept', broker: 'b1', gateway: '+', source: 'press', isWired: false, committed: true },
      { key: 'other/gone', label: 'the gone', broker: 'b1', gateway: '+', source: 'press', isWired: false, committed: true }
    ])
    expect((await run('list')).stdout).to.equal([
      'spool out  2.00 kB', 'gw/n1  sqlite  all sources  wired in this gateway',
      'other/kept  the kept  press  announced by another gateway', 'other/gone  the gone  press  announced by another gateway', ''
    ].join('\n'))
  })

  it('says that nobody is waited for', async () => {
    required.wire([])
    for (const sink of ['kept', 'gone']) required.forget(`other/${sink}`)
    await until(() => required.saved.length === 0)
    expect((await run('list')).stdout).to.include('no sink yet: kept up to the spool\'s size')
  })

  it('lists a sink as soon as the stage reports it, however slow the disk is', async () => {
    required.heard('late', 'in', Buffer.from(JSON.stringify(listOf('db'))))
    await until(() => required.saved.includes('late/db'))
    expect(await keysNow()).to.include('late/db')
  })

  it('has a gateway that runs forget a sink', async () => {
    const { status, stdout } = await run('forget', 'other/gone')
    expect(stdout).to.equal('other/gone is forgotten: within seconds where the gateway runs, otherwise when it starts.\n')
    expect(status).to.equal(0)
    expect(await keysNow()).to.deep.equal(['gw/n1', 'other/kept'])
    await required.tick()
    await until(() => !required.saved.includes('other/gone'))
    expect(required.all.map(({ key }) => key)).to.deep.equal(['gw/n1', 'other/kept'])
  })

  it('takes the announcement from the broker, too, and ends the session of a reader that has no other sink', async () => {
    const { port, close } = await startEmbeddedBroker({ port: 0 })
    const url = `mqtt://127.0.0.1:${port}`
    const reader = connect({ url }, { clientId: 'sluice-other-in-in', clean: false })
    await connected(reader)
    const { client } = reader
    /** @type {string[]} */
    const heard = []
    client.on('message', (_topic, payload) => heard.push(String(payload)))
    await client.subscribeAsync('sluice/v2/other/sinks/other.in', { qos: 1 })
    await client.publishAsync('sluice/v2/other/sinks/other.in', JSON.stringify(listOf('kept', 'gone')), { qos: 1, retain: true })
    const { stdout } = await run('forget', 'other/gone', '--broker', url)
    expect(stdout).to.match(/Its announcement is taken from the broker\.\n$/)
    await until(() => heard.length === 2)
    expect(JSON.parse(heard[1])).to.deep.equal(listOf('kept'))
    await reader.close()
    expect((await run('forget', 'other/kept', '--broker', url)).stdout).to.match(/and the session of its reader ended\.\n$/)
    const again = connect({ url }, { clientId: 'sluice-other-in-in', clean: false })
    expect(await connected(again)).to.deep.include({ sessionPresent: false })
    await again.close()
    await close()
  })

  it('says that it does not know a sink, or that it is wired', async () => {
    const unknown = await run('forget', 'nobody')
    expect(unknown.status).to.equal(1)
    expect(unknown.stderr).to.match(/SLUICE_SINK_UNKNOWN.*"nobody"/)
    expect((await run('forget', 'gw/n1')).stderr).to.match(/SLUICE_SINK_WIRED.*gw\/n1/)
  })

  it('explains itself on wrong arguments', async () => {
    for (const args of [['forget'], ['drop', 'x'], []]) expect((await run(...args)).status).to.equal(2)
  })
})

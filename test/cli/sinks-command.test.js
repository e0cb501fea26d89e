import { expect } from 'chai'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect } from '../../broker/connection/connection.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { Stage } from '../../broker/out/stage.js'
import { sinks } from '../../gateway/cli/sinks.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { lockUserDir } from '../../gateway/run/user-dir-lock.js'
import { batchOf, until } from '../broker/pipeline.js'

const silent = { info () {}, warn () {}, error () {} }

describe('sluice sinks', () => {
  /** @type {string} */
  let userDir
  /** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */
  let broker
  /** @type {Stage} */
  let stage
  /** @type {ReturnType<typeof connect>} */
  let connection
  /** @type {string} */
  let gateway

  beforeEach(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-sinks-'))
    broker = await startEmbeddedBroker({ port: 0 })
    await mkdir(join(userDir, 'sluice'))
    gateway = await gatewayId(join(userDir, 'sluice'))
    connection = connect({ url: `mqtt://127.0.0.1:${broker.port}` }, { clientId: 'out', clean: false })
    stage = await Stage.open({ folder: join(userDir, 'sluice', 'spool', 'out'), gateway, client: connection.client, log: silent })
    const { epoch } = await stage.append(batchOf(1))
    await until(() => stage.publisher.connected)
    for (const sink of ['kept', 'gone']) {
      announce(sink, { [epoch]: [[0, 0]] })
    }
    await until(() => stage.state.requiredSinks.length === 2)
  })
  afterEach(async () => {
    await stage.close()
    await connection.close()
    await broker.close()
    await rm(userDir, { recursive: true })
  })

  /** What a stage in publishes of a sink. @param {string} sink @param {Record<string, [number, number][]>} epochs */
  function announce (sink, epochs) {
    const topic = `sluice/v1/${gateway}/press/commit/${sink}`
    connection.client.publish(topic, JSON.stringify({ clientId: `in-${sink}`, epochs }), { qos: 1, retain: true })
  }

  /** @param {string[]} args */
  async function run (...args) {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    const status = await sinks([...args, '--user-dir', userDir], { stdin: process.stdin, stdout, stderr })
    stdout.end()
    stderr.end()
    return { status, stdout: await text(stdout), stderr: await text(stderr) }
  }

  it('lists what each spool waits for', async () => {
    const { status, stdout } = await run('list', '--json')
    expect(status).to.equal(0)
    expect(JSON.parse(stdout)).to.deep.include({ source: 'press', sinks: ['kept', 'gone'] })
    expect((await run('list')).stdout).to.match(/^press {2}[\d.]+ k?B {2}kept, gone\n$/)
  })

  it('says that it does not know what a spool waits for, instead of nobody, before the spool has recorded it', async () => {
    await stage.append(batchOf(1, 'oven'))
    const { stdout } = await run('list', '--json')
    expect(stdout.trim().split('\n').map(line => JSON.parse(line).sinks)).to.deep.equal([null, ['kept', 'gone']])
    expect((await run('list')).stdout).to.match(/^oven {2}[\d.]+ k?B {2}sinks not known: the spool has recorded none yet\n/)
  })

  it('lists a sink as soon as the spool reports it, however slow the disk is', async () => {
    announce('late', {})
    await until(() => stage.state.requiredSinks.includes('late'))
    expect(JSON.parse((await run('list', '--json')).stdout).sinks).to.deep.equal(['kept', 'gone', 'late'])
  })

  it('has a running gateway forget a sink, through the broker', async () => {
    const unlock = lockUserDir(userDir)
    const { status, stdout } = await run('forget', 'gone', '--broker', `mqtt://127.0.0.1:${broker.port}`)
    unlock()
    expect(stdout).to.equal('gone is forgotten by 1 source; its session with the broker ended.\n')
    expect(status).to.equal(0)
    await until(() => !stage.state.requiredSinks.includes('gone'))
    expect(stage.state.requiredSinks).to.deep.equal(['kept'])
  })

  it('forgets in the files of a gateway that is stopped, whether or not the broker is there', async () => {
    await stage.close()
    const { status, stdout } = await run('forget', 'gone', '--broker', 'mqtt://127.0.0.1:1')
    expect(stdout).to.match(/^gone is forgotten by the spools\. The broker could not be told: SLUICE_BROKER_REFUSED/)
    expect(status).to.equal(0)
    expect(JSON.parse((await run('list', '--json')).stdout).sinks).to.deep.equal(['kept'])
  })

  it('says that it does not know a sink', async () => {
    const { status, stderr } = await run('forget', 'nobody')
    expect(status).to.equal(1)
    expect(stderr).to.match(/SLUICE_SINK_UNKNOWN.*"nobody"/)
  })

  it('explains itself on wrong arguments', async () => {
    for (const args of [['forget'], ['drop', 'x'], []]) expect((await run(...args)).status).to.equal(2)
  })
})

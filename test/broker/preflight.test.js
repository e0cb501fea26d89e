import { EventEmitter, once } from 'node:events'
import { readFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { preflight } from '../../broker/preflight/preflight.js'
import { arrival, open } from '../../broker/preflight/probing.js'
import { preflight as command } from '../../gateway/cli/preflight.js'
import { asRoot, requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { freePort } from '../servers/ports.js'
import { settled } from './waiting.js'

/** @param {import('../../broker/preflight/finding.js').Report} report */
const codes = ({ findings }) => findings.map(({ level, code }) => `${level} ${code}`)

/** Runs `sluice preflight`. @param {...string} args */
async function run (...args) {
  const stdin = new PassThrough()
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const exitCode = await command(args, { stdin, stdout, stderr })
  stdout.end()
  stderr.end()
  return { exitCode, out: await text(stdout), err: await text(stderr) }
}

describe('preflight', () => {
  it('finds nothing wrong with the embedded broker', async () => {
    const broker = await startEmbeddedBroker({ port: 0 })
    const report = await preflight({ url: `mqtt://127.0.0.1:${broker.port}` })
    expect(report.ok).to.equal(true)
    expect(report.broker).to.include({ name: 'aedes', protocol: '3.1.1' })
    expect(codes(report)).to.deep.equal(['info mqtt-3.1.1', 'info open-broker', 'info unseen'])
    expect(broker.stats()).to.include({ clients: 0, queuedMessages: 0 })
    await broker.close()
  })

  it('does not report late messages as dropped: the machine is busy', async () => {
    const broker = await startEmbeddedBroker({ port: 0 })
    let isBusy = true
    const busy = (async () => {
      while (isBusy) {
        for (const startMs = performance.now(); performance.now() - startMs < 250;);
        for (let i = 0; i < 20; i++) await turn() // and not for some time, in which others may have the processor
      }
    })()
    const report = await preflight({ url: `mqtt://127.0.0.1:${broker.port}` })
    isBusy = false
    await busy
    expect(codes(report)).to.deep.equal(['info mqtt-3.1.1', 'info open-broker', 'info unseen'])
    await broker.close()
  })

  it('does not say of a broker that answers late that it keeps no retained messages', async () => {
    const broker = await startEmbeddedBroker({ port: 0 })
    const proxy = createServer(near => {
      const far = connect(broker.port, '127.0.0.1')
      let lateMs = 0
      near.on('data', bytes => {
        if (bytes.includes('-retained')) lateMs = 1200 // less than a connection may take, which has two answers
        far.write(bytes)
      })
      far.on('data', bytes => setTimeout(() => near.write(bytes), lateMs))
      for (const [one, other] of [[near, far], [far, near]]) {
        one.on('close', () => setTimeout(() => other.destroy(), lateMs)).on('error', () => {})
      }
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address())
    const report = await preflight({ url: `mqtt://127.0.0.1:${port}` })
    expect(codes(report)).to.not.include('error no-retained-messages')
    proxy.close()
    await broker.close()
  }).timeout(60_000)

  it('does not take for lost what has come while the process stood still', async () => {
    const client = /** @type {import('mqtt').MqttClient} */ (/** @type {unknown} */ (new EventEmitter()))
    const packet = { payload: 'x' }
    const message = arrival(client, 'echo', 1)
    setImmediate(() => client.emit('message', 'echo', Buffer.from('x'), /** @type {any} */ (packet)))
    for (const began = performance.now(); performance.now() - began < 20;);
    expect(await message).to.equal(packet)
  })

  it('says that there is no broker', async () => {
    const report = await preflight({ url: `mqtt://127.0.0.1:${await freePort()}` })
    expect(report).to.include({ ok: false, broker: null })
    expect(report.findings[0].text).to.contain('Nothing listens')
  })

  describe('of Mosquitto', () => {
    before(function () { requireMosquitto(this) })

    /**
     * @param {import('../servers/mosquitto.js').MosquittoOptions} options
     * @param {import('../../broker/connection/connection.js').BrokerOptions} [more]
     */
    const preflightOf = async (options, more = {}) => {
      const broker = await startMosquitto(options)
      const report = await preflight({ url: broker.url, ...more })
      await broker.stop()
      return report
    }

    it('finds nothing wrong with broker/mosquitto.conf, over both protocols', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'sluice-mosquitto-conf-'))
      const port = await freePort()
      const shipped = await readFile(new URL('../../broker/mosquitto.conf', import.meta.url), 'utf8')
      const confText = [
        shipped.replace('listener 1883 127.0.0.1', `listener ${port} 127.0.0.1`).replace('/var/lib/mosquitto/', `${dir}/`),
        ...asRoot(),
        `log_dest file ${dir}/mosquitto.log`,
        ''
      ].join('\n')
      const broker = await startMosquitto({ dir, port, confText })
      const report = await preflight({ url: broker.url })
      expect(report.ok).to.equal(true)
      expect(report.broker).to.include({ name: 'mosquitto', protocol: '5' })
      expect(codes(report)).to.deep.equal(['info open-broker', 'info unseen'])
      const older = await preflight({ url: broker.url, protocolVersion: '3.1.1' })
      expect(codes(older)).to.deep.equal(['info mqtt-3.1.1', 'info open-broker', 'info unseen'])

      const { client, close } = await keeper(broker.url)
      await client.publishAsync('kept', 'x', { qos: 1, retain: true })
      await close()
      await broker.stop()
      await broker.start()
      const after = await keeper(broker.url)
      const kept = arrival(after.client, 'kept')
      await after.client.subscribeAsync('kept')
      expect((await kept)?.retain).to.equal(true)
      await after.close()
      await broker.stop()
      await rm(dir, { recursive: true })
    })

    const keeper = async (/** @type {string} */ url) => {
      const connection = await open({ url }, { clientId: 'keeper' })
      return { client: connection.client, close: () => connection.close() }
    }

    it('finds the silent drop of the default queue, and the small window', async () => {
      const newer = await preflightOf({ conf: ['max_queued_messages 1000'] })
      expect(codes(newer)).to.deep.equal(['info open-broker', 'error queue-limit', 'info unseen'])
      const report = await preflightOf({ conf: ['max_queued_messages 1000'] }, { protocolVersion: '3.1.1' })
      expect(report.ok).to.equal(false)
      expect(codes(report)).to.deep.equal([
        'info mqtt-3.1.1', 'info open-broker', 'error queue-limit', 'warning small-window', 'info unseen'
      ])
      expect(report.findings[2].text).to.match(/of 1500 that it acknowledged, 10\d\d were delivered/)
      expect(report.findings[3].text).to.contain('sends 20 messages')
    })

    it('finds a small message limit', async () => {
      const report = await preflightOf({ conf: ['max_packet_size 100000'] })
      expect(codes(report)).to.deep.equal(['warning small-packets', 'info open-broker', 'info unseen'])
    })

    it('finds that retained messages are not allowed, over both protocols', async () => {
      expect(codes(await preflightOf({ conf: ['retain_available false'] }))).to.include('error no-retained-messages')
      const report = await preflightOf({ conf: ['retain_available false'] }, { protocolVersion: '3.1.1' })
      expect(codes(report)).to.include('error no-retained-messages')
    })

    it('finds that QoS 1 is not allowed', async () => {
      expect(codes(await preflightOf({ conf: ['max_qos 0'] }))).to.deep.equal(['error no-qos-1', 'info not-checked'])
    })

    it('finds that the user has no right to the topics', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'sluice-acl-'))
      const rules = join(dir, 'acl')
      for (const protocolVersion of /** @type {const} */ (['5', '3.1.1'])) {
        await writeFile(rules, 'topic read sluice/v2/#\n')
        expect(codes(await preflightOf({ conf: [`acl_file ${rules}`] }, { protocolVersion }))).to.include('error publish-denied')
        await writeFile(rules, 'topic write sluice/v2/#\n')
        const report = await preflightOf({ conf: [`acl_file ${rules}`] }, { protocolVersion })
        expect(codes(report).join()).to.match(/error (subscribe|publish)-denied,info not-checked$/)
      }
      await rm(dir, { recursive: true })
    })

    it('asks for no more than a gateway needs: to write below its own name, and to read', async () => {
      const dir = await mkdtemp(join(tmpdir(), 'sluice-acl-'))
      const rules = join(dir, 'acl')
      await writeFile(rules, 'user gateway\ntopic read sluice/v2/#\ntopic readwrite sluice/v2/gw-1/#\n')
      const broker = await startMosquitto({ conf: [`acl_file ${rules}`], users: { gateway: 'secret' } })
      const options = { url: broker.url, user: 'gateway', password: 'secret' }
      expect(codes(await preflight(options, { gateway: 'gw-1' }))).to.deep.equal(['info unseen'])
      expect(codes(await preflight(options, { gateway: 'gw-2' }))).to.include('error publish-denied')
      await broker.stop()
      await rm(dir, { recursive: true })
    })

    it('tells what a broker risks that lets anybody write', async () => {
      const broker = await startMosquitto({ users: { gateway: 'secret' }, conf: ['allow_anonymous true'] })
      const known = await preflight({ url: broker.url, user: 'gateway', password: 'secret' })
      expect(codes(known)).to.deep.equal(['info open-broker', 'info unseen'])
      const far = await preflight({ url: broker.url.replace('127.0.0.1', '0.0.0.0') })
      expect(codes(far)).to.deep.equal(['warning open-broker', 'warning no-tls', 'info unseen'])
      expect(far.findings[0].text).to.contain('store rows in the name of this gateway')
      await broker.stop()
    })

    it('advises TLS where the broker is on another machine, and not where it has it', async () => {
      const encrypted = await startMosquitto({ tls: true, users: { gateway: 'secret' } })
      const options = { url: encrypted.url, ca: encrypted.certificates?.ca, user: 'gateway', password: 'secret' }
      const far = { ...options, url: encrypted.url.replace('127.0.0.1', '0.0.0.0'), verify: false }
      expect(codes(await preflight(options))).to.deep.equal(['info unseen'])
      expect(codes(await preflight(far))).to.deep.equal(['info unseen'])
      await encrypted.stop()

      const plain = await startMosquitto({ users: { gateway: 'secret' } })
      const { findings } = await preflight({ url: plain.url.replace('127.0.0.1', '0.0.0.0'), user: 'gateway', password: 'secret' })
      expect(findings.map(({ code }) => code)).to.deep.equal(['no-tls', 'unseen'])
      expect(findings[0].text).to.contain('the password included')
      expect(findings[0].fix).to.contain('mqtts://')
      await plain.stop()
    })

    it('leaves nothing behind', async () => {
      const broker = await startMosquitto({ conf: ['sys_interval 1'] })
      await preflight({ url: broker.url })
      await sleep(2000) // for Mosquitto to count again
      const { client, close } = await keeper(broker.url)
      /** @type {Record<string, string>} */
      const retained = {}
      client.on('message', (topic, payload) => { retained[topic] = String(payload) })
      const sessionsAway = '$SYS/broker/clients/disconnected'
      await client.subscribeAsync(['sluice/#', sessionsAway])
      await settled(() => Object.keys(retained).length)
      expect(retained).to.deep.equal({ [sessionsAway]: '0' })
      await close()
      await broker.stop()
    })

    it('is a command with an exit code', async () => {
      const broker = await startMosquitto({ users: { gateway: 'secret' } })
      process.env.SLUICE_TEST_PASSWORD = 'secret'
      const good = await run(broker.url, '--user', 'gateway', '--password-env', 'SLUICE_TEST_PASSWORD')
      expect(good).to.include({ exitCode: 0, err: '' })
      expect(good.out).to.contain('Nothing was found that breaks the promise.')

      const refused = await run(broker.url, '--json')
      expect(refused.exitCode).to.equal(2)
      expect(JSON.parse(refused.out)).to.deep.include({ ok: false, broker: null })
      delete process.env.SLUICE_TEST_PASSWORD
      await broker.stop()

      const weak = await startMosquitto({ conf: ['max_queued_messages 100'] })
      const { exitCode, out } = await run(weak.url)
      expect(exitCode).to.equal(1)
      expect(out).to.contain('ERROR').and.contain('This broker breaks the promise.')
      await weak.stop()
    })

    it('is a command that says what is wrong with its arguments', async () => {
      expect(await run()).to.include({ exitCode: 2, out: '' })
      expect((await run('mqtt://127.0.0.1', '--password-env', 'SLUICE_NOT_SET')).err).to.contain('SLUICE_NOT_SET of --password-env is not set')
      expect((await run('mqtt://127.0.0.1', '--nonsense')).exitCode).to.equal(2)
      expect((await run('--help')).out).to.contain('Usage: sluice preflight BROKER_URL')
    })
  })
})

import { pbkdf2Sync } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect } from '../../broker/connection/connection.js'
import { preflight } from '../../broker/preflight/preflight.js'
import { connected, open } from '../../broker/preflight/probing.js'
import { localCommits } from '../../broker/local.js'
import { consumerTopics, gatewayTopics } from '../../broker/topics.js'
import { brokerAcl } from '../../gateway/cli/broker-acl.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { FakeDatabase, Pipeline, until } from './pipeline.js'

const ACCOUNTS = ['gw-a:gateway', 'gw-b:consumer/plant', 'gw-c:gateway', 'wall:reader', 'telegraf:other']
const GRANTS = ['telegraf write telegraf/#', 'gw-c read telegraf/#']

/** Runs `sluice broker-acl`. @param {...string} args */
async function run (...args) {
  const said = { out: '', err: '' }
  const sink = (/** @type {'out'|'err'} */ name) => /** @type {any} */ ({ write: (/** @type {string} */ text) => { said[name] += text } })
  const exitCode = await brokerAcl(args, { stdin: process.stdin, stdout: sink('out'), stderr: sink('err') })
  const shown = said.out.matchAll(/^ {2}(\S+) +([\w-]{24})$/gm)
  const passwords = Object.fromEntries(Array.from(shown, ([, name, password]) => [name, password]))
  return { exitCode, ...said, passwords }
}

const grants = GRANTS.flatMap(grant => ['--allow', grant])

describe('sluice broker-acl', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-acl-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('writes files that only their owner can read, and passwords to no file', async () => {
    const { exitCode, passwords } = await run(...ACCOUNTS, ...grants, '--out', folder)
    expect(exitCode).to.equal(0)
    expect(Object.keys(passwords)).to.deep.equal(['gw-a', 'gw-b', 'gw-c', 'wall', 'telegraf'])
    for (const name of ['sluice.passwords', 'sluice.acl']) {
      expect((await stat(join(folder, name))).mode & 0o777).to.equal(0o600)
      const text = await readFile(join(folder, name), 'utf8')
      for (const password of Object.values(passwords)) expect(text).not.to.contain(password)
    }
  })

  it('knows this machine’s gateway as "self", and takes a password from a file', async () => {
    const file = join(folder, 'password')
    await writeFile(file, 'three hazelnuts\n')
    const args = ['self:consumer', 'wall:reader', '--allow', 'self read telegraf/#', '--user-dir', join(folder, 'user'), '--out', folder]
    const { exitCode, err, passwords } = await run(...args, '--password-file', `self=${file}`)
    expect(err).to.equal('')
    expect(exitCode).to.equal(0)
    expect(Object.keys(passwords)).to.deep.equal(['wall'])
    const id = (await readFile(join(folder, 'user', 'sluice', 'gateway-id'), 'utf8')).trim()
    expect(await readFile(join(folder, 'sluice.acl'), 'utf8')).to.contain(`user ${id}\n`).and.contain('topic read telegraf/#')
    const [line] = (await readFile(join(folder, 'sluice.passwords'), 'utf8')).split('\n')
    const [name, , , rounds, salt, hash] = line.split(/[:$]/)
    expect(name).to.equal(id)
    const made = pbkdf2Sync('three hazelnuts', Buffer.from(salt, 'base64'), Number(rounds), 64, 'sha512')
    expect(made.toString('base64')).to.equal(hash)
  })

  it('refuses a password file that is missing, empty or of nobody', async () => {
    await writeFile(join(folder, 'empty'), '')
    const wrong = [[`gw-a=${folder}/nowhere`, /ENOENT/], [`gw-a=${folder}/empty`, /the file is empty/], ['gw-b=x', /not of an account/]]
    for (const [given, why] of wrong) {
      const { exitCode, err } = await run('gw-a:gateway', '--out', folder, '--password-file', String(given))
      expect(exitCode).to.equal(2)
      expect(err).to.match(/** @type {RegExp} */ (why))
    }
  })

  it('keeps passwords, makes those of new accounts, and removes accounts that are not named', async () => {
    await run('gw-a:gateway', 'gw-b:consumer', '--out', folder)
    const before = await readFile(join(folder, 'sluice.passwords'), 'utf8')
    const { passwords, out } = await run('gw-a:gateway', 'gw-c:gateway', '--out', folder)
    expect(Object.keys(passwords)).to.deep.equal(['gw-c'])
    expect(out).to.contain('Removed: gw-b')
    const after = await readFile(join(folder, 'sluice.passwords'), 'utf8')
    expect(after.split('\n')[0]).to.equal(before.split('\n')[0])
    expect(after).not.to.contain('gw-b')
    expect(await readFile(join(folder, 'sluice.acl'), 'utf8')).not.to.contain('gw-b')
  })

  it('refuses what would open the protocol, and writes nothing then', async () => {
    for (const topic of ['#', '+/#', 'sluice/#', 'sluice/v2/gw-b/data/x', '+/+/+/data/x', 'a/b#', 'a/#/b']) {
      const { exitCode, err } = await run('gw-a:gateway', '--allow', `gw-a write ${topic}`, '--out', folder)
      expect(exitCode, topic).to.equal(2)
      expect(err).to.contain('SLUICE_BROKER_ACCOUNT')
    }
    for (const wrong of [['gw-a'], ['gw-a:admin'], ['a/b:gateway'], ['+:gateway'], ['gw a:gateway'], [], ['gw-a:gateway', 'gw-a:reader']]) {
      expect((await run(...wrong, '--out', folder)).exitCode, wrong.join()).to.equal(2)
    }
    expect((await run('gw-a:gateway', '--allow', 'gw-b read x', '--out', folder)).err).to.contain('there is no account gw-b')
    expect(await readFile(join(folder, 'sluice.acl')).catch(error => error.code)).to.equal('ENOENT')
  })
})

/** @type {[string, (context: Mocha.Context) => void, (folder: string) => Promise<Guarded>][]} */
const brokers = [
  ['Mosquitto', requireMosquitto, mosquitto],
  ['the embedded broker', () => {}, embedded]
]

/** @typedef {{url: string, protocolVersion: '5'|'3.1.1', passwords: Record<string, string>, stop: () => Promise<void>}} Guarded */

/** With the rules that the command writes. @param {string} folder @returns {Promise<Guarded>} */
async function mosquitto (folder) {
  const { passwords } = await run(...ACCOUNTS, ...grants, '--out', folder)
  const broker = await startMosquitto({
    conf: [`password_file ${folder}/sluice.passwords`, `acl_file ${folder}/sluice.acl`, 'max_inflight_messages 1000'], anonymous: false
  })
  return { url: broker.url, protocolVersion: '5', passwords, stop: () => broker.stop() }
}

/** @returns {Promise<Guarded>} */
async function embedded () {
  const passwords = Object.fromEntries(ACCOUNTS.map(account => [account.split(':')[0], `password of ${account}`]))
  const users = ACCOUNTS.map(account => `${account}:password of ${account}`)
  const broker = await startEmbeddedBroker({ port: 0, users, grants: GRANTS })
  return { url: `mqtt://127.0.0.1:${broker.port}`, protocolVersion: '3.1.1', passwords, stop: () => broker.close() }
}

for (const [title, require, start] of brokers) {
  describe(`access to ${title}`, () => {
    /** @type {string} */
    let folder
    /** @type {Guarded} */
    let broker
    /** @type {(() => Promise<void>)[]} */
    let closing

    before(function () { require(this) })

    beforeEach(async () => {
      closing = []
      folder = await mkdtemp(join(tmpdir(), 'sluice-acl-'))
      broker = await start(folder)
    })

    afterEach(async () => {
      for (const close of closing.reverse()) await close()
      await broker.stop()
      await rm(folder, { recursive: true })
    })

    const as = (/** @type {string} */ user) => {
      const { url, protocolVersion, passwords } = broker
      return { url, protocolVersion, user, password: passwords[user] }
    }

    const client = async (/** @type {string} */ user, clientId = `a client of ${user}`) => {
      const connection = await open(as(user), { clientId })
      closing.push(() => connection.close({ patienceMs: 0 }))
      return connection.client
    }

    /** All that an account gets to hear. @param {string} user @param {string} filter */
    const hears = async (user, filter) => {
      const listener = await client(user, `${user} listens`)
      /** @type {{topic: string, text: string}[]} */
      const heard = []
      listener.on('message', (topic, payload) => heard.push({ topic, text: payload.toString('latin1') }))
      await listener.subscribeAsync(filter, { qos: 1 })
      return heard
    }

    const pipelineOf = async (/** @type {string} */ user) => {
      const pipeline = await Pipeline.create(as(user))
      closing.push(() => pipeline.close())
      return pipeline
    }

    const topicsOfA = gatewayTopics('gw-a')
    const topicsOfB = consumerTopics('gw-b')
    const forgeries = {
      data: topicsOfA.data('press'),
      head: topicsOfA.head('out'),
      resent: topicsOfA.resent('gw-b', 'in'),
      sinks: topicsOfB.sinks('in'),
      commit: topicsOfB.commit('history', 'gw-a'),
      resend: topicsOfB.resend('in', 'gw-a'),
      'list of a group': consumerTopics('group:plant').sinks('group-in'),
      'commit of a group': consumerTopics('group:plant').commit('shared', 'gw-a'),
      echo: topicsOfA.echo('out'),
      probe: topicsOfA.preflight('x/echo')
    }

    /** Whoever may not do that: all but those in whose name it is. @param {string} kind */
    const strangersTo = kind => ['gw-c', 'wall', 'telegraf', /list|commit|resend|sinks/.test(kind) ? 'gw-a' : 'gw-b']

    it('lets a gateway stage and store, another and a group store the same, and each row arrives once', async () => {
      const [a, b] = [await pipelineOf('gw-a'), await pipelineOf('gw-b')]
      const [own, far, shared] = [new FakeDatabase('own'), new FakeDatabase('history'), new FakeDatabase('shared')]
      a.addSink(own)
      b.addSink(far)
      b.addSink(shared)
      const { it: stage } = await a.openStage({ gateway: 'gw-a' })
      await until(() => stage.state.connected)
      const heard = await hears('wall', 'sluice/v2/#')
      await a.produce(stage, 20)
      await until(() => heard.filter(({ topic }) => topic === topicsOfA.data('press')).length === 20) // the others have to ask for them
      const publishLocally = (/** @type {any} */ message) => localCommits.publish(message)
      await a.openConsumer(['own'], { consumer: 'gw-a', own: 'gw-a', reader: 'own-in', publishLocally })
      await b.openConsumer(['history'], { consumer: 'gw-b', own: 'gw-b', reader: 'in' })
      await b.openConsumer(['shared'], { consumer: 'group:plant', own: 'gw-b', reader: 'group-in' })
      await until(() => stage.state.requiredSinks.length === 2)
      await a.produce(stage, 20)

      const all = Array.from({ length: 40 }, (_, i) => i)
      const databases = [own, far, shared]
      const counts = () => databases.map(({ id, rows }) => `${id} ${rows.length}`).join()
      await until(() => databases.every(({ rows }) => rows.length >= 40), counts)
      await until(() => stage.state.unstoredBytes === 0, () => `the commits: ${JSON.stringify(stage.state)}`)
      for (const { rows } of databases) expect(rows.toSorted((x, y) => x - y)).to.deep.equal(all)
      const kinds = new Set(heard.map(({ topic }) => topic.split('/').slice(2, 4).join(' ')))
      expect([...kinds]).to.include.members(['gw-a data', 'gw-a head', 'gw-a resent', 'gw-b sinks', 'gw-b commit', 'gw-b resend',
        'group:plant sinks', 'group:plant commit', 'group:plant resend'])
    })

    it('refuses each forgery, and the promise holds meanwhile', async () => {
      const [a, b] = [await pipelineOf('gw-a'), await pipelineOf('gw-b')]
      const database = new FakeDatabase('history')
      b.addSink(database)
      const heard = await hears('wall', 'sluice/v2/#')
      const { it: stage } = await a.openStage({ gateway: 'gw-a' })
      await b.openConsumer(['history'], { consumer: 'gw-b', own: 'gw-b', reader: 'in' })
      await until(() => stage.state.requiredSinks.length === 1)
      await a.produce(stage, 10)
      for (const [kind, topic] of Object.entries(forgeries)) {
        for (const user of strangersTo(kind)) expect(await forge(user, topic), `${kind} by ${user}`).to.equal('refused')
      }
      await a.produce(stage, 10)
      await until(() => stage.state.unstoredBytes === 0)
      expect(database.rows.toSorted((x, y) => x - y)).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
      expect(heard.filter(({ text }) => text === 'forged')).to.deep.equal([])
      expect(stage.alarms.counts).to.deep.equal({ ...stage.alarms.counts, clashes: 0, impossible: 0 })
    })

    /** Over MQTT 3.1.1 a broker can refuse only by ending the connection. @param {string} user @param {string} topic */
    const forge = async (user, topic) => {
      const { client: forger, close } = await openAs(user)
      const ended = new Promise(resolve => forger.once('close', () => resolve('refused')))
      const published = forger.publishAsync(topic, 'forged', { qos: 1, retain: true }).then(() => 'done', () => 'refused')
      const outcome = await Promise.race([published, ended])
      await close()
      return outcome
    }

    const openAs = async (/** @type {string} */ user) => {
      const connection = await open(as(user), { clientId: `forging as ${user}` })
      return { client: connection.client, close: () => connection.close({ patienceMs: 0 }) }
    }

    it('has nobody wait for the sinks of a gateway that is no consumer, nor lets it commit or ask others for anything', async () => {
      const [a, b] = [await pipelineOf('gw-a'), await pipelineOf('gw-b')]
      const plain = consumerTopics('gw-c')
      const list = JSON.stringify({ gateway: '+', source: '+', sinks: [{ sink: 'ghost', label: 'ghost', committed: true }] })
      await (await client('gw-c')).publishAsync(plain.sinks('in'), list, { qos: 1, retain: true })
      const published = await hears('wall', 'sluice/v2/+/sinks/+')
      await until(() => published.length === 1)
      const { it: stage } = await a.openStage({ gateway: 'gw-a' })
      await until(() => stage.state.connected)
      const database = new FakeDatabase('history')
      b.addSink(database)
      await b.openConsumer(['history'], { consumer: 'gw-b', own: 'gw-b', reader: 'in' })
      await until(() => stage.state.requiredSinks.length > 0)
      expect(stage.state.requiredSinks).to.deep.equal(['gw-b/history'])
      expect(await forge('gw-c', plain.commit('ghost', 'gw-a'))).to.equal('refused')
      expect(await forge('gw-c', plain.resend('in', 'gw-a'))).to.equal('refused')
    })

    it('does not let in who has no account, or not its password', async () => {
      const refused = { user: 'gw-a', password: 'wrong password' }
      for (const more of [{}, refused, { user: 'gw-z', password: 'wrong password' }]) {
        const { url, protocolVersion } = broker
        const error = await open({ url, protocolVersion, ...more }, { clientId: 'unknown' }).catch(reason => reason)
        expect(error.code).to.equal('SLUICE_BROKER_AUTH')
      }
    })

    it('keeps from a gateway that stores only its own what others stage, also of a session that it had', async () => {
      const a = await pipelineOf('gw-a')
      const { it: stage } = await a.openStage({ gateway: 'gw-a' })
      await until(() => stage.state.connected)
      const published = await hears('wall', 'sluice/v2/gw-a/data/+')
      const heard = await hears('gw-c', 'sluice/v2/#')
      await a.produce(stage, 5)
      const session = { clientId: 'kept', clean: false, sessionExpirySeconds: 60 }
      const filters = ['sluice/v2/gw-c/data/+', 'sluice/v2/+/data/+']
      const before = await open(as('gw-c'), session)
      await before.client.subscribeAsync(filters, { qos: 1 })
      await before.close()
      await a.produce(stage, 5)
      await until(() => new Set(published.map(({ text }) => text)).size === 10)

      const after = await open(as('gw-c'), session)
      closing.push(() => after.close({ patienceMs: 0 }))
      /** @type {string[]} */
      const kept = []
      after.client.on('message', topic => kept.push(topic))
      // What is published now comes after all that was published before.
      await (await client('gw-c', 'last')).publishAsync('sluice/v2/gw-c/data/last', 'x', { qos: 1 })
      await until(() => kept.length > 0 && heard.length > 0)
      expect([...new Set(kept)]).to.deep.equal(['sluice/v2/gw-c/data/last'])
      expect(heard.filter(({ topic }) => topic.startsWith('sluice/v2/gw-a/'))).to.deep.equal([])
    })

    it('does not give what is queued for one account to another that comes with its client id', async () => {
      const session = { clientId: 'kept', clean: false, sessionExpirySeconds: 60 }
      const reader = await open(as('wall'), session)
      await reader.client.subscribeAsync('sluice/v2/gw-a/data/+', { qos: 1 })
      await reader.close()
      await (await client('gw-a')).publishAsync(topicsOfA.data('press'), 'x', { qos: 1 })

      /** @type {string[]} */
      const heard = []
      const thief = connect(as('gw-c'), session)
      closing.push(() => thief.close({ patienceMs: 0 }))
      thief.client.on('message', topic => heard.push(topic))
      await connected(thief)
      await thief.client.subscribeAsync('sluice/v2/gw-c/#', { qos: 1 })
      await thief.client.publishAsync('sluice/v2/gw-c/data/last', 'x', { qos: 1 })
      await until(() => heard.length > 0)
      expect(heard).to.deep.equal(['sluice/v2/gw-c/data/last'])
    })

    it('lets third parties write what they were granted to whom it was granted', async () => {
      const [granted, others] = [await hears('gw-c', 'telegraf/#'), await hears('gw-a', 'telegraf/#')]
      await (await client('telegraf')).publishAsync('telegraf/cpu', 'x', { qos: 1 })
      await until(() => granted.length === 1)
      expect(others).to.deep.equal([])
      expect(await forge('gw-c', 'telegraf/cpu')).to.equal('refused')
      expect(await forge('telegraf', 'elsewhere')).to.equal('refused')
    })

    it('passes the preflight of each gateway', async () => {
      const findings = async (/** @type {string} */ user, gateway = user) => {
        const report = await preflight(as(user), { gateway })
        return report.findings.filter(({ level }) => level !== 'info').map(({ code }) => code)
      }
      expect(await findings('gw-a')).to.deep.equal([])
      expect(await findings('gw-b')).to.deep.equal([])
      expect(await findings('wall')).to.deep.equal(['publish-denied'])
      expect(await findings('gw-a', 'gw-b')).to.deep.equal(['publish-denied'])
    })
  })
}

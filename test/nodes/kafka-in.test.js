import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import broker from '../../nodes/staging/broker.js'
import kafkaServer from '../../nodes/sinks/kafka-server.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import kafkaIn from '../../nodes/staging/kafka-in.js'
import { until } from '../broker/waiting.js'
import { KafkaUnderTest } from '../kafka/kafka.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

/** One spy sees what all nodes show. @param {string} id */
const lastStatusOf = id => helper.getNode(id).status.getCalls().findLast((/** @type {any} */ call) => call.thisValue.id === id)?.args[0]

describe('the node Kafka in', function () {
  this.timeout(120_000)
  const kafka = KafkaUnderTest.inSuite()
  /** @type {string} */
  let userDir
  let count = 0
  /** @type {string} */
  let file

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  beforeEach(() => { file = path.join(userDir, `store${++count}.sqlite`) })
  afterEach(() => helper.unload())
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })

  /** @param {object} options @param {string[]} [next] @param {number} [port] */
  const load = (options, next = ['sink'], port = kafka.server.port) => helper.load([broker, kafkaServer, kafkaIn, sqlite], [
    { id: 'server', type: 'sluice-kafka-server', host: '127.0.0.1', port },
    { id: 'in', type: 'sluice-kafka-in', server: 'server', group: `group${count}`, ...options, wires: [next] },
    { id: 'sink', type: 'sluice-sqlite', file, wires: [] }
  ])

  /** @param {string} table @returns {number[]} */
  const stored = table => {
    const database = new DatabaseSync(file)
    try {
      return database.prepare(`SELECT value FROM "${table}" ORDER BY value`).all().map(({ value }) => Number(value))
    } catch {
      return [] // there is no table yet
    } finally {
      database.close()
    }
  }

  it('stores what topics have whose names match, and goes on after a deploy', async () => {
    for (const topic of ['hall.1', 'hall.2', 'other']) await kafka.create(topic)
    await kafka.produce('hall.1', ['{"value": 1}', '{"value": 2}'])
    await kafka.produce('other', ['{"value": 9}'])
    await load({ topics: ['hall.*'] })
    await until(() => stored('hall.1').length === 2)
    await helper.unload()
    await kafka.produce('hall.1', ['{"value": 3}'])
    await kafka.produce('hall.2', ['{"value": 4}'])
    await load({ topics: ['hall.*'] })
    await until(() => stored('hall.1').length >= 3 && stored('hall.2').length >= 1)
    expect([stored('hall.1'), stored('hall.2'), stored('other')]).to.deep.equal([[1, 2, 3], [4], []])
    await until(() => lastStatusOf('in')?.text === '0 in flight')
  })

  it('reads by mappings, with the key as a level of the topic', async () => {
    await kafka.create('plant')
    await kafka.produce('plant', [{ key: Buffer.from('press'), value: Buffer.from('{"data": {"value": 5}}') }])
    await load({ topics: ['plant'], mappings: [{ topic: 'plant/{source}', values: 'data' }] })
    await until(() => stored('press').length === 1)
    expect(stored('press')).to.deep.equal([5])
  })

  it('lets its form try mappings on the newest records, read as it reads them, and offers the topics that there are', async () => {
    for (const topic of ['trial.a', 'trial.b', 'sluice_own']) await kafka.create(topic)
    await kafka.produce('trial.a', [{ key: Buffer.from('press'), value: Buffer.from('{"value": 1}') }, '{"value": 2}'])
    await kafka.produce('trial.b', Array.from({ length: 300 }, (_, value) => JSON.stringify({ value })))
    await load({ topics: ['trial.*'] })
    const ask = async (/** @type {string} */ what, /** @type {object} */ body) => {
      return (await helper.request().post(`/${what}`).send(body)).body
    }
    const server = { id: 'new', type: 'sluice-kafka-server', options: { host: '127.0.0.1', port: String(kafka.server.port) } }
    const offered = (await ask('sluice-staging/sluice-kafka-server/topics', server)).topics
    expect(offered).to.include.members(['trial.a', 'trial.b']).and.not.include('sluice_own')

    const { session } = await ask('sluice-topics/listen', { server, mappings: [], topics: 'trial.*' })
    const mappings = [{ topic: 'trial.a/{device}', source: 'plant' }]
    const tried = (/** @type {string} */ topic) => ask('sluice-topics/try', { session, mappings, topic })
    const newest = async () => (await tried('trial.b')).row?.fields?.[0][2]
    while (await newest() !== '299' || (await tried('')).found.length < 3) await sleep(20)
    await kafka.produce('trial.b', ['{"value": 300}'])
    while (await newest() !== '300') await sleep(20)
    const { found, progress, row } = await tried('trial.a/press')
    const matches = found.map((/** @type {any} */ { topic, mapping }) => [topic, mapping])
    expect(matches).to.deep.equal([['trial.a', -1], ['trial.a/press', 0], ['trial.b', -1]])
    expect(progress).to.include({ state: 'listening' })
    expect(progress.messages, 'no more than the newest of each partition').to.be.below(110)
    expect(row).to.include({ source: 'plant' }).and.deep.include({ tags: [['device', 'press']] })
    await ask('sluice-topics/stop', { session })
    expect((await tried('')).progress.state).to.equal('ended')

    const nowhere = await ask('sluice-topics/listen', { server, mappings: [], topics: 'missing' })
    let problem
    while (!problem) ({ progress: { problem } } = await ask('sluice-topics/try', { session: nowhere.session, mappings: [] }))
    expect(problem).to.match(/^There is no topic missing, or this user may not see it\./)
  })

  it('warns of another one in its group that leads to other sinks', async () => {
    await helper.load([broker, kafkaServer, kafkaIn, sqlite], [
      { id: 'server', type: 'sluice-kafka-server', host: '127.0.0.1', port: kafka.server.port },
      { id: 'one', type: 'sluice-kafka-in', name: 'press', server: 'server', topics: ['hall.*'], wires: [['sink']] },
      { id: 'two', type: 'sluice-kafka-in', name: 'paint', server: 'server', topics: ['hall.1'], wires: [['other']] },
      { id: 'sink', type: 'sluice-sqlite', file, wires: [] },
      { id: 'other', type: 'sluice-sqlite', file: `${file}.other`, wires: [] }
    ])
    const warned = () => helper.getNode('two').warn.getCalls().map((/** @type {any} */ { args: [text] }) => text)
    await until(() => warned().length > 0)
    expect(warned()[0]).to.match(/^SLUICE_KAFKA_GROUP: "press" and "paint" share the group "sluice" and a topic, but not their sinks/)
  })

  it('says what is missing: a sink, or Kafka', async () => {
    await load({ topics: ['plant'] }, [])
    await until(() => lastStatusOf('in')?.fill === 'red')
    expect(lastStatusOf('in').text).to.match(/sink/i)
    await helper.unload()
    await load({ topics: ['plant'] }, ['sink'], 1)
    await until(() => /Kafka/.test(lastStatusOf('in')?.text ?? ''))
    expect(lastStatusOf('in').fill).to.equal('yellow')
  })
})

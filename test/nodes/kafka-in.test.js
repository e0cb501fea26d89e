import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
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
  const load = (options, next = ['sink'], port = kafka.server.port) => helper.load([kafkaServer, kafkaIn, sqlite], [
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

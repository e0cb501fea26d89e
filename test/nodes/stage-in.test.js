import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import mqtt from 'mqtt'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { readOptions } from '../../gateway/base/options.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import broker from '../../nodes/staging/broker.js'
import stageIn, { statusOf } from '../../nodes/staging/stage-in.js'
import { schema } from '../../nodes/staging/stage-in.schema.js'
import { until } from '../broker/waiting.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

const LONG = 'a'.repeat(65_536)

/** One spy sees what all nodes show. @param {string} id */
const lastStatusOf = id => helper.getNode(id).status.getCalls().findLast((/** @type {any} */ call) => call.thisValue.id === id)?.args[0]

describe('options of stage in', () => {
  const read = (/** @type {object} */ options) => readOptions(schema, { broker: 'b', ...options })

  it('are topic filters of any kind', () => {
    const foreignTopics = ['#', '+', '/', 'a/#', '+/b/+', '/a//b/', '$SYS/#', '$share/g/#', '$share/g/a/+', '$shares/a', 'Öl 1/Wärme']
    expect(read({ foreignTopics }).foreignTopics).to.deep.equal(foreignTopics)
  })

  const wrong = ['', 'a/#/b', 'a+', '+a/b', 'a#', '##', '$share', '$share/g', '$share/g/', '$share//a', '$share/+/a', 'a\0b', LONG]
  for (const filter of wrong) {
    it(`are no filter that MQTT does not know: ${JSON.stringify(filter.slice(0, 20))}`, () => {
      expect(() => read({ foreignTopics: ['plant/#', filter] })).to.throw(/^Other topics, entry 2: Topic /)
        .with.property('code', 'SLUICE_OPTIONS')
    })
  }

  it('are no patterns of mappings that share nothing', () => {
    const topicOf = (/** @type {string} */ topic) => read({ mappings: [{ topic }] }).mappings[0].topic
    for (const topic of ['$share/g/plant/{line}', '$shares/a', '$share/g//']) expect(topicOf(topic)).to.equal(topic)
    for (const topic of ['$share//x', '$share', '$share/g', '$share/g/', '$share/+/x']) {
      expect(() => topicOf(topic), topic).to.throw(/Topic pattern/).with.property('code', 'SLUICE_OPTIONS')
    }
  })

  for (const [title, options] of Object.entries({
    Group: { group: LONG }, Gateway: { gateway: LONG }, Source: { source: LONG }, 'Topic pattern': { mappings: [{ topic: LONG }] }
  })) {
    it(`are no names that no topic has room for: ${title}`, () => {
      expect(() => read(options)).to.throw(`${title} must have at most 1,000 characters`).with.property('code', 'SLUICE_OPTIONS')
    })
  }
})

describe('the status of stage in', () => {
  /** @type {string} */
  let userDir
  /** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */
  let embedded

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
    embedded = await startEmbeddedBroker({ port: 0 })
  })
  afterEach(() => helper.unload())
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await embedded.close()
    await rm(userDir, { recursive: true })
  })

  it('says why third-party messages are not read: their spool cannot be opened', async () => {
    const spools = path.join(userDir, 'sluice', 'spool')
    await mkdir(spools, { recursive: true })
    await writeFile(path.join(spools, 'stage'), 'where its folder is to be')
    await helper.load([broker, stageIn, sqlite], [
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
      { id: 'stage', type: 'sluice-stage-in', broker: 'broker', foreignTopics: ['plant/#'], wires: [['sink']] },
      { id: 'sink', type: 'sluice-sqlite', file: path.join(userDir, 'store.sqlite'), wires: [] }
    ])
    await until(() => lastStatusOf('stage')?.fill === 'red')
    expect(lastStatusOf('stage').text).to.equal('spool cannot be opened')
    expect(helper.getNode('stage').error.lastCall.args[0]).to.include(path.join(spools, 'stage'))
  })

  it('does not keep what was beside the spool of a node that is deleted, once its folder is deleted, too', async () => {
    const spools = path.join(userDir, 'sluice', 'spool')
    await mkdir(path.join(spools, 'deleted'), { recursive: true })
    const ids = ['gone', 'deleted', 'disabled', 'inner-stage']
    const files = ids.flatMap(id => [`${id}.filters`, `${id}.receipts`])
    for (const name of [...files, 'notes.txt']) await writeFile(path.join(spools, name), '')
    await helper.load([broker, stageIn, sqlite], [
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
      { id: 'plain', type: 'sluice-stage-in', broker: 'broker', wires: [['sink']] },
      { id: 'disabled', type: 'sluice-stage-in', broker: 'broker', foreignTopics: ['plant/#'], d: true, wires: [[]] },
      { id: 'sub', type: 'subflow', name: '', in: [], out: [] },
      { id: 'stage', type: 'sluice-stage-in', z: 'sub', broker: 'broker', d: true, wires: [[]] },
      { id: 'inner', type: 'subflow:sub', wires: [] },
      { id: 'sink', type: 'sluice-sqlite', file: path.join(userDir, 'left.sqlite'), wires: [] }
    ])
    await until(() => !existsSync(path.join(spools, 'gone.receipts')))
    const kept = (await readdir(spools)).filter(name => !name.startsWith('stage'))
    expect(kept.sort()).to.deep.equal(['deleted', ...files.slice(2), 'notes.txt'].sort())
  })

  const state = /** @type {any} */ ({ connected: true, sinks: 1, waitingFor: ['store'], held: 0 })

  it('is red while third-party messages cannot be kept', () => {
    const status = (/** @type {string|null} */ blocked) => (
      statusOf({ ...state, waitingFor: [] }, /** @type {any} */ ({ link: { connection: {} }, thirdParty: { missingTopics: [], blocked } }))
    )
    expect(status('cannot write')).to.deep.equal({ fill: 'red', shape: 'dot', text: 'third-party messages wait: cannot write' })
    expect(status(null)).to.deep.equal({ fill: 'green', shape: 'dot', text: '0 in flight' })
  })

  it('says that the disk is full, until it is not', async function () {
    const spools = path.join(userDir, 'sluice', 'spool')
    await mkdir(spools, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', spools], { stdio: 'pipe' })
    } catch (error) {
      console.log(`      skipped: no disk of its own can be mounted here: ${/** @type {Error} */ (error).message.split('\n').at(-2)}`)
      this.skip()
    }
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${embedded.port}`)
    try {
      await helper.load([broker, stageIn, sqlite], [
        { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
        { id: 'small', type: 'sluice-stage-in', broker: 'broker', foreignTopics: ['plant/#'], wires: [['sink']] },
        { id: 'sink', type: 'sluice-sqlite', file: path.join(userDir, 'small.sqlite'), wires: [] }
      ])
      const last = () => lastStatusOf('small')
      const shows = (/** @type {string} */ fill, text = '') => until(() => last()?.fill === fill && last().text.includes(text))
      await shows('green')
      const filler = path.join(spools, 'filler')
      await writeFile(filler, Buffer.alloc(2 ** 20)).catch(() => {}) // as much as there is room for
      await client.publishAsync('plant/hall', '{"temperature": 21.5}', { qos: 1 })
      await shows('red', 'third-party messages wait')
      expect(helper.getNode('small').warn.getCalls().join()).to.include('ENOSPC')
      await rm(filler)
      await shows('green')
      const stored = new DatabaseSync(path.join(userDir, 'small.sqlite'), { readOnly: true })
      await until(() => stored.prepare('SELECT 1 FROM sqlite_schema WHERE name = \'plant\'').get() !== undefined)
      await until(() => stored.prepare('SELECT temperature FROM plant').get()?.temperature === 21.5)
      stored.close()
    } finally {
      await client.endAsync()
      await helper.unload()
      execFileSync('umount', [spools])
    }
  })

  it('names the sink that it waits for, and so do the sinks that it waits with', async () => {
    await helper.load([broker, stageIn, sqlite], [
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
      { id: 'in', type: 'sluice-stage-in', broker: 'broker', wires: [['well', 'away']] },
      { id: 'well', type: 'sluice-sqlite', name: 'plant', file: path.join(userDir, 'well.sqlite'), wires: [] },
      { id: 'away', type: 'sluice-sqlite', name: 'hall', file: userDir, wires: [] }
    ])
    await until(() => lastStatusOf('well')?.fill === 'yellow')
    expect(lastStatusOf('well')).to.deep.equal({ fill: 'yellow', shape: 'ring', text: 'waiting for hall' })
    await until(() => lastStatusOf('in')?.text === 'waiting for hall')
    expect(lastStatusOf('away').fill).to.equal('red')
    const started = once(helper._events, 'flows:started')
    await helper._redNodes.setFlows([
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
      { id: 'in', type: 'sluice-stage-in', broker: 'broker', wires: [['well']] },
      { id: 'well', type: 'sluice-sqlite', name: 'plant', file: path.join(userDir, 'well.sqlite'), wires: [] }
    ], {}, 'nodes')
    await started
    await until(() => lastStatusOf('well')?.fill === 'green')
  })

  it('names a topic that is not subscribed to also while it waits for a sink', () => {
    const text = (/** @type {string[]} */ ...missingTopics) => (
      statusOf(state, /** @type {any} */ ({ link: { connection: {} }, thirdParty: { missingTopics } })).text
    )
    expect(text('plant/#')).to.equal('not subscribed to plant/#')
    expect(text()).to.equal('waiting for store')
  })
})

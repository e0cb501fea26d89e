import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { openQueues } from '../../gateway/dead-letters/open-queues.js'
import { deliveries } from '../../gateway/flow/deliveries.js'
import { sinks } from '../../gateway/flow/sinks.js'
import { missingOf } from '../../gateway/live/health.js'
import { stats } from '../../gateway/stats/stats.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import settle from '../../nodes/staging/settle.js'
import { until } from '../broker/waiting.js'
import { batchOf } from '../writer/fake-sink.js'
import { isSound } from './sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('a sink, its balance and its room', () => {
  /** @type {string} */
  let userDir
  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-balance-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  beforeEach(async () => {
    for (const { stage, id } of stats.meters) stats.drop(stage, id)
    await helper.load([sqlite, settle], [sink(), other])
    await store(7)
  })
  afterEach(() => helper.unload())

  const other = { id: 'other', type: 'sluice-settle', wires: [] }
  const sink = (/** @type {object} */ options = {}) => {
    return { id: 'sink', type: 'sluice-sqlite', name: 'store', file: path.join(userDir, 'a'), maxAgeMs: 20, wires: [], ...options }
  }

  /** Has the sink store a value. @param {number} value */
  async function store (value) {
    await until(() => sinks.get('sink') !== undefined)
    const { rows } = meter()
    helper.getNode('sink').receive({ topic: 'press', payload: value })
    await until(() => meter().rows > rows)
  }
  const meter = () => /** @type {import('../../gateway/stats/meter.js').Meter} */ (stats.meters.find(({ id }) => id === 'sink'))

  /** What the balance has after a deploy. @param {object[]} flows */
  async function deployed (flows) {
    const started = once(helper._events, 'flows:started')
    await helper._redNodes.setFlows(flows, {}, 'nodes')
    await started
    return balance()
  }

  function balance () {
    const reader = stats.reader()
    try {
      return reader.read().ledger.map(line => [line.sink, line.stored])
    } finally {
      reader.close()
    }
  }

  it('leaves no ghost when it is renamed, and goes on counting when it is deployed again', async () => {
    expect(balance()).to.deep.equal([['store', 1]])
    expect(await deployed([sink({ maxAgeMs: 21 }), other])).to.deep.equal([['store', 1]])
    await store(8)
    expect(balance()).to.deep.equal([['store', 2]])
    await deployed([sink({ name: 'archive' }), other])
    await store(9)
    expect(balance()).to.deep.equal([['archive', 3]])
  })

  it('is connected while its database is reached, and says why when it is not', async () => {
    expect(stats.readGauges()['sink store']).to.include({ connected: true, problem: null, keptDeadLetters: 0 })
    await deployed([sink({ file: path.join(userDir, 'a', 'below a file'), drainMs: 0 }), other])
    helper.getNode('sink').receive({ topic: 'press', payload: 8 })
    await until(() => stats.readGauges()['sink store']?.connected === false)
    expect(missingOf(stats.readGauges())).to.deep.include({ name: 'sink store', problem: stats.readGauges()['sink store'].lastError })
    const { status } = helper.getNode('sink')
    const last = () => status.lastCall?.args[0]
    await until(() => last()?.fill === 'red' && / 1 waiting/.test(last().text))
    expect(last()).to.deep.equal({ fill: 'red', shape: 'ring', text: 'SQLite refuses to store, 1 waiting' })
    for (const { args: [shown] } of status.getCalls()) isSound(shown)
  })

  it('lets a delivery go, in view, whose source has had its share of the dead letters, and takes those of others', async () => {
    const [, queue] = [...openQueues].find(([name]) => name === 'store') ?? []
    Object.defineProperty(queue, 'fullSources', { get: () => ['press'] })
    Object.assign(queue ?? {}, { isFullFor: (/** @type {string} */ source) => source === 'press' })
    /** @type {string[]} */
    const ended = []
    for (const source of ['press', 'lathe']) {
      const identity = { gateway: 'gw', source, epoch: '1-aaaaaaaa', seq: 0 }
      const delivery = deliveries.open({
        id: source,
        batch: batchOf([1]).withIdentity(identity),
        sinks: ['sink'],
        mark: async () => {},
        onPostponed: () => { ended.push(`${source} postponed`) },
        onFinished: () => { ended.push(`${source} stored`) }
      })
      delivery.begin()
      helper.getNode('sink').receive({ delivery: delivery.attemptId, payload: batchOf([1], 0, source) })
      await until(() => delivery.finished)
      deliveries.close(source)
    }
    expect(ended).to.deep.equal(['press postponed', 'lathe stored'])
    expect(stats.readGauges()['sink store']).to.include({ stoppedSources: 'press' })
    const { status } = helper.getNode('sink')
    await until(() => status.getCalls().some((/** @type {any} */ { args: [{ text }] }) => /^dead letters of a source full/.test(text)))
    expect(helper.getNode('sink').warn.getCalls().join()).to.match(/DEAD_LETTERS_SHARE/)
  })

  for (const [how, flows] of /** @type {[string, object[]][]} */ ([['deleted', []], ['disabled', [{ d: true }]]])) {
    it(`leaves no ghost when it is ${how}`, async () => {
      expect(await deployed([...flows.map(sink), other])).to.deep.equal([])
    })
  }
})

import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
// @ts-expect-error: it brings no types
import helper from 'node-red-node-test-helper'
import { openQueues } from '../../gateway/dead-letters/open-queues.js'
import { sinks } from '../../gateway/flow/sinks.js'
import { loadNodeRed } from '../../gateway/run/node-red.js'
import { stats } from '../../gateway/stats/stats.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { requestReplay } from '../../gateway/dead-letters/replay-requests.js'
import deadLettersNode from '../../nodes/operations/dead-letters.js'
import statsNode, { newAlarms, statusOf } from '../../nodes/operations/stats.js'
import { refused } from '../cli/refused.js'

/** Stands for a stage out: completes a message when told to. @param {any} RED */
function acceptingNode (RED) {
  RED.nodes.registerType('sluice-accepting', /** @this {any} @param {any} config */ function (config) {
    RED.nodes.createNode(this, config)
    this.on('input', (/** @type {any} */ message, /** @type {any} */ _send, /** @type {any} */ done) => this.emit('arrived', message, done))
  })
}

/** The test helper's runtime has no hooks of its own. @param {any} RED */
function deadLettersWithHooks (RED) {
  deadLettersNode(Object.assign(RED, { hooks: loadNodeRed().RED.hooks }))
}

describe('Operations nodes', () => {
  /** @type {string} */
  let userDir

  beforeEach(async () => {
    userDir = await mkdtemp(join(tmpdir(), 'sluice-operations-'))
    helper.init(createRequire(import.meta.url).resolve('node-red'), { userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })

  afterEach(async () => {
    await helper.unload()
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })

  const input = async (/** @type {any} */ node) => (await once(node, 'input'))[0]

  describe('stats', () => {
    const flow = [{ id: 'stats', type: 'sluice-stats', intervalMs: '100', wires: [['out']] }, { id: 'out', type: 'helper' }]

    it('sends a report per interval', async () => {
      await helper.load(statsNode, flow)
      stats.meter('source', 'operations test').rows += 5
      const { topic, payload } = await input(helper.getNode('out'))
      expect(topic).to.equal('stats')
      expect(payload.meters.find((/** @type {any} */ { name }) => name === 'operations test').totals.rows).to.equal(5)
      stats.drop('source', 'operations test')
    })

    it('sends none unless it is asked to', async () => {
      await helper.load(statsNode, [{ ...flow[0], intervalMs: undefined }, flow[1]])
      const node = helper.getNode('stats')
      /** @type {string[]} */
      const topics = []
      helper.getNode('out').on('input', (/** @type {{topic: string}} */ { topic }) => topics.push(topic))
      await once(node, 'call:status') // of the interval: what it sends goes out with it
      node.receive({ topic: 'now' })
      await input(helper.getNode('out'))
      expect(topics).to.deep.equal(['now'])
    })

    it('fills no sidebar in the flows that a gateway begins with', async () => {
      const root = new URL('../../', import.meta.url)
      const composed = (await readdir(new URL('docker/flows/', root))).map(name => `docker/flows/${name}`)
      for (const file of ['flows/flows.json', 'flows/mosquitto.json', ...composed]) {
        const nodes = JSON.parse(await readFile(new URL(file, root), 'utf8'))
        const { wires: [reportsTo] } = nodes.find((/** @type {any} */ { type }) => type === 'sluice-stats')
        const shown = nodes.filter((/** @type {any} */ { id, type }) => reportsTo.includes(id) && type === 'debug')
        expect(shown.map((/** @type {any} */ { active }) => active), file).to.deep.equal([false])
      }
    })

    it('sends one at once for a message, and keeps the message', async () => {
      await helper.load(statsNode, [{ ...flow[0], intervalMs: 3_600_000 }, flow[1]])
      const out = helper.getNode('out')
      const answer = input(out)
      helper.getNode('stats').receive({ topic: 'now', payload: 1 })
      const { topic, payload } = await answer
      expect(topic).to.equal('now')
      expect(payload.process.rssBytes).to.be.above(0)
    })

    it('adds what gateway and machine use where it is asked to', async () => {
      await helper.load(statsNode, [{ ...flow[0], resources: true }, flow[1]])
      const { payload: { resources } } = await input(helper.getNode('out'))
      if (process.platform !== 'linux') return expect(resources.notes).to.be.an('array').that.is.not.empty
      expect(resources.processes.gateway.cpuSeconds).to.be.above(0)
      expect(resources.processes.gateway.processes).to.equal(1)
      expect(resources.machine.cores).to.be.at.least(1)
    })

    it('reads nothing of the machine where it is not', async () => {
      await helper.load(statsNode, flow)
      expect((await input(helper.getNode('out'))).payload).not.to.have.property('resources')
    })

    it('has the machine\'s health in its reports, once it is known', async () => {
      await helper.load(statsNode, flow)
      const out = helper.getNode('out')
      for (;;) {
        const { payload: { host } } = await input(out)
        if (host === null) continue
        expect(host.alarms).to.be.an('array')
        expect(host.cards).to.be.an('array')
        break
      }
    })

    it('warns when something is wrong with the machine: once, and again when it gets worse or comes back', () => {
      /** @type {string[]} */
      const said = []
      const tell = newAlarms({ info () {}, warn: text => said.push(text), error () {} })
      /** @param {'warning'|'problem'} level @param {string} what @returns {import('../../gateway/stats/host/alarms.js').Alarm} */
      const alarm = (level, what) => ({ kind: 'space', level, what, fix: '', phrases: { what, fix: '' } })
      tell([alarm('warning', 'little')])
      tell([alarm('warning', 'less')])
      tell([alarm('problem', 'nothing')])
      tell([alarm('warning', 'a little')])
      tell([])
      tell([alarm('warning', 'little again')])
      expect(said.map(text => text.trim())).to.deep.equal(['little', 'nothing', 'little again'])
    })

    it('leaves no reader behind', async () => {
      const before = stats.readers.size
      await helper.load(statsNode, flow)
      expect(stats.readers.size).to.equal(before + 1)
      await helper.unload()
      expect(stats.readers.size).to.equal(before)
    })

    it('says in its status what matters', () => {
      const meters = /** @type {any} */ ([
        { stage: 'source', perSecond: { rows: 12_345 } },
        { stage: 'sink', perSecond: { rows: 12_000 }, latencyMs: { interval: { p99: 8 } } },
        { stage: 'sink', perSecond: { rows: 12_000 }, latencyMs: { interval: null } }
      ])
      const status = (/** @type {object[]} */ ledger) => statusOf(/** @type {any} */ ({ meters, ledger }))
      expect(status([{ deadLetters: 0, lost: 0 }])).to.deep.equal({ fill: 'green', shape: 'dot', text: '12.3 k rows/s, p99 8.00 ms' })
      expect(status([{ deadLetters: 2, lost: 0 }])).to.deep.include({ fill: 'yellow', text: '12.3 k rows/s, 2 dead letters' })
      expect(status([{ deadLetters: 0, lost: 3 }])).to.deep.include({ fill: 'red', text: '12.3 k rows/s, 3 lost, p99 8.00 ms' })
    })
  })

  describe('dead letters', () => {
    const flow = [
      { id: 'desk', type: 'sluice-dead-letters', wires: [['answers'], ['stage']] },
      { id: 'answers', type: 'helper' },
      { id: 'stage', type: 'sluice-accepting' }
    ]
    /** @type {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} */
    let store
    /** @type {() => void} */
    let remove

    beforeEach(async () => {
      store = await openDeadLetterQueue(join(userDir, 'sqlite'))
      await store.append(refused(0, [1, 2]))
      remove = openQueues.add('sqlite', store)
      await helper.load([deadLettersWithHooks, acceptingNode], flow)
    })

    afterEach(async () => {
      remove()
      await store.close()
    })

    it('tells of those that come', async () => {
      const event = input(helper.getNode('answers'))
      await store.append(refused(1, [3]))
      const { topic, payload } = await event
      expect(topic).to.equal('dead-lettered')
      expect(payload).to.include({ sink: 'sqlite', added: 1, count: 3 })
      expect(payload.newest.map((/** @type {any} */ { values }) => values)).to.deep.equal([[3]])
    })

    it('lists', async () => {
      const answer = input(helper.getNode('answers'))
      helper.getNode('desk').receive({ topic: 'list', payload: { limit: 1 } })
      const { payload } = await answer
      expect(payload.count).to.equal(2)
      expect(payload.deadLetters[0]).to.deep.include({ sink: 'sqlite', key: 'gw/machine/1-a/0/0', values: [1] })
    })

    it('knows a sink also by what its folder is called', async () => {
      remove()
      const removeUnnamed = openQueues.add('postgresql 2', store, '16dc29069ea3080e')
      try {
        await helper.unload()
        await helper.load([deadLettersWithHooks, acceptingNode], [{ ...flow[0], sink: '16dc29069ea3080e' }, ...flow.slice(1)])
        for (const sink of ['postgresql 2', '16dc29069ea3080e', undefined]) {
          const answer = input(helper.getNode('answers'))
          helper.getNode('desk').receive({ topic: 'list', payload: { sink } })
          const { payload: { count, deadLetters } } = await answer
          expect([count, deadLetters[0].sink]).to.deep.equal([2, 'postgresql 2'])
        }
      } finally {
        removeUnnamed()
      }
    })

    it('replays, and forgets rows only once what is behind has accepted them', async () => {
      const answer = input(helper.getNode('answers'))
      const arrived = once(helper.getNode('stage'), 'arrived')
      helper.getNode('desk').receive({ topic: 'replay' })
      const [{ topic, payload: batch }, done] = await arrived
      expect(topic).to.equal('machine')
      expect(batch.identity).to.include({ gateway: 'dead-letters', source: 'machine', seq: 0 })
      expect([...batch.columns[0]]).to.deep.equal([1, 2])
      expect(store.count).to.equal(2)
      done()
      expect((await answer).payload).to.deep.equal({ replayed: 2 })
      expect(store.count).to.equal(0)
    })

    it('replays what the command line asks for', async () => {
      const arrived = once(helper.getNode('stage'), 'arrived')
      const asked = requestReplay(store.folder, ['gw/machine/1-a/0/1'])
      const [{ payload: batch }, done] = await arrived
      expect([...batch.columns[0]]).to.deep.equal([2])
      done()
      expect(await asked).to.deep.equal({ replayed: 1 })
      expect(store.keys).to.deep.equal(['gw/machine/1-a/0/0'])
    })

    it('replays into the sink that the rows are from, where nothing is wired', async () => {
      await helper.unload()
      const stored = /** @type {any[]} */ ([])
      const removeSink = sinks.add({
        id: 'a1b2c3',
        name: 'sqlite',
        committed: async () => ({ store: '', records: [] }),
        write: async batch => { stored.push(batch) },
        compact: async () => {}
      })
      await helper.load(deadLettersWithHooks, [{ ...flow[0], wires: [['answers'], []] }, flow[1]])
      expect(await requestReplay(store.folder, null)).to.deep.equal({ replayed: 2 })
      expect(stored.map(({ source, rows }) => [source, rows])).to.deep.equal([['machine', 2]])
      removeSink()
      await store.append(refused(1, [3]))
      const error = await requestReplay(store.folder, null).catch(failure => failure)
      expect(error.message).to.contain('No sink named "sqlite" is running')
      expect(store.count).to.equal(1)
    })

    it('keeps rows that what is behind refused', async () => {
      const arrived = once(helper.getNode('stage'), 'arrived')
      helper.getNode('desk').receive({ topic: 'replay', payload: 'gw/machine/1-a/0/1' })
      const [, done] = await arrived
      const failed = once(helper.getNode('desk'), 'call:error')
      done('the spool is closed')
      expect((await failed)[0].args[0]).to.contain('the spool is closed')
      expect(store.count).to.equal(2)
    })
  })
})

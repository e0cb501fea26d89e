import { once } from 'node:events'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { Batch } from '../../gateway/batch/batch.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { replayed } from '../../gateway/dead-letters/replay.js'
import { deliveries } from '../../gateway/flow/deliveries.js'
import { sinks } from '../../gateway/flow/sinks.js'
import { LazySink } from '../../nodes/sinks/lazy-sink.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import broker from '../../nodes/staging/broker.js'
import settle from '../../nodes/staging/settle.js'
import stageIn from '../../nodes/staging/stage-in.js'
import stageOut from '../../nodes/staging/stage-out.js'
import { until } from '../broker/waiting.js'
import { failSyncs } from './syncs.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

/** @param {number} seq */
function staged (seq) {
  return new Batch({
    source: 'press',
    time: new BigInt64Array([BigInt(seq + 1)]),
    fields: [{ name: 'value', type: 'float64' }],
    columns: [new Float64Array([seq])],
    identity: { gateway: 'gw', source: 'press', epoch: '1-aaaaaaaa', seq }
  })
}

describe('sink and stage nodes', () => {
  /** @type {string} */
  let userDir
  /** @type {string} */
  let file
  /** @type {string[]} */
  let finished

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  beforeEach(async () => {
    file = path.join(await mkdtemp(path.join(userDir, 'store-')), 'store.sqlite')
    finished = []
  })
  afterEach(() => helper.unload())

  const sink = (/** @type {object} */ options = {}) => {
    return { id: 'sink', type: 'sluice-sqlite', name: 'store', file, maxAgeMs: 20, wires: [], ...options }
  }

  /** A running sink. @param {object} [options] @param {...any} others */
  async function load (options, ...others) {
    await helper.load([sqlite, settle], [sink(options), ...others])
    await until(() => sinks.get('sink') !== undefined)
    return helper.getNode('sink')
  }

  /** @param {Batch} batch @param {string} [id] @param {Partial<import('../../broker/in/contract.js').DeliveryOptions>} [more] */
  function deliver (batch, id = 'in:0', more = {}) {
    const delivery = deliveries.open({
      id,
      batch,
      sinks: ['sink'],
      quietMs: 10,
      mark: async (name, record) => { await sinks.get(name)?.write(record) },
      onFinished: () => {
        finished.push(id)
        deliveries.close(id)
      },
      ...more
    })
    delivery.begin()
    return delivery
  }

  /** @param {string} sql @returns {any[]} */
  function read (sql) {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      return database.prepare(sql).all().map(row => ({ ...row }))
    } finally {
      database.close()
    }
  }
  const values = () => read('SELECT value FROM press ORDER BY rowid').map(({ value }) => value)
  const records = () => read('SELECT seq, last FROM sluice_commits WHERE sink_table <> \'\'')

  /** Until a node is done with a message. @param {any} node @param {object} message */
  async function receive (node, message) {
    const complete = once(node, 'done-test')
    const { _complete } = node
    node._complete = (/** @type {any[]} */ ...args) => {
      Reflect.apply(_complete, node, args)
      node._complete = _complete
      node.emit('done-test', args[1])
    }
    node.receive(message)
    return (await complete)[0]
  }

  describe('a sink', () => {
    it('stores a message straight from a flow, which has no delivery', async () => {
      const node = await load()
      expect(await receive(node, { topic: 'press', payload: 7 })).to.equal(undefined)
      expect(values()).to.deep.equal([7])
      expect(records()).to.deep.equal([])
    })

    it('stores a delivery that is no longer known: its stage in was deployed', async () => {
      const node = await load()
      await receive(node, { delivery: 'in:gone#1', payload: staged(0) })
      expect(values()).to.deep.equal([0])
      expect(records()).to.deep.equal([{ seq: 0, last: 0 }])
    })

    it('settles what it has committed, and stores it exactly once however often it comes', async () => {
      const node = await load()
      const delivery = deliver(staged(0))
      const message = { delivery: delivery.attemptId, payload: delivery.batch }
      await Promise.all([receive(node, message), node.receive({ ...message })])
      await receive(node, { delivery: 'in:other#1', payload: delivery.batch })
      expect(finished).to.deep.equal(['in:0'])
      expect(values()).to.deep.equal([0])
    })

    it('settles a batch that a flow has changed by a record without rows', async () => {
      const node = await load()
      const { attemptId } = deliver(staged(0))
      await receive(node, { topic: 'press', delivery: attemptId, payload: { value: 42 } })
      await until(() => finished.length === 1)
      expect(values()).to.deep.equal([42])
      expect(records()).to.deep.equal([{ seq: 0, last: 0 }])
    })

    for (const [how, isRead] of /** @type {const} */ ([['the record', false], ['a reading', true]])) {
      it(`stores changed rows again when its file was restored between them and their record, as ${how} finds out`, async () => {
        const node = await load()
        const copy = `${file}-copy`
        await receive(node, { delivery: deliver(staged(0), 'in:first').attemptId, payload: staged(0) })
        read(`VACUUM INTO '${copy}'`)
        /** @type {(boolean|undefined)[]} */
        const marked = []
        const restore = async () => {
          await Promise.all(['-wal', '-shm'].map(ending => rm(file + ending, { force: true })))
          await rename(copy, file)
        }
        const delivery = deliver(staged(1), 'in:0', {
          mark: async (name, record) => {
            const handle = sinks.get(name)
            if (marked.length === 0) await restore()
            const reading = isRead && marked.length === 0 ? handle?.committed() : undefined
            marked.push(await handle?.write(record).then(() => true, error => {
              expect(error.code).to.equal('SLUICE_SINK_SET_BACK')
              return false
            }))
            await reading
            return marked.at(-1)
          },
          onOpened: () => {
            delivery.begin()
            node.receive({ delivery: delivery.attemptId, payload: staged(7).withIdentity(null) })
          }
        })
        await receive(node, { delivery: delivery.attemptId, payload: staged(7).withIdentity(null) })
        expect(values()).to.deep.equal([0, 7])
        await until(() => finished.length === 2)
        expect(marked).to.deep.equal([false, true])
        expect(values()).to.deep.equal([0, 7])
        expect(records()).to.deep.equal([{ seq: 0, last: 0 }, { seq: 1, last: 1 }])
      })
    }

    it('settles a split batch when it has all parts', async () => {
      const node = await load()
      const { attemptId } = deliver(staged(0))
      const part = (/** @type {number} */ index) => {
        return { topic: 'press', delivery: attemptId, payload: { value: index }, parts: { id: 'split', index, count: 2 } }
      }
      await receive(node, part(0))
      await receive(node, part(0))
      expect(finished).to.deep.equal([])
      await receive(node, part(1))
      await until(() => finished.length === 1)
      expect(values()).to.deep.equal([0, 1])
    })

    it('keeps what is no sample as a dead letter, says so, and settles the delivery', async () => {
      const node = await load()
      const { attemptId } = deliver(staged(0))
      expect(String(await receive(node, { delivery: attemptId, payload: null }))).to.match(/SLUICE_PAYLOAD/)
      await until(() => finished.length === 1)
      expect(records()).to.deep.equal([{ seq: 0, last: 0 }])
    })

    it('releases what it cannot store before it closes: that comes again', async () => {
      const node = await load({ file: '/dev/null/store.sqlite', drainMs: 0 })
      const delivery = deliver(staged(0))
      node.receive({ delivery: delivery.attemptId, payload: delivery.batch })
      await until(() => !delivery.waiting)
      await helper.unload()
      expect(delivery.waiting).to.equal(true)
      expect(delivery.attempts).to.equal(0)
      deliveries.close('in:0')
    })

    it('stores before it closes what it still can', async () => {
      const node = await load({ maxAgeMs: 60_000 })
      const delivery = deliver(staged(0))
      node.receive({ delivery: delivery.attemptId, payload: delivery.batch })
      await until(() => !delivery.waiting)
      await helper.unload()
      expect(finished).to.deep.equal(['in:0'])
      expect(values()).to.deep.equal([0])
    })

    it('says before it closes what it has stored last, if nobody has read that', async () => {
      const node = await load({ maxAgeMs: 60_000 })
      const delivery = deliver(staged(0))
      node.receive({ delivery: delivery.attemptId, payload: delivery.batch })
      await until(() => !delivery.waiting)
      await helper.unload()
      const { records: said } = /** @type {any} */ (await sinks.lastReading('sink'))
      expect(said.map((/** @type {any} */ { first, last }) => [first, last])).to.deep.equal([[0, 0]])
      await load()
      await sinks.get('sink')?.committed()
      await helper.unload()
      expect(sinks.lastReading('sink')).to.equal(undefined)
    })

    it('closes also when its database does not say what it has stored', async () => {
      const node = await load({ maxAgeMs: 60_000 })
      const delivery = deliver(staged(0))
      node.receive({ delivery: delivery.attemptId, payload: delivery.batch })
      await until(() => !delivery.waiting)
      const { committed } = LazySink.prototype
      LazySink.prototype.committed = () => new Promise(() => {})
      try {
        await helper.unload()
      } finally {
        LazySink.prototype.committed = committed
      }
      expect([values(), finished]).to.deep.equal([[0], ['in:0']])
    })

    it('is blue until its database has answered, as on the live page', async () => {
      const { sink: opening } = LazySink.prototype
      LazySink.prototype.sink = () => new Promise(() => {})
      try {
        const node = await load()
        await once(node, 'call:status')
        const [{ fill, text }] = node.status.lastCall.args
        expect(fill).to.equal('blue')
        expect(text).to.match(/^connecting/)
        await helper.unload()
      } finally {
        LazySink.prototype.sink = opening
      }
    })
  })

  describe('settle', () => {
    it('drops a delivery on purpose: nothing of it is stored, and it does not come again', async () => {
      await load({}, { id: 'drop', type: 'sluice-settle', wires: [] })
      const { attemptId } = deliver(staged(0))
      await receive(helper.getNode('drop'), { delivery: attemptId, payload: 1 })
      await until(() => finished.length === 1)
      expect(records()).to.deep.equal([{ seq: 0, last: 0 }])
    })

    it('says that a message without a delivery has nothing to settle', async () => {
      await load({}, { id: 'drop', type: 'sluice-settle', wires: [] })
      expect(String(await receive(helper.getNode('drop'), { payload: 1 }))).to.match(/SLUICE_SETTLE/)
    })
  })

  describe('stage nodes', () => {
    for (const [type, module] of /** @type {const} */ ([['sluice-stage-in', stageIn], ['sluice-stage-out', stageOut]])) {
      it(`${type} says that its broker is missing, and closes well`, async () => {
        await helper.load(module, [{ id: 'stage', type, broker: 'nowhere', wires: [], sinks: ['store'] }])
        const node = helper.getNode('stage')
        while (node.error.callCount === 0) await sleep(10)
        expect(node.error.firstCall.args[0]).to.match(/SLUICE_BROKER_MISSING/)
      })
    }

    it('sluice-stage-out ends its connection to the broker also when its spool cannot be closed', async () => {
      const embedded = await startEmbeddedBroker({ port: 0 })
      try {
        await helper.load([broker, stageOut], [
          { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
          { id: 'stage', type: 'sluice-stage-out', broker: 'broker', fsync: 'system', wires: [] }
        ])
        const node = helper.getNode('stage')
        await receive(node, { topic: 'press', payload: 1 })
        await until(() => embedded.stats().clients > 0)
        /** @type {any[]} */
        const errors = []
        const restore = await failSyncs()
        const unloaded = helper.unload()
        node.error = (/** @type {any} */ error) => { errors.push(error) } // the helper's own ends with unloading
        await unloaded.finally(restore)
        expect(errors.at(-1)).to.have.property('code', 'EIO') // the list of required sinks cannot be saved, either
        await until(() => embedded.stats().clients === 0) // those of the preflight, too
      } finally {
        await embedded.close()
      }
    })

    it('sluice-stage-out refuses rows that are replayed: each time they would get another identity', async () => {
      await helper.load(stageOut, [{ id: 'stage', type: 'sluice-stage-out', broker: 'nowhere', wires: [] }])
      const error = await receive(helper.getNode('stage'), { payload: replayed(staged(0), { epoch: '1-a', seq: 0 }) })
      expect(String(error)).to.match(/^SLUICE_REPLAY_STAGED: /)
    })

    it('sluice-stage-in says that no sink is behind it', async () => {
      const embedded = await startEmbeddedBroker({ port: 0 })
      try {
        await helper.load([broker, stageIn], [
          { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
          { id: 'stage', type: 'sluice-stage-in', broker: 'broker', wires: [] }
        ])
        const node = helper.getNode('stage')
        await until(() => node.warn.callCount > 0)
        expect(node.warn.firstCall.args[0]).to.match(/SLUICE_STAGE_IN_SINKS/)
        await helper.unload()
      } finally {
        await embedded.close()
      }
    })
  })
})

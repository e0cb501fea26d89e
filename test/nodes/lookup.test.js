import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { Batch } from '../../gateway/batch/batch.js'
import { open as openSqlite } from '../../gateway/databases/sqlite/sink.js'
import lookupNode from '../../nodes/queries/lookup.js'
import sqliteNode from '../../nodes/sinks/sqlite.js'
import { until } from '../broker/waiting.js'
import { T0 } from '../databases/contract/batches.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('read by key node', () => {
  /** @type {string} */
  let userDir
  /** @type {any[]} */
  let answers
  /** @type {any} */
  let node

  const records = (/** @type {string[]} */ ids) => new Batch({
    source: 'counters',
    time: BigInt64Array.from(ids, (_, row) => T0 + BigInt(row)),
    fields: [{ name: 'id', type: 'string' }, { name: 'count', type: 'float64' }],
    columns: [ids, Float64Array.from(ids.keys())],
    identity: { gateway: 'gw', source: 'counters', epoch: '1-abcd', seq: 0 }
  })

  before(() => new Promise(resolve => { helper.startServer(() => resolve(undefined)) }))
  after(() => new Promise(resolve => { helper.stopServer(() => resolve(undefined)) }))
  beforeEach(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    const sink = await openSqlite({ file: path.join(userDir, 'sluice', 'store.sqlite'), layout: 'upsert', key: ['id'] })
    await sink.prepare([records(['a', 'b'])])
    await sink.write([records(['a', 'b'])])
    await sink.close()
  })
  afterEach(async () => {
    await helper.unload()
    await rm(userDir, { recursive: true })
  })

  /** @param {object} [options] @param {object[]} [nodes] */
  const load = async (options, nodes = []) => {
    const config = { id: 'lookup', type: 'sluice-lookup', file: 'store.sqlite', table: 'counters', key: 'id', ...options, wires: [['out']] }
    await helper.load([lookupNode, sqliteNode], [config, { id: 'out', type: 'helper' }, ...nodes])
    answers = []
    helper.getNode('out').on('input', (/** @type {any} */ message) => answers.push(message))
    node = helper.getNode('lookup')
  }

  /** @param {object} message @returns {Promise<any>} the answer, or an error's text */
  const ask = async message => {
    const [before, errors] = [answers.length, node.error.callCount]
    node.receive(message)
    await until(() => answers.length > before || node.error.callCount > errors)
    return node.error.callCount > errors ? String(node.error.lastCall.args[0]) : answers.at(-1)
  }

  it('finds one row, many, those of a batch, and null where there is none', async () => {
    await load()
    const a = { time: '2023-11-14T22:13:20.123456789Z', id: 'a', count: 0 }
    const { payload, stored, topic, durationMs } = await ask({ payload: { id: 'a', more: 1 }, topic: 'kept' })
    expect({ payload, stored, topic }).to.deep.equal({ payload: { id: 'a', more: 1 }, stored: a, topic: 'kept' })
    expect(durationMs).to.be.above(0)
    expect((await ask({ payload: 'a' })).stored).to.deep.equal(a)
    expect((await ask({ payload: 'nobody' })).stored).to.equal(null)
    expect((await ask({ payload: ['nobody', 'a'] })).stored).to.deep.equal([null, a])
    const batch = await ask({ payload: records(['x', 'a']) })
    expect(batch.stored).to.deep.equal([null, a])
    expect(batch.payload).to.be.instanceOf(Batch)
  })

  it('reads what a sink has replaced: read, change and write count to the end', async () => {
    const sink = { id: 'sink', type: 'sluice-sqlite', file: 'store.sqlite', table: 'counters', layout: 'upsert', key: 'id', maxAgeMs: 1 }
    await load({ times: 'bigint' }, [sink])
    const database = new DatabaseSync(path.join(userDir, 'sluice', 'store.sqlite'), { readOnly: true })
    const countOf = () => database.prepare('SELECT count FROM counters WHERE id = ?').get('c')?.count
    for (let count = 1; count <= 5; count++) {
      const { stored } = await ask({ payload: 'c' })
      expect(stored?.count ?? 0).to.equal(count - 1)
      helper.getNode('sink').receive({ payload: { id: 'c', count: (stored?.count ?? 0) + 1 } })
      await until(() => countOf() === count)
    }
    expect(database.prepare('SELECT id FROM counters WHERE id = ?').all('c')).to.have.length(1)
    database.close()
  })

  it('says what is missing, and answers the next message', async () => {
    await load()
    expect(await ask({ payload: { name: 'a' } })).to.match(/SLUICE_QUERY_MESSAGE.*"id"/)
    expect(await ask({ payload: [{ id: 1.5 }] })).to.match(/SLUICE_QUERY_MESSAGE/)
    expect((await ask({ payload: 'b' })).stored.count).to.equal(1)
    await helper.unload()
    await load({ table: 'nowhere' })
    expect(await ask({ payload: 'a' })).to.match(/SLUICE_QUERY_TABLE/)
    await helper.unload()
    await load({ key: 'nothing' })
    expect(await ask({ payload: 'a' })).to.match(/SLUICE_QUERY_TABLE.*"nothing"/)
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import mqtt from 'mqtt'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { Batch } from '../../gateway/batch/batch.js'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { sinks } from '../../gateway/flow/sinks.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import broker from '../../nodes/staging/broker.js'
import stageOut from '../../nodes/staging/stage-out.js'
import { until } from '../broker/waiting.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('How many rows go together', () => {
  /** @type {string} */
  let userDir
  let stages = 0

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(() => helper.unload())

  /** @param {number[]} ms */
  const batchAt = ms => new Batch({
    source: 'press',
    time: BigInt64Array.from(ms, each => BigInt(each) * 1_000_000n),
    fields: [{ name: 'value', type: 'float64' }],
    columns: [Float64Array.from(ms)]
  })

  /** What a stage out sends of messages: the times of each batch. @param {object} options @param {Batch[]} batches @param {number} count */
  async function sent (options, batches, count) {
    const id = `stage${++stages}` // with a spool of its own
    const embedded = await startEmbeddedBroker({ port: 0 })
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${embedded.port}`)
    try {
      /** @type {number[][]} */
      const received = []
      client.on('message', (_topic, payload) => { received.push(Array.from(decode(payload).time, ns => Number(ns / 1_000_000n))) })
      await client.subscribeAsync('sluice/v2/+/data/#')
      await helper.load([broker, stageOut], [
        { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
        { id, type: 'sluice-stage-out', broker: 'broker', fsync: 'system', wires: [], ...options }
      ])
      for (const payload of batches) helper.getNode(id).receive({ payload })
      await until(() => received.length >= count)
      await helper.unload()
      return received
    } finally {
      await client.endAsync()
      await embedded.close()
    }
  }

  it('no more than stage out says are one batch, whatever a message has', async () => {
    expect(await sent({ gatherRows: 1 }, [batchAt([1, 2, 3])], 3)).to.deep.equal([[1], [2], [3]])
  })

  it('all of an interval are one batch, where stage out gathers whole intervals', async () => {
    const messages = [batchAt([100, 900]), batchAt([950, 1100]), batchAt([1900, 2000])]
    expect((await sent({ gatherIntervalMs: 1000 }, messages, 2)).slice(0, 2)).to.deep.equal([[100, 900, 950], [1100, 1900]])
  })

  it('all of an interval are one document, of what comes straight from a flow', async () => {
    const file = path.join(await mkdtemp(path.join(userDir, 'store-')), 'store.sqlite')
    const layout = { layout: 'document', batchRows: 1, maxAgeMs: 10 }
    await helper.load(sqlite, [{ id: 'sink', type: 'sluice-sqlite', name: 'store', file, wires: [], ...layout }])
    await until(() => sinks.get('sink') !== undefined)
    for (const ms of [[100, 900], [950, 1100], [1900]]) helper.getNode('sink').receive({ payload: batchAt(ms) })
    await helper.unload() // which stores what waits
    const database = new DatabaseSync(file, { readOnly: true })
    const rows = database.prepare('SELECT time / 1000000 AS ms, size FROM press ORDER BY 1').all().map(row => ({ ...row }))
    database.close()
    expect(rows).to.deep.equal([{ ms: 0, size: 3 }, { ms: 1000, size: 2 }])
  })
})

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { openQueue } from '../../gateway/dead-letters/open-queues.js'
import { stats } from '../../gateway/stats/stats.js'
import influxdbServer from '../../nodes/sinks/influxdb-server.js'
import influxdb from '../../nodes/sinks/influxdb.js'
import sqlite from '../../nodes/sinks/sqlite.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('What a sink says of messages that it cannot store', () => {
  /** @type {string} */
  let userDir

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-refusals-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(() => helper.unload())

  /** What Node-RED is told of each message. @param {any} node @param {object[]} messages @returns {Promise<string[]>} */
  async function told (node, messages) {
    const { _complete } = node
    const texts = []
    for (const message of messages) {
      const complete = once(node, 'told')
      node._complete = (/** @type {any[]} */ ...args) => {
        Reflect.apply(_complete, node, args)
        node.emit('told', args[1])
      }
      node.receive(message)
      texts.push(String((await complete)[0] ?? ''))
    }
    return texts
  }

  it('is each cause once; it is counted, and kept as a dead letter, each time', async () => {
    await helper.load([sqlite], [{ id: 'sink', type: 'sluice-sqlite', name: 'once', file: path.join(userDir, 'once.sqlite'), wires: [] }])
    const node = helper.getNode('sink')
    const texts = await told(node, [{ a: NaN }, { a: NaN }, { other: NaN }, { a: [1] }].map(payload => ({ topic: 'press', payload })))
    expect(texts).to.deep.equal([
      'SLUICE_PAYLOAD: Refused row 0: "a" is NaN: treated as missing.', '', '',
      'SLUICE_PAYLOAD: Refused row 0: "a" is an array: send its values as fields of their own.'
    ])
    expect(stats.meter('sink', 'once', 'sink').deadLetters).to.equal(4)
    const { queue, close } = await openQueue(userDir, { key: 'once', name: 'once' }, { info () {}, warn () {}, error () {} })
    expect(queue.count).to.equal(4)
    await close()
  })

  it('names the property and the option that give rows a source', async () => {
    await helper.load([sqlite, influxdb, influxdbServer], [
      { id: 'sqlite', type: 'sluice-sqlite', name: 'file', file: path.join(userDir, 'source.sqlite'), wires: [] },
      { id: 'influxdb', type: 'sluice-influxdb', name: 'points', server: 'server', wires: [] },
      { id: 'server', type: 'sluice-influxdb-server', port: 1 }
    ])
    const said = async (/** @type {string} */ id) => (await told(helper.getNode(id), [{ payload: 1 }]))[0]
    expect(await said('sqlite')).to.equal('SLUICE_PAYLOAD: Refused row 0: it has no source: set msg.topic, or a Table without {source} ' +
      'in the form of this node.')
    expect(await said('influxdb')).to.equal('SLUICE_PAYLOAD: Refused row 0: it has no source: set msg.measurement or msg.topic, or a ' +
      'Measurement without {source} in the form of this node.')
  })
})

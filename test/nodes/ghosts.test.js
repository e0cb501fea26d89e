import { expect } from 'chai'
import { EventEmitter } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { gatewayId } from '../../broker/gateway-id.js'
import { open } from '../../broker/preflight/probing.js'
import { leaseRequiredSinks } from '../../nodes/staging/required-sinks.js'
import { dataDir } from '../../nodes/node.js'
import { until } from '../broker/pipeline.js'

const list = Buffer.from(JSON.stringify({ gateway: '+', source: '+', sinks: [{ sink: 'db', label: 'history', committed: true }] }))

describe('a stage in that was ungrouped or deleted while its gateway was down', () => {
  it('leaves no list on the broker that spools would wait for; that of one which is there, of any broker, stays', async () => {
    const userDir = await mkdtemp(join(tmpdir(), 'sluice-ghosts-'))
    const broker = await startEmbeddedBroker({ port: 0 })
    const url = `mqtt://127.0.0.1:${broker.port}`
    const configs = [
      { id: 'b', type: 'sluice-broker', url }, { id: 'alias', type: 'sluice-broker', url: `mqtt://localhost:${broker.port}` },
      { id: 'ungrouped', type: 'sluice-stage-in', broker: 'b' },
      { id: 'there', type: 'sluice-stage-in', broker: 'alias', group: 'hall', d: true }
    ]
    const RED = {
      settings: { userDir },
      events: new EventEmitter(),
      nodes: { eachNode: (/** @type {any} */ each) => configs.forEach(each), getNode: () => ({ type: 'sluice-broker', options: { url } }) }
    }
    const gateway = await gatewayId(dataDir(RED))
    const connection = await open({ url }, { clientId: 'observer' })
    const { client } = connection
    /** @type {string[]} */
    const cleared = []
    client.on('message', (topic, payload) => { if (payload.length === 0) cleared.push(topic) })
    await client.subscribeAsync('sluice/v2/+/sinks/+', { qos: 1 })
    const node = { id: 'out', log () {}, warn () {}, error () {} }
    const { requiredSinks, release } = await leaseRequiredSinks(RED, node, 'b')
    try {
      const readers = ['ungrouped', 'deleted', 'there'].map(id => `${gateway}.${id}`)
      for (const reader of [...readers, ...readers, 'other.deleted']) requiredSinks.heard('group:hall', reader, list)
      expect(requiredSinks.all.map(({ key }) => key)).to.deep.equal(['group:hall/db'])
      await until(() => cleared.length === 2)
      expect(cleared).to.deep.equal(readers.slice(0, 2).map(reader => `sluice/v2/group:hall/sinks/${reader}`))
    } finally {
      release()
      await connection.close()
      await broker.close()
      await rm(userDir, { recursive: true, force: true, maxRetries: 10 })
    }
  })
})

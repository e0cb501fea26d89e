import { join } from 'node:path'
import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { connect } from '../../broker/connection/connection.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { connected } from '../../broker/preflight/probing.js'
import { Gateway, node } from './gateway.js'

describe('What a stage in says of its sinks to other gateways', () => {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */
  let broker
  /** @type {import('../../broker/connection/connection.js').Connection} */
  let observer
  /** Sinks by topic, as they came: null where the list was emptied. @type {[topic: string, sinks: string[]|null][]} */
  const lists = []

  before(async () => {
    broker = await startEmbeddedBroker({ port: 0 })
    observer = connect({ url: `mqtt://127.0.0.1:${broker.port}` }, { clientId: 'observer' })
    await connected(observer)
    observer.client.on('message', (topic, payload) => {
      const sinks = payload.length > 0 ? JSON.parse(String(payload)).sinks.map((/** @type {{sink: string}} */ { sink }) => sink) : null
      lists.push([topic, sinks])
    })
    await observer.client.subscribeAsync('sluice/v2/+/sinks/+', { qos: 1 })
    gateway = await Gateway.start()
  })
  after(async () => {
    await gateway?.remove()
    await observer?.close()
    await broker?.close()
  })

  /** @param {Record<string, object>} readers  by id: their options */
  const deploy = readers => gateway.deploy([
    node('broker', '-broker', { url: `mqtt://127.0.0.1:${broker.port}` }),
    ...Object.entries(readers).map(([id, options]) => node(id, '-stage-in', { broker: 'broker', ...options }, ['sink'])),
    node('sink', '-sqlite', { name: 'sink', file: join(gateway.folder, 'sink.sqlite') })
  ], { type: 'nodes' })

  it('is not emptied by disabling it, and is by deleting it, then or later; each gateway has its own, in a group too', async () => {
    await deploy({ one: {}, two: {}, three: { group: 'x' } })
    await gateway.until(() => lists.length >= 3, () => JSON.stringify(lists))
    const id = (await readFile(join(gateway.userDir, 'sluice', 'gateway-id'), 'utf8')).trim()
    const [one, two, three] = [`${id}/sinks/${id}.one`, `${id}/sinks/${id}.two`, `group:x/sinks/${id}.three`].map(its => `sluice/v2/${its}`)
    expect(lists.map(([topic]) => topic).sort()).to.deep.equal([one, two, three].sort())
    expect(lists.map(([, sinks]) => sinks)).to.deep.equal([['sink'], ['sink'], ['sink']])
    const emptied = () => lists.filter(([, sinks]) => sinks === null).map(([topic]) => topic)

    await deploy({ one: { d: true }, two: { d: true }, three: { group: 'x' } })
    await deploy({ one: { d: true }, two: {}, three: { group: 'y' } }) // three reads for another group: that is another reader
    await gateway.until(() => emptied().length > 0, () => JSON.stringify(lists))
    expect(emptied()).to.deep.equal([three])
    await deploy({ two: {} })
    await deploy({ four: {} })
    await gateway.until(() => emptied().length >= 4, () => JSON.stringify(lists))
    expect(emptied().slice(1).sort()).to.deep.equal([one, two, `sluice/v2/group:y/sinks/${id}.three`].sort())
  })
})

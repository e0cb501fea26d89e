import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { heartbeatV4, ProduceAcks, produceV9, Writer } from '@platformatic/kafka'
import { expect } from 'chai'
import { KafkaClient } from '../../gateway/kafka/client.js'

describe('A client of Kafka', function () {
  this.timeout(60_000)

  it('survives a broker that cuts a connection in its login: the gateway ended by an error that nobody caught', async () => {
    const broker = createServer(socket => {
      socket.on('error', () => {})
      socket.once('data', () => socket.resetAndDestroy())
    })
    await once(broker.listen(0, '127.0.0.1'), 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (broker.address())
    const client = new KafkaClient({ host: '127.0.0.1', port, login: 'plain', user: 'sluice', password: 'seal' })
    const error = await client.cluster().then(() => null, its => its)
    expect(error?.cause?.code).to.equal('ECONNRESET')
    await new Promise(resolve => setImmediate(resolve)) // mocha would hear of it by now
    await client.close()
    broker.close()
  })

  it('closes soon where a broker reads nothing: it took 30 s, more than Node-RED leaves a node', async () => {
    const broker = createServer(socket => {
      socket.pause().on('error', () => {})
    })
    await once(broker.listen(0, '127.0.0.1'), 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (broker.address())
    const client = new KafkaClient({ host: '127.0.0.1', port, login: 'none', user: '', password: '' })
    const record = { topic: 'any', partition: 0, key: Buffer.from('key'), value: Buffer.alloc(2 ** 24) }
    const failed = client.ask(produceV9.api, -1, ProduceAcks.ALL, 1000, [record], {}).then(() => null, error => error)
    await once(broker, 'connection')
    await sleep(100) // for what the system takes of it
    const beganMs = performance.now()
    await client.close()
    expect(performance.now() - beganMs).to.be.below(15_000)
    expect(await failed).to.be.an('error')
    broker.close()
  })

  it('asks another one after a broker that gave no answer: of a frozen one it waited for two, 30 s each', async () => {
    /** @type {import('node:net').Server[]} */
    const brokers = []
    const portOf = (/** @type {number} */ i) => /** @type {import('node:net').AddressInfo} */ (brokers[i].address()).port
    brokers.push(
      createServer(socket => { socket.on('error', () => {}).once('data', () => socket.destroy()) }),
      createServer(socket => {
        socket.on('error', () => {}).on('data', bytes => socket.write(metadata(bytes.readInt32BE(8), [portOf(0), portOf(1)])))
      })
    )
    for (const broker of brokers) await once(broker.listen(0, '127.0.0.1'), 'listening')
    const client = new KafkaClient({ host: '127.0.0.1', port: portOf(1), login: 'none', user: '', password: '' })
    expect((await client.cluster()).brokers.size).to.equal(2)
    const error = await client.ask(heartbeatV4.api, 0, 'group', 1, 'member', null).then(() => null, its => its)
    expect(error?.message).to.match(/closed/i)
    expect((await client.cluster()).brokers.size).to.equal(2)
    await client.close()
    for (const broker of brokers) broker.close()
  })
})

/** What a broker answers that is asked for the cluster. @param {number} correlation @param {number[]} ports */
function metadata (correlation, ports) {
  return Writer.create().appendInt32(correlation).appendTaggedFields().appendInt32(0)
    .appendArray([...ports.entries()], (writer, [node, port]) => {
      writer.appendInt32(node).appendString('127.0.0.1').appendInt32(port).appendString(null)
    })
    .appendString('cluster').appendInt32(0).appendArray([], () => {}).appendTaggedFields().prependLength().buffer
}

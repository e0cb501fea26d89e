import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { KafkaClient } from '../../gateway/kafka/client.js'

describe('A client of Kafka', () => {
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
})

import { expect } from 'chai'
import { brokersIn, placesOf } from '../../gateway/kafka/brokers.js'

describe('The brokers that a connection to Kafka names', () => {
  it('are one or more, each with a port of its own or that of all', () => {
    const host = ' kafka-1, kafka-2:9093 ,[fd00::1]:9094,[fd00::2],::1,10.0.0.1:9095,'
    expect(brokersIn({ host, port: 9092 })).to.deep.equal([
      { host: 'kafka-1', port: 9092 }, { host: 'kafka-2', port: 9093 }, { host: 'fd00::1', port: 9094 }, { host: 'fd00::2', port: 9092 },
      { host: '::1', port: 9092 }, { host: '10.0.0.1', port: 9095 }
    ])
    expect(placesOf({ host: 'a,b:1,::1', port: 2 })).to.equal('a:2, b:1, [::1]:2')
  })

  it('are names as they stand where a port is none', () => {
    const names = ['kafka:70000', 'kafka:x']
    expect(brokersIn({ host: names.join(','), port: 1 })).to.deep.equal(names.map(host => ({ host, port: 1 })))
  })
})

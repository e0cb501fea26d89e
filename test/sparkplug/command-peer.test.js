import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { Commander } from '../../gateway/sparkplug/command.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePython, startPython } from '../servers/python.js'

describe('An edge node of pysparkplug', function () {
  this.timeout(30_000)

  it('is told what to write, and its device likewise', async function () {
    requirePython(this)
    requireMosquitto(this)
    const mosquitto = await startMosquitto()
    const edge = startPython('sparkplug_edge.py', [String(mosquitto.port)])
    const client = await mqtt.connectAsync(mosquitto.url)
    try {
      const lines = createInterface(edge.stdout)[Symbol.asyncIterator]()
      const line = async () => String((await lines.next()).value)
      expect(await line()).to.equal('online')
      const metrics = ['Int8', 'Int64', 'UInt32', 'Double', 'Boolean', 'Text'].map(type => ({ name: type, type }))
      for (const deviceId of ['', 'press']) {
        const Text = `für ${deviceId}`
        const values = { Int8: -100, Int64: -(2n ** 50n), UInt32: 4_000_000_000, Double: 1e-300, Boolean: true, Text }
        const { topic, payload } = new Commander({ allowed: true, groupId: 'plant', nodeId: 'cell', deviceId, metrics }).command(values)
        const again = setInterval(() => client.publish(topic, payload), 50) // until it has subscribed
        let told = []
        while (told.at(-1)?.[2] !== Text) told = JSON.parse(await line())
        clearInterval(again)
        expect(told).to.deep.equal([
          ['Int8', 'INT8', -100], ['Int64', 'INT64', -(2 ** 50)], ['UInt32', 'UINT32', 4_000_000_000], ['Double', 'DOUBLE', 1e-300],
          ['Boolean', 'BOOLEAN', true], ['Text', 'TEXT', Text]
        ])
      }
    } finally {
      edge.kill('SIGKILL')
      await once(edge, 'exit')
      await client.endAsync(true)
      await mosquitto.stop()
    }
  })
})

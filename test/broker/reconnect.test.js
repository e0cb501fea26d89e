import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { FakeDatabase, Pipeline, until } from './pipeline.js'

for (const protocolVersion of /** @type {const} */ (['5', '3.1.1'])) {
  describe(`delivery over a connection that breaks, with Mosquitto over MQTT ${protocolVersion}`, () => {
    before(function () { requireMosquitto(this) })

    it('acknowledges on the next one what had come on the last, also when something of its own was on its way', async () => {
      const mosquitto = await startMosquitto()
      const pipeline = await Pipeline.create({ url: mosquitto.url, protocolVersion })
      const database = new FakeDatabase('db')
      let commit = () => {}
      database.busy = new Promise(resolve => { commit = () => resolve(undefined) })
      pipeline.addSink(database)
      const { it: consumer } = await pipeline.openConsumer(['db'], { window: 10 })
      const { it: stage } = await pipeline.openStage()
      await pipeline.produce(stage, 10)
      await until(() => consumer.state.held === 10)

      const client = /** @type {import('mqtt').MqttClient} */ (consumer.options.client)
      client.publish('any', 'thing', { qos: 1 })
      client.stream.destroy() // MQTT.js sends it again before it emits `connect`; the broker's messages come meanwhile
      await until(() => consumer.state.redelivered === 10)
      commit()
      await pipeline.produce(stage, 30)
      await until(() => database.rows.length === 40, () => `40 rows, there are ${database.rows.length}`)
      await pipeline.close()
      await mosquitto.stop()
    })
  })
}

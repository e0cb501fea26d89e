import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { deliveryContract } from './contract.js'

describe('delivery', () => {
  for (const protocolVersion of /** @type {const} */ (['5', '3.1.1'])) {
    describe(`over Mosquitto, MQTT ${protocolVersion}`, function () {
      before(function () { requireMosquitto(this) })
      deliveryContract(async () => {
        const mosquitto = await startMosquitto()
        return {
          broker: { url: mosquitto.url, protocolVersion },
          async loseEverything () {
            await mosquitto.kill()
            await mosquitto.deletePersistence()
            await mosquitto.start()
          },
          async restart () {
            await mosquitto.kill()
            await mosquitto.start()
          },
          stop: () => mosquitto.stop()
        }
      })
    })
  }

  describe('over the embedded broker, MQTT 3.1.1', () => {
    deliveryContract(async () => {
      let broker = await startEmbeddedBroker({ port: 0 })
      const { port } = broker
      const again = async () => {
        await broker.close()
        broker = await startEmbeddedBroker({ port })
      }
      return {
        broker: { url: `mqtt://127.0.0.1:${port}`, protocolVersion: '3.1.1' },
        loseEverything: again,
        restart: again,
        stop: () => broker.close()
      }
    })
  })
})

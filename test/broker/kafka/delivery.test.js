import { KafkaStaging } from './staging.js'
import { deliveryContract } from '../contract.js'

describe('delivery over Kafka', function () {
  this.timeout(300_000)
  const kafka = KafkaStaging.inSuite()
  deliveryContract(async () => ({
    broker: { kafka: { port: kafka.server.port } },
    loseEverything: () => kafka.clear(),
    async restart () {
      await kafka.server.kill()
      await kafka.server.start()
    },
    stop: () => kafka.clear()
  }))
})

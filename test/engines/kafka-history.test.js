import { historyTest } from '../chaos/history.js'
import { missingKafka } from '../servers/kafka.js'
import { requireServer } from '../servers/programs.js'

describe('History test over Kafka', function () {
  this.timeout(1_200_000)

  before(function () { requireServer(this, 'kafka', missingKafka()) })

  historyTest('kafka')
})

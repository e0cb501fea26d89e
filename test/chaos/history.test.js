import { historyTest } from './history.js'
import { requireMosquitto } from '../servers/mosquitto.js'

describe('History test', function () {
  this.timeout(600_000)

  before(function () { requireMosquitto(this) })

  historyTest('mosquitto', 16)
})

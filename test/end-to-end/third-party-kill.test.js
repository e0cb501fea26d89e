import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { Gateway, node } from './gateway.js'

const KILLS = 6

describe('Third-party messages, of a gateway that is killed', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {mqtt.MqttClient} */
  let publisher

  before(async function () {
    requireMosquitto(this)
    mosquitto = await startMosquitto()
    publisher = await mqtt.connectAsync(mosquitto.url)
    gateway = await Gateway.start()
  })

  after(async () => {
    await publisher?.endAsync()
    await gateway?.remove()
    await mosquitto?.stop()
  })

  /** @param {string[]} foreignTopics */
  const deploy = foreignTopics => gateway.deploy([
    node('broker', '-broker', { url: mosquitto.url }),
    node('stage-in', '-stage-in', { broker: 'broker', foreignTopics, receiveMaximum: 20 }, 'store'),
    node('store', '-sqlite', { name: 'store', file: join(gateway.folder, 'store.sqlite'), maxAgeMs: 50 })
  ])

  /** How often each value of a topic is stored. @param {string} topic */
  function stored (topic) {
    const database = new DatabaseSync(join(gateway.folder, 'store.sqlite'), { timeout: 10_000 })
    try {
      const query = database.prepare(`SELECT value FROM "${topic.split('/')[0]}" WHERE topic = ?`)
      const rows = /** @type {{value: number}[]} */ (query.all(topic))
      return new Map([...Map.groupBy(rows, ({ value }) => value)].map(([value, its]) => [value, its.length]))
    } catch (error) {
      if (/no such table/.test(String(error))) return new Map()
      throw error
    } finally {
      database.close()
    }
  }

  it('are stored once, those that were on their way when it was killed and those that the broker retains', async () => {
    await publisher.publishAsync('plant/limit', '-1', { qos: 1, retain: true })
    await deploy(['plant/#'])
    await gateway.until(() => /^green dot/.test(gateway.status('stage-in')), () => gateway.status('stage-in'))
    let sent = 0
    let isSending = true
    const sending = (async () => {
      while (isSending) {
        await publisher.publishAsync('plant/hall', String(sent++), { qos: 1 })
        if (sent % 10 === 0) await sleep(5)
      }
    })()
    for (let kill = 0; kill < KILLS; kill++) {
      const before = stored('plant/hall').size
      await gateway.until(() => stored('plant/hall').size > before + 50, () => 'more rows')
      await gateway.restart('SIGKILL')
    }
    isSending = false
    await sending
    await gateway.until(() => stored('plant/hall').size === sent, () => `${sent} rows: ${stored('plant/hall').size}`)
    expect([...stored('plant/hall')].filter(([, times]) => times !== 1)).to.deep.equal([])
    expect([...stored('plant/limit')]).to.deep.equal([[-1, 1]])
  })

  it('that the broker retains are taken by a filter that is added later', async () => {
    await publisher.publishAsync('depot/door', '5', { qos: 1, retain: true })
    await deploy(['plant/#', 'depot/#'])
    await gateway.until(() => stored('depot/door').size > 0, () => 'the retained message')
    expect([[...stored('depot/door')], [...stored('plant/limit')]]).to.deep.equal([[[5, 1]], [[-1, 1]]])
  })
})

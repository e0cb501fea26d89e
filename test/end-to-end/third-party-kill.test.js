import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { RawPublisher, encodePublish } from '../../gateway/bench/telegraf/raw-publisher.js'
import { until } from '../broker/waiting.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { Gateway, node } from './gateway.js'

const KILLS = 3
/** More than there are packet ids. */
const QUEUED = 70_000

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
    const rows = read(`SELECT value, count(*) AS times FROM "${topic.split('/')[0]}" WHERE topic = ? GROUP BY value`, topic)
    return new Map(rows.map(({ value, times }) => [value, times]))
  }

  /** How many different values of a topic are. @param {string} topic */
  const count = topic => read(`SELECT count(DISTINCT value) AS count FROM "${topic.split('/')[0]}" WHERE topic = ?`, topic)[0]?.count ?? 0

  /** @param {string} query @param {string} topic @returns {Record<string, number>[]} */
  function read (query, topic) {
    const database = new DatabaseSync(join(gateway.folder, 'store.sqlite'), { timeout: 10_000 })
    try {
      return /** @type {any} */ (database.prepare(query).all(topic))
    } catch (error) {
      if (/no such table/.test(String(error))) return []
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
      const before = count('plant/hall')
      await gateway.until(() => count('plant/hall') > before + 50, () => 'more rows')
      await gateway.restart('SIGKILL')
    }
    isSending = false
    await sending
    await gateway.until(() => count('plant/hall') === sent, () => `${sent} rows: ${count('plant/hall')}`)
    expect([...stored('plant/hall')].filter(([, times]) => times !== 1)).to.deep.equal([])
    expect([...stored('plant/limit')]).to.deep.equal([[-1, 1]])
  })

  it('are stored once where more have queued up than there are packet ids, and it is killed while they come', async () => {
    await gateway.stop()
    const packets = Array.from({ length: QUEUED }, (_, n) => encodePublish({ topic: 'plant/queue', payload: String(n) }, n))
    const raw = new RawPublisher({ host: '127.0.0.1', port: mosquitto.port, clientId: 'raw', packets, window: 1000 })
    await raw.connected()
    await raw.publish()
    await gateway.restart()
    for (const share of [0.2, 0.6]) {
      await gateway.until(() => count('plant/queue') > share * QUEUED, () => `${share * QUEUED} rows: ${count('plant/queue')}`)
      await gateway.restart('SIGKILL')
    }
    await gateway.until(() => count('plant/queue') === QUEUED, () => `${QUEUED} rows: ${count('plant/queue')}`)
    expect([...stored('plant/queue')].filter(([, times]) => times !== 1)).to.deep.equal([])
  })

  it('come over a session that has listened for the spool, too, in an earlier version, and does so no more', async () => {
    const id = (await readFile(join(gateway.userDir, 'sluice', 'gateway-id'), 'utf8')).trim()
    const commits = `sluice/v2/other/commit/sink/${id}`
    const clientId = `sluice-${id}-foreign-stage-in`
    /** @type {mqtt.IClientOptions} */
    const session = { clientId, protocolVersion: 5, clean: false, properties: { sessionExpiryInterval: 3600 } }
    await gateway.stop()
    const before = await mqtt.connectAsync(mosquitto.url, session)
    await before.subscribeAsync(`sluice/v2/+/commit/+/${id}`, { qos: 1 })
    await before.endAsync()
    await publisher.publishAsync(commits, '{}', { qos: 1 })
    await publisher.publishAsync('plant/yard', '1', { qos: 1 })
    await gateway.restart()
    await gateway.until(() => count('plant/yard') === 1, () => 'the row')
    await gateway.until(() => /^green dot/.test(gateway.status('stage-in')), () => gateway.status('stage-in'))
    await gateway.stop()
    /** @type {string[]} */
    const heard = []
    const after = mqtt.connect(mosquitto.url, session)
    after.on('message', topic => { heard.push(topic) })
    await publisher.publishAsync(commits, '{}', { qos: 1 })
    await publisher.publishAsync('plant/yard', '2', { qos: 1 })
    await until(() => heard.includes('plant/yard'))
    expect(heard).to.deep.equal(['plant/yard'])
    await after.endAsync()
    await gateway.restart()
  })

  it('that the broker retains are taken by a filter that is added later', async () => {
    await publisher.publishAsync('depot/door', '5', { qos: 1, retain: true })
    await deploy(['plant/#', 'depot/#'])
    await gateway.until(() => count('depot/door') > 0, () => 'the retained message')
    expect([[...stored('depot/door')], [...stored('plant/limit')]]).to.deep.equal([[[5, 1]], [[-1, 1]]])
  })
})

import { expect } from 'chai'
import mqtt from 'mqtt'
import { connect } from '../../broker/connection/connection.js'
import { HostPresence } from '../../gateway/sparkplug/presence.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'

const TOPIC = 'spBv1.0/STATE/scada'

describe('The state of a Sparkplug host, over Mosquitto', function () {
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {mqtt.MqttClient} */
  let watcher
  /** @type {{online: boolean, timestamp: number, qos: number, retain: boolean}[]} */
  let states
  let wake = () => {}
  /** @type {(() => unknown)[]} */
  let stops = []

  before(async function () {
    requireMosquitto(this)
    mosquitto = await startMosquitto()
  })
  after(() => mosquitto?.stop())
  beforeEach(async () => {
    states = []
    watcher = await mqtt.connectAsync(mosquitto.url, { protocolVersion: 5 })
    watcher.on('message', (topic, payload, { qos, retain }) => {
      if (payload.length > 0) states.push({ ...JSON.parse(payload.toString()), qos, retain })
      wake()
    })
    await watcher.subscribeAsync(TOPIC, { qos: 1, rap: true })
  })
  afterEach(async () => {
    for (const stop of stops.reverse()) await stop()
    stops = []
    await watcher.publishAsync(TOPIC, '', { retain: true })
    await watcher.endAsync()
  })

  function open () {
    const presence = new HostPresence('scada')
    const connection = connect({ url: mosquitto.url }, { clientId: 'host', clean: false, sessionExpirySeconds: 60, will: presence.will() })
    presence.attach(connection.client, ['plant/#'])
    const close = async () => {
      presence.close()
      await connection.close()
    }
    stops.push(() => connection.close())
    return { connection, close }
  }

  /** @param {number} count */
  async function seen (count) {
    while (states.length < count) await new Promise(resolve => { wake = () => resolve(undefined) })
    return states[count - 1]
  }

  it('is its birth once it has subscribed: retained, with QoS 1', async () => {
    const startMs = Date.now()
    open()
    const birth = await seen(1)
    expect(birth).to.include({ online: true, qos: 1, retain: true })
    expect(birth.timestamp).to.be.within(startMs, Date.now())
  })

  it('is its will when the connection is lost, with the time of its birth, and another birth when it is back', async () => {
    const { connection } = open()
    const birth = await seen(1)
    connection.client.stream.destroy()
    expect(await seen(2)).to.deep.equal({ ...birth, online: false })
    const again = await seen(3)
    expect(again).to.include({ online: true, qos: 1, retain: true })
    expect(again.timestamp).to.be.above(birth.timestamp)
  })

  it('is its death when it is closed, with the time of that', async () => {
    const { close } = open()
    const birth = await seen(1)
    await close()
    const death = await seen(2)
    expect(death).to.include({ online: false, qos: 1, retain: true })
    expect(death.timestamp).to.be.at.least(birth.timestamp)
    expect(states).to.have.length(2)
  })

  it('is left as it is when another host of its name is online', async () => {
    open()
    await seen(1)
    await watcher.publishAsync(TOPIC, JSON.stringify({ online: true, timestamp: 1 }), { qos: 1, retain: true })
    await watcher.publishAsync(TOPIC, JSON.stringify({ online: false, timestamp: 2 }), { qos: 1, retain: true })
    expect((await seen(4)).timestamp).to.be.above(2)
    expect(states.map(({ online }) => online)).to.deep.equal([true, true, false, true])
  })

  it('is its birth again when somebody else says that it is offline', async () => {
    open()
    const birth = await seen(1)
    await watcher.publishAsync(TOPIC, JSON.stringify({ online: false, timestamp: birth.timestamp }), { qos: 1, retain: true })
    expect(await seen(3)).to.deep.equal(birth)
  })
})

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { recorded, bytesOf } from '../messages/mapping/recorded.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { Gateway, node } from './gateway.js'

const PRESETS = ['', 'homeassistant', 'neuron', 'shelly', 'shelly-events', 'tasmota', 'ttn', 'zigbee2mqtt']

describe('Topic mappings of a running gateway', function () {
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('mqtt').MqttClient} */
  let publisher
  /** @type {Gateway} */
  let gateway
  const files = recorded().filter(({ preset }) => PRESETS.includes(preset))

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

  /** @param {object} options  of stage in @param {object} [outOptions]  of stage out */
  const deploy = (options, outOptions = {}) => gateway.deploy([
    node('broker', '-broker', { url: mosquitto.url }),
    node('stage-out', '-stage-out', { broker: 'broker', ...outOptions }),
    node('stage-in', '-stage-in', { broker: 'broker', ...options }, 'store'),
    node('store', '-sqlite', { name: 'store', file: join(gateway.folder, 'store.sqlite'), maxAgeMs: 50 })
  ], { feeds: ['stage-out'] })

  const publish = (/** @type {string} */ topic, /** @type {any} */ payload, retain = false) => (
    publisher.publishAsync(topic, payload, { qos: 1, retain })
  )

  /** @param {string} sql @returns {any[]} */
  function query (sql) {
    const database = new DatabaseSync(join(gateway.folder, 'store.sqlite'), { timeout: 10_000 })
    try {
      return database.prepare(sql).all().map(row => ({ ...row }))
    } catch (error) {
      if (/no such (table|column)/.test(String(error))) return []
      throw error
    } finally {
      database.close()
    }
  }
  const tables = () => query('SELECT name FROM sqlite_master WHERE type = \'table\' AND name NOT LIKE \'sluice%\' ORDER BY name')
    .map(({ name }) => name)
  const count = (/** @type {string} */ table) => query(`SELECT count(*) AS rows FROM "${table}"`)[0]?.rows ?? 0

  it('store what several products publish, each once and in one table of its devices, with columns of tags', async () => {
    await publish('zigbee2mqtt/retained', '{"battery":1}', true) // of the last filter: once it is there, all are subscribed to
    await deploy({
      mappings: files.map(({ preset, mapping }) => ({ preset, ...mapping })),
      foreignTopics: ['homeassistant/#'] // overlaps with those of the mappings
    })
    await gateway.until(() => count('zigbee2mqtt') === 1, () => 'the retained one')
    const messages = files.flatMap(file => file.messages)
    for (const message of messages) await publish(message.topic, bytesOf(message))
    const rows = [...messages.flatMap(message => message.rows), { source: 'zigbee2mqtt' }, { source: 'zigbee2mqtt' }]
    const expected = new Map([...Map.groupBy(rows, ({ source }) => source)].map(([source, its]) => [source, its.length]))
    await publish('zigbee2mqtt/last', '{"battery":1}')
    await gateway.until(
      () => [...expected].every(([table, its]) => count(table) >= its),
      () => JSON.stringify([...expected].map(([table, its]) => [table, its, count(table)]))
    )
    expect(tables()).to.deep.equal([...expected.keys()].sort())
    for (const [table, its] of expected) expect(count(table), table).to.equal(its)
    expect(query('SELECT device, application, f_port, temperature, "door.open" AS open FROM ttn ORDER BY device')).to.deep.equal([
      { device: 'dev1', application: 'app1@ttn', f_port: '15', temperature: 21.5, open: 0 },
      { device: 'dev2', application: 'app1@ttn', f_port: null, temperature: -3, open: null }
    ])
  })

  it('keep a row whose field has another type than its column as a dead letter, and store the others', async () => {
    await publish('machines/a', '{"state":1,"speed":2.5}', true)
    await deploy({ mappings: [{ topic: 'machines/{device}', source: 'machines' }] })
    await gateway.until(() => count('machines') === 1, () => 'a row')
    await publish('machines/b', '{"state":"running","speed":3.5}')
    await publish('machines/c', '{"state":0,"speed":4.5}')
    await gateway.says(/SLUICE_SINK_TABLE_MISFIT: .*"state" is of type REAL, and a field of type string/)
    await gateway.until(() => count('machines') === 2, () => `${count('machines')} rows`)
    expect(query('SELECT device, state FROM machines ORDER BY device'))
      .to.deep.equal([{ device: 'a', state: 1 }, { device: 'c', state: 0 }])
  })

  it('hold from the next deploy on as they were edited: what only an earlier one asked for is no longer taken', async () => {
    await deploy({ mappings: [{ topic: 'machines/{machine}', source: 'edited' }] })
    await gateway.until(async () => {
      await publish('machines/probe', '{"speed":8}')
      return count('edited') > 0
    }, () => 'a first row')
    await publish('homeassistant/sensor/late/state', '1')
    await publish('machines/e', '{"speed":9}')
    await gateway.until(() => query('SELECT speed FROM edited WHERE machine = \'e\'').length === 1, () => 'a row')
    expect(query('SELECT speed FROM edited WHERE machine = \'e\'')).to.deep.equal([{ speed: 9 }])
    expect(query('SELECT state FROM homeassistant WHERE entity = \'late\'')).to.deep.equal([])
  })

  it('share the messages of a subscription', async () => {
    await deploy({ mappings: [{ topic: '$share/group/shared/{device}', source: 'shared' }] })
    await gateway.until(async () => {
      await publish('shared/probe', '-1')
      return count('shared') > 0
    }, () => 'a first row')
    for (let i = 0; i < 20; i++) await publish(`shared/d${i % 3}`, String(i))
    const values = () => query('SELECT value FROM shared WHERE device <> \'probe\' ORDER BY value').map(({ value }) => value)
    await gateway.until(() => values().length >= 20, () => JSON.stringify(values()))
    expect(values()).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
  })

  it('are for the messages of a flow, too, by their topic', async () => {
    await deploy({}, { mappings: [{ topic: 'flow/{device}', source: 'flow' }] })
    await gateway.feed(() => [
      { topic: 'flow/a', payload: { v: 1 } }, { topic: 'flow/b', payload: '{"v":2}' }, { topic: 'other', payload: 3 }
    ])
    await gateway.until(() => count('flow') === 2 && count('other') === 1, () => JSON.stringify(tables()))
    expect(query('SELECT device, v FROM flow ORDER BY device')).to.deep.equal([{ device: 'a', v: 1 }, { device: 'b', v: 2 }])
  })

  it('that are wrong stop their node, which says which one and what to do', async () => {
    await deploy({ mappings: [{ topic: 'a/{b}' }, { topic: 'a/{b}/{b}' }] })
    await gateway.says(/SLUICE_MAPPING: Mapping 2: the topic "a\/\{b\}\/\{b\}" has \{b\} twice\. Give each level a name of its own/)
    await gateway.until(() => gateway.status('stage-in') === 'red ring: topic mapping cannot be applied', () => gateway.status('stage-in'))
  })
})

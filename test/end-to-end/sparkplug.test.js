import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePython, startPython } from '../servers/python.js'
import { Gateway, node } from './gateway.js'

const NOON_MS = 1_700_000_000_000

describe('An independent Sparkplug edge node, staged and stored', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {ReturnType<typeof startPython>} */
  let edge
  let said = ''

  before(async function () {
    requireMosquitto(this)
    requirePython(this)
    mosquitto = await startMosquitto()
    gateway = await Gateway.start()
    await gateway.deploy([
      node('broker', '-broker', { url: mosquitto.url }),
      node('stage-in', '-stage-in', { broker: 'broker', foreignTopics: ['spBv1.0/#'], sparkplugHost: 'store' }, 'store'),
      node('store', '-sqlite', { name: 'store', file: 'store.sqlite', maxAgeMs: 50 })
    ])
    edge = startPython('sparkplug_edge.py', [String(mosquitto.port)])
    edge.stdout.setEncoding('utf8').on('data', text => { said += text })
  })

  after(async () => {
    edge?.kill('SIGKILL')
    await gateway?.remove()
    await mosquitto?.stop()
  })

  /** What is stored of the device's one metric and its quality, in order. */
  const stored = () => {
    try {
      const database = new DatabaseSync(join(gateway.userDir, 'sluice', 'store.sqlite'), { readOnly: true })
      const hasQuality = database.prepare('SELECT 1 FROM pragma_table_info(\'plant.cell.press\') WHERE name = \'quality\'').get()
      const rows = database
        .prepare(`SELECT "all/DOUBLE" AS value, ${hasQuality ? 'quality' : 'NULL AS quality'} FROM "plant.cell.press" ORDER BY rowid`)
        .all()
      database.close()
      return rows.map(({ value, quality }) => value ?? quality)
    } catch {
      return []
    }
  }
  const tell = (/** @type {object} */ command) => edge.stdin.write(`${JSON.stringify(command)}\n`)
  /** @param {(row: unknown) => boolean} isIt */
  const until = isIt => gateway.until(() => isIt(stored().at(-1)), () => JSON.stringify([stored(), said]))

  it('gives its births, and data that have only an alias', async () => {
    await until(value => value === 1e-300)
    tell({ double: 2.5, ms: NOON_MS + 1000 })
    await until(value => value === 2.5)
  })

  it('finds the state of its host on the broker', async () => {
    const client = await mqtt.connectAsync(mosquitto.url)
    try {
      /** @type {any[]} */
      const states = []
      client.on('message', (_topic, payload, { retain }) => { states.push({ ...JSON.parse(payload.toString()), retain }) })
      await client.subscribeAsync('spBv1.0/STATE/store', { qos: 1 })
      await gateway.until(() => states.length === 1, () => JSON.stringify(states))
      const [{ timestamp }] = states
      expect(states).to.deep.equal([{ online: true, timestamp, retain: true }])
      await client.publishAsync('spBv1.0/STATE/store', JSON.stringify({ online: false, timestamp }), { qos: 1, retain: true })
      await gateway.until(() => states.length === 3, () => JSON.stringify(states))
      expect(states[2]).to.deep.equal({ online: true, timestamp, retain: false })
    } finally {
      await client.endAsync()
    }
  })

  it('is asked for its births again by a gateway that comes later', async () => {
    await gateway.restart()
    await gateway.until(() => {
      tell({ double: 3.5, ms: NOON_MS + 2000 }) // what comes before it has subscribed is lost: Sparkplug's data have QoS 0
      return said.includes('reborn')
    }, () => said)
    tell({ double: 4.5, ms: NOON_MS + 3000 })
    await until(value => value === 4.5)
  })

  it('leaves a row of bad quality when it dies', async () => {
    edge.kill('SIGKILL')
    await once(edge, 'exit')
    await until(value => value === 'offline')
    expect(await gateway.gauge('sparkplug stage-in')).to.include({ nodes: 0 })
  })
})

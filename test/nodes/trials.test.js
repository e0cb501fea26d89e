import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { openModbusSimulator } from '../../gateway/simulators/modbus/simulator.js'
import modbusDevice from '../../nodes/modbus/device.js'
import broker from '../../nodes/staging/broker.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { freePort } from '../servers/ports.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

const log = { info () {}, warn () {}, error () {} }

/** What the form of a node that is not deployed is told. @param {string} type @param {object} options @returns {Promise<any>} */
const outcome = async (type, options) =>
  (await helper.request().post(`/sluice-servers/${type}/test`).send({ id: 'new', options }).expect(200)).body

describe('Test connection of what is no database', () => {
  /** @type {string} */
  let userDir

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-trials-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })
  afterEach(() => helper.unload())

  describe('a broker', () => {
    beforeEach(function () {
      requireMosquitto(this)
      return helper.load(broker, [])
    })

    /** @param {Parameters<typeof startMosquitto>[0]} given @param {object} [options] */
    async function tried (given, options) {
      const mosquitto = await startMosquitto(given)
      try {
        return await outcome('sluice-broker', { url: mosquitto.url, ...options })
      } finally {
        await mosquitto.stop()
      }
    }

    it('says what it is, and that the gateway may use it', async () => {
      const { ok, text } = await tried({})
      expect(text).to.match(/^mosquitto \d\S+ at mqtt:\/\/127\.0\.0\.1:\d+ \(MQTT 5\), without a login: the gateway gw-\w+ may /)
      expect(ok).to.equal(true)
    })

    it('says that nothing listens, and that the login is refused', async () => {
      const away = await outcome('sluice-broker', { url: `mqtt://127.0.0.1:${await freePort()}` })
      expect(away).to.satisfy((/** @type {any} */ { ok, text }) => !ok && /^Nothing listens at mqtt:.*correct host and port\.$/.test(text))
      const refused = await tried({ users: { plant: 'secret' } }, { user: 'plant', password: 'wrong' })
      expect(refused.text).to.match(/does not let this client in\. Check user and password/)
      expect((await tried({ users: { plant: 'secret' } }, { user: 'plant', password: 'secret' })).text).to.match(/logged in as "plant"/)
    })

    it('says which right is missing', async () => {
      const rules = path.join(userDir, 'acl')
      await writeFile(rules, 'topic read #\n', { mode: 0o600 })
      const { ok, text } = await tried({ conf: [`acl_file ${rules}`] })
      expect(ok).to.equal(false)
      expect(text).to.match(/lets this user in\. This user may not publish to sluice\/v2\/gw-\S+, as the gateway gw-\w+ has to/)
    })
  })

  describe('a Modbus device', () => {
    /** @type {import('../../gateway/simulators/modbus/simulator.js').ModbusSimulator} */
    let simulator
    /** @type {{host: string, port: string}} */
    let place

    /** @param {object} options */
    async function simulate (options) {
      simulator = await openModbusSimulator({ port: 0, ...options }, { log })
      const [host, port] = simulator.address.split(':')
      place = { host, port }
    }
    beforeEach(() => helper.load(modbusDevice, []))
    afterEach(async () => simulator?.close())

    it('answers, with its register or without', async () => {
      await simulate({ registers: [{ address: 0, value: 17 }] })
      expect(await outcome('sluice-modbus-device', place)).to.deep.equal({
        ok: true, text: `Unit 1 at 127.0.0.1:${place.port} answers: holding register 0 is 17.`
      })
      await simulator.close()
      await simulate({ registers: [{ address: 5 }], others: 'illegal' })
      expect(await outcome('sluice-modbus-device', place)).to.deep.equal({
        ok: true, text: `Unit 1 at 127.0.0.1:${place.port} answers, if not to holding register 0 (exception 2).`
      })
    })

    it('is reached and does not answer, or is not reached', async () => {
      await simulate({ units: '3' })
      const mute = await outcome('sluice-modbus-device', { ...place, timeoutMs: 100 })
      expect(mute.ok).to.equal(false)
      expect(mute.text).to.match(/did not answer within 100 ms\. The connection was made: check the unit/)
      const away = await outcome('sluice-modbus-device', { host: '127.0.0.1', port: await freePort() })
      expect(away.ok).to.equal(false)
      expect(away.text).to.match(/ECONNREFUSED.*Check host and port, and that the device runs\.$/)
    })

    it('has a serial port that is not there', async () => {
      const { ok, text } = await outcome('sluice-modbus-device', { connection: 'rtu', path: '/dev/no-such-port' })
      expect(ok).to.equal(false)
      expect(text).to.match(/\/dev\/no-such-port.*(Check the path of the port|npm install serialport)/)
    })
  })
})

import { createServer } from 'node:net'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { connect, schema } from '../../broker/connection/connection.js'
import { problemOf } from '../../broker/connection/problems.js'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { open } from '../../broker/preflight/probing.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { freePort } from '../servers/ports.js'
import { suspend } from '../servers/programs.js'
import { until } from './waiting.js'

/** @typedef {import('../../broker/connection/connection.js').BrokerOptions} BrokerOptions */

/**
 * The first problem a connection meets.
 * @param {BrokerOptions} options
 * @returns {Promise<import('../../gateway/base/errors.js').SluiceError>}
 */
async function problemWith (options) {
  return await open(options, { clientId: 'test' }).then(
    async connection => { await connection.close(); throw new Error('It connected.') },
    error => error
  )
}

describe('connection to a broker', () => {
  it('has a title, a description and a default for each option', () => {
    for (const option of Object.values(schema.properties)) expect(option).to.include.all.keys('title', 'description', 'default')
  })

  it('says that nothing listens', async () => {
    const port = await freePort()
    const problem = await problemWith({ url: `mqtt://127.0.0.1:${port}` })
    expect(problem.code).to.equal('SLUICE_BROKER_REFUSED')
    expect(problem.message).to.contain(`Nothing listens at mqtt://127.0.0.1:${port}.`)
  })

  it('says that what listens is no broker', async () => {
    const server = createServer(socket => socket.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    expect((await problemWith({ url: `mqtt://127.0.0.1:${port}` })).code).to.equal('SLUICE_BROKER_SILENT')
    server.close()
  })

  it('refuses an address it cannot use, without showing the password in it', () => {
    const refused = (/** @type {BrokerOptions} */ options) => () => connect(options, { clientId: 'test' })
    expect(refused({ url: 'http://127.0.0.1' })).to.throw('The broker\'s address http://127.0.0.1 cannot be used.')
    expect(refused({ url: 'broker' })).to.throw('cannot be used')
    expect(refused({ url: 'mqtt://me:opensesame@127.0.0.1' })).to.throw('carries a user or password').and.satisfy(
      (/** @type {Error} */ error) => !error.message.includes('opensesame'))
    expect(refused({ ca: '/nowhere/ca.crt' })).to.throw('The authority of the broker cannot be read from the file /nowhere/ca.crt.')
  })

  it('falls back to MQTT 3.1.1, and says nothing of it, where the broker refuses MQTT 5', async () => {
    const broker = await startEmbeddedBroker({ port: 0 })
    const url = `mqtt://127.0.0.1:${broker.port}`
    /** @type {string[]} */
    const warnings = []
    const log = { info () {}, warn: (/** @type {string} */ text) => { warnings.push(text) }, error () {} }
    const connection = await open({ url }, { clientId: 'test', log })
    expect(connection.protocolVersion).to.equal(4)
    expect(connection.problem).to.equal(null)
    expect(warnings).to.deep.equal([])
    await connection.close()

    expect((await problemWith({ url, protocolVersion: '5' })).code).to.equal('SLUICE_BROKER_PROTOCOL')
    await broker.close()
  })

  it('warns of a broker that does not listen, not of one that starts a moment later', async () => {
    const url = `mqtt://127.0.0.1:${await freePort()}`
    /** @type {string[]} */
    const warnings = []
    /** @type {string[]} */
    const problems = []
    const log = { info () {}, warn: (/** @type {string} */ text) => { warnings.push(text) }, error () {} }
    const connection = connect({ url }, { clientId: 'test', log, onProblem: ({ code }) => problems.push(code) })
    await until(() => problems.length === 1)
    expect(warnings).to.deep.equal([])
    await until(() => warnings.length === 1)
    expect(warnings[0]).to.contain(`Nothing listens at ${url}.`)
    expect(problems).to.deep.equal(['SLUICE_BROKER_REFUSED'])
    await connection.close()
  })

  it('tells two gateways of one id that they push each other out', () => {
    expect(problemOf({ code: 142 }, 'mqtt://127.0.0.1').message).to.contain('give each its own')
  })

  describe('with Mosquitto', () => {
    before(function () { requireMosquitto(this) })

    it('speaks MQTT 5 when it may', async () => {
      const broker = await startMosquitto()
      for (const [protocolVersion, expected] of /** @type {const} */ ([['auto', 5], ['5', 5], ['3.1.1', 4]])) {
        const connection = await open({ url: broker.url, protocolVersion }, { clientId: 'test' })
        expect(connection.protocolVersion).to.equal(expected)
        await connection.close()
      }
      await broker.stop()
    })

    it('connects again, to its session, when the broker is killed and comes back', async () => {
      const broker = await startMosquitto()
      /** @type {string[]} */
      const problems = []
      const connection = await open({ url: broker.url }, {
        clientId: 'test', clean: false, sessionExpirySeconds: 60, onProblem: ({ code }) => problems.push(code)
      })
      await connection.client.subscribeAsync('something', { qos: 1 })
      await broker.saved()
      await broker.kill()
      await until(() => problems.length === 2)
      expect(problems).to.deep.equal(['SLUICE_BROKER_LOST', 'SLUICE_BROKER_REFUSED'])
      /** @type {Promise<import('mqtt').IConnackPacket>} */
      const connected = new Promise(resolve => connection.client.once('connect', resolve))
      await broker.start()
      const { sessionPresent } = await connected
      expect(sessionPresent).to.equal(true)
      expect(connection.problem).to.equal(null)
      await connection.close()
      await broker.stop()
    })

    it('does not end while what was published is on its way', async () => {
      const broker = await startMosquitto()
      const connection = await open({ url: broker.url }, { clientId: 'test' })
      let acknowledged = 0
      for (let n = 0; n < 500; n++) connection.client.publish('something', 'x', { qos: 1 }, () => { acknowledged++ })
      await connection.close()
      expect(acknowledged).to.equal(500)
      await broker.stop()
    })

    it('ends in time when the broker does not answer any more', async () => {
      const broker = await startMosquitto()
      const connection = await open({ url: broker.url }, { clientId: 'test' })
      const resume = await suspend(broker.pid)
      connection.client.publish('something', 'x', { qos: 1 }, () => {})
      await connection.close({ patienceMs: 100 })
      resume()
      await broker.stop()
    })

    it('says that user or password are wrong, over both protocols, and lets the right ones in', async () => {
      const broker = await startMosquitto({ users: { gateway: 'right' } })
      for (const protocolVersion of /** @type {const} */ (['5', '3.1.1'])) {
        for (const password of ['wrong', undefined]) {
          const problem = await problemWith({ url: broker.url, protocolVersion, user: 'gateway', password })
          expect(problem.code).to.equal('SLUICE_BROKER_AUTH')
          expect(problem.message).to.contain('Check user and password').and.not.contain('wrong')
        }
        const connection = await open({ url: broker.url, protocolVersion, user: 'gateway', password: 'right' }, { clientId: 'test' })
        await connection.close()
      }
      await broker.stop()
    })

    it('trusts a certificate by its authority, given as file or text, and only then', async () => {
      const broker = await startMosquitto({ tls: true })
      const ca = /** @type {NonNullable<typeof broker.certificates>} */ (broker.certificates).ca
      const problem = await problemWith({ url: broker.url })
      expect(problem.code).to.equal('SLUICE_BROKER_TLS')
      expect(problem.message).to.contain('not trusted').and.contain('authority (CA)')
      for (const trusted of [{ ca }, { ca: readFileSync(ca, 'utf8') }, { verify: false }]) {
        const connection = await open({ url: broker.url, ...trusted }, { clientId: 'test' })
        await connection.close()
      }
      expect((await problemWith({ url: broker.url.replace('mqtts', 'mqtt') })).code).to.equal('SLUICE_BROKER_SILENT')
      await broker.stop()
    })

    it('says that a port does not speak TLS', async () => {
      const broker = await startMosquitto()
      const { code } = await problemWith({ url: broker.url.replace('mqtt', 'mqtts') })
      expect(code).to.be.oneOf(['SLUICE_BROKER_TLS', 'SLUICE_BROKER_SILENT'])
      await broker.stop()
    })

    it('shows a certificate of its own where the broker asks for one', async () => {
      const broker = await startMosquitto({ clientCertificates: true })
      const { ca, client } = /** @type {NonNullable<typeof broker.certificates>} */ (broker.certificates)
      expect((await problemWith({ url: broker.url, ca })).code).to.be.oneOf(['SLUICE_BROKER_TLS', 'SLUICE_BROKER_SILENT'])
      const connection = await open({ url: broker.url, ca, ...client }, { clientId: 'test' })
      await connection.close()
      await broker.stop()
    })
  })
})

import { AclOperations, AclPermissionTypes, Admin, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'
import { expect } from 'chai'
import { checkNode, connect } from '../../gateway/databases/kafka/connection.js'
import { open } from '../../gateway/databases/kafka/sink.js'
import { missingKafka, startKafka } from '../servers/kafka.js'
import { requireServer } from '../servers/programs.js'
import { ALL_NEW, batchOf, failureOf, identity } from './contract/batches.js'

describe('Kafka server with TLS and a login', () => {
  /** @type {import('../servers/kafka.js').KafkaServer} */
  let server

  before(async function () {
    this.timeout(120_000)
    requireServer(this, 'kafka', missingKafka())
    server = await startKafka({ tls: true, login: true })
  })

  after(() => server?.remove())

  /** @param {object} options */
  const told = async options => {
    const { port, user, password, ca } = server
    const connected = connect({ port, user, password, login: 'scram-sha-512', tls: 'verify', ca, ...options })
    try {
      return await connected.test()
    } catch (error) {
      const { message, code, fix } = /** @type {any} */ (error)
      return `${message} ${fix} (${code})`
    }
  }

  it('is reached', async () => {
    for (const login of ['scram-sha-512', 'plain']) expect(await told({ login })).to.match(/one broker, logged in as "sluice"\./)
  })

  it('says what is wrong with a login', async () => {
    expect(await told({ password: 'password of nobody' })).to.match(/Check user, password and kind of login.*SLUICE_SINK_CONNECT/)
      .and.not.to.include('password of nobody')
    expect(await told({ password: '' })).to.match(/asks for a password.*user "sluice".*SLUICE_SINK_CONNECT/)
    expect(await told({ login: 'none' })).to.match(/Check that .*kind of login.*SLUICE_SINK_CONNECT/)
    expect(await told({ login: 'scram-sha-256' })).to.match(/Check .*kind of login.*SLUICE_SINK_CONNECT/)
  })

  it('is not trusted without its authority, nor reached without TLS', async () => {
    expect(await told({ ca: '' })).to.match(/CA certificate.*SLUICE_SINK_CONNECT/)
    expect(await told({ tls: 'off' })).to.match(/Check .*TLS or none.*SLUICE_SINK_CONNECT/)
  })
})

describe('Kafka with access lists', () => {
  /** @type {import('../servers/kafka.js').KafkaServer} */
  let server

  before(async function () {
    this.timeout(120_000)
    requireServer(this, 'kafka', missingKafka())
    server = await startKafka({
      login: true,
      settings: `authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:sluice;User:ANONYMOUS
listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="sluice" password="seal" user_sluice="seal" user_gateway="wave";`
    })
  })

  after(() => server?.remove())

  it('needs no rights but those that the help of the server lists', async () => {
    const { port, user: username, password } = server
    const admin = new Admin({
      clientId: 'test',
      bootstrapBrokers: [`127.0.0.1:${port}`],
      sasl: { mechanism: 'PLAIN', username, password },
      retries: 50,
      retryDelay: 100
    })
    const allow = (/** @type {number} */ resourceType, /** @type {string} */ resourceName, /** @type {string[]} */ ...rights) => {
      const resourcePatternType = resourceName.endsWith('/') ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL
      return admin.createAcls({
        creations: rights.map(right => ({
          resourceType: /** @type {any} */ (resourceType),
          resourceName,
          resourcePatternType,
          principal: 'User:gateway',
          host: '*',
          operation: /** @type {any} */ (AclOperations)[right],
          permissionType: AclPermissionTypes.ALLOW
        }))
      })
    }
    const written = async () => {
      const sink = await open({ writer: 'gw' }, { server: connect({ port, login: 'plain', user: 'gateway', password: 'wave' }) })
      try {
        return await sink.write([batchOf([1], { identity: identity(0) })])
      } catch (error) {
        return /** @type {Error} */ (error).message
      } finally {
        await sink.close()
      }
    }
    expect(await written()).to.match(/TOPIC_AUTHORIZATION_FAILED.*Grant the user what the help of the server lists/)
    await allow(ResourceTypes.TOPIC, 'sluice_commits', 'READ', 'WRITE', 'CREATE', 'DESCRIBE', 'DESCRIBE_CONFIGS')
    await allow(ResourceTypes.TOPIC, 'press', 'WRITE', 'CREATE', 'DESCRIBE', 'DESCRIBE_CONFIGS')
    expect(await written()).to.match(/TRANSACTIONAL_ID_AUTHORIZATION_FAILED.*Grant the user/)
    await allow(ResourceTypes.TRANSACTIONAL_ID, 'sluice/', 'WRITE', 'DESCRIBE')
    expect(await written()).to.deep.equal(ALL_NEW)
    await admin.close()
  })
})

describe('Kafka and Node', () => {
  it('needs a Node that its client runs with, and says so', async () => {
    for (const version of ['22.22.0', '24.6.0', '24.21.0', '26.0.0']) checkNode(version)
    for (const version of ['22.13.0', '22.21.3', '23.11.0', '24.5.9']) {
      const error = await failureOf(async () => checkNode(version))
      expect(error).to.include({ code: 'SLUICE_KAFKA_NODE' }).and.to.have.property('message').that.includes(version)
    }
  })
})

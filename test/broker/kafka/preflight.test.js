import { AclOperations, AclPermissionTypes, ResourcePatternTypes, ResourceTypes } from '@platformatic/kafka'
import { expect } from 'chai'
import { preflight } from '../../../broker/kafka/preflight.js'
import { STAGE_TOPICS } from '../../../broker/kafka/topics.js'
import { connect as tried } from '../../../broker/kafka/trial.js'
import { sluiceIn } from '../../cli/process.js'
import { KafkaStaging } from './staging.js'

const TOPICS = Object.values(STAGE_TOPICS).map(({ name }) => name)
/** Another user than that of the server, who may do what access lists say. */
const GATEWAY = { login: 'plain', user: 'gateway', password: 'wave' }
const settings = `authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:sluice;User:ANONYMOUS
listener.name.client.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="sluice" password="seal" user_sluice="seal" user_gateway="wave";`

describe('preflight of Kafka', function () {
  this.timeout(300_000)
  const kafka = KafkaStaging.inSuite({ login: true, settings })
  afterEach(() => kafka.clear())

  /** @param {Record<string, unknown>} [options] */
  const look = options => preflight({ ...kafka.options, ...options }, { gateway: 'gw' })
  const found = async () => {
    const { ok, broker, findings } = await look()
    return { ok, name: broker?.name, findings: findings.map(({ level, code }) => `${level} ${code}`) }
  }
  const allTopics = () => kafka.use(admin => admin.listTopics())

  /** @param {number} resourceType @param {string} prefix @param {string[]} rights */
  const allow = (resourceType, prefix, ...rights) => kafka.use(admin => admin.createAcls({
    creations: rights.map(right => ({
      resourceType: /** @type {any} */ (resourceType),
      resourceName: prefix,
      resourcePatternType: ResourcePatternTypes.PREFIXED,
      principal: 'User:gateway',
      host: '*',
      operation: /** @type {any} */ (AclOperations)[right],
      permissionType: AclPermissionTypes.ALLOW
    }))
  }))

  it('says what a single broker means, of topics that are missing, too, and creates none', async () => {
    const { name, ...rest } = await found()
    expect(name).to.match(/^Kafka cluster \S+/)
    expect(rest).to.deep.equal({ ok: true, findings: ['info one-broker'] })
    expect(await allTopics()).to.not.include.members([STAGE_TOPICS.data.name])
  })

  it('tells batches that are compacted, lists that expire, a short retention, small messages and unclean elections', async () => {
    await kafka.use(async admin => {
      const configs = {
        [STAGE_TOPICS.data.name]: {
          'cleanup.policy': 'compact', 'retention.ms': '60000', 'max.message.bytes': '100000', 'unclean.leader.election.enable': 'true'
        },
        [STAGE_TOPICS.sinks.name]: { 'cleanup.policy': 'delete' }
      }
      for (const [topic, its] of Object.entries(configs)) {
        const list = Object.entries(its).map(([name, value]) => ({ name, value }))
        await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1, configs: list })
      }
    })
    const { ok, findings } = await found()
    expect(ok).to.equal(false)
    expect(findings).to.have.members([
      'error cleanup-policy', 'error cleanup-policy', 'warning unclean-election', 'warning retention', 'warning small-messages',
      'info one-broker'
    ])
  })

  it('says which rights a user lacks, on topics that are there and on those that are not, and what to allow', async () => {
    /** What preflight and the test of the connection say. */
    const said = async () => {
      const { ok, findings } = await look(GATEWAY)
      const server = tried({ ...kafka.options, ...GATEWAY }, 'gw')
      const tested = await server.test()
      await server.close()
      return { ok, texts: findings.filter(({ code }) => code === 'rights').map(({ text }) => text), tested }
    }
    const nothing = await said()
    expect(nothing.ok).to.equal(false)
    expect(nothing.texts).to.have.length(2)
    expect(nothing.texts[0]).to.contain(`(Create, Read, Write): ${TOPICS.join(', ')}.`)
    expect(nothing.texts[1]).to.match(/on groups \(Read\)/)
    expect(nothing.tested).to.match(/logged in as "gateway".*Sinks store nothing here: .*Batches cannot be staged here: .*Read, Write/s)
      .and.to.contain('Allow it Create, Describe')

    await allow(ResourceTypes.TOPIC, 'sluice_stage_', 'CREATE', 'DESCRIBE', 'DESCRIBE_CONFIGS', 'READ')
    await allow(ResourceTypes.GROUP, 'sluice', 'READ')
    expect((await said()).texts.join('')).to.match(/on topics \(Write\): sluice_stage_data/)
    await kafka.use(admin => admin.createTopics({ topics: [TOPICS[0]], partitions: 1, replicas: 1 }))
    expect((await said()).texts.join('')).to.match(/on topics \(Write\): sluice_stage_data, sluice_stage_heads/)

    await allow(ResourceTypes.TOPIC, 'sluice_stage_', 'WRITE')
    const all = await said()
    expect(all).to.deep.include({ ok: true, texts: [] })
    expect(all.tested).to.match(/Batches can be staged here: sluice_stage_heads, .* will be created, and this user may read and write\./)
    expect((await allTopics()).filter(name => TOPICS.includes(name))).to.deep.equal([TOPICS[0]])
  })

  it('is a command, which says how the login went', async () => {
    const address = `kafka://127.0.0.1:1,127.0.0.1:${kafka.server.port}`
    const run = (/** @type {string} */ password, /** @type {string[]} */ ...more) =>
      sluiceIn({ SECRET: password }, 'preflight', address, '--user', 'sluice', '--password-env', 'SECRET', ...more).exit
    const { code, stdout } = await run(kafka.server.password)
    expect(stdout).to.match(/^Broker: Kafka cluster \S+ of one broker\nnote .*\nNothing was found that breaks the promise\.\n$/)
    expect(code).to.equal(0)
    const wrong = await run('nobody knows', '--login', 'plain', '--json')
    expect(wrong.code).to.equal(2)
    expect(JSON.parse(wrong.stdout).findings[0].text).to.match(/Check user, password and kind of login/).and.not.to.contain('nobody knows')
    for (const args of [['mqtt://127.0.0.1', '--login', 'plain'], [address, '--protocol', '5'], [address, '--login', 'gssapi']]) {
      expect((await sluiceIn({}, 'preflight', ...args).exit).code, String(args)).to.equal(2)
    }
  })

  it('reports a cluster that is not reached, and no more', async () => {
    const { ok, broker, findings } = await preflight({ port: 1 })
    expect({ ok, broker, codes: findings.map(({ code }) => code) }).to.deep.equal({ ok: false, broker: null, codes: ['connect'] })
  })
})

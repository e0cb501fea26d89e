import { expect } from 'chai'
import { preflight } from '../../../broker/kafka/preflight.js'
import { STAGE_TOPICS } from '../../../broker/kafka/topics.js'
import { KafkaStaging } from './staging.js'

describe('preflight of Kafka', function () {
  this.timeout(300_000)
  const kafka = KafkaStaging.inSuite()
  afterEach(() => kafka.clear())

  const found = async () => {
    const { ok, broker, findings } = await preflight({ port: kafka.server.port })
    return { ok, name: broker?.name, findings: findings.map(({ level, code }) => `${level} ${code}`) }
  }

  it('creates the topics, and says what a single broker means', async () => {
    const { name, ...rest } = await found()
    expect(name).to.match(/^Kafka cluster \S+/)
    expect(rest).to.deep.equal({ ok: true, findings: ['info one-broker'] })
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

  it('reports a cluster that is not reached, and no more', async () => {
    const { ok, broker, findings } = await preflight({ port: 1 })
    expect({ ok, broker, codes: findings.map(({ code }) => code) }).to.deep.equal({ ok: false, broker: null, codes: ['connect'] })
  })
})

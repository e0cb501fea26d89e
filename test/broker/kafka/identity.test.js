import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connectKafka } from '../../../broker/kafka/connection.js'
import { RequiredSinks } from '../../../broker/out/required-sinks.js'
import { Stage } from '../../../broker/out/stage.js'
import { closeAll } from '../../../gateway/base/close-all.js'
import { Pipeline } from '../pipeline.js'
import { until } from '../waiting.js'
import { KafkaStaging } from './staging.js'

describe('two gateways of one id over Kafka', function () {
  this.timeout(300_000)
  const kafka = KafkaStaging.inSuite()
  /** @type {string[]} */
  const folders = []
  after(() => Promise.all(folders.map(folder => rm(folder, { recursive: true }))))

  const newFolder = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-identity-'))
    folders.push(folder)
    return folder
  }

  /** @param {string} folder */
  async function openStage (folder) {
    /** @type {string[]} */
    const logged = []
    const note = (/** @type {string} */ text) => { logged.push(text) }
    const log = { info: () => {}, warn: note, error: note }
    const requiredSinks = await RequiredSinks.open({ path: join(folder, 'required-sinks.json'), gateway: 'gw', log })
    const connection = connectKafka(kafka.options, { clientId: 'sluice-gw-out', log })
    const { client } = connection
    const stage = await Stage.open({
      folder: join(folder, 'spool'), name: 'out', gateway: 'gw', client, requiredSinks, log, fsync: 'system'
    })
    const close = () => closeAll(() => stage.close(() => connection.close()), () => requiredSinks.close())
    await until(() => stage.state.connected)
    return { stage, logged, close }
  }

  it('are both told of each other, and one that starts again alone is not', async () => {
    const folder = await newFolder()
    const one = await openStage(folder)
    await one.close()
    const again = await openStage(folder)
    expect(again.stage.state.clashes).to.equal(0)
    const copy = await openStage(await newFolder())
    await until(() => again.stage.state.clashes > 0 && copy.stage.state.clashes > 0)
    for (const { logged } of [again, copy]) {
      expect(logged.join()).to.include('SLUICE_BROKER_TAKEN_OVER: Another gateway has the id of this one, "gw"')
        .and.include('delete sluice/gateway-id')
    }
    await copy.close()
    await again.close()
    const alone = await openStage(folder)
    expect(alone.stage.state.clashes).to.equal(0)
    expect(alone.logged).to.deep.equal([])
    await alone.close()
  })

  it('are both told where they only read, as members of one group', async () => {
    const pipeline = await Pipeline.create({ kafka: { port: kafka.server.port } })
    try {
      /** @type {import('../../../broker/in/consumer.js').Consumer[]} */
      const readers = []
      for (const at of [0, 1]) {
        const { it: reader } = await pipeline.openConsumer([], { own: 'gw', kafka: { onDouble: () => readers[at].double() } })
        readers.push(reader)
      }
      await until(() => readers.every(({ state }) => state.clashes > 0))
    } finally {
      await pipeline.close()
    }
  })
})

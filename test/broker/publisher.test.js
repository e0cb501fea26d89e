import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../broker/connection/connection.js'
import { connected } from '../../broker/preflight/probing.js'
import { Stage } from '../../broker/out/stage.js'
import { peekIdentity } from '../../gateway/messages/codecs/arrow/arrow.js'
import { observed } from './observed.js'
import { batchOf, until } from './pipeline.js'

const silent = { info () {}, warn () {}, error () {} }
const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i)

describe('publisher, clause by clause', () => {
  const rig = observed()

  /** @param {{payload: Buffer}[]} messages */
  const seqs = messages => messages.map(({ payload }) => peekIdentity(payload)?.seq)

  it('starts again from the lowest commit where the broker has lost its session', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const sent = await rig.listen('sluice/v1/gw/press/data')
    await rig.pipeline.produce(stage, 10)
    await until(() => sent.length === 10)
    const [epoch] = stage.spools.get('press')?.epochs ?? []
    await rig.tell('sluice/v1/gw/press/commit/db', { epochs: { [epoch.epoch]: [[0, 3], [6, 7]] } })
    await until(() => stage.spools.get('press')?.next()?.seq === 4)
    await rig.restartBroker()
    const heard = await rig.listen('sluice/v1/gw/press/data')
    await until(() => heard.length >= 4)
    expect(seqs(heard)).to.deep.equal([4, 5, 8, 9])
  })

  it('goes on where it was where the broker has kept its session', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const heard = await rig.listen('sluice/v1/gw/press/data')
    await rig.pipeline.produce(stage, 10)
    await until(() => heard.length === 10)
    stage.publisher.client.stream.destroy()
    await until(() => !stage.publisher.connected)
    await rig.pipeline.produce(stage, 10)
    await until(() => heard.length >= 20)
    expect(seqs(heard)).to.deep.equal([...numbers(10), ...numbers(20).slice(10)])
  })

  it('says what it holds in a retained message, as soon as it connects', async () => {
    const { it: stage } = await rig.pipeline.openStage({ headIntervalMs: 60_000 })
    const { epoch } = await stage.append(batchOf(0))
    stage.publisher.client.stream.destroy()
    await until(() => !stage.publisher.connected)
    await until(() => stage.publisher.connected)
    await sleep(100) // now it has been said
    const heard = await rig.listen('sluice/v1/gw/press/head')
    await until(() => heard.length === 1)
    expect(JSON.parse(heard[0].payload.toString())).to.deep.equal({ spool: 'out', epochs: [{ epoch, first: 0, last: 0 }] })
  })

  it('hears what sinks had stored while it was away, whenever it opens the spool', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-late-'))
    await rig.tell('sluice/v1/gw/press/commit/db', { epochs: {} }, true)
    const connection = connect(rig.address, { clientId: 'late', clean: false })
    await connected(connection)
    const stage = await Stage.open({ folder, gateway: 'gw', client: connection.client, log: silent })
    await sleep(50)
    await stage.append(batchOf(0))
    await until(() => stage.state.requiredSinks.includes('db'))
    await stage.close()
    await connection.close()
    await rm(folder, { recursive: true })
  })

  it('answers a sink alone, in order, and no more than it holds, however much is asked for', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    const heard = await rig.listen('sluice/v1/gw/press/replay/db/data')
    await rig.pipeline.produce(stage, 10)
    const [{ epoch }] = stage.spools.get('press')?.epochs ?? []
    await rig.tell('sluice/v1/gw/press/replay/db', { epochs: { [epoch]: [[7, Number.MAX_SAFE_INTEGER], [2, 3]], '9-unknown': [[0, 5]] } })
    await until(() => heard.length === 5)
    expect(seqs(heard)).to.deep.equal([7, 8, 9, 2, 3])
  })

  it('goes on after messages that make no sense', async () => {
    const { it: stage } = await rig.pipeline.openStage()
    await stage.append(batchOf(0))
    for (const message of [null, { epochs: { e: 'all' } }, { epochs: { e: [[-1, 5]] } }, { epochs: { e: [null] } }]) {
      await rig.tell('sluice/v1/gw/press/commit/db', message)
      await rig.tell('sluice/v1/gw/press/replay/db', message)
    }
    await rig.tell('sluice/v1/gw/press/commit/real', { epochs: {} })
    await until(() => stage.state.requiredSinks.includes('real'))
    expect(stage.state.requiredSinks).to.deep.equal(['real'])
  })
})

import { expect } from 'chai'
import { localCommits } from '../../broker/local.js'
import { batchOf, commitOf, StageRig } from './stage-rig.js'
import { until } from './pipeline.js'

const wired = { consumer: 'gw', sink: 'db', label: 'history', gateway: '+', source: '+' }
const sinks = Array.from({ length: 100 }, (_, i) => ({ sink: `s${i}`, label: '', committed: true }))

describe('a stage out on a broker where more sinks are announced than find room', () => {
  /** @type {StageRig} */
  let rig
  beforeEach(async () => { rig = await StageRig.create() })
  afterEach(() => rig.stop())

  it('releases nothing while one is not known: nobody could say what it lacks', async () => {
    const { stage, requiredSinks } = await rig.openStage({ maxBytes: 16_384, wired: [wired] }) // a segment has few batches
    await rig.announce('other', { gateway: 'gw', source: 'another', sinks })
    await rig.tell('sluice/v2/other/sinks/late', { gateway: '+', source: '+', sinks: [{ sink: 'db' }] }, true)
    await until(() => stage.state.unwaitedSinks === 1)
    const sent = await rig.listen('sluice/v2/gw/data/press')
    await Promise.all(sinks.slice(0, 10).map((_, i) => stage.append(batchOf(i))))
    await until(() => sent.length === 10)
    const commit = () => localCommits.publish({ consumer: 'gw', sink: 'db', gateway: 'gw', commit: commitOf(sent) })
    commit()
    await stage.spool.reclaim()
    expect([stage.state.spoolBatches, stage.spool.next()?.seq]).to.deep.equal([10, 0])

    await rig.tell('sluice/v2/other/sinks/late', Buffer.alloc(0), true)
    await until(() => !requiredSinks.isCrowded)
    commit()
    await until(() => stage.state.unstoredBytes === 0)
    await until(() => stage.state.spoolBatches < 10)
  })
})

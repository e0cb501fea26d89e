import { expect } from 'chai'
import { spoolMark } from '../../broker/spool-mark.js'
import { emptyBalance } from '../../gateway/stats/balance.js'
import { batchOf, Rig, stored } from './spool-rig.js'

describe('spool, of what a sink has and lacks', () => {
  const rig = new Rig()
  beforeEach(() => rig.begin())
  afterEach(() => rig.end())

  const all = { key: 'gw/db', covers: () => true }
  const none = emptyBalance()

  it('knows what it has confirmed, by source, also after a restart', async () => {
    let spool = await rig.open({ required: () => [all, { ...all, key: 'gw/other' }] })
    const first = await spool.append(batchOf(1, 0, 'press', 3))
    await spool.append(batchOf(4, 0, 'press', 2))
    await spool.append(batchOf(1, 0, 'oven', 7))
    await spool.confirm('gw/db', stored(first))
    const known = [
      { ...none, source: 'press', produced: 5, stored: 3, inFlight: 2 },
      { ...none, source: 'oven', produced: 7, inFlight: 7 }
    ]
    expect(spool.balances(all)).to.deep.equal(known)
    expect(spool.balances({ ...all, covers: source => source === 'oven' })).to.deep.equal(known.slice(1))
    await spool.close()
    spool = await rig.open({ required: () => [all] })
    expect(spool.balances(all)).to.deep.equal(known)
  })

  it('tells dead letters, what a flow has settled, and what was before a sink began from what is stored, as the sink of this process has ' +
    'said, also after a restart', async () => {
    let spool = await rig.open({ name: 'out', required: () => [all] })
    await spool.append(batchOf(0, 0, 'press', 10))
    const second = await spool.append(batchOf(10, 0, 'press', 5))
    await spool.append(batchOf(0, 0, 'oven', 7))
    const outcomes = { press: { [spoolMark('out')]: /** @type {const} */ ([10, 2, 1]), ffff: /** @type {const} */ ([0, 9, 9]) } }
    await spool.confirm('gw/db', { ...stored(second), outcomes: /** @type {any} */ (outcomes) })
    const held = { ...none, source: 'oven', produced: 7, inFlight: 7 }
    // what the sink has no record of is held, as if it had begun after it
    const known = { ...none, source: 'press', produced: 15, inFlight: 10, beforeItBegan: 5 }
    expect(spool.balances(all)).to.deep.equal([known, held])
    const { press } = outcomes
    const fromTheFirst = { press: { ...press, [spoolMark('out')]: [0, 2, 1] } }
    await spool.confirm('gw/db', { ...stored(second), outcomes: /** @type {any} */ (fromTheFirst) })
    const told = { ...known, beforeItBegan: 0, stored: 2, deadLetters: 2, settled: 1 }
    expect(spool.balances(all)).to.deep.equal([told, held])
    await spool.close()
    spool = await rig.open({ name: 'out', required: () => [all] })
    expect(spool.balances(all)).to.deep.equal([told, held])
    await spool.confirm('gw/db', { ...stored(second), store: 'other', outcomes: { press: {} } })
    expect(spool.balances(all)).to.deep.equal([known, held])
  })

  it('knows of one that has never said anything only what is held; the rest was before it, or is lost', async () => {
    const spool = await rig.open({ required: () => [all], maxBytes: 8000, segmentBytes: 1000, whenFull: 'drop-oldest' })
    for (let value = 0; value < 20; value++) await spool.append(batchOf(value, 1000))
    const [balance] = spool.balances(all)
    const { droppedRows } = spool.counters
    expect(droppedRows).to.be.above(0)
    expect(balance).to.deep.equal({ ...none, source: 'press', produced: 20, lost: droppedRows, inFlight: 20 - droppedRows })
  })
})

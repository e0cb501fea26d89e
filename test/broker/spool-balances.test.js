import { expect } from 'chai'
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

  it('knows of one that has never said anything only what is held; the rest was before it, or is lost', async () => {
    const spool = await rig.open({ required: () => [all], maxBytes: 8000, segmentBytes: 1000, whenFull: 'drop-oldest' })
    for (let value = 0; value < 20; value++) await spool.append(batchOf(value, 1000))
    const [balance] = spool.balances(all)
    const { droppedRows } = spool.counters
    expect(droppedRows).to.be.above(0)
    expect(balance).to.deep.equal({ ...none, source: 'press', produced: 20, lost: droppedRows, inFlight: 20 - droppedRows })
  })
})

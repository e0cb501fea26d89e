import { expect } from 'chai'
import { benchSimulator } from '../../gateway/bench/sources/simulator.js'

describe('the bench of the simulator', () => {
  it('makes every sample, with the event loop free and blocked', async () => {
    const rows = await benchSimulator({ seconds: 0.3 })
    expect(rows.map(({ blocked }) => blocked)).to.deep.equal([false, true, false, true, false, true])
    for (const { what, samples, wanted, missed, lateness } of rows) {
      expect({ what, samples, missed }).to.deep.equal({ what, samples: wanted, missed: 0 })
      expect(lateness?.count).to.equal(wanted)
    }
  })
})

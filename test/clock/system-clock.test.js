import { expect } from 'chai'
import { nowNs, systemClock } from '../../gateway/clock/system-clock.js'

describe('the clock', () => {
  it('tells the wall clock in nanoseconds and never goes backwards', () => {
    expect(Math.abs(Number(nowNs() / 1_000_000n) - Date.now())).to.be.below(1000)
    let last = nowNs()
    for (let i = 0; i < 10000; i++) {
      const now = nowNs()
      expect(now >= last).to.equal(true)
      last = now
    }
  })

  it('wakes a sleeper early when told to', async () => {
    const closing = new AbortController()
    const asleep = systemClock.sleep(3_600_000, closing.signal)
    closing.abort()
    await asleep
  })
})

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { blockedTime } from '../../gateway/alarms/blocked.js'

const block = (/** @type {number} */ ms) => { for (const end = performance.now() + ms; performance.now() < end;); }

describe('The time in which something keeps all else from its turn', () => {
  it('is told whoever has the first turn after it, and once', async () => {
    const blockedMs = blockedTime()
    block(800)
    let longestMs = blockedMs() // as a timer that was due before
    while (longestMs === 0) {
      await sleep(10)
      longestMs = Math.max(longestMs, blockedMs())
    }
    expect(longestMs).to.be.within(500, 100_000)
    expect(blockedMs()).to.be.below(longestMs)
  })
})

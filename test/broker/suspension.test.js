import { expect } from 'chai'
import { Suspension } from '../../broker/out/suspension.js'

describe('a process that was suspended', () => {
  const clocks = { now: 0, offset: 1e12 }
  let noticed = 0
  /** @type {Suspension} */
  let suspension
  beforeEach(() => {
    Object.assign(clocks, { now: 0, offset: 1e12 })
    noticed = 0
    suspension = new Suspension(() => { noticed++ }, { wall: () => clocks.now + clocks.offset, monotonic: () => clocks.now })
  })
  afterEach(() => suspension.close())

  it('is noticed once, before anything else is done', () => {
    clocks.now = 3_600_000
    suspension.check()
    expect(noticed, 'an hour that both clocks have seen').to.equal(0)
    clocks.offset += 6000
    suspension.check()
    suspension.check()
    expect(noticed).to.equal(1)
    clocks.offset -= 6000 // a copy that was resumed with an older time
    suspension.check()
    expect(noticed).to.equal(2)
  })

  it('is told from a clock that drifts', () => {
    for (let i = 0; i < 100; i++) {
      clocks.now += 1000
      clocks.offset += 400
      suspension.check()
    }
    expect(noticed).to.equal(0)
  })
})

import { expect } from 'chai'
import { Tracker } from '../../broker/kafka-in/tracker.js'

describe('How far a stream has been dealt with', () => {
  /** @type {[bigint, bigint|null][]} */
  let reached
  /** @type {Tracker} */
  let tracker
  beforeEach(() => {
    reached = []
    tracker = new Tracker(null, (next, noted) => reached.push([next, noted]))
  })

  it('is up to the first part that is not done, whatever is done behind it', () => {
    const [one, two] = [tracker.begin(10n, 1, 0n), tracker.begin(20n, 2, 10n)]
    tracker.begin(30n, 0)
    two.done()
    expect(reached).to.deep.equal([])
    one.done()
    expect(reached).to.deep.equal([[10n, 0n]])
    two.done()
    expect(reached).to.deep.equal([[10n, 0n], [30n, 10n]])
  })

  it('ends at what is never done, and what is before it is reached', () => {
    const [one, two, three] = [1n, 2n, 3n].map(next => tracker.begin(next, 1))
    two.never()
    two.never()
    three.never()
    for (const part of [three, tracker.begin(4n, 1), one]) part.done()
    tracker.begin(5n, 0)
    expect(reached).to.deep.equal([[1n, null]])
  })
})

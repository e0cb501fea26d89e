import { expect } from 'chai'
import { QuietLog } from '../../gateway/base/log.js'

describe('a quiet log', () => {
  let nowMs = 0
  /** @type {string[]} */
  let lines = []
  /** @type {QuietLog} */
  let log

  beforeEach(() => {
    nowMs = 0
    lines = []
    const say = (/** @type {string} */ text) => { lines.push(text) }
    log = new QuietLog({ info: say, warn: say, error: say }, () => nowMs)
  })

  it('says a thing at once, and again after a minute with how often it has happened', () => {
    for (let i = 0; i < 4; i++) log.say('warn', 'full', `Full ${i}`)
    expect(lines).to.deep.equal(['Full 0'])
    nowMs = 60_000
    log.say('warn', 'full', 'Full 4')
    expect(lines[1]).to.equal('Full 4 (3 more times since this was last said)')
  })

  it('says what is another thing at once', () => {
    for (const topic of ['one', 'two', 'one']) log.say('warn', topic)
    expect(lines).to.deep.equal(['one', 'two'])
  })

  it('is not filled by names that others choose: within a minute a hundred are told apart, and the rest is one', () => {
    for (let i = 0; i < 40_000; i++) log.say('warn', `head ${i}`)
    expect(lines).to.have.length(101)
    expect(lines.at(-1)).to.equal('head 100')
    log.say('warn', 'head 7')
    expect(lines).to.have.length(101)
    nowMs = 60_000
    for (let i = 0; i < 1000; i++) log.say('warn', `other ${i}`)
    expect(lines).to.have.length(201)
    expect(lines.at(-1)).to.equal('other 99 (39899 more times since this was last said)')
  })

  it('forgets what was said long ago: that makes room', () => {
    for (let i = 0; i < 300; i++) {
      log.say('warn', `head ${i}`)
      nowMs += 1000
    }
    expect(lines).to.have.length(300)
  })
})

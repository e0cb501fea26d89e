import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { everySecond } from '../../gateway/clock/heartbeat.js'

describe('the heartbeat', () => {
  it('is one wake-up for all, whenever they came, and calls nobody who has left', async () => {
    /** What was called in each turn. @type {string[][]} */
    const turns = []
    let isNewTurn = true
    const note = (/** @type {string} */ who) => () => {
      if (isNewTurn) turns.push([])
      turns[turns.length - 1].push(who)
      isNewTurn = false
      setImmediate(() => { isNewTurn = true })
    }
    const leavers = [everySecond(note('first'))]
    await sleep(300)
    leavers.push(everySecond(() => leavers[2]()), everySecond(note('gone')), everySecond(note('last')))
    while (turns.length < 2) await sleep(20)
    for (const leave of leavers) leave()
    await sleep(1100)
    expect(turns).to.deep.equal([['first', 'last'], ['first', 'last']])
  })
})

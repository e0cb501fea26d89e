import { expect } from 'chai'
import { verdictOn } from '../../gateway/live/page/verdict.js'

describe('The verdict of the live page', () => {
  /** Without texts, a sentence is its key. @param {object} stage */
  const on = stage => verdictOn(/** @type {any} */ ({
    tick: { isRunning: true },
    storedRate: 5,
    alarms: [],
    sources: [{ level: 'good' }],
    sinks: [{ level: 'good', isConnected: true }],
    stages: [{ name: 'in', isConnected: true, blocked: '', status: { fill: 'green' }, ...stage }]
  }), null)

  it('is not that all is right while a stage does not do its work, as one that leads to no sink', () => {
    expect(on({})).to.include({ level: 'good', topic: 'good' })
    expect(on({ status: { fill: 'yellow' } })).to.include({ level: 'good' })
    expect(on({ status: { fill: 'red' } })).to.include({ level: 'warning', sentence: 'verdict.red', topic: 'red in' })
    expect(on({ blocked: 'it is full' })).to.include({ level: 'warning', topic: 'red in' })
  })
})

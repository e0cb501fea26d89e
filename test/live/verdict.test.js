import { expect } from 'chai'
import { verdictOn } from '../../gateway/live/page/verdict.js'

describe('The verdict of the live page', () => {
  /** Without texts, a sentence is its key. @param {object} stage @param {object} [more] */
  const on = (stage, more = {}) => verdictOn(/** @type {any} */ ({
    tick: { isRunning: true, failed: '' },
    storedRate: 5,
    sentRate: 5,
    timeMs: 100_000,
    storedMs: 100_000,
    alarms: [],
    sources: [{ level: 'good' }],
    sinks: [{ level: 'good', isConnected: true }],
    stages: [{ name: 'in', isConnected: true, blocked: '', maxBytes: null, status: { fill: 'green' }, ...stage }],
    ...more
  }), null)

  it('is not that all is right while a stage does not do its work, as one that leads to no sink', () => {
    expect(on({})).to.include({ level: 'good', topic: 'good' })
    expect(on({ status: { fill: 'yellow' } })).to.include({ level: 'good' })
    expect(on({ status: { fill: 'red' } })).to.include({ level: 'warning', sentence: 'verdict.red', topic: 'red in' })
    expect(on({ blocked: 'it is full' })).to.include({ level: 'warning', topic: 'red in' })
  })

  it('is not that all is right while a node does nothing, whose alarm takes some seconds', () => {
    expect(on({}, { tick: { isRunning: true, failed: 'stage out 2' } })).to.include({ level: 'warning', topic: 'failed stage out 2' })
  })

  it('is that all is right where a gateway stages what others store, and not where nobody could', () => {
    expect(on({ maxBytes: 2 ** 30 }, { sinks: [] })).to.include({ level: 'good', sentence: 'verdict.staged' })
    expect(on({}, { sinks: [] })).to.include({ level: 'idle', sentence: 'verdict.nothing' })
    expect(on({ maxBytes: 2 ** 30 }, { sinks: [], sources: [] })).to.include({ level: 'idle', sentence: 'verdict.nothing' })
  })

  it('is not that all is right where sources send and no sink has stored a row for half a minute', () => {
    expect(on({}, { storedMs: 71_000 })).to.include({ level: 'good' })
    expect(on({}, { storedMs: 70_000 })).to.include({ level: 'idle', sentence: 'verdict.still', topic: 'still' })
    expect(on({}, { storedMs: 70_000, sentRate: 0 }), 'nothing is sent').to.include({ level: 'good' })
    expect(on({ maxBytes: 2 ** 30 }, { storedMs: 70_000, sinks: [] }), 'others store').to.include({ level: 'good' })
  })
})

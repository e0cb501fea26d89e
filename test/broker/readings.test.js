import { expect } from 'chai'
import { EventEmitter } from 'node:events'
import { Readings } from '../../broker/in/readings.js'

const INTERVAL_MS = 5000

describe('the readings of a database', () => {
  /** @type {number} */
  let nowMs
  /** How long each takes. @type {number} */
  let takesMs
  /** When each began. @type {number[]} */
  let began
  /** @type {Readings} */
  let readings

  beforeEach(() => {
    [nowMs, takesMs, began] = [0, 0, []]
    const handle = /** @type {any} */ ({
      id: 'db',
      async committed () {
        began.push(nowMs)
        nowMs += takesMs
        return { store: '9d41', records: [] }
      }
    })
    const registry = Object.assign(new EventEmitter(), { get: () => handle })
    readings = new Readings({
      registry: /** @type {any} */ (registry), intervalMs: INTERVAL_MS, onRead () {}, onChange () {}, log: console, nowMs: () => nowMs
    })
  })

  afterEach(() => { readings.close() })

  /** While something is committed all the time. @param {number} untilMs */
  const commitUntil = async untilMs => {
    for (; nowMs < untilMs; nowMs += 100) {
      readings.readSoon('db')
      await new Promise(resolve => setImmediate(resolve))
    }
  }

  it('begin again soon after one that took long, as the first does at a start under load: spools would wait for a minute', async () => {
    takesMs = 3000
    readings.wire(['db'])
    takesMs = 10
    await commitUntil(30_000)
    expect(began.slice(0, 4).map(ms => Math.round((ms - 3000) / INTERVAL_MS))).to.deep.equal([-1, 1, 2, 3])
  })

  it('begin again soon after one for which the process was stopped for ten minutes', async () => {
    readings.wire(['db'])
    await commitUntil(4000)
    takesMs = 600_000
    await commitUntil(6000)
    takesMs = 10
    await commitUntil(620_000)
    expect(began).to.have.length.above(3)
  })

  it('are made less often where each takes long: no more than a twentieth of the time is spent on them', async () => {
    takesMs = 1000
    readings.wire(['db'])
    await commitUntil(200_000)
    const gaps = began.slice(2).map((ms, i) => ms - began[i + 1])
    expect(Math.min(...gaps)).to.be.at.least(20_000)
  })
})

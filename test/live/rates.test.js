import { expect } from 'chai'
import { Rates } from '../../gateway/live/page/rates.js'

describe('Rates of the live page', () => {
  /**
   * What is told every 250 ms of a sink that stores `rows` every `everyMs`.
   * @param {Rates} rates
   * @param {{fromMs?: number, toMs: number, everyMs: number, rows: number}} pace
   */
  function watch (rates, { fromMs = 0, toMs, everyMs, rows }) {
    const seen = []
    for (let time = fromMs; time <= toMs; time += 250) {
      rates.push('sqlite', time, Math.floor(time / everyMs) * rows)
      seen.push(rates.of('sqlite'))
    }
    return seen
  }

  it('keep their pace between bursts', () => {
    const rates = new Rates()
    watch(rates, { toMs: 5000, everyMs: 1000, rows: 1000 })
    expect(new Set(watch(rates, { fromMs: 5250, toMs: 30_000, everyMs: 1000, rows: 1000 }))).to.deep.equal(new Set([1000]))
  })

  it('keep it between bursts that are far apart', () => {
    const rates = new Rates()
    watch(rates, { toMs: 30_000, everyMs: 10_000, rows: 5000 })
    expect(new Set(watch(rates, { fromMs: 30_250, toMs: 60_000, everyMs: 10_000, rows: 5000 }))).to.deep.equal(new Set([500]))
  })

  it('are unknown at first, and 0 where nothing comes', () => {
    const seen = watch(new Rates(), { toMs: 12_000, everyMs: 20_000, rows: 1 })
    expect([seen[0], seen.at(-1)]).to.deep.equal([null, 0])
  })

  it('end when nothing comes any more', () => {
    const rates = new Rates()
    watch(rates, { toMs: 5000, everyMs: 1000, rows: 1000 })
    expect(watch(rates, { fromMs: 5250, toMs: 9000, everyMs: 5000, rows: 5000 }).at(-1)).to.equal(0)
  })

  it('start over with the gateway', () => {
    const rates = new Rates()
    watch(rates, { toMs: 5000, everyMs: 1000, rows: 1000 })
    rates.clear()
    expect(watch(rates, { toMs: 500, everyMs: 250, rows: 10 })).to.deep.equal([null, null, null])
  })
})

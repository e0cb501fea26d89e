import { expect } from 'chai'
import { curvesOf } from '../../gateway/live/page/past.js'

const STEP_MS = 10_000
const span = { fromMs: 0, toMs: 100_000 }
const tracks = (/** @type {number} */ fromMs) => /** @type {any} */ ({ times: [fromMs, fromMs + 1000], of: () => [7, 8] })
const past = (/** @type {(number|null)[]} */ ...values) => ({ fromMs: 0, stepMs: STEP_MS, series: { rows: values } })
const drawn = (/** @type {ReturnType<typeof past>} */ before, /** @type {number} */ liveMs) =>
  curvesOf(['rows'], before, tracks(liveMs), span).columns[0]

describe('What the charts are drawn of', () => {
  it('has no hole where the step is not recorded yet in which the page was opened', () => {
    expect(drawn(past(1, 2, 3, null), 42_000)).to.deep.equal([1, 2, 3, 7, 8])
  })

  it('has one where the gateway did not run', () => {
    expect(drawn(past(1, 2, null, null, null, null), 61_000)).to.deep.equal([1, 2, null, null, null, null, 7, 8])
    expect(drawn(past(1, null, 3), 31_000)).to.deep.equal([1, null, 3, 7, 8])
  })

  it('leaves out the steps of which the stream tells', () => {
    expect(drawn(past(1, 2, 3), 25_000)).to.deep.equal([1, 2, 7, 8])
  })
})

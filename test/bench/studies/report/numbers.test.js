import { expect } from 'chai'
import { wrap } from '../../../../gateway/bench/studies/report/chart/text.js'
import { figure, ratio, tickText } from '../../../../gateway/bench/studies/report/numbers.js'
import { withoutSecrets } from '../../../../gateway/base/secrets.js'
import { clock, moment, span } from '../../../../gateway/bench/studies/report/times.js'

describe('Figures of a report', () => {
  it('have four significant digits, and separated thousands', () => {
    const written = [0, 1, 12.345678, 0.034567, 999.96, 1278928, 1e9, -1234.5].map(value => figure(value))
    expect(written).to.deep.equal(['0', '1', '12.35', '0.03457', '1,000', '1,278,928', '1,000,000,000', '−1,235'])
  })

  it('have as many digits as their column says', () => {
    expect([5, 170.835, 1840.04, 0].map(value => figure(value, 1))).to.deep.equal(['5.0', '170.8', '1,840.0', '0.0'])
  })

  it('do not look like 0 unless they are', () => {
    expect(figure(0.0034, 1)).to.equal('0.0034')
    expect(figure(1e-6, 1)).to.equal('10⁻⁶')
    expect(figure(-2.5e-7)).to.equal('−2.5 × 10⁻⁷')
    expect(figure(1.5e21)).to.equal('1.5 × 10²¹')
  })

  it('that are not there are a dash, and texts themselves', () => {
    expect([null, undefined, NaN, Infinity].map(value => figure(value))).to.deep.equal(['–', '–', '–', '–'])
    expect(figure('16 points', 2)).to.equal('16 points')
  })

  it('are put in proportion to the published ones', () => {
    expect([[96, 100], [5, 4], [1000, 25], [1, 400], [1e9, 1], [0, 5]].map(([ours, theirs]) => ratio(ours, theirs)))
      .to.deep.equal(['×0.96', '×1.25', '×40.0', '×0.0025', '×1,000,000,000', '×0'])
  })

  it('are not where one of them is missing, a text or 0', () => {
    const pairs = [[null, 5], [5, null], [5, undefined], ['5', 5], [5, 0], [NaN, 1]]
    for (const [ours, theirs] of pairs) expect(ratio(ours, theirs)).to.equal(null)
  })

  it('are short on an axis', () => {
    expect([0, 0.25, 500, 1000, 20_000, 1.5e6, 1e9, 1e-6, -3000].map(value => tickText(value).replace('\u202f', ' ')))
      .to.deep.equal(['0', '0.25', '500', '1 k', '20 k', '1.5 M', '1 G', '10⁻⁶', '−3 k'])
  })

  it('of time are in the units of a clock', () => {
    expect([1234, 48_000, 60_000, 725_000, 3_600_000, 15_000_000].map(span))
      .to.deep.equal(['1.2 s', '48 s', '1 min', '12 min 5 s', '1 h', '4 h 10 min'])
    expect([0, 30, 3905, -90].map(clock)).to.deep.equal(['0:00', '0:30', '1:05:05', '−1:30'])
    expect(moment(Date.UTC(2026, 10, 23, 2, 17))).to.equal('23 November 2026, 02:17 UTC')
  })
})

describe('Labels of a report', () => {
  it('are broken between words, and end in … where they do not fit', () => {
    expect(wrap('one two three four', 70, 12, 9)).to.deep.equal(['one two', 'three four'])
    expect(wrap('a label that is far too long for two lines', 80, 12, 2)[1]).to.match(/…$/)
    expect(wrap('averyveryverylongwordwithoutanyspace', 60, 12, 9).join('')).to.equal('averyveryverylongwordwithoutanyspace')
    expect(wrap('', 60, 12, 2)).to.deep.equal([])
  })
})

describe('What a report does not pass on', () => {
  it('are passwords in addresses and settings', () => {
    const clean = withoutSecrets({
      address: 'postgres://bench:hunter2@127.0.0.1:5432/bench',
      reason: 'refused: password=hunter2, {"token": "hunter2"}, Authorization: Bearer hunter2',
      settings: { dbPassword: 'hunter2', apiKey: 'hunter2' },
      list: ['mqtt://a:hunter2@host', 5, null]
    })
    expect(JSON.stringify(clean)).not.to.contain('hunter2')
    expect(clean.address).to.equal('postgres://…@127.0.0.1:5432/bench')
    expect(clean.list[1]).to.equal(5)
  })

  it('are not words that only look like it', () => {
    const text = 'password authentication failed for user bench at http://127.0.0.1:8086/query?a@b'
    expect(withoutSecrets({ reason: text, tokensPerSecond: 5 })).to.deep.equal({ reason: text, tokensPerSecond: 5 })
  })
})

import { expect } from 'chai'
import { compare } from '../../../../gateway/bench/studies/report/compare.js'
import { merged } from '../../../../gateway/bench/studies/report/merge.js'
import { inventedResult, inventedSections } from '../invented.js'

/** @typedef {import('../../../../gateway/bench/studies/study.js').Block} Block */

/** @param {Block} a @param {Block} b @returns {any} */
function pair (a, b) {
  const [{ blocks: [block] }] = merged([a, b].map((each, i) => ({ name: 'AB'[i], sections: [{ title: 'one', blocks: [each] }] })))
  return block
}

describe('Two reports of a study beside each other', () => {
  describe('as a table', () => {
    /** @param {number|null} value @param {string[]} [labels] @returns {Block} */
    const table = (value, labels = ['x']) => ({
      kind: 'table', caption: 'T', columns: [{ title: 'rate', unit: 'rows/s' }, { title: 'rate', unit: 'MB/s' }],
      rows: labels.map(label => ({ label, figures: [{ value, published: 100 }, { value: 1 }] }))
    })

    it('have a row each, beside the paper\'s figure, and their ratio', () => {
      const { rows, columns } = pair(table(50), table(150))
      expect(columns.map((/** @type {any} */ { unit }) => unit)).to.deep.equal(['rows/s', 'MB/s'])
      expect(rows.map((/** @type {any} */ { label, figures: [{ value, published }] }) => [label, value, published])).to.deep.equal([
        ['x · A', 50, 100], ['x · B', 150, 100], ['B ÷ A', '×3.00', undefined]
      ])
      expect(rows.map((/** @type {any} */ { isContinued }) => isContinued)).to.deep.equal([false, true, true])
    })

    it('keep what only one of them has', () => {
      const { rows } = pair(table(50), table(150, ['y', 'x']))
      expect(rows.map((/** @type {any} */ { label }) => label)).to.deep.equal(['x · A', 'x · B', 'B ÷ A', 'y · A', 'y · B', 'B ÷ A'])
      expect(rows[3].figures[0]).to.deep.equal({ value: null, reason: 'not in this report' })
      expect(rows[5].figures[0].value).to.equal(null)
    })

    it('tell rows of one label apart by their order', () => {
      const { rows } = pair(table(1, ['x', 'x']), table(2, ['x', 'x']))
      expect(rows).to.have.length(6)
    })
  })

  it('have bars in pairs of one colour, and the paper\'s once', () => {
    /** @param {string[]} series @param {number} value @returns {Block} */
    const bars = (series, value) => ({
      kind: 'bars', caption: 'F', unit: '%', series, groups: [{ label: 'g', figures: series.map(() => ({ value, published: 9 })) }]
    })
    const { series, groups: [group], reports } = pair(bars(['p', 'q'], 1), bars(['q'], 2))
    expect(reports).to.equal(2)
    expect(series).to.deep.equal(['p · A', 'p · B', 'q · A', 'q · B'])
    expect(group.figures.map((/** @type {any} */ { value, published }) => [value, published])).to.deep.equal([
      [1, undefined], [null, 9], [1, undefined], [2, 9]
    ])
  })

  it('have boxes in pairs, and the paper\'s once', () => {
    const box = { min: 1, lower: 1, median: 1, upper: 1, max: 1, mean: 1, count: 1 }
    /** @param {string} label @returns {Block} */
    const boxes = label => ({ kind: 'boxes', caption: 'F', unit: 'ms', series: ['p'], groups: [{ label, boxes: [box], published: [5] }] })
    expect(pair(boxes('g'), boxes('g')).groups).to.deep.equal([{ label: 'g', boxes: [box, box], published: [null, 5] }])
    expect(pair(boxes('g'), boxes('h')).groups).to.deep.equal([
      { label: 'g', boxes: [box, null], published: [null, 5] }, { label: 'h', boxes: [null, box], published: [null, 5] }
    ])
  })

  it('have lines in pairs, and the paper\'s once', () => {
    /** @param {number} y @returns {Block} */
    const lines = y => ({
      kind: 'lines', caption: 'F', unit: 'ms', xTitle: 's',
      lines: [{ label: 'p', x: [1], y: [y] }, { label: 'p', x: [1], y: [7], isPublished: true }]
    })
    expect(pair(lines(1), lines(2)).lines.map((/** @type {any} */ { label, y, series }) => [label, y, series])).to.deep.equal([
      ['p · A', [1], 0], ['p · B', [2], 1], ['p', [7], 0]
    ])
  })

  describe('as a whole', () => {
    const reports = [
      { name: 'laptop', result: inventedResult({ limited: '' }), sections: inventedSections() },
      { name: 'pi4', result: inventedResult({ isComplete: false }), sections: inventedSections(0.5) }
    ]
    const { page, markdown } = compare(reports)

    it('say first which machine was held back, then what each was measured on', () => {
      expect(markdown.split('\n')[0]).to.match(/^\*\*B: Invented: gateway and servers were held/)
      expect(markdown).to.contain('| A: laptop | B: pi4 |').and.contain('| State | Complete | Partial: it was stopped, or still goes on |')
      expect(page).to.contain('A: laptop')
    })

    it('have the figures of both', () => {
      const lines = markdown.split('\n')
      const i = lines.findIndex(line => line.startsWith('| Alpha individual · A | 3.5 (5.0, ×0.70) |'))
      expect(lines[i + 1]).to.match(/^\| Alpha individual · B \| 1\.8 \(5\.0, ×0\.35\) \|/)
      expect(lines[i + 2]).to.match(/^\| B ÷ A \| ×0\.50 \|/)
      expect(page + markdown).not.to.contain('hunter2')
    })

    it('are not of different studies', () => {
      const other = { ...reports[1], result: inventedResult({ study: 'other' }) }
      expect(() => compare([reports[0], other])).to.throw().with.property('code', 'SLUICE_BENCH_COMPARE')
    })
  })
})

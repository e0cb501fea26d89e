import { expect } from 'chai'
import { blockMarkup } from '../../../../gateway/bench/studies/report/block.js'
import { bars } from '../../../../gateway/bench/studies/report/chart/bars.js'
import { boxes } from '../../../../gateway/bench/studies/report/chart/boxes.js'
import { WIDTHS } from '../../../../gateway/bench/studies/report/chart/frame.js'
import { lines } from '../../../../gateway/bench/studies/report/chart/lines.js'
import { page } from '../../../../gateway/bench/studies/report/page.js'
import { printed } from '../../../../gateway/bench/studies/report/print.js'
import { inventedResult, inventedSections } from '../invented.js'

/**
 * @typedef {import('../../../../gateway/bench/studies/study.js').Block} Block
 * @typedef {import('../../../../gateway/bench/studies/study.js').StudyResult} StudyResult
 */

/** The attributes of all elements of a kind. @param {unknown} markup @param {RegExp} opening */
function attributes (markup, opening) {
  return [...String(markup).matchAll(new RegExp(`<${opening.source}[^>]*>`, 'g'))]
    .map(([tag]) => Object.fromEntries([...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value])))
}

/** What a reader reads. @param {unknown} markup */
function words (markup) {
  const text = String(markup).replace(/<style>[^]*?<\/style>|<[^>]*>/g, ' ')
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code)).replace(/\s+/g, ' ')
}

describe('A report as a page', () => {
  describe('its head', () => {
    const text = words(page(inventedResult(), inventedSections()))
    const body = (/** @type {Partial<StudyResult>} */ other) => words(page(inventedResult(other), []).split('<body>')[1]).trim()

    it('says first of all how the machine was held back', () => {
      expect(body({})).to.match(/^Invented: gateway and servers were held to 25 % of one core/)
      expect(body({ limited: '' })).to.match(/^Invented figures: every kind of block/)
    })

    it('says what was measured, when, how long, on what, and what was cut', () => {
      for (const part of [
        'N. Obody and A. Nother', 'Complete', 'Started 23 November 2026, 02:17 UTC', 'Took 25 min 35 s',
        '3 of 6 measured, 1 failed, 2 absent',
        'batch sizes: 1, 1000', 'Processor Invented Core 9', '30 batches of each size instead of 500.'
      ]) expect(text).to.contain(part)
    })

    it('lists what failed, then what is absent, each reason once', () => {
      const list = text.slice(text.indexOf('Not measured'), text.indexOf('Of single cells'))
      expect(list).to.match(/failed Refused: .* Beta, 48 clients .*absent There is no Delta .*\. Delta, 1 client · Delta, 48 clients/)
      expect(list.match(/There is no Delta/g)).to.have.length(1)
    })

    it('says that a study which was stopped is partial', () => {
      const stopped = body({ isComplete: false })
      expect(stopped).to.contain('Partial: it was stopped, or still goes on').and.contain('3 measured so far')
      expect(stopped).not.to.contain('Complete')
    })

    it('says what has to be known of single cells', () => {
      expect(text).to.contain('Measured warm: caches could not be dropped. Gamma, 1 client')
    })
  })

  it('lets no text from outside become an element, an attribute or a secret', () => {
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\' & {{x}}'
    const replaced = JSON.parse(JSON.stringify({ result: inventedResult(), sections: inventedSections() }), (key, value) =>
      typeof value === 'string' && !['kind', 'state'].includes(key) ? `${evil} password=hunter2` : value)
    const made = page(replaced.result, replaced.sections)
    expect(made).not.to.match(/<script|<img|onerror=alert\(1\)>|hunter2/)
    expect(made).to.contain('&#60;script&#62;')
    expect([...made.matchAll(/<(\w+)/g)].map(([, name]) => name)).not.to.include.members(['script'])
  })

  it('needs no other file, no network and no script', () => {
    const made = page(inventedResult(), inventedSections())
    expect(made).to.contain('default-src &#39;none&#39;')
    expect(made.replaceAll('data:,', '')).not.to.match(/\b(?:src|href)="(?!#)[^"]+"|url\(|@import|<script/)
  })

  describe('tables', () => {
    /** @type {Extract<Block, {kind: 'table'}>} */
    const table = {
      kind: 'table',
      caption: 'Table 1',
      heading: 'database',
      columns: [{ title: 'rate', unit: 'rows/s', digits: 0 }, { title: 'server' }],
      rows: [
        { label: 'Alpha', figures: [{ value: 1200, published: 1000 }, { value: 'FerretDB' }] },
        { label: 'Beta', figures: [{ value: null, published: 500, reason: 'no Beta' }, { value: null, reason: 'no Beta' }] },
        { label: 'Gamma', figures: [{ value: null, reason: 'no Gamma' }] }
      ],
      notes: ['The paper has 1 or 2.']
    }

    it('have the published figure beneath ours, with the ratio, units in the head, and notes', () => {
      const text = words(blockMarkup(table))
      expect(text).to.contain('rate rows/s').and.contain('Alpha 1,200 ×1.20 1,000 FerretDB').and.contain('The paper has 1 or 2.')
    })

    it('say once why figures are missing', () => {
      const text = words(blockMarkup(table))
      expect(text).to.contain('Beta – a 500 – a').and.contain('Gamma – b –').and.match(/a no Beta b no Gamma/)
      expect(text.match(/no Beta/g)).to.have.length(1)
    })

    it('are printed in parts where they are too wide for paper, each figure once', () => {
      const columns = Array.from({ length: 30 }, (_, i) => ({ title: `column ${i}.` }))
      const figures = columns.map((_, i) => ({ value: 1e6 + i, published: 1e6 }))
      const { isSmall, parts } = printed({ kind: 'table', caption: 'T', columns, rows: [{ label: 'x', figures }] })
      expect(isSmall).to.equal(true)
      expect(parts.length).to.be.within(3, 10)
      expect(parts.flatMap(part => part.columns)).to.deep.equal(columns)
      expect(parts.flatMap(part => part.rows[0].figures)).to.deep.equal(figures)
      expect(printed(table)).to.deep.equal({ isSmall: false, parts: [] })
    })

    it('have words at the left, figures at the right', () => {
      expect(attributes(blockMarkup(table), /t[dh] scope="col"/).map(head => head.class)).to.deep.equal(['paired', 'text'])
    })
  })

  describe('bars', () => {
    /** @type {Extract<Block, {kind: 'bars'}>} */
    const block = {
      kind: 'bars',
      caption: 'Figure 1',
      unit: '%',
      series: ['Alpha', 'Beta'],
      groups: [
        { label: 'one', figures: [{ value: 100, published: 50 }, { value: 25 }] },
        { label: 'two', figures: [{ value: null, published: 10, reason: 'no Alpha' }, { value: 0 }] }
      ]
    }
    const rectangles = (/** @type {Partial<typeof block>} */ other = {}, width = WIDTHS.wide) =>
      attributes(bars({ ...block, ...other }, width, () => 'a'), /rect/)

    it('are as long as their values, ours filled and the paper\'s outlined beneath', () => {
      const made = rectangles()
      const [longest] = made.map(({ width }) => Number(width))
      expect(made.map(({ class: name, width }) => [name, Math.round(100 * Number(width) / longest)])).to.deep.equal([
        ['ours c0', 100], ['paper c0', 50], ['ours c1', 25], ['ours c0', 0], ['paper c0', 10], ['ours c1', 0]
      ])
      expect(Number(made[1].y)).to.be.at.least(Number(made[0].y) + Number(made[0].height))
      for (const { x } of made) expect(x).to.equal(made[0].x)
    })

    it('are as long as the logarithms of their values on a logarithmic axis', () => {
      const groups = [1, 10, 100, 0].map(value => ({ label: `${value}`, figures: [{ value }] }))
      const [one, ten, hundred, zero] = rectangles({ isLog: true, series: ['x'], groups }).map(({ width }) => Number(width))
      expect(hundred - ten).to.be.closeTo(ten - one, 0.2)
      expect(one).to.be.above(10)
      expect(zero).to.equal(0)
    })

    it('go to the left of 0 where they are negative', () => {
      const [up, down] = rectangles({ series: ['x'], groups: [10, -10].map(value => ({ label: `${value}`, figures: [{ value }] })) })
      expect(Number(down.x) + Number(down.width)).to.be.closeTo(Number(up.x), 0.2)
    })

    it('have their figures and ratios beside them, and say what is missing', () => {
      const text = words(bars(block, WIDTHS.wide, () => 'a'))
      expect(text).to.contain('100 ×2.00').and.contain('– a').and.contain('one, Alpha: 100 %').and.contain('one, Alpha, paper: 50 %')
    })

    it('stay within the chart, with their figures, at both widths', () => {
      const groups = [{ label: 'x'.repeat(300), figures: [{ value: 1e12, published: 123456789012 }, { value: 1e-6 }] }]
      for (const width of Object.values(WIDTHS)) {
        for (const { x, width: length } of rectangles({ groups }, width)) expect(Number(x) + Number(length)).to.be.below(width - 100)
      }
    })

    it('are in several charts where there are many groups, each with its axis', () => {
      const groups = Array.from({ length: 48 }, (_, i) => ({ label: `${i}`, figures: [{ value: i }, { value: 1 }] }))
      const made = bars({ ...block, groups }, WIDTHS.wide, () => null)
      expect(made.length).to.be.above(1)
      for (const chart of attributes(made, /svg/)) expect(Number(chart.viewBox.split(' ')[3])).to.be.below(700)
      expect(made.map(words).join(' ').match(/: 47 %/g)).to.have.length(1)
      for (const chart of made) expect(attributes(chart, /line class="axis"/)).to.have.length(1)
    })
  })

  describe('boxes', () => {
    const box = { min: 1, lower: 10, median: 100, upper: 1000, max: 10_000, mean: 100, count: 9 }
    /** @type {Extract<Block, {kind: 'boxes'}>} */
    const block = {
      kind: 'boxes', caption: 'Figure 2', unit: 'ms', isLog: true, series: ['Alpha'],
      groups: [{ label: '1000 rows', boxes: [box], published: [1000] }, { label: 'none', boxes: [null] }]
    }

    it('have quartiles, median, extremes, mean and the paper\'s mark where the axis has them', () => {
      const made = boxes(block, WIDTHS.wide)
      const marks = attributes(made, /line class="grid"/).map(({ x1 }) => Number(x1))
      expect(marks).to.have.length(5)
      const [rectangle] = attributes(made, /rect class="box"/)
      const ends = [Number(rectangle.x), Number(rectangle.x) + Number(rectangle.width)]
      expect(ends.map(end => Math.round(end))).to.deep.equal([marks[1], marks[3]].map(Math.round))
      expect(Number(attributes(made, /line class="median"/)[0].x1)).to.be.closeTo(marks[2], 0.2)
      expect(attributes(made, /line class="whisker"/).map(({ x1 }) => Number(x1))).to.deep.equal([marks[0], marks[4]])
      expect(Number(attributes(made, /circle/)[0].cx)).to.be.closeTo(marks[3], 0.2)
      expect(Number(attributes(made, /path class="mean"/)[0].d.match(/^M([\d.]+)/)?.[1])).to.be.closeTo(marks[2] - 3.6, 0.2)
    })

    it('stand on the edge where a value is 0 on a logarithmic axis', () => {
      const made = boxes({ ...block, groups: [{ label: 'x', boxes: [{ ...box, min: 0, lower: 0 }] }] }, WIDTHS.wide)
      expect(String(made)).not.to.match(/NaN|Infinity/)
    })

    it('say in words what they show', () => {
      expect(words(boxes(block, WIDTHS.narrow))).to.contain(
        '1000 rows, Alpha: median 100, quartiles 10 to 1,000, all 1 to 10,000, mean 100 ms, of 9; paper 1,000 ms'
      ).and.contain('none, Alpha: not measured')
    })
  })

  describe('lines', () => {
    /** @type {Extract<Block, {kind: 'lines'}>} */
    const block = {
      kind: 'lines', caption: 'Figure 3', unit: 'rows/s', xTitle: 'clients', isLog: true, isLogX: true,
      lines: [{ label: 'Alpha', x: [1, 10, 100], y: [10, 1000, 100] }, { label: 'Alpha', x: [1, 100], y: [20, 200], isPublished: true }]
    }

    it('go through their points, on logarithmic axes', () => {
      const [ours] = attributes(lines(block, WIDTHS.wide), /path class="line"/)
      const [a, b, c] = [...ours.d.matchAll(/[ML]([\d.]+) ([\d.]+)/g)].map(([, x, y]) => [Number(x), Number(y)])
      expect(b[0] - a[0]).to.be.closeTo(c[0] - b[0], 0.2)
      expect(a[1] - b[1]).to.be.closeTo(2 * (c[1] - b[1]), 0.3)
    })

    it('are dashed and hollow where they are the paper\'s, and of the colour of ours', () => {
      const made = lines(block, WIDTHS.wide)
      expect(attributes(made, /g class="c\d"/).map(group => group.class)).to.deep.equal(['c0', 'c0'])
      expect(attributes(made, /path class="line published-line"/)).to.have.length(1)
      expect(attributes(made, /path class="marker published-mark"/)).to.have.length(2)
    })

    it('mark their points where these are few', () => {
      const x = Array.from({ length: 3000 }, (_, i) => i + 1)
      const long = { ...block, lines: [{ label: 'long', x, y: x }] }
      expect(attributes(lines(long, WIDTHS.wide), /path class="marker/)).to.have.length(0)
      expect(attributes(lines(block, WIDTHS.wide), /path class="marker"/)).to.have.length(3)
    })

    it('are interrupted where a value is missing, or has no place on the axis', () => {
      const y = [1, 2, NaN, 4, 0, 6, 7]
      const gaps = { ...block, isLogX: false, lines: [{ label: 'gaps', x: [0, 1, 2, 3, 4, 5, 6], y }] }
      expect(attributes(lines(gaps, WIDTHS.wide), /path class="line"/)[0].d.match(/M/g)).to.have.length(3)
    })
  })

  it('has the figures of every chart as a table', () => {
    const text = words(inventedSections().flatMap(({ blocks }) => blocks).map(blockMarkup).join(''))
    expect(text.match(/Figures as a table/g)).to.have.length(10)
    expect(text).to.contain('20,000 rows · Beta 21 33.6 42 58.8 378 54.6 30 36')
    expect(text).to.contain('points first time, h:min:s last time, h:min:s min % of a core')
  })
})

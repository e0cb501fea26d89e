import { expect } from 'chai'
import { markdown, plain } from '../../../../gateway/bench/studies/report/markdown.js'
import { inventedResult, inventedSections } from '../invented.js'

describe('A report as Markdown', () => {
  const text = markdown(inventedResult(), inventedSections())
  const line = (/** @type {string} */ beginning) => text.split('\n').find(each => each.startsWith(beginning))

  it('says in its first line how the machine was held back', () => {
    expect(text.split('\n')[0]).to.match(/^\*\*Invented: gateway and servers were held to 25 %/)
    expect(markdown(inventedResult({ limited: '' }), []).split('\n')[0]).to.match(/^# Invented figures/)
  })

  it('has our figure, then the paper\'s and the ratio, and why one is missing', () => {
    expect(line('| Alpha individual')).to.match(/^\| Alpha individual \| 3\.5 \(5\.0, ×0\.70\) \| 239\.2 \(170\.8, ×1\.40\) \|/)
    expect(line('| Delta |')).to.match(/^\| Delta \| – a \(5\.0\) \|/)
    expect(text).to.contain('\na: There is no Delta on this machine.\n')
  })

  it('has every row of a table as long as its head', () => {
    const width = (/** @type {string} */ row) => row.replaceAll('\\|', '').split('|').length
    for (const table of text.split('\n\n').filter(paragraph => paragraph.startsWith('|'))) {
      expect(new Set(table.trim().split('\n').map(width))).to.have.length(1)
    }
  })

  it('has figures at the right and words at the left', () => {
    expect(text).to.contain('| Which | Value, rows/s | What it is |\n| :--- | ---: | :--- |')
  })

  it('has charts as tables, long lines in short', () => {
    expect(line('| 20,000 rows · Beta')).to.equal('| 20,000 rows · Beta | 21 | 33.6 | 42 | 58.8 | 378 | 54.6 | 30 | 36 |')
    expect(text).to.contain('\n| 48 | 800,000 (1,094,737, ×0.73) |')
    expect(line('| system |')).to.match(/^\| system \| 5,400 \| 0 \| 5,399 \|/)
  })

  it('lets no text from outside become markup', () => {
    expect(plain('a | b\n# c')).to.equal('a \\| b # c')
    expect(plain('<b>*x*</b> `y` [z](w) ~q~ $m$ &lt;')).to.equal('\\<b\\>\\*x\\*\\</b\\> \\`y\\` \\[z\\](w) \\~q\\~ \\$m\\$ \\&lt;')
    expect(['# x', '- x', '+ x', '1. x', '---', '==='].map(plain)).to.deep.equal(['\\# x', '\\- x', '\\+ x', '1\\. x', '\\---', '\\==='])
    expect(['sensor_id', '_id', '3.5', '-5', 'a & b'].map(plain)).to.deep.equal(['sensor_id', '\\_id', '3.5', '-5', 'a & b'])
    expect(text).not.to.match(/(?<!\\)<|hunter2/)
  })
})

import { expect } from 'chai'
import { csvRig } from './csv-rig.js'

const SECOND = 1_000_000_000n

describe('a CSV file that a spreadsheet of another country wrote', () => {
  const { play } = csvRig()

  /** The fields of the first batch. @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const fieldsOf = ([{ fields }]) => fields.map(({ name, type }) => `${name} ${type}`)

  it('has points that separate thousands where a comma is the decimal sign, in whole numbers too', async () => {
    const { batches, rows } = await play('time;x;n\n1714564800;1.234,56;1.234.567\n1714564801;-12.345.678,5;-12\n', { decimal: ',' })
    expect(fieldsOf(batches)).to.deep.equal(['x float64', 'n int64'])
    expect(rows.map(({ x, n }) => [x, n])).to.deep.equal([[1234.56, 1_234_567n], [-12345678.5, -12n]])
  })

  it('names its separator in a first line for Excel', async () => {
    for (const [line, sign] of [['sep=;', ';'], ['SEP=,', ','], ['"sep=|"', '|'], ['sep=\t', '\t']]) {
      const { rows, counters } = await play(`\uFEFF${line}\r\ntime${sign}a b\r\n1714564800${sign}5\r\n`)
      expect(rows, line).to.deep.equal([{ time: 1_714_564_800n * SECOND, 'a b': 5n }])
      expect(counters.badLines).to.equal(0)
    }
  })

  it('is read by the separator in the form rather than that in its first line', async () => {
    const { rows } = await play('sep=,\ntime;a,b\n1714564800;5,5\n', { delimiter: 'semicolon', decimal: ',' })
    expect(rows).to.deep.equal([{ time: 1_714_564_800n * SECOND, 'a,b': 5.5 }])
  })

  it('has decimals from the start where whole numbers turn decimal further down', async () => {
    const lines = Array.from({ length: 1500 }, (_, i) => `${1714564800 + i},${i},${i},${2n ** 60n}`)
    const { batches, rows, counters } = await play([
      'time,level,count,long', ...lines, '1714566300,1.5,7,1.5', '1714566301,broken,8,1', ''
    ].join('\n'))
    expect(fieldsOf(batches)).to.deep.equal(['level float64', 'count int64', 'long int64'])
    expect(rows[1499]).to.deep.equal({ time: 1_714_566_299n * SECOND, level: 1499, count: 1499n, long: 2n ** 60n })
    expect(rows[1500]).to.include({ level: 1.5, count: 7n, quality: 'long: not a whole number of 64 bits' })
    expect(rows[1501]).to.include({ count: 8n, quality: 'level: not a number' })
    expect(counters.undecodable).to.equal(2)
  })

  it('has no decimal commas that are points: these separate thousands, or the value is missing', async () => {
    const cells = ['1.234', '1,5', '1.5', '0.123', '1.234.56', '12.34,5', '1234.567,8']
    const { rows, counters } = await play(`time;x\n${cells.map(cell => `1714564800;${cell}\n`).join('')}`, {
      decimal: ',',
      columns: [{ column: 'time', role: 'time' }, { column: 'x', type: 'float64' }]
    })
    expect(rows.map(({ x, quality }) => x ?? quality)).to.deep.equal([1234, 1.5, ...Array(5).fill('not a number')])
    expect(counters.undecodable).to.equal(5)
  })

  it('has no separators of thousands that are commas: they may be decimal ones', async () => {
    const { batches } = await play('time;x\n1714564800;1,234\n')
    expect(fieldsOf(batches)).to.deep.equal(['x string'])
  })
})

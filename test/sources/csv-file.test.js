import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { csvRecords } from '../../gateway/sources/csv/file.js'

describe('the records of a CSV file', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-csv-file-'))
  const file = path.join(folder, 'log.csv')
  after(() => rmSync(folder, { recursive: true }))

  /** @param {string|Uint8Array} text */
  async function read (text) {
    writeFileSync(file, text)
    const records = []
    for await (const block of csvRecords(file, { encoding: 'utf-8', delimiter: 'auto' })) records.push(...block)
    return {
      cells: records.flatMap(record => 'cells' in record ? [record.cells] : []),
      bad: records.flatMap(record => 'reason' in record ? [`${record.line}: ${record.reason}`] : [])
    }
  }

  it('may be UTF-16, as a spreadsheet saves "Unicode text"', async () => {
    expect((await read(Buffer.from('\uFEFFtime\tmaß\r\n2024-05-01\t1.5\r\n', 'utf16le'))).cells).to.deep.equal([
      ['time', 'maß'],
      ['2024-05-01', '1.5']
    ])
  })

  it('have cells of any length up to a million characters, across blocks of the file', async () => {
    const long = `${'x'.repeat(200_000)}\n${'y'.repeat(200_000)}`
    const { cells, bad } = await read(`a,b\n1,"${long}"\n2,${'z'.repeat(300_000)}\n3,short\n`)
    expect(cells.map(([a, b]) => [a, b.length])).to.deep.equal([['a', 1], ['1', 400_001], ['2', 300_000], ['3', 5]])
    expect(cells[1][1] === long).to.equal(true)
    expect(bad).to.deep.equal([])
  })

  it('are without a line that is longer, and with all others', async () => {
    const { cells, bad } = await read(`a,b\n1,1\n2,${'9'.repeat(3_000_000)}\n3,3\n`)
    expect(cells).to.deep.equal([['a', 'b'], ['1', '1'], ['3', '3']])
    expect(bad).to.deep.equal(['3: it has over 1048576 characters'])
  })

  it('are read once after a quote that is left open, not again for each line', async () => {
    const lines = Array.from({ length: 60 }, () => 'z'.repeat(15_000))
    const { cells, bad } = await read(['a,b', '1,"open', ...lines, '2,2', ''].join('\n')) // reading again takes longer than a test may
    expect(bad).to.deep.equal(['2: a quote is not closed'])
    expect(cells.at(-1)).to.deep.equal(['2', '2'])
  })
})

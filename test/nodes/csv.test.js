import { expect } from 'chai'
import fc from 'fast-check'
import { decodeText, formatCsv, parseCsv } from '../../resources/csv.js'
import { entriesOf } from '../../resources/records.js'

/** @type {Record<string, import('../../resources/options.js').Property>} */
const columns = {
  name: { type: 'string', title: 'Name' },
  area: {
    type: 'string',
    title: 'Area',
    enum: ['holding-registers', 'coils'],
    'x-labels': { 'holding-registers': 'holding registers', coils: 'coils' }
  },
  scale: { type: 'number', title: 'Scale' },
  heartbeatMs: { type: 'integer', title: 'Heartbeat', 'x-unit': 'ms' },
  hidden: { type: 'boolean', title: 'Hidden' }
}

/** @param {string} text @param {number} [firstColumn] */
const read = (text, firstColumn) => entriesOf(parseCsv(text), columns, firstColumn)

describe('CSV', () => {
  const lines = [
    ['a,b\r\nc,d\r\n', [['a', 'b'], ['c', 'd']]],
    ['a;b\nc;d', [['a', 'b'], ['c', 'd']]],
    ['a\tb\rc\td', [['a', 'b'], ['c', 'd']]],
    ['a,\n,b\n\n,,\n', [['a', ''], ['', 'b']]],
    ['"a,1","say ""hi""","two\nlines"', [['a,1', 'say "hi"', 'two\nlines']]],
    ['"a;b",c', [['a;b', 'c']]],
    ['5" pipe,"x"y', [['5" pipe', 'xy']]],
    ['\uFEFFa,b', [['a', 'b']]],
    ['', []]
  ]
  for (const [text, cells] of /** @type {[string, string[][]][]} */ (lines)) {
    it(`is read: ${JSON.stringify(text)}`, () => expect(parseCsv(text).cells).to.deep.equal(cells))
  }

  it('says where a quote is not closed', () => {
    expect(() => parseCsv('a,b\nc,"d\ne,f\n')).to.throw('The quote in line 2 is not closed.')
  })

  it('comes back as it was written, whatever is in the cells', () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '\n', '\r', ' ', '°', '1') })
    const table = fc
      .integer({ min: 2, max: 4 })
      .chain(width => fc.array(fc.tuple(fc.constant('x'), ...Array(width - 1).fill(cell)), { minLength: 1 }))
    fc.assert(fc.property(table, rows => {
      expect(parseCsv(formatCsv([['x', 'y'], ...rows])).cells.slice(1)).to.deep.equal(rows)
    }), { seed: 4, numRuns: 500 })
  })

  it('is read or refused, never worse, whatever it is', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '""', ',', ';', '\t', '\n', '\r\n', 'name', 'scale', '1,5', '.') })
    fc.assert(fc.property(text, given => {
      try {
        read(given)
      } catch (error) {
        expect(error).to.be.instanceOf(Error).with.property('message').that.matches(/^The quote in line \d+ is not closed\.$/)
      }
    }), { seed: 4, numRuns: 5000 })
  })

  it('is text in UTF-8, in UTF-16 with its mark, or in the code page of old Windows', () => {
    expect(decodeText(new TextEncoder().encode('°C'))).to.equal('°C')
    expect(decodeText(new Uint8Array([0xff, 0xfe, 0xb0, 0, 0x43, 0]))).to.equal('°C')
    expect(decodeText(new Uint8Array([0xb0, 0x43]))).to.equal('°C')
  })
})

describe('the rows of a spreadsheet', () => {
  it('go where the header says: names or titles, with or without unit, in any case and order', () => {
    expect(read('SCALE,Heartbeat (ms),name\n2,500,a\n')).to.deep.equal({
      entries: [{ scale: '2', heartbeatMs: '500', name: 'a' }],
      unknown: []
    })
    expect(read('heartbeat_ms\n7').entries).to.deep.equal([{ heartbeatMs: '7' }])
  })

  it('name the columns they have and the table does not', () => {
    expect(read('name,x,scale,y,\na,1,2,3,\n')).to.deep.equal({ entries: [{ name: 'a', scale: '2' }], unknown: ['x', 'y'] })
  })

  it('go to the right of a cell without header', () => {
    expect(read('a\tcoils\nb\tcoils')).to.deep.equal({ entries: [{ name: 'a', area: 'coils' }, { name: 'b', area: 'coils' }], unknown: [] })
    expect(read('1\t2\tyes\tmore', 2)).to.deep.equal({ entries: [{ scale: '1', heartbeatMs: '2', hidden: 'true' }], unknown: ['column 4'] })
  })

  it('may write a choice as the form shows it, and yes and no as people do', () => {
    expect(read('name,area,hidden\na,Holding Registers,YES\nb,COILS,0\nc,?,?').entries).to.deep.equal([
      { name: 'a', area: 'holding-registers', hidden: 'true' },
      { name: 'b', area: 'coils', hidden: 'false' },
      { name: 'c', area: '?', hidden: '?' }
    ])
  })

  const scales = [
    ['name;scale\na;1,5\nb;1,234\nc,d;0', ['1.5', '1.234', '0'], 'semicolons part the cells'],
    ['name\tscale\na\t1,5\nb\t1,234', ['1.5', '1.234'], 'one shows it'],
    ['name\tscale\na\t1,234', ['1,234'], 'it may part thousands'],
    ['name;scale\na;1,5\nb;1.5', ['1,5', '1.5'], 'another has a point'],
    ['name,scale\na,"-0,5"', ['-0.5'], 'it is quoted']
  ]
  for (const [text, values, reason] of /** @type {[string, string[], string][]} */ (scales)) {
    it(`have ${values.join(' and ')} where ${reason}`, () => expect(read(text).entries.map(({ scale }) => scale)).to.deep.equal(values))
  }
})

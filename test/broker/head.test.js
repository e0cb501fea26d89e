import { expect } from 'chai'
import { readHead } from '../../broker/in/head.js'
import { headMessage } from '../../broker/out/head-message.js'

/** @param {...[number, number, number]} ranges */
const counted = (...ranges) => ranges
/** @param {unknown} message */
const read = message => readHead(Buffer.from(JSON.stringify(message)))
/** @param {unknown} epoch */
const readEpoch = epoch => read({ sources: [{ source: 'press', rows: 10, epochs: [epoch] }] }).sources[0].epochs[0]

describe('a head message', () => {
  it('is what a spool holds', () => {
    const spool = {
      sources: [{
        source: 'press',
        rows: 900,
        lost: 7,
        dropped: 0,
        replaced: 5,
        epochs: [
          {
            epoch: '1-aaaaaaaa', first: 3, last: 9, before: 30, rows: 90, lost: counted([4, 5, 7]), replaced: counted([8, 8, 5])
          },
          { epoch: '2-bbbbbbbb', first: 0, last: -1, before: 90, rows: 90 }
        ]
      }]
    }
    expect(read(JSON.parse(headMessage(spool))).sources).to.deep.equal([{
      source: 'press',
      rows: 900,
      replacedRows: 5,
      epochs: [
        { epoch: '1-aaaaaaaa', first: 3, last: 9, before: 30, rows: 90, lost: [[4, 5, 7]], replaced: [[8, 8, 5]], doubt: [] },
        { epoch: '2-bbbbbbbb', first: 0, last: -1, before: 90, rows: 90, lost: [], replaced: [], doubt: [] }
      ]
    }])
  })

  it('may name an epoch that is empty, from wherever it goes on', () => {
    expect(readEpoch(['1-a', 7, 6, 10, 10])).to.include({ first: 7, last: 6 })
    expect(readEpoch(['1-a', 7, -1, 10, 10])).to.include({ first: 7, last: 6 })
  })

  it('may have its ranges in any order', () => {
    expect(readEpoch(['1-a', 0, 9, 0, 10, { lost: [[7, 8, 2], [1, 2, 2]], doubt: [[5, 5], [0, 0]] }])).to.deep.include({
      lost: [[1, 2, 2], [7, 8, 2]],
      doubt: [[0, 0, 0], [5, 5, 0]]
    })
  })

  const many = (/** @type {number} */ count, /** @type {(i: number) => unknown} */ of) => Array.from({ length: count }, (_, i) => of(i))
  for (const [what, message] of /** @type {[string, any][]} */ ([
    ['nothing', null],
    ['no sources', {}],
    ['a source without a name', { sources: [{ source: 5, rows: 1, epochs: [] }] }],
    ['a name that a database refuses', { sources: [{ source: 'a\0b', rows: 1, epochs: [] }] }],
    ['rows that are not counted', { sources: [{ source: 'press', rows: -1, epochs: [] }] }],
    ['more rows replaced than produced', { sources: [{ source: 'press', rows: 1, replacedRows: 2, epochs: [] }] }],
    ['more than 1000 sources', { sources: many(1001, i => ({ source: `s${i}`, rows: 0, epochs: [] })) }],
    ['more than 64 epochs', { sources: [{ source: 'press', rows: 0, epochs: many(65, i => [`${i}-a`, 0, -1, 0, 0]) }] }],
    ['over 1 MiB', { sources: [], padding: 'x'.repeat(2 ** 20) }]
  ])) {
    it(`is refused with ${what}`, () => expect(() => read(message)).to.throw(/ignored/))
  }

  for (const [what, epoch] of /** @type {[string, any][]} */ ([
    ['without a name', [5, 0, 1, 0, 2]],
    ['that counts nothing', ['__proto__', 0, 1, 0, 2]],
    ['with a seq that is no whole number', ['1-a', 0.5, 1, 0, 2]],
    ['with a seq beyond what numbers can tell apart', ['1-a', 0, 2 ** 60, 0, 2]],
    ['that ends before it begins', ['1-a', 5, 1, 0, 2]],
    ['whose rows shrink', ['1-a', 0, 1, 5, 2]],
    ['with damage that is no range', ['1-a', 0, 1, 0, 2, { lost: [7] }]],
    ['with damage that ends before it begins', ['1-a', 0, 1, 0, 2, { lost: [[1, 0, 1]] }]],
    ['with more than 1000 ranges', ['1-a', 0, 5000, 0, 2, { doubt: many(1001, i => [2 * i, 2 * i]) }]]
  ])) {
    it(`is refused with an epoch ${what}`, () => expect(() => readEpoch(epoch)).to.throw(/ignored/))
  }
})

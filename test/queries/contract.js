import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { failureOf, T0 } from '../databases/contract/batches.js'
import { ALL, at, forces, S, samples, table } from './readings.js'
import { sampleTests } from './sample-tests.js'
import { summaryTests } from './summary-tests.js'
import { tagTests } from './tag-tests.js'

/**
 * What every reader promises, shown against a real database that the real sink has filled.
 *
 * Whole numbers are read as numbers where safe and else as BigInt. Summaries come in the order of time and, at one time, of `sensors`.
 *
 * @typedef {import('../../gateway/databases/reader.js').Reader} Reader
 * @typedef {import('../../gateway/databases/reader.js').Sample} Sample
 * @typedef {'wide'|'narrow'|'document'} Layout
 *
 * @typedef {object} Harness  one empty database a test
 * @property {readonly Layout[]} layouts  those that the sink has; documents are of 1000 ms
 * @property {(layout: Layout, batches: Batch[]) => Promise<void>} store  through the sink, in its default table of source "press": prepare,
 *   write, close
 * @property {(layout: Layout) => Promise<Reader>} open  of that table; the contract closes it
 * @property {Record<string, string>} [differs]  tests that this database cannot meet, by "title" or "layout: title", and why; its own tests
 *   show what it does instead
 *
 * @typedef {object} Subject
 * @property {Layout} layout
 * @property {(title: string, test: () => Promise<void>) => void} it
 * @property {(...batches: Batch[]) => Promise<Reader>} reading  stores batches and opens a reader of them
 */

/** @param {Harness} harness */
export function readerContract (harness) {
  const differing = new Set(Object.keys(harness.differs ?? {}))
  const met = new Set()

  for (const layout of harness.layouts) {
    describe(`reader of the ${layout} layout`, () => {
      /** @type {Reader|undefined} */
      let opened

      afterEach(async () => {
        await opened?.close()
        opened = undefined
      })

      readerTests({
        layout,
        it (title, test) {
          const names = [title, `${layout}: ${title}`].filter(name => differing.has(name))
          names.forEach(name => met.add(name))
          if (names.length === 0) it(title, test)
        },
        async reading (...batches) {
          await harness.store(layout, batches)
          opened = await harness.open(layout)
          return opened
        }
      })
    })
  }

  const unknown = [...differing].filter(name => !met.has(name))
  if (unknown.length > 0) throw new Error(`The contract has no such tests: ${unknown.join('; ')}`)
}

/** @param {Subject} subject */
function readerTests (subject) {
  const { layout, it, reading } = subject
  sampleTests(subject)
  summaryTests(subject)
  tagTests(subject)

  describe('edge', () => {
    it('finds the first and last value over a limit, or under one', async () => {
      const reader = await reading(forces(T0, [0, 5, 6, 5, 1, 0, 6, 5]))
      const edge = (/** @type {object} */ options) => reader.edge({ sensor: 'force', ...ALL, ...options })
      expect(await edge({ above: 5 })).to.equal(T0 + 2n)
      expect(await edge({ above: 5, last: true })).to.equal(T0 + 6n)
      expect(await edge({ below: 1 })).to.equal(T0)
      expect(await edge({ below: 1, last: true })).to.equal(T0 + 5n)
      expect(await edge({ below: 1, last: true, to: T0 + 5n })).to.equal(T0)
      expect(await edge({ above: 5, from: T0 + 3n })).to.equal(T0 + 6n)
      expect(await edge({ below: 1, from: T0 + 5n, to: T0 + 6n })).to.equal(T0 + 5n)
    })

    it('is null where no value is beyond the limit', async () => {
      const reader = await reading(new Batch({ ...forces(T0, [0, 99, 6]), validity: [Uint8Array.of(1, 0, 1)] }))
      expect(await reader.edge({ sensor: 'force', ...ALL, above: 6 })).to.equal(null)
      expect(await reader.edge({ sensor: 'force', ...ALL, below: 0, last: true })).to.equal(null)
      expect(await reader.edge({ sensor: 'nowhere', ...ALL, above: 0 })).to.equal(null)
      expect(await reader.edge({ sensor: 'force', from: 0n, to: T0 + 2n, above: 5 })).to.equal(null)
    })

    it('goes by time, whatever the order of arrival', async () => {
      const reader = await reading(at([T0 + 3n * S, T0 + 3n], [9, 9]), at([T0 + 9n * S, T0 + 5n], [9, 9]))
      expect(await reader.edge({ sensor: 'force', ...ALL, above: 8 })).to.equal(T0 + 3n)
      expect(await reader.edge({ sensor: 'force', ...ALL, above: 8, last: true })).to.equal(T0 + 9n * S)
    })
  })

  describe('minimum', () => {
    it('is the first time of the least value', async () => {
      const reader = await reading(at([T0 + 5n * S, T0 + 1n, T0 + 4n, T0 + 2n], [-2, 3, -2, 0]))
      expect(await reader.minimum({ sensor: 'force', ...ALL })).to.equal(T0 + 4n)
      expect(await reader.minimum({ sensor: 'force', ...ALL, to: T0 + 4n })).to.equal(T0 + 2n)
      expect(await reader.minimum({ sensor: 'force', ...ALL, from: T0 + 5n })).to.equal(T0 + 5n * S)
    })

    it('is null without values', async () => {
      const reader = await reading(new Batch({ ...table([T0], { a: [1], b: [2] }), validity: [Uint8Array.of(0), null] }))
      expect(await reader.minimum({ sensor: 'a', ...ALL })).to.equal(null)
      expect(await reader.minimum({ sensor: 'b', from: 0n, to: T0 })).to.equal(null)
    })
  })

  it('stops when it is aborted', async () => {
    const reader = await reading(forces(T0, Array.from({ length: 50 }, (_, i) => i)))
    const aborted = AbortSignal.abort(new Error('closing'))
    const range = { sensors: ['force'], sensor: 'force', ...ALL }
    const failures = [
      () => samples(reader, { ...range, signal: aborted }),
      () => reader.summaries({ ...range, statistics: ['mean'], signal: aborted }),
      () => reader.edge({ ...range, above: 0, signal: aborted }),
      () => reader.minimum({ ...range, signal: aborted })
    ]
    for (const failure of failures) expect((await failureOf(failure)).message).to.equal('closing')

    const abort = new AbortController()
    /** @type {Sample[][]} */
    const pages = []
    const error = await failureOf(async () => {
      for await (const page of reader.samples({ ...range, pageRows: 5, signal: abort.signal })) {
        pages.push(page)
        if (pages.length === 2) abort.abort(new Error('enough'))
      }
    })
    expect(error.message).to.equal('enough')
    expect(pages).to.have.length(2)
    expect(await samples(reader, range), `the ${layout} reader goes on`).to.have.length(50)
  })
}

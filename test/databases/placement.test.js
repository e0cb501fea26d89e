import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { tableNames } from '../../gateway/databases/names.js'
import { Placement } from '../../gateway/databases/recorded/placement.js'
import { batchOf } from './contract/batches.js'

/** @typedef {import('../../gateway/batch/batch.js').Batch} Batch */

const RULES = { product: 'a database', maxNameBytes: 63, fold: (/** @type {string} */ name) => name }
const NOW = 0

/** A batch of each source. @param {number} count */
const sources = count => Array.from({ length: count }, (_, i) => batchOf([i], { source: `press ${i}` }))

/** @param {Batch[]} batches */
const namesOf = batches => batches.map(({ source }) => source)

/** @param {{template?: string, tablesAtOnce?: number}} [how] */
function placement ({ template = '{source}', tablesAtOnce } = {}) {
  return new Placement({ layout: 'wide', intervalMs: 1000 }, tableNames(template, /** @type {any} */ (RULES)), { tablesAtOnce })
}

/** Finds a table when it is told to. */
class Tables {
  /** @type {string[]} */
  asked = []
  /** @type {Map<string, PromiseWithResolvers<{}>>} */
  #waiting = new Map()

  get waiting () { return [...this.#waiting.keys()] }

  find = (/** @type {string} */ name) => {
    this.asked.push(name)
    const found = Promise.withResolvers()
    this.#waiting.set(name, found)
    return found.promise
  }

  /** @param {string} name @param {Error} [error] */
  async answer (name, error) {
    const found = this.#waiting.get(name)
    this.#waiting.delete(name)
    if (error) found?.reject(error)
    else found?.resolve({ name })
    for (let i = 0; i < 10; i++) await turn()
  }
}

describe('where the rows of batches go', () => {
  it('is found table by table, and told how far that is', async () => {
    const [places, tables] = [placement(), new Tables()]
    expect(places.progress).to.equal(null)
    const found = places.of(sources(3), tables.find)
    expect(tables.waiting).to.deep.equal(['press 0'])
    expect(places.progress).to.include({ done: 0, of: 3 })
    await tables.answer('press 0')
    expect(tables.waiting).to.deep.equal(['press 1'])
    expect(places.progress).to.include({ done: 1, of: 3 })
    await tables.answer('press 1')
    await tables.answer('press 2')
    expect([...(await found).values()].map(({ plan }) => plan)).to.deep.equal([0, 1, 2].map(i => ({ name: `press ${i}` })))
    expect(places.progress).to.equal(null)
    expect(places.covers(sources(3))).to.equal(true)
  })

  it('is found for several tables at once where the database can', async () => {
    const [places, tables] = [placement({ tablesAtOnce: 2 }), new Tables()]
    const found = places.of(sources(3), tables.find)
    expect(tables.waiting).to.deep.equal(['press 0', 'press 1'])
    await tables.answer('press 1')
    expect(tables.waiting).to.deep.equal(['press 0', 'press 2'])
    await tables.answer('press 2')
    await tables.answer('press 0')
    expect((await found).size).to.equal(3)
  })

  it('is looked for once, whoever waits for it', async () => {
    const [places, tables] = [placement(), new Tables()]
    const both = [places.of(sources(2), tables.find), places.of(sources(2), tables.find)]
    await turn()
    expect(tables.waiting).to.deep.equal(['press 0'])
    await tables.answer('press 0')
    await tables.answer('press 1')
    await Promise.all(both)
    expect(tables.asked).to.deep.equal(['press 0', 'press 1'])
  })

  it('is looked for again by who waited for another that failed', async () => {
    const [places, tables] = [placement(), new Tables()]
    const [first, second] = [places.of(sources(1), tables.find).catch(error => error), places.of(sources(1), tables.find)]
    await tables.answer('press 0', new Error('no'))
    expect(await first).to.be.an('error')
    await tables.answer('press 0')
    expect((await second).size).to.equal(1)
    expect(places.progress).to.equal(null)
  })

  it('is one for all sources of a table', async () => {
    const [places, tables] = [placement({ template: 'rows' }), new Tables()]
    const found = places.of(sources(900), tables.find)
    await tables.answer('rows')
    expect((await found).size).to.equal(900)
    expect(tables.asked).to.deep.equal(['rows'])
  })

  it('leaves batches for later once time is up, never all of them', async () => {
    const [places, tables] = [placement(), new Tables()]
    for (const rest of [['press 1', 'press 2'], ['press 2'], []]) {
      const prepared = places.prepare([batchOf([]), ...sources(3)], tables.find, NOW)
      await tables.answer(tables.waiting[0])
      expect(namesOf(await prepared)).to.deep.equal(rest)
    }
    expect(tables.asked).to.deep.equal(['press 0', 'press 1', 'press 2'])
  })

  it('begins no other table once one has failed, and ends those that are begun', async () => {
    const [places, tables] = [placement({ tablesAtOnce: 2 }), new Tables()]
    let isOver = false
    const failed = places.of(sources(4), tables.find).catch(error => error).finally(() => { isOver = true })
    await tables.answer('press 0', new Error('no'))
    expect([tables.waiting, isOver]).to.deep.equal([['press 1'], false])
    await tables.answer('press 1')
    expect((await failed).message).to.equal('no')
    expect(tables.asked).to.deep.equal(['press 0', 'press 1'])
  })
})

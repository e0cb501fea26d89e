import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { GatheredAppends } from '../../broker/out/gathered-appends.js'

const LONG_MS = 3_600_000

describe('gathering', () => {
  /** What the spool has been given: the values of each batch. @type {unknown[][]} */
  let appended
  beforeEach(() => { appended = [] })

  /** @param {Partial<import('../../broker/out/gathered-appends.js').Options>} [options] */
  const gather = options => new GatheredAppends({
    append: async batch => { appended.push([...batch.columns[0]]) }, maxRows: 1000, maxBytes: 2 ** 20, maxAgeMs: LONG_MS, ...options
  })

  /** @param {number|string} value @param {string} [source] */
  const row = (value, source = 'press') => new Batch({
    source,
    time: new BigInt64Array(1),
    fields: [{ name: 'value', type: typeof value === 'string' ? 'string' : 'float64' }],
    columns: [typeof value === 'string' ? [value] : Float64Array.of(value)]
  })

  it('makes one batch of what comes within the age, of each source', async () => {
    const gathering = gather({ maxAgeMs: 50 })
    await Promise.all([row(1), row(2, 'lathe'), row(3)].map(batch => gathering.append(batch)))
    expect(appended).to.deep.equal([[1, 3], [2]])
    await gathering.append(row(4))
    expect(appended).to.deep.equal([[1, 3], [2], [4]])
  })

  it('does not wait for more than so many rows', async () => {
    const gathering = gather({ maxRows: 3 })
    await Promise.all([1, 2, 3].map(value => gathering.append(row(value))))
    expect(appended).to.deep.equal([[1, 2, 3]])
  })

  it('does not wait for more than so many bytes', async () => {
    const gathering = gather({ maxBytes: 30 })
    await Promise.all([1, 2].map(value => gathering.append(row(value))))
    expect(appended).to.deep.equal([[1, 2]])
  })

  it('does not wait for more than so many messages, whatever their sources: while they are stored, others must come', async () => {
    const gathering = gather({ maxMessages: 4 })
    await Promise.all([row(1), row(2, 'lathe'), row(3), row(4, 'lathe')].map(batch => gathering.message(() => gathering.append(batch))))
    expect(appended).to.deep.equal([[1, 3], [2, 4]])
  })

  it('waits longer where very many sources send: each has a record of its own', async () => {
    const gathering = gather({ maxAgeMs: 20 })
    const startMs = performance.now()
    const elapsedMs = await Promise.all(Array.from({ length: 400 }, async (_, i) => {
      await gathering.append(row(i, `device ${i}`))
      return performance.now() - startMs
    }))
    expect(elapsedMs[399]).to.be.at.least(199)
    expect(elapsedMs[0]).to.be.below(elapsedMs[399])
  })

  it('lets nothing wait where the age is 0', async () => {
    const gathering = gather({ maxAgeMs: 0 })
    await Promise.all([1, 2].map(value => gathering.append(row(value))))
    expect(appended).to.deep.equal([[1], [2]])
  })

  it('holds up no rows that have gathered where they come from, and keeps their order', async () => {
    const gathering = gather({ maxAgeMs: 100 })
    const many = (/** @type {number} */ from, rows = 100) => new Batch({
      source: 'press',
      time: BigInt64Array.from({ length: rows }, (_, i) => BigInt(i) * 2_000_000n),
      fields: [{ name: 'value', type: 'float64' }],
      columns: [Float64Array.from({ length: rows }, (_, i) => from + i)]
    })
    gathering.append(many(0))
    expect(appended, 'at once').to.have.length(1)
    await Promise.all([row(-1), many(100)].map(batch => gathering.append(batch)))
    expect(appended.map(([first]) => first), 'behind what waits').to.deep.equal([0, -1])
    const few = gathering.append(many(200, 99))
    expect(appended).to.have.length(2)
    await few
  })

  it('keeps the order of a source where batches do not fit together', async () => {
    const gathering = gather({ maxAgeMs: 20 })
    await Promise.all([1, 2, 'three', 4, 5].map(value => gathering.append(row(value))))
    expect(appended).to.deep.equal([[1, 2], ['three'], [4, 5]])
  })

  it('holds up no sender that waits for its messages to be done before it sends more: brokers send 20 at a time', async () => {
    const gathering = gather()
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 20 }, (_, i) => gathering.message(() => gathering.append(row(i)))))
    }
    expect(appended.map(({ length }) => length)).to.deep.equal([20, 20, 20])
  })

  it('goes on looking for such a sender while the spool is slow', async () => {
    const gathering = gather()
    const slow = Promise.withResolvers()
    const held = Array.from({ length: 10 }, () => gathering.message(() => slow.promise))
    await gathering.message(() => gathering.append(row(1)))
    expect(appended).to.deep.equal([[1]])
    slow.resolve(undefined)
    await Promise.all(held)
  })

  it('costs no batch its place because the spool does not accept another', async () => {
    const gathering = gather({
      maxAgeMs: 20,
      async append ({ columns: [values] }) {
        if (values.length > 1 || values[0] === 13) throw new Error('not 13')
        appended.push([...values])
      }
    })
    const results = await Promise.allSettled([12, 13, 14].map(value => gathering.append(row(value))))
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled'])
    expect(appended).to.deep.equal([[12], [14]])
  })

  it('gives the spool all that waits at the end', async () => {
    const gathering = gather()
    const waiting = [gathering.append(row(1)), gathering.append(row(2, 'lathe'))]
    gathering.flush()
    await Promise.all(waiting)
    expect(appended).to.deep.equal([[1], [2]])
  })
})

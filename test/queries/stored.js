import { expect } from 'chai'
import { batchOf, failureOf, T0 } from '../databases/contract/batches.js'
import { readerContract } from './contract.js'
import { queryContract } from './queries.js'
import { samples } from './readings.js'

/**
 * Readers of what the sink has stored in the database of a suite.
 *
 * @typedef {import('../../gateway/batch/batch.js').Batch} Batch
 * @typedef {import('../../gateway/databases/reader.js').Reader} Reader
 */

/** All that there can be. */
export const WHOLE = { from: -(2n ** 63n), to: 2n ** 63n - 1n }

/** Some time, in which a database may begin another part of a table. */
const STEP = 3_600_000_000_000n

/**
 * @template {{close: () => Promise<void>}} Server
 * @param {import('../databases/test-database.js').TestDatabase<Server>} database
 * @param {(options: any, context: {server: Server}) => Promise<Reader>} openReader
 * @param {object} [server]  its options
 */
export function storing (database, openReader, server) {
  return {
    /** Through the sink. @param {Record<string, unknown>} options  of it @param {Batch[]} batches */
    store: async (options, ...batches) => {
      const sink = await database.openSink(options)
      await sink.prepare(batches)
      await sink.write(batches)
    },

    /** One of the table of source "press", unless told otherwise. @param {object} [options] */
    open: options => openReader({ table: 'press', ...options }, { server: database.connect(server) })
  }
}

/**
 * What all readers promise.
 * @param {ReturnType<typeof storing>} storing
 * @param {readonly import('./contract.js').Layout[]} layouts
 * @param {Record<string, string>} [differs]  see the contract
 */
export function storedContract ({ store, open }, layouts, differs) {
  const harness = {
    layouts,
    store: (/** @type {string} */ layout, /** @type {Batch[]} */ batches) => store({ layout }, ...batches),
    open: (/** @type {string} */ layout) => open({ layout }),
    differs
  }
  readerContract(harness)
  queryContract(harness)
}

/** Of databases whose times have no limit of their own. @param {ReturnType<typeof storing>} storing */
export function wholeRangeTest ({ store, open }) {
  it('reads the whole range of time', async () => {
    const time = [-(2n ** 63n), -1n, 0n, T0, 2n ** 63n - 2n]
    await store({}, batchOf([1, 2, 3, 4, 5], { time: BigInt64Array.from(time) }))
    expect((await samples(await open(), { sensors: ['force'], ...WHOLE })).map(sample => sample.time)).to.deep.equal(time)
  })
}

/** Of databases whose reader finds rows, and no more. @param {ReturnType<typeof storing>} storing */
export function endlessTest ({ store, open }) {
  it('reads a range that has more than all times', async () => {
    await store({}, batchOf([1, 2]))
    const values = async (/** @type {bigint} */ from, /** @type {bigint} */ to) =>
      (await samples(await open(), { sensors: ['force'], from, to })).map(({ value }) => value)
    const [first, end] = [-(2n ** 63n), 2n ** 63n]
    expect(await values(2n * first, 2n * end)).to.deep.equal([1, 2])
    expect(await values(2n * first, first)).to.deep.equal([])
    expect(await values(end, 2n * end)).to.deep.equal([])
  })
}

/** What they promise of a table that several sources share. @param {ReturnType<typeof storing>} storing */
export function sourcesTest ({ store, open }) {
  it('reads the sources of a table in the order of time, or one of them', async () => {
    const time = (/** @type {number[]} */ ...steps) => BigInt64Array.from(steps, step => T0 + BigInt(Math.round(step * 10)) * STEP / 10n)
    await store({ table: 'all' }, batchOf([1, 4, 5], { source: 'press', time: time(0, 1.2, 3) }))
    await store({ table: 'all' }, batchOf([2, 3, 6], { source: 'oven', time: time(0.1, 1.1, 3.1) }))
    const values = async (/** @type {object} */ options, range = WHOLE) => {
      return (await samples(await open({ table: 'all', ...options }), { sensors: ['force'], ...range })).map(({ value }) => value)
    }
    expect(await values({})).to.deep.equal([1, 2, 3, 4, 5, 6])
    expect(await values({ source: 'oven' })).to.deep.equal([2, 3, 6])
    expect(await values({}, { from: T0 + STEP, to: T0 + 3n * STEP })).to.deep.equal([3, 4])
  })
}

/**
 * What they say of a table that is not there, or has another layout.
 * @param {ReturnType<typeof storing>} storing
 * @param {RegExp} missing  which table that is, and what makes it
 * @param {import('./contract.js').Layout[]} [others]  than that of the table, which is narrow
 */
export function wrongTableTest ({ store, open }, missing, others = ['wide']) {
  it('says which table it does not find, and which has another layout', async () => {
    await store({ table: 'narrow', layout: 'narrow' }, batchOf([1]))
    const failure = async (/** @type {object} */ options) => {
      const reader = await open(options)
      return failureOf(() => samples(reader, { sensors: ['force'], ...WHOLE }))
    }
    expect(await failure({})).to.include({ code: 'SLUICE_QUERY_TABLE' }).and.to.have.property('message').that.matches(missing)
    for (const layout of others) {
      expect((await failure({ table: 'narrow', layout })).message).to.match(/is of the layout narrow.*layout of the sink/)
    }
  })
}

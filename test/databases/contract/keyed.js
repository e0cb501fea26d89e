import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch, pickOf } from '../../../gateway/batch/batch.js'
import { ALL_NEW, batchOf, identity, T0 } from './batches.js'

/**
 * What the sinks promise whose rows have keys made of their batch, and whose commit records follow the rows.
 *
 * @typedef {import('../../../gateway/databases/sink.js').Sink} Sink
 *
 * @typedef {object} SeldomHarness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {(error: unknown) => boolean} isTransient
 * @property {() => Promise<unknown>} forget  removes all commit records
 *
 * @typedef {object} KeyedHarness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {() => Promise<unknown>} forget  removes all commit records
 * @property {(table: string) => Promise<unknown[]>} stored  the rows, or their keys, in the order of these
 */

const SELDOM = 'a query before each write would cost much of the throughput: "looks once a second for what it has left"'

/** The tests of the contract of sinks that a sink cannot meet which knows by itself what it has stored. */
export const SELDOM_DIFFERS = {
  'that are gone, as after a restore, stop the next write, and what is missing is stored again': SELDOM,
  'that are gone stop a write of rows without identity': SELDOM
}

/** @param {KeyedHarness} harness */
export function keyedContract ({ open, forget, stored }) {
  describe('rows written earlier', () => {
    for (const layout of ['wide', 'narrow']) {
      it(`are written over after a crash before the commit record, also by what is left of their batch: ${layout}`, async () => {
        const batch = new Batch({
          source: 'press',
          time: BigInt64Array.of(T0, T0, T0 + 1n),
          fields: [{ name: 'a', type: 'float64' }, { name: 'b', type: 'int32' }],
          columns: [Float64Array.of(1, 2, 3), Int32Array.of(4, 5, 6)],
          identity: identity(0)
        })
        await (await open({ layout })).write([batch])
        const before = await stored('press')
        expect(before).to.have.length(layout === 'wide' ? 3 : 6)
        await forget()
        const later = await open({ layout })
        expect(await later.write([pickOf(batch, [0, 2])])).to.deep.equal(ALL_NEW)
        expect(await stored('press')).to.deep.equal(before)
      })
    }

    it('are not taken for those of another batch under the same identity, which is stored beside them', async () => {
      await (await open()).write([batchOf([1, 2], { identity: { ...identity(0), hash: 1 } })])
      await forget()
      expect(await (await open()).write([batchOf([3, 4], { identity: { ...identity(0), hash: 2 } })])).to.deep.equal(ALL_NEW)
      expect(await stored('press')).to.have.length(4)
    })
  })
}

/** Of those that know by themselves what they have stored. @param {SeldomHarness} harness */
export function seldomTest ({ open, isTransient, forget }) {
  it('looks once a second for what it has left', async () => {
    const sink = await open()
    for (const seq of [0, 1]) await sink.write([batchOf([seq], { identity: identity(seq) })])
    await forget()
    let error
    for (let seq = 2; !error; seq++) {
      error = await sink.write([batchOf([seq], { identity: identity(seq) })]).then(() => null, caught => caught)
      await sleep(50)
    }
    expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_SET_BACK', true])
  })
}

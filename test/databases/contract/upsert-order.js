import { expect } from 'chai'
import { Batch, sliceOf } from '../../../gateway/batch/batch.js'
import { deadLetter, toBatches } from '../../../gateway/dead-letters/dead-letter.js'
import { newEpoch, replayed } from '../../../gateway/dead-letters/replay.js'
import { T0 } from './batches.js'

/**
 * Which row of a key is the newest, wherever rows come from.
 *
 * @typedef {import('../../../gateway/databases/sink.js').Sink} Sink
 * @typedef {{counter: number, seq: number, ids: string[], gateway?: string, source?: string}} Delivery
 */

export const KEYED = { layout: 'upsert', key: ['id'] }

/**
 * Each row's `value` tells where it comes from.
 * @param {Delivery} delivery
 */
export function batchOf ({ counter, seq, ids, gateway = 'gw', source = 'press' }) {
  return new Batch({
    source,
    time: BigInt64Array.from(ids, (_, row) => T0 + BigInt(row)),
    fields: [{ name: 'id', type: 'string' }, { name: 'value', type: 'int32' }],
    columns: [ids, Int32Array.from(ids, (_, row) => valueOf(counter, seq, row))],
    identity: { gateway, source, epoch: `${counter}-abcd${counter}`, seq }
  })
}

/** @param {number} counter @param {number} seq @param {number} row */
export function valueOf (counter, seq, row) {
  return counter * 1_000_000 + seq * 1000 + row
}

/**
 * @param {Pick<import('./upserts.js').Harness, 'open'|'rows'>} harness
 * @param {object} tools
 * @param {(sink: Sink, ...batches: Batch[]) => Promise<unknown>} tools.store
 * @param {() => Promise<Record<string, number>>} tools.values  of each id
 */
export function upsertOrderTests (harness, { store, values }) {
  describe('of what is older and newer', () => {
    it('applies batches without identity as they come', async () => {
      const sink = await harness.open(KEYED)
      const changed = (/** @type {number} */ seq) => batchOf({ counter: 1, seq, ids: ['a'] }).withIdentity(null)
      await store(sink, changed(5), changed(6))
      await store(sink, changed(3))
      expect(await values()).to.deep.equal({ a: valueOf(1, 3, 0) })
      const again = await harness.open(KEYED)
      await store(again, changed(2))
      expect(await values()).to.deep.equal({ a: valueOf(1, 2, 0) })
    })

    it('keeps the order of batches without identity, whichever write ends first', async () => {
      const sink = await harness.open(KEYED)
      const [first, second] = [1, 2].map(seq => batchOf({ counter: 1, seq, ids: ['a', 'a'] }).withIdentity(null))
      await sink.prepare([first])
      await store(sink, second)
      await sink.write([first])
      expect(await values()).to.deep.equal({ a: valueOf(1, 2, 1) })
      const whole = batchOf({ counter: 1, seq: 3, ids: ['a', 'a'] }).withIdentity(null)
      await store(sink, sliceOf(whole, 1, 2))
      await store(sink, sliceOf(whole, 0, 1))
      expect(await values()).to.deep.equal({ a: valueOf(1, 3, 1) })
    })

    it('takes rows that were staged again for as old as they were first', async () => {
      const sink = await harness.open(KEYED)
      const whole = batchOf({ counter: 3, seq: 4, ids: ['a', 'b', 'b', 'c'] })
      const hash = 7
      const identity = /** @type {import('../../../gateway/batch/batch.js').Identity} */ (whole.identity)
      const part = (/** @type {number} */ seq, /** @type {number} */ from) => sliceOf(whole, from, from + 2)
        .withIdentity({ ...identity, epoch: '5-abcd5', seq, ancestors: [{ epoch: '3-abcd3', seq: 4, hash, from }] })
      await store(sink, batchOf({ counter: 3, seq: 5, ids: ['a'] }))
      await store(sink, part(9, 2))
      await store(sink, part(8, 0))
      expect(await values()).to.deep.equal({ a: valueOf(3, 5, 0), b: valueOf(3, 4, 2), c: valueOf(3, 4, 3) })
    })

    it('takes dead letters for as old as they were first: each replay replaces what is older, and nothing else', async () => {
      const sink = await harness.open(KEYED)
      const replay = (/** @type {Delivery[]} */ ...deliveries) => {
        const letters = deliveries.map(delivery => deadLetter(batchOf(delivery), delivery.ids.length - 1, new Error('refused')))
        const [{ batch, origins }] = toBatches(letters)
        return store(sink, replayed(batch, { epoch: newEpoch(), seq: 0 }, origins))
      }
      const letter = (/** @type {number} */ seq, /** @type {string[]} */ ...ids) => ({ counter: 2, seq, ids })
      await store(sink, batchOf({ counter: 2, seq: 3, ids: ['a', 'b'] }))
      await replay(letter(2, 'a'))
      expect(await values()).to.deep.equal({ a: valueOf(2, 3, 0), b: valueOf(2, 3, 1) })
      await replay(letter(4, 'a'))
      await replay(letter(6, 'x', 'a'), letter(5, 'a'))
      expect(await values()).to.deep.equal({ a: valueOf(2, 6, 1), b: valueOf(2, 3, 1) })
      await store(sink, batchOf({ counter: 2, seq: 7, ids: ['a'] }))
      expect(await values()).to.deep.equal({ a: valueOf(2, 7, 0), b: valueOf(2, 3, 1) })
      expect(await harness.rows('press')).to.have.length(2)
    })

    it('takes an epoch that nobody can have given for the oldest', async () => {
      const sink = await harness.open(KEYED)
      const strange = (/** @type {string} */ epoch, /** @type {number} */ seq) =>
        batchOf({ counter: 1, seq, ids: ['a'] }).withIdentity({ gateway: 'gw', source: 'press', epoch, seq })
      await store(sink, batchOf({ counter: 1, seq: 0, ids: ['a'] }))
      for (const [i, epoch] of ['strange', '-5-abcd', '9'.repeat(400)].entries()) await store(sink, strange(epoch, i + 1))
      expect(await values()).to.deep.equal({ a: valueOf(1, 0, 0) })
    })
  })
}

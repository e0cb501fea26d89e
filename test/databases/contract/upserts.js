import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch } from '../../../gateway/batch/batch.js'
import { RefusedRows } from '../../../gateway/databases/refusal.js'
import { openSimulator } from '../../../gateway/simulators/simulator.js'
import { recorder } from '../../sources/manual-clock.js'
import { failureOf, T0 } from './batches.js'
import { batchOf, KEYED, upsertOrderTests, valueOf } from './upsert-order.js'

/**
 * What the layout upsert promises, shown against a real database.
 *
 * @typedef {import('../../../gateway/databases/sink.js').Sink} Sink
 *
 * @typedef {object} Harness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {(error: unknown) => boolean} isTransient
 * @property {(table: string) => Promise<Record<string, any>[]>} rows  as the sinks' contract has them
 * @property {() => Promise<unknown>} forget  deletes the commit records, behind the sink's back
 * @property {(statement: string) => Promise<unknown>} [execute]  of a database with tables
 * @property {boolean} [noEmptyKey]  it can have no key that is an empty text
 * @typedef {import('./upsert-order.js').Delivery} Delivery
 */

const ROUNDS = 6
const IDS = 7

/** @param {Delivery[]} deliveries @returns {Record<string, number>} of each id the value of its newest row */
function newest (deliveries) {
  const inOrder = deliveries.toSorted((a, b) => a.counter - b.counter || a.seq - b.seq)
  return Object.fromEntries(inOrder.flatMap(({ counter, seq, ids }) => ids.map((id, row) => [id, valueOf(counter, seq, row)])))
}

/** Whole numbers below a limit, the same in each run. @param {number} seed */
function dice (seed) {
  let state = seed
  return (/** @type {number} */ limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor(state / 2 ** 32 * limit)
  }
}

/** @param {Harness} harness */
export function upsertContract (harness) {
  describe('layout upsert', () => {
    /** @param {Sink} sink @param {Batch[]} batches */
    const store = async (sink, ...batches) => {
      await sink.prepare(batches)
      return sink.write(batches)
    }
    /** Again while the database is at fault, as the writer does. @param {() => Promise<unknown>} work */
    const attempt = async work => {
      for (;;) {
        try {
          return await work()
        } catch (error) {
          if (!harness.isTransient(error)) throw error
        }
      }
    }
    /** A write that is ended somewhere in its course. @param {Sink} sink @param {number} turns @param {Batch[]} batches */
    const broken = async (sink, turns, batches) => {
      const abort = new AbortController()
      const writing = sink.prepare(batches).then(() => sink.write(batches, { signal: abort.signal })).catch(() => {})
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      abort.abort(new Error('broken off'))
      await writing
    }
    const values = async () => Object.fromEntries((await harness.rows('press')).map(({ id, value }) => [id, value]))

    it('leaves one row a key, of the last of a batch and of the newest batch', async () => {
      const sink = await harness.open(KEYED)
      await store(sink, batchOf({ counter: 1, seq: 0, ids: ['a', 'b', 'a'] }))
      expect(await values()).to.deep.equal({ a: valueOf(1, 0, 2), b: valueOf(1, 0, 1) })
      await store(sink, batchOf({ counter: 1, seq: 1, ids: ['b', 'c'] }), batchOf({ counter: 1, seq: 2, ids: ['c'] }))
      expect(await values()).to.deep.equal({ a: valueOf(1, 0, 2), b: valueOf(1, 1, 0), c: valueOf(1, 2, 0) })
      expect(await harness.rows('press')).to.have.length(3)
    })

    it('keeps the newer row when an older batch comes late: of a later epoch whatever its seq', async () => {
      const sink = await harness.open(KEYED)
      await store(sink, batchOf({ counter: 10, seq: 1, ids: ['a'] }))
      await store(sink, batchOf({ counter: 9, seq: 500, ids: ['a', 'b'] }))
      await store(sink, batchOf({ counter: 10, seq: 0, ids: ['a'] }))
      expect(await values()).to.deep.equal({ a: valueOf(10, 1, 0), b: valueOf(9, 500, 1) })
    })

    it('leaves the same rows in whatever order batches come, again, broken off, and to a sink that has forgotten them', async () => {
      const sinks = [await harness.open(KEYED)]
      for (let round = 1; round <= ROUNDS; round++) {
        const roll = dice(round)
        const some = () => Array.from({ length: 1 + roll(4) }, () => `id${roll(IDS)}`)
        const counter = 2 * round
        const deliveries = Array.from({ length: 12 }, (_, i) => ({ counter: counter + (i % 2), seq: i >> 1, ids: some() }))
        const shuffled = [...deliveries, ...deliveries].map(delivery => ({ delivery, at: roll(1000) })).sort((a, b) => a.at - b.at)
        const batches = shuffled.map(({ delivery }) => batchOf(delivery))
        for (let from = 0; from < batches.length;) {
          const sink = sinks[sinks.length - 1]
          const piece = batches.slice(from, from += 1 + roll(4))
          if (roll(3) === 0) await broken(sink, roll(5), piece)
          await attempt(() => store(sink, ...piece))
          if (roll(4) > 0) continue
          await harness.forget()
          sinks.push(await harness.open(KEYED))
          await attempt(() => store(sinks[sinks.length - 1], ...piece.toReversed()))
        }
        const expected = newest(deliveries)
        const found = await values()
        expect(Object.fromEntries(Object.keys(expected).map(id => [id, found[id]])), `round ${round}`).to.deep.equal(expected)
      }
      expect(await harness.rows('press')).to.have.length(IDS)
    })

    it('leaves the newest rows of writes side by side', async () => {
      const sink = await harness.open(KEYED)
      await sink.prepare([batchOf({ counter: 1, seq: 0, ids: ['a'] })])
      const deliveries = Array.from({ length: 12 }, (_, seq) => ({ counter: 1, seq, ids: seq % 2 ? ['a', 'b', 'c'] : ['c', 'b', 'a'] }))
      await Promise.all(deliveries.toReversed().map(delivery => attempt(() => store(sink, batchOf(delivery)))))
      expect(await values()).to.deep.equal(newest(deliveries))
    })

    it('replaces whole rows: what a newer one lacks is missing, whichever came first', async () => {
      const row = (/** @type {number} */ seq, /** @type {string} */ field) => new Batch({
        source: 'press',
        time: BigInt64Array.of(T0 + BigInt(seq)),
        fields: [{ name: 'id', type: 'int32' }, { name: field, type: 'float64' }],
        columns: [Int32Array.of(7), Float64Array.of(seq)],
        identity: { gateway: 'gw', source: 'press', epoch: '1-abcd', seq }
      })
      const sink = await harness.open(KEYED)
      await store(sink, row(0, 'force'), row(1, 'heat'))
      await store(sink, row(3, 'force'))
      await store(sink, row(2, 'heat'))
      await store(sink, row(5, 'heat'), row(4, 'force'))
      const [only, ...others] = await harness.rows('press')
      expect(others).to.deep.equal([])
      expect(only).to.include({ id: 7, heat: 5 })
      expect(only.force ?? null).to.equal(null)
    })

    it('gives each source of each gateway keys of its own', async () => {
      const sink = await harness.open({ ...KEYED, table: 'press' })
      await store(sink, batchOf({ counter: 5, seq: 9, ids: ['a'] }), batchOf({ counter: 1, seq: 0, ids: ['a'], gateway: 'new' }),
        batchOf({ counter: 1, seq: 1, ids: ['a'], source: 'lathe' }))
      const found = await harness.rows('press')
      expect(found.map(({ value }) => value).sort()).to.deep.equal([valueOf(1, 0, 0), valueOf(1, 1, 0), valueOf(5, 9, 0)])
    })

    it('tells keys apart that differ in case, accents or spaces', async () => {
      const ids = ['a', 'A', 'a ', ' a', 'ä', 'a\u0308', 'ß', 'ss', ...harness.noEmptyKey ? [] : [''], ' ', '%', '\'', '\\', 'a\n',
        '__proto__']
      const sink = await harness.open(KEYED)
      for (const [seq, id] of ids.entries()) await store(sink, batchOf({ counter: 1, seq, ids: [id] }))
      expect((await harness.rows('press')).map(({ id, value }) => [id, value]).sort()).to.deep.equal(
        ids.map((id, seq) => [id, valueOf(1, seq, 0)]).sort())
    })

    it('stores fields and tags that are called like its own columns, or like what every object has', async () => {
      const sink = await harness.open(KEYED)
      const named = (/** @type {number} */ seq) => new Batch({
        source: 'press',
        time: BigInt64Array.of(T0),
        fields: ['id', 'sluice_seq', 'sluice_origin', 'constructor'].map(name => ({ name, type: /** @type {const} */ ('string') })),
        columns: ['a', 'b', 'c', 'd'].map(text => [text]),
        tags: { sluice_epoch: 'f' },
        identity: { gateway: 'gw', source: 'press', epoch: '1-abcd', seq }
      })
      for (const seq of [0, 1]) await store(sink, named(seq))
      const [row, ...others] = await harness.rows('press')
      expect(others).to.deep.equal([])
      expect(Object.entries(row)).to.deep.include.members([
        ['id', 'a'], ['sluice_seq~field', 'b'], ['sluice_origin~field', 'c'], ['constructor', 'd'], ['sluice_epoch~tag', 'f']
      ])
    })

    upsertOrderTests(harness, { store, values })

    it('stores BLOBs of 1 byte, 10 kB and 100 kB by a key of two, whole', async () => {
      const sink = await harness.open({ layout: 'upsert', key: ['id', 'line'] })
      const blobs = [1, 10_000, 100_000].map(length => Uint8Array.from({ length }, (_, i) => i * 7))
      const record = (/** @type {number} */ seq, /** @type {Uint8Array} */ blob) => new Batch({
        source: 'press',
        time: BigInt64Array.of(T0),
        fields: [{ name: 'id', type: 'string' }, { name: 'blob', type: 'bytes' }],
        columns: [['ABCDEFGHIJKL'], [blob]],
        tags: { line: '7' },
        identity: { gateway: 'gw', source: 'press', epoch: '1-abcd', seq }
      })
      for (const [seq, blob] of blobs.entries()) {
        await store(sink, record(seq, blob))
        const [{ blob: stored, id, line }, ...others] = await harness.rows('press')
        expect(others).to.deep.equal([])
        expect([id, line]).to.deep.equal(['ABCDEFGHIJKL', '7'])
        expect(String(stored).replace(/^(0x|\\x)/, '').toLowerCase()).to.equal(Buffer.from(blob).toString('hex'))
      }
    })

    it('leaves one row for each id of Weißbach\'s updates, its newest, in reverse order and when one comes again', async () => {
      const recording = recorder()
      openSimulator({ preset: 'weissbach', name: 'press', keys: 'update', paced: false, batchRows: 200, maxSamples: 5000 }, recording)
      await recording.ended
      const batches = recording.batches.map((batch, seq) => batch.withIdentity({ gateway: 'gw', source: 'press', epoch: '1-abcd', seq }))
      const records = batches.flatMap(batch => batch.toObjects())
      const newestOf = new Map(records.map(({ id, integer1, double3 }) => [id, [integer1, double3]]))
      expect(newestOf.size).to.be.below(records.length)
      const sink = await harness.open(KEYED)
      await store(sink, ...batches.toReversed())
      await harness.forget()
      await store(await harness.open(KEYED), batches[0])
      const rows = await harness.rows('press')
      expect(rows).to.have.length(newestOf.size)
      expect(new Map(rows.map(({ id, integer1, double3 }) => [id, [integer1, double3]]))).to.deep.equal(
        new Map(rows.map(({ id }) => [id, newestOf.get(id)])))
    })

    it('refuses exactly the rows without a key, and keys that are no text and no whole number', async () => {
      const sink = await harness.open(KEYED)
      const whole = batchOf({ counter: 1, seq: 0, ids: ['a', 'b', 'c'] })
      const gap = new Batch({ ...whole, validity: [Uint8Array.of(1, 0, 1), null] })
      const refused = await failureOf(() => store(sink, gap))
      expect(refused).to.be.instanceOf(RefusedRows)
      expect(harness.isTransient(refused)).to.equal(false)
      expect(refused.faults.map((/** @type {any} */ { row }) => row)).to.deep.equal([1])
      const fields = [{ name: 'id', type: /** @type {const} */ ('float64') }, whole.fields[1]]
      const real = new Batch({ ...whole, source: 'lathe', fields, columns: [new Float64Array(3), whole.columns[1]] })
      expect((await failureOf(() => store(sink, real))).faults).to.have.length(3)
    })

    it('is not opened without a key, or with a column of its own as one', async () => {
      expect(await failureOf(() => harness.open({ layout: 'upsert' }))).to.include({ code: 'SLUICE_OPTIONS' })
      expect(await failureOf(() => harness.open({ layout: 'upsert', key: ['id', 'sluice_seq'] }))).to.include({ code: 'SLUICE_OPTIONS' })
    })

    const { execute } = harness
    if (execute) {
      it('refuses a table that has no such key', async () => {
        const wide = await harness.open({ table: 'press' })
        await store(wide, batchOf({ counter: 1, seq: 0, ids: ['a'] }))
        const sink = await harness.open({ ...KEYED, table: 'press' })
        const error = await failureOf(() => store(sink, batchOf({ counter: 1, seq: 1, ids: ['a'] })))
        expect(error.code).to.equal('SLUICE_SINK_TABLE_MISFIT')
        expect(error.message).to.include('sluice_origin')
        expect(harness.isTransient(error)).to.equal(false)
      })
    }
  })
}

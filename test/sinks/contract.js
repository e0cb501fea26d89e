import { expect } from 'chai'
import { Batch, marker } from '../../gateway/batch/batch.js'

/**
 * What every sink promises, shown against a real database.
 *
 * @typedef {import('../../gateway/sinks/sink.js').Sink} Sink
 * @typedef {import('../../gateway/batch/batch.js').FieldType} FieldType
 *
 * @typedef {object} Harness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {(error: unknown) => boolean} isTransient
 * @property {(sql: string) => Promise<void>} execute
 * @property {(table: string, schema?: string) => Promise<Record<string, unknown>[]>} rows  in the order of time; `time` in BigInt nanoseconds, whole numbers as
 *   numbers where safe and else as BigInt, booleans as 0 and 1, bytes in hexadecimal
 * @property {() => Promise<string[]>} tables  without that of the commit records
 * @property {unknown} nan  what NaN is read back as
 * @property {boolean} ignoresCase
 */

const T0 = 1_700_000_000_123_456_789n
const EPOCH = { gateway: 'gw', source: 'press', epoch: '1-a' }

/** @param {number} seq */
const identity = seq => ({ ...EPOCH, seq })

/**
 * A batch of source "press" with values of one field.
 * @param {number[]} values
 * @param {Partial<import('../../gateway/batch/batch.js').BatchParts>} [more]
 */
export function batchOf (values, more = {}) {
  return new Batch({
    source: 'press',
    time: BigInt64Array.from(values, (_, i) => T0 + BigInt(i)),
    fields: [{ name: 'force', type: 'float64', unit: 'N' }],
    columns: [Float64Array.from(values)],
    ...more
  })
}

/**
 * A batch of one row.
 * @param {Record<string, [FieldType, any]>} values  undefined for a missing one
 * @param {Partial<import('../../gateway/batch/batch.js').BatchParts>} [more]
 */
export function rowOf (values, more = {}) {
  const arrays = { float64: Float64Array, float32: Float32Array, int64: BigInt64Array, int32: Int32Array, int16: Int16Array, uint16: Uint16Array, bool: Uint8Array, string: Array, bytes: Array }
  const entries = Object.entries(values)
  return new Batch({
    source: 'press',
    time: BigInt64Array.of(T0),
    fields: entries.map(([name, [type]]) => ({ name, type })),
    columns: entries.map(([, [type, value]]) => type === 'string' || type === 'bytes' ? [value] : /** @type {any} */ (arrays[type]).of(value ?? (type === 'int64' ? 0n : 0))),
    validity: entries.map(([, [, value]]) => value === undefined ? Uint8Array.of(0) : null),
    ...more
  })
}

/** @param {() => Promise<unknown>} work @returns {Promise<any>} */
export async function failureOf (work) {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('It should have failed.')
}

/** @param {() => Harness} harness  of the running test */
export function sinkContract (harness) {
  /** @type {Sink} */
  let sink
  const { open, execute, rows, tables, isTransient } = /** @type {Harness} */ (new Proxy({}, { get: (_, name) => (/** @type {any[]} */ ...args) => /** @type {any} */ (harness())[name](...args) }))
  const store = async (/** @type {Batch[]} */ ...batches) => {
    await sink.prepare(batches)
    return sink.write(batches)
  }
  const refusal = async (/** @type {Batch} */ batch) => {
    const error = await failureOf(() => store(batch))
    expect(isTransient(error), error.message).to.equal(false)
    return error
  }

  beforeEach(async () => { sink = await open() })

  describe('values', () => {
    it('stores every type at its extremes', async () => {
      await store(rowOf({
        f64: ['float64', -Number.MAX_VALUE],
        tiny: ['float64', Number.MIN_VALUE],
        third: ['float64', 1 / 3],
        f32: ['float32', Math.fround(0.1)],
        most: ['int64', 2n ** 63n - 1n],
        least: ['int64', -(2n ** 63n)],
        i32: ['int32', -2147483648],
        i16: ['int16', -32768],
        u16: ['uint16', 65535],
        yes: ['bool', 1],
        no: ['bool', 0],
        text: ['string', 'Grüße 🚀 \'"\\ \n\t'],
        noText: ['string', ''],
        bytes: ['bytes', Uint8Array.of(0, 255, 10)],
        noBytes: ['bytes', new Uint8Array(0)]
      }))
      expect(await rows('press')).to.deep.equal([{
        time: T0,
        f64: -Number.MAX_VALUE,
        tiny: Number.MIN_VALUE,
        third: 1 / 3,
        f32: Math.fround(0.1),
        most: 2n ** 63n - 1n,
        least: -(2n ** 63n),
        i32: -2147483648,
        i16: -32768,
        u16: 65535,
        yes: 1,
        no: 0,
        text: 'Grüße 🚀 \'"\\ \n\t',
        noText: '',
        bytes: '0x00ff0a',
        noBytes: '0x'
      }])
    })

    it('stores the infinities, and NaN as the database can', async () => {
      await store(batchOf([Infinity, -Infinity, NaN, 0]))
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([Infinity, -Infinity, harness().nan, 0])
    })

    it('stores missing values of every type as NULL', async () => {
      const types = /** @type {FieldType[]} */ (['float64', 'float32', 'int64', 'int32', 'int16', 'uint16', 'bool', 'string', 'bytes'])
      await store(rowOf(Object.fromEntries(types.map(type => [type, [type, undefined]]))))
      const [row] = await rows('press')
      for (const type of types) expect(row[type], type).to.equal(null)
    })

    it('keeps nanoseconds over the whole range of time', async () => {
      const time = [-(2n ** 63n), -1001n, -1n, 0n, 999n, 946_684_800_000_000_000n - 1n, 946_684_800_000_000_000n, T0, 2n ** 63n - 1n]
      await store(new Batch({ source: 'press', time: BigInt64Array.from(time) }))
      expect((await rows('press')).map(row => row.time)).to.deep.equal(time)
    })

    it('stores tags as columns', async () => {
      await store(batchOf([1, 2], { tags: { line: 'Süd', shift: '' } }))
      expect(await rows('press')).to.deep.equal([{ time: T0, line: 'Süd', shift: '', force: 1 }, { time: T0 + 1n, line: 'Süd', shift: '', force: 2 }])
    })

    it('stores many rows of several batches and shapes in one write', async () => {
      const many = Array.from({ length: 30_000 }, (_, i) => i / 7)
      const more = rowOf({ note: ['string', 'x'.repeat(300_000)] }, { time: BigInt64Array.of(T0 + 50_000n) })
      await store(batchOf(many, { identity: identity(0) }), batchOf([7], { time: BigInt64Array.of(T0 + 40_000n), identity: identity(1) }), more)
      const stored = await rows('press')
      expect(stored.map(({ force }) => force)).to.deep.equal([...many, 7, null])
      expect(stored.at(-1)?.note).to.have.length(300_000)
    })

    it('stores a slice of a batch, and picked rows', async () => {
      const batch = batchOf([0, 1, 2, 3, 4, 5])
      await store(batch.slice(2, 4), batch.pick([5, 0]))
      expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 2, 3, 5])
    })
  })

  describe('tables', () => {
    it('adds columns as fields and tags appear', async () => {
      await store(rowOf({ a: ['float64', 1] }))
      await store(rowOf({ b: ['string', 'x'] }, { time: BigInt64Array.of(T0 + 1n), tags: { line: '1' } }))
      await store(rowOf({ a: ['float64', 2] }, { time: BigInt64Array.of(T0 + 2n) }))
      expect(await rows('press')).to.deep.equal([
        { time: T0, a: 1, line: null, b: null }, { time: T0 + 1n, a: null, line: '1', b: 'x' }, { time: T0 + 2n, a: 2, line: null, b: null }
      ])
    })

    it('keeps sources apart in tables of their own, or by a column', async () => {
      const others = ['a', 'A', 'ä', 'a b/c.d', 'select', 'a_time']
      const batches = others.map((source, i) => batchOf([i], { source }))
      await store(...batches)
      expect(await tables()).to.have.length(others.length)
      for (const [i, source] of others.entries()) {
        if (source !== 'A') expect((await rows(source))[0].force, source).to.equal(i)
      }

      const shared = await open({ table: 'all of them' })
      await shared.prepare(batches)
      await shared.write(batches)
      expect((await rows('all of them')).map(({ source, force }) => [source, force])).to.have.deep.members(others.map((source, i) => [source, i]))
    })

    it('keeps fields and tags apart that are named alike', async () => {
      await store(rowOf({ time: ['float64', 1], source: ['string', 's'], line: ['int32', 2], Line: ['int32', 3] }, { tags: { time: 't', line: 'L' } }))
      expect(await rows('press')).to.deep.equal([{
        time: T0, 'time~tag': 't', 'line~tag': 'L', 'time~field': 1, [harness().ignoresCase ? 'source~field' : 'source~field']: 's', line: 2, [harness().ignoresCase ? 'Line~8' : 'Line']: 3
      }])
      await store(rowOf({ Line: ['int32', 4] }, { time: BigInt64Array.of(T0 + 1n) }))
      expect((await rows('press'))[1]).to.include({ line: null, [harness().ignoresCase ? 'Line~8' : 'Line']: 4 })
    })

    it('stores under names that look like SQL', async () => {
      const evil = 'x"; DROP TABLE press; --'
      await store(batchOf([1]), rowOf({ [evil]: ['string', "'); DROP TABLE press; --"] }, { source: evil, tags: { [`${evil}$1`]: evil }, identity: { gateway: evil, source: evil, epoch: evil, seq: 0 } }))
      expect(await rows(evil)).to.deep.equal([{ time: T0, [`${evil}$1`]: evil, [evil]: "'); DROP TABLE press; --" }])
      expect(await rows('press')).to.have.length(1)
      expect((await sink.committed())[0].source).to.equal(evil)
    })

    for (const [what, name, text] of [['of 10,000 characters', 'n'.repeat(10_000), /10000 bytes/], ['with NUL', 'a\0b', /NUL/], ['that is not Unicode', '\ud800', /Unicode/]]) {
      it(`refuses a name ${what}`, async () => {
        expect((await refusal(batchOf([1], { source: String(name) }))).message).to.match(/** @type {RegExp} */ (text)).and.to.have.length.below(300)
        expect((await refusal(rowOf({ [String(name)]: ['float64', 1] }))).code).to.equal('SLUICE_SINK_IDENTIFIER')
        expect(await tables()).to.deep.equal([])
      })
    }

    it('refuses the table of its own records, and a field without a name', async () => {
      expect((await refusal(batchOf([1], { source: 'sluice_commits' }))).code).to.equal('SLUICE_SINK_IDENTIFIER')
      expect((await refusal(rowOf({ '': ['float64', 1] }))).message).to.match(/empty/)
    })

    it('uses a table that is there and fits', async () => {
      await execute('CREATE TABLE press (id integer DEFAULT 7, count bigint, force double precision)')
      await store(rowOf({ count: ['int16', -3], force: ['float32', 0.5] }))
      expect(await rows('press')).to.deep.equal([{ id: 7, count: -3, force: 0.5, time: T0 }])
    })

    it('refuses a table whose column has another type, and says which', async () => {
      await execute('CREATE TABLE press (force integer)')
      const error = await refusal(batchOf([1.5]))
      expect(error.code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      expect(error.message).to.match(/"press".*"force".*integer.*float64/i)
    })

    it('refuses a table that needs more than a batch brings', async () => {
      await execute('CREATE TABLE press (operator text NOT NULL)')
      expect((await refusal(batchOf([1]))).message).to.match(/"operator" must have a value/)
    })

    it('refuses a view', async () => {
      await execute('CREATE VIEW press AS SELECT 1 AS force')
      expect((await refusal(batchOf([1]))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
    })

    it('refuses a field whose type changes, and goes on storing the others', async () => {
      await store(rowOf({ level: ['int32', 1] }))
      expect((await refusal(rowOf({ level: ['float64', 1.5] }))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      expect((await refusal(rowOf({ level: ['string', '1'] }))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
      await store(rowOf({ level: ['int32', 2] }, { time: BigInt64Array.of(T0 + 1n) }))
      expect((await rows('press')).map(({ level }) => level)).to.deep.equal([1, 2])
    })

    it('makes a dropped table again', async () => {
      await store(batchOf([1]))
      await execute('DROP TABLE press')
      expect(isTransient(await failureOf(() => store(batchOf([2]))))).to.equal(true)
      await store(batchOf([2]))
      expect(await rows('press')).to.have.length(1)
    })

    it('is prepared by several at once', async () => {
      const sinks = await Promise.all(Array.from({ length: 4 }, () => open()))
      await Promise.all(sinks.map((each, i) => each.prepare([rowOf({ common: ['float64', 1], [`own${i}`]: ['float64', 1] })])))
      await store(rowOf({ common: ['float64', 1] }))
      expect(Object.keys((await rows('press'))[0])).to.have.members(['time', 'common', 'own0', 'own1', 'own2', 'own3'])
    })
  })

  describe('exactly once', () => {
    it('leaves out what it has already', async () => {
      const [a, b, c] = [0, 1, 2].map(seq => batchOf([seq], { identity: identity(seq) }))
      expect(await store(a, b)).to.deep.equal({ duplicates: [] })
      expect((await store(b, c)).duplicates).to.deep.equal([b])
      expect((await rows('press')).map(({ force }) => force)).to.have.members([0, 1, 2])
    })

    it('stores the same batch once when it comes twice in one write', async () => {
      const batch = batchOf([1], { identity: identity(0) })
      const again = batchOf([1], { identity: identity(0) })
      const { duplicates } = await store(batch, again)
      expect(duplicates).to.have.length(1)
      expect(duplicates[0]).to.equal(again)
      expect(await rows('press')).to.have.length(1)
    })

    it('takes batches without identity as they come', async () => {
      await store(batchOf([1]), batchOf([1]))
      await store(batchOf([1]))
      expect(await rows('press')).to.have.length(3)
      expect(await sink.committed()).to.deep.equal([])
    })

    it('stores nothing when one batch is refused', async () => {
      await execute('CREATE TABLE press (force double precision CHECK (force < 100))')
      const good = batchOf([1], { identity: identity(0) })
      const error = await failureOf(() => store(good, batchOf([1000], { identity: identity(1) })))
      expect(isTransient(error), error.message).to.equal(false)
      expect(await rows('press')).to.deep.equal([])
      expect(await sink.committed()).to.deep.equal([])
      expect(await store(good)).to.deep.equal({ duplicates: [] })
    })

    it('leaves nothing of a probe', async () => {
      await store(batchOf([0], { identity: identity(0) }))
      const batch = batchOf([1], { identity: identity(1) })
      expect(await sink.write([batch, batchOf([2])], { probe: true })).to.deep.equal({ duplicates: [] })
      expect((await sink.committed())[0].ranges).to.deep.equal([[0, 0]])
      expect(await rows('press')).to.have.length(1)
      expect(await store(batch)).to.deep.equal({ duplicates: [] })
    })

    it('leaves only the record of a marker', async () => {
      const batch = marker(identity(3))
      expect(await store(batch)).to.deep.equal({ duplicates: [] })
      expect((await store(batch)).duplicates).to.deep.equal([batch])
      expect(await sink.committed()).to.deep.equal([{ ...EPOCH, ranges: [[3, 3]] }])
      expect(await tables()).to.deep.equal([])
    })

    it('leaves a marker even where no table can be made', async () => {
      const source = 'n'.repeat(1100)
      await store(marker({ ...EPOCH, source, seq: 0 }))
      expect((await sink.committed())[0]).to.include({ source })
    })

    it('tells what it has committed, by gateway, source and epoch', async () => {
      const epochs = [{ gateway: 'gw', source: 'press', epoch: '2-b' }, { gateway: 'gw', source: 'oven', epoch: '1-a' }, { gateway: 'gv', source: 'press', epoch: '1-a' }, EPOCH]
      for (const seq of [5, 0, 1, 3, 4]) await store(...epochs.map(epoch => batchOf([1], { source: epoch.source, identity: { ...epoch, seq } })))
      const ranges = [[0, 1], [3, 5]]
      expect(await sink.committed()).to.deep.equal([
        { gateway: 'gv', source: 'press', epoch: '1-a', ranges }, { gateway: 'gw', source: 'oven', epoch: '1-a', ranges },
        { gateway: 'gw', source: 'press', epoch: '1-a', ranges }, { gateway: 'gw', source: 'press', epoch: '2-b', ranges }
      ])
    })

    it('keeps records of each table apart', async () => {
      const batch = batchOf([1], { identity: identity(0) })
      await store(batch)
      const other = await open({ table: 'copy of {source}' })
      expect(await other.committed()).to.deep.equal([])
      await other.prepare([batch])
      expect(await other.write([batch])).to.deep.equal({ duplicates: [] })
      expect(await other.committed()).to.deep.equal(await sink.committed())
    })

    it('compacts records, and still knows each of them', async () => {
      const present = [0, 1, 2, 4, 5, 6, 7, 8]
      const batches = present.map(seq => batchOf([seq], { identity: identity(seq) }))
      const old = present.map(seq => batchOf([seq], { identity: { ...EPOCH, epoch: '0-z', seq } }))
      await store(...batches, ...old)
      const before = await sink.committed()
      const heads = [{ ...EPOCH, first: 7, last: 8 }]
      await sink.compact(heads)
      await sink.compact(heads)
      expect(await sink.committed()).to.deep.equal(before)
      expect((await rows('sluice_commits')).map(({ epoch, seq, last }) => [epoch, seq, last])).to.have.deep.members([
        ['0-z', 0, 2], ['0-z', 4, 8], ['1-a', 0, 2], ['1-a', 4, 6], ['1-a', 7, 7], ['1-a', 8, 8]
      ])
      expect((await store(...batches, ...old)).duplicates).to.have.length(16)
      expect(await store(batchOf([3], { identity: identity(3) }))).to.deep.equal({ duplicates: [] })
      await sink.compact([{ ...EPOCH, first: 9, last: -1 }])
      expect((await rows('sluice_commits')).map(({ epoch, seq, last }) => [epoch, seq, last])).to.deep.include(['1-a', 0, 8])
    })

    it('keeps all when it is opened again', async () => {
      const batch = batchOf([1], { identity: identity(0) })
      await store(batch)
      await sink.close()
      sink = await open()
      expect(await sink.committed()).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
      expect((await store(batch)).duplicates).to.deep.equal([batch])
      expect(await rows('press')).to.have.length(1)
    })

    it('stores one copy of what two write at once', async () => {
      const rival = await open()
      const batches = Array.from({ length: 60 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
      await store(batchOf([-1]))
      await rival.prepare([batches[0]])
      const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => {
        const group = batches.slice(i * 3, i * 3 + 3)
        return [sink.write(group), rival.write(group.toReversed())]
      }).flat())
      expect(outcomes.reduce((sum, { duplicates }) => sum + duplicates.length, 0)).to.equal(60)
      expect((await rows('press')).map(({ force }) => force)).to.have.members([-1, ...batches.keys()])
    })

    it('refuses what has been aborted', async () => {
      const abort = new AbortController()
      await sink.prepare([batchOf([1])])
      abort.abort(new Error('closing'))
      expect((await failureOf(() => sink.write([batchOf([1])], { signal: abort.signal }))).message).to.equal('closing')
      expect(await rows('press')).to.deep.equal([])
    })
  })
}

import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { keysAsked, lookUp } from '../../gateway/queries/lookup.js'
import { failureOf, T0 } from '../databases/contract/batches.js'

/**
 * What reading by key promises, shown against a real database that the real sink has filled.
 * @param {object} harness  one empty database a test
 * @param {(options: any, ...batches: Batch[]) => Promise<void>} harness.store  through the sink, in the table of source "press"
 * @param {(options: any) => Promise<import('../../gateway/databases/reader.js').Reader>} harness.open  of table "press"
 * @param {boolean} [harness.hasDocuments]  it has a layout of documents
 */
export function lookupContract ({ store, open, hasDocuments = true }) {
  describe('reading by key', () => {
    const blob = Uint8Array.from({ length: 10_000 }, (_, i) => i * 3)
    const records = (/** @type {number} */ seq, /** @type {string[]} */ ids, more = {}) => new Batch({
      source: 'press',
      time: BigInt64Array.from(ids, (_, row) => T0 + BigInt(1000 * seq + row)),
      fields: [
        { name: 'id', type: 'string' }, { name: 'number', type: 'int32' }, { name: 'force', type: 'float64' },
        { name: 'total', type: 'int64' }, { name: 'blob', type: 'bytes' }
      ],
      columns: [ids, Int32Array.from(ids, (_, row) => 100 * seq + row), Float64Array.from(ids, () => seq + 0.5),
        BigInt64Array.from(ids, () => 2n ** 60n + 1n), ids.map(() => blob)],
      identity: { gateway: 'gw', source: 'press', epoch: '1-abcd', seq },
      ...more
    })
    /** @template T @param {(reader: import('../../gateway/databases/reader.js').Reader) => Promise<T>} work */
    const reading = async (work, options = {}) => {
      const reader = await open(options)
      try {
        return await work(reader)
      } finally {
        await reader.close()
      }
    }
    const upsert = { layout: 'upsert', key: ['id'] }

    it('finds whole rows, exactly, in the order asked for, and null for a key that is not there', async () => {
      await store(upsert, records(0, ['a', 'b', 'c']), records(1, ['b']))
      const rows = await reading(reader => lookUp(reader, ['id'], [['c'], ['nobody'], ['b'], ['c'], ['A']]))
      const row = (/** @type {object} */ its) => ({ total: 2n ** 60n + 1n, blob: Buffer.from(blob), ...its })
      const c = row({ time: T0 + 2n, id: 'c', number: 2, force: 0.5 })
      expect(rows).to.deep.equal([c, null, row({ time: T0 + 1000n, id: 'b', number: 100, force: 1.5 }), c, null])
    })

    it('finds the rows of a batch by a key of two, one of which is a tag', async () => {
      await store({ layout: 'upsert', key: ['line', 'number'] }, records(0, ['a', 'b'], { tags: { line: '7' } }),
        records(1, ['a'], { tags: { line: '8' } }))
      const asked = records(1, ['x', 'y'], { tags: { line: '8' } })
      const names = ['line', 'number']
      expect(keysAsked(asked, names)).to.deep.equal([['8', 100], ['8', 101]])
      const rows = await reading(reader => lookUp(reader, names, [...keysAsked(asked, names), ['7', 1]]))
      expect(rows.map(each => each && [each.id, each.line, each.number])).to.deep.equal([['a', '8', 100], null, ['b', '7', 1]])
    })

    it('returns the latest where another gateway has stored the key as well', async () => {
      const late = records(9, ['a'])
      const other = records(3, ['a'], { identity: { gateway: 'other', source: 'press', epoch: '1-abcd', seq: 3 } })
      await store(upsert, late, other)
      const [row] = await reading(reader => lookUp(reader, ['id'], [['a']]))
      expect(row?.number).to.equal(900)
    })

    it('finds many keys', async () => {
      const ids = Array.from({ length: 1200 }, (_, i) => `id${i}`)
      const { fields, columns } = records(0, ids)
      await store(upsert, new Batch({ ...records(0, ids), fields: fields.slice(0, 2), columns: columns.slice(0, 2), validity: undefined }))
      const rows = await reading(reader => lookUp(reader, ['id'], ids.toReversed().map(id => [id])))
      expect(rows.map(row => row?.number)).to.deep.equal(Array.from(ids.keys()).toReversed())
    })

    it('takes a key for a value and nothing else', async () => {
      const id = '\' OR 1=1 -- $ne "x" \\'
      await store(upsert, records(0, [id, 'b']))
      const rows = await reading(reader => lookUp(reader, ['id'], [[id], ['\'']]))
      expect(rows.map(row => row && row.id)).to.deep.equal([id, null])
    })

    it('finds rows by a key that has another name in the table', async () => {
      for (const [seq, name] of ['source', 'a.b', '$x', 'ID'].entries()) {
        const { time, identity } = records(seq, [`of ${name}`])
        const fields = /** @type {const} */ ([{ name, type: 'string' }, { name: 'value', type: 'float64' }])
        await store({ layout: 'upsert', key: [name], table: `by ${seq}` },
          new Batch({ source: 'press', time, identity, fields: [...fields], columns: [[`of ${name}`], Float64Array.of(seq)] }))
        const rows = await reading(reader => lookUp(reader, [name], [[`of ${name}`], ['of nothing']]), { table: `by ${seq}` })
        expect(rows.map(row => row?.value), name).to.deep.equal([seq, undefined])
      }
    })

    it('finds nothing for a key that no row can have, and the others that are asked for with it', async () => {
      await store({ layout: 'upsert', key: ['number'] }, records(0, ['a', 'b']))
      const rows = await reading(reader => lookUp(reader, ['number'], [['a'], [1], [2n ** 63n], ['1.0'], [''], [' 1'], [2n ** 200n]]))
      expect(rows.map(row => row?.id)).to.deep.equal([undefined, 'b', ...Array(5).fill(undefined)])
      await store({ layout: 'upsert', key: ['id'], table: 'texts' }, records(1, ['a', '7']))
      const texts = await reading(reader => lookUp(reader, ['id'], [[2n ** 63n], ['a'], [8]]), { table: 'texts' })
      expect(texts.map(row => row?.id)).to.deep.equal([undefined, 'a', undefined])
    })

    it('is read as wide, whatever its columns are called, and as nothing else', async () => {
      const { time, identity } = records(0, ['a', 'b'])
      const fields = /** @type {const} */ ([{ name: 'sensor', type: 'string' }, { name: 'value', type: 'float64' }])
      const columns = [['a', 'b'], Float64Array.of(1, 2)]
      await store({ layout: 'upsert', key: ['sensor'] }, new Batch({ source: 'press', time, identity, fields: [...fields], columns }))
      const range = { from: 0n, to: 2n ** 63n - 1n }
      const samples = (/** @type {string[]} */ sensors, options = {}) => reading(async reader => {
        const found = []
        for await (const page of reader.samples({ ...range, sensors })) found.push(...page)
        return found
      }, options)
      expect((await samples(['value'])).map(({ value }) => value)).to.deep.equal([1, 2])
      expect(await samples(['nothing'])).to.deep.equal([])
      expect(await reading(async reader => await reader.sensors?.(range) ?? ['sensor', 'value'])).to.have.members(['sensor', 'value'])
      const asked = await failureOf(() => samples(['value'], { layout: 'document' }))
      expect(asked.code).to.equal(hasDocuments ? 'SLUICE_QUERY_TABLE' : 'SLUICE_OPTIONS')
      expect((await failureOf(() => samples(['value'], { layout: 'upsert' }))).code).to.equal('SLUICE_OPTIONS')
    })

    it('stops when it is aborted', async () => {
      await store(upsert, records(0, ['a']))
      const signal = AbortSignal.abort(new Error('closing'))
      expect((await failureOf(() => reading(reader => lookUp(reader, ['id'], [['a']], signal)))).message).to.equal('closing')
    })
  })
}

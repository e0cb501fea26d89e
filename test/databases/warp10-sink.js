import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { isTransient, open } from '../../gateway/databases/warp10/sink.js'
import { ALL_NEW, batchOf, failureOf, identity, T0, withPoison } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { SELDOM_DIFFERS, seldomTest } from './contract/keyed.js'
import { retentionContract } from './contract/retention.js'
import { writerContract } from './contract/writer.js'

const OVERWRITTEN = 'points of the same place overwrite each other: "tell what is stored from another batch under its identity, and from ' +
  'rows that were staged again"'

/** What the sink does on a server, real or not. @param {import('./warp10-database.js').Warp10Database} database */
export function warp10SinkTests (database) {
  const { openSink, rows, points } = database

  sinkContract({
    open: openSink,
    isTransient,
    rows,
    tables: database.tables,
    elsewhere: () => openSink(database.tokensOfAnother),
    setBack: seq => database.remove('=sluice_commits{}', [String(seq), '999']),
    drop: table => database.remove(`~.*{id=${table}}`),
    guarantee: 'keys',
    hasColumns: false,
    layouts: [],
    nan: NaN,
    ignoresCase: false,
    differs: {
      'keeps nanoseconds over the whole range of time': 'a point has a value: "keep nanoseconds, from one end of the range of times to ' +
        'the other"',
      'leaves out batches it has already': 'points of the same place overwrite each other',
      'stores every batch without identity': 'points of the same place overwrite each other',
      'still recognises each batch when records are compacted': 'points of the same place overwrite each other',
      'can be prepared by several at once': 'classes come with their first values',
      'tell a batch from another that has taken its identity': OVERWRITTEN,
      'know rows that were staged again, in parts, under another identity': OVERWRITTEN,
      ...SELDOM_DIFFERS
    }
  })

  retentionContract({ open: openSink, rows, tells: false, layouts: [] })

  writerContract({
    open: openSink,
    isTransient,
    rows,
    poison: async (batches, isPoison) => withPoison(batches, isPoison, (batch, isOne) => {
      // Labels have 2048 letters at most.
      const values = Array.from({ length: batch.rows }, (_, row) => isOne(row) ? 'x'.repeat(4000) : '')
      return { tags: { note: { values, valid: Uint8Array.from(values, text => text === '' ? 0 : 1) } } }
    }),
    server: { stop: () => database.server.stop(), start: () => database.server.start() },
    wrong: [
      { what: 'a wrong write token', options: { writeToken: 'token of nobody' }, tells: /Invalid OPB64 .*Check the write token/ },
      { what: 'a wrong read token', options: { readToken: 'nobody' }, tells: /Check the read token/ },
      { what: 'no write token', options: { writeToken: '' }, tells: /asks for a write token.*Enter the write token/ },
      { what: 'a host that does not answer', options: { port: 1 }, tells: /ECONNREFUSED.*Check host and port/ },
      { what: 'a server that has no TLS', options: { tls: 'require' }, tells: /whether the server expects TLS/ },
      { what: 'a certificate that is missing', options: { tls: 'verify', ca: '/no/such.pem' }, tells: /no\/such\.pem/ }
    ]
  })

  describe('points', () => {
    it('keep nanoseconds, from one end of the range of times to the other', async () => {
      const time = [-(2n ** 63n), -1001n, -1n, 0n, 999n, T0, T0 + 1n, 2n ** 63n - 1n]
      await (await openSink()).write([batchOf(time.map((_, i) => i), { time: BigInt64Array.from(time) })])
      expect((await rows('press')).map(row => [row.time, row.force])).to.deep.equal(time.map((ns, i) => [ns, i]))
    })

    it('of one tick are told apart by labels, whatever batch they come in, and each is stored once when it comes again', async () => {
      const time = BigInt64Array.of(T0 - T0 % 1000n, T0 - T0 % 1000n + 7n)
      const [first, second] = [[1, 2], [3, 4]].map((values, seq) => {
        return batchOf(values, { time, ordinals: Int32Array.of(seq, seq), identity: identity(seq) })
      })
      await (await openSink()).write([first, second])
      await database.remove('=sluice_commits{}', ['0', '9'])
      await (await openSink()).write([first, second])
      const stored = await points('=force{id=press}')
      expect(stored.map(({ value, labels: { ns, row } }) => [value, ns, row])).to.have.deep.members([
        [1, undefined, undefined], [2, '7', undefined], [3, undefined, '1'], [4, '7', '1']
      ])
    })

    it('have their position, and it is stored as it was, too', async () => {
      const fields = ['latitude', 'longitude'].map(name => ({ name, type: /** @type {const} */ ('float64') }))
      const batch = new Batch({ source: 'press', time: BigInt64Array.of(T0), fields, columns: [Float64Array.of(48), Float64Array.of(-0)] })
      await (await openSink()).write([batch])
      expect(await rows('press')).to.deep.equal([{ time: T0, latitude: 48, longitude: -0 }])
    })

    it('of whole numbers go to a class of doubles, and what does not fit a class is refused', async () => {
      const sink = await openSink()
      await sink.write([batchOf([1.5])])
      const whole = (/** @type {any} */ type, /** @type {any} */ column) => new Batch({
        source: 'press', time: BigInt64Array.of(T0 + 1000n), fields: [{ name: 'force', type }], columns: [column]
      })
      const later = await openSink()
      await later.write([whole('int32', Int32Array.of(2))])
      expect((await points('=force{id=press}')).map(({ text }) => text)).to.deep.equal(['1.5', '2.0'])
      const error = await failureOf(() => later.prepare([whole('string', ['two'])]))
      expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_TABLE_MISFIT', false])
    })

    it('are the same in every format of one value a line, and compressed', async () => {
      const batch = () => batchOf([1, 2, 3], { tags: { line: { values: ['a', 'b', 'a'], valid: null } } })
      for (const options of [{ format: 'naive' }, { format: 'ordered' }, { format: 'optimized' }, { compression: 'always' }]) {
        const [table] = Object.values(options)
        await (await openSink({ ...options, table })).write([batch()])
        expect((await rows(table)).map(({ line, force }) => [line, force]), table).to.deep.equal([['a', 1], ['b', 2], ['a', 3]])
      }
    })

    it('are one a row as lists, under a label with their names', async () => {
      for (const format of ['multi-value', 'uncompressed']) {
        const sink = await openSink({ format, table: format })
        const batch = batchOf([1, 2, 3], { identity: { ...identity(0), epoch: format } })
        await sink.write([batch])
        await (await openSink({ format, table: format })).write([batch])
        const stored = await points(`~.*{id=${format}}`)
        expect(stored.map(({ name, labels }) => [name, labels.fields]), format).to.deep.equal(Array(3).fill(['allchannels', 'force']))
      }
    })

    it('before a line that is refused may be stored, and no record says so', async () => {
      const sink = await openSink()
      const batch = new Batch({
        source: 'press',
        time: BigInt64Array.of(T0),
        fields: [{ name: 'force', type: 'float64' }, { name: 'note', type: 'string' }],
        columns: [Float64Array.of(1), ['x'.repeat(2 ** 20 + 1)]],
        identity: identity(0)
      })
      const error = await failureOf(() => sink.write([batch]))
      expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_WARP10', false])
      expect((await sink.committed()).records).to.deep.equal([])
      const mended = new Batch({ ...batch, columns: [batch.columns[0], ['x']] })
      expect(await sink.write([mended])).to.deep.equal(ALL_NEW)
      expect(await rows('press')).to.deep.equal([{ time: T0, force: 1, note: 'x' }])
    })
  })

  it('tell what is stored from another batch under its identity, and from rows that were staged again', async () => {
    const sink = await openSink()
    const batch = batchOf([1, 2], { identity: { ...identity(0), hash: 1 } })
    await sink.write([batch])
    const other = batchOf([3, 4], { identity: { ...identity(0), hash: 2 } })
    expect((await sink.write([other])).clashes).to.deep.equal([other])
    const again = batchOf([1, 2], { identity: { ...identity(7), hash: 1, ancestors: [{ epoch: identity(0).epoch, seq: 0, hash: 1 }] } })
    expect((await sink.write([again])).duplicates).to.deep.equal([again])
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([1, 2])
  })

  it('is named once, also by two of which one is slower', async () => {
    const [slow, quick] = [database.connect(), database.connect()]
    /** @type {PromiseWithResolvers<void>} */
    const isAbout = Promise.withResolvers()
    /** @type {PromiseWithResolvers<void>} */
    const isNamed = Promise.withResolvers()
    const [writeSlow, writeQuick] = [slow, quick].map(server => server.write.bind(server))
    slow.write = async (...args) => {
      isAbout.resolve()
      await isNamed.promise
      for (let i = 0; i < 4; i++) await slow.facts()
      await writeSlow(...args)
    }
    quick.write = async (...args) => {
      await writeQuick(...args)
      isNamed.resolve()
    }
    const nameBy = async (/** @type {any} */ server) => (await (await open({}, { server })).committed()).store
    const names = [nameBy(slow), isAbout.promise.then(() => nameBy(quick))]
    expect(new Set(await Promise.all(names)).size).to.equal(1)
  })

  seldomTest({ open: openSink, isTransient, forget: () => database.remove('=sluice_commits{}', ['0', '999']) })

  it('tells by Test connection what it found', async () => {
    expect(await database.connect().test()).to.match(/^Warp 10 .*takes both tokens\. Its times have the unit us; .*label ns\.$/)
    const told = async (/** @type {object} */ options) => {
      const { code, fix } = await failureOf(() => database.connect(options).test())
      return [code, fix]
    }
    expect(await told({ port: 1 })).to.deep.equal(['SLUICE_SINK_CONNECT', 'Check host and port, and that the server runs.'])
    expect(await told({ writeToken: database.tokens.readToken })).to.deep.equal(['SLUICE_SINK_CONNECT', 'Check the write token.'])
    expect(await told({ readToken: '' })).to.deep.equal(['SLUICE_SINK_CONNECT', 'Enter the read token in the settings of the server.'])
  })
}

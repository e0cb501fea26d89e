import { expect } from 'chai'
import { isTransient, open } from '../../gateway/databases/influxdb/sink.js'
import { connect } from '../../gateway/databases/influxdb/connection.js'
import { fakeInfluxdb } from '../servers/fake-influxdb.js'
import { batchOf, failureOf, identity, rangesOf, rowOf, T0 } from './contract/batches.js'

/** @typedef {import('../servers/fake-influxdb.js').Asked} Asked */
/** @typedef {import('../servers/fake-influxdb.js').Answer} Answer */

const NO_SERIES = { body: { results: [{ statement_id: 0 }] } }

const oneRow = () => ({ body: { results: [{ series: [{ name: 'press', columns: ['time'], values: [[Number(T0)]] }] }] } })

/** Not run against real servers of these versions: what is shown is that the requests are those of their documentation. */
describe('InfluxDB sink, versions 2 and 3 (by a fake of the server)', () => {
  /** @type {Awaited<ReturnType<typeof fakeInfluxdb>>} */
  let fake
  /** @type {Record<string, (asked: Asked) => Answer|undefined>} answers by method and path; all else has none */
  let answers
  /** @type {import('../../gateway/databases/influxdb/connection.js').InfluxdbServer[]} */
  let connections

  beforeEach(async () => {
    answers = { 'POST /query': () => NO_SERIES }
    connections = []
    const unknown = { status: 404, body: { code: 'not found', message: 'path not found' } }
    fake = await fakeInfluxdb(asked => answers[`${asked.method} ${asked.path}`]?.(asked) ?? unknown)
  })

  afterEach(async () => {
    for (const connected of connections) await connected.close()
    await fake.close()
  })

  /** @param {object} options */
  const connectTo = options => {
    const connected = connect({ port: fake.port, database: 'plant', password: 'secret', ...options })
    connections.push(connected)
    return connected
  }

  /** @param {object} options */
  const openSink = options => open({}, { server: connectTo(options) })

  const written = () => fake.asked.filter(({ path }) => path.includes('write'))
    .map(({ path, query, login, body }) => ({ path, query, login, body }))
  const statements = () => fake.asked.filter(({ path }) => path === '/query')
    .map(({ query, body }) => [query.db, new URLSearchParams(body).get('q')])

  const record = 'last=0i,hash=0i,staged=1i,stored=1i,dead=0i,before=0i,' +
    'policy="",sink_table="press",gateway="gw",source="press",epoch="1-a" 0\n'

  describe('version 2', () => {
    const options = { version: '2', organisation: 'works & co' }
    const buckets = (/** @type {number} */ everySeconds) => {
      const retentionRules = everySeconds ? [{ type: 'expire', everySeconds }] : []
      return { body: { buckets: [{ id: 'b1', orgID: 'o1', name: 'plant', retentionRules }] } }
    }

    it('writes into the bucket with a token, commit records after the rows', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      answers['POST /api/v2/write'] = () => ({ status: 204 })
      const sink = await openSink(options)
      await sink.write([batchOf([1.5], { identity: identity(0) })])
      const query = { org: 'works & co', bucket: 'plant', precision: 'ns' }
      const [rows, records, ...rest] = written()
      expect(rows).to.deep.equal({ path: '/api/v2/write', query, login: 'Token secret', body: `press,gateway=gw force=1.5 ${T0}\n` })
      expect(records).to.deep.include({ path: '/api/v2/write', query })
      expect(records.body).to.match(/^sluice_commits,of=[\w-]{43} /).and.to.include(record)
      expect(rest).to.deep.equal([])
      expect(fake.asked[0]).to.deep.include({ path: '/api/v2/buckets', query: { org: 'works & co', name: 'plant' } })
      const columns = ['last', 'hash', 'staged', 'stored', 'dead', 'before', 'policy', 'sink_table', 'gateway', 'source', 'epoch']
      expect(statements()).to.deep.equal([
        ['plant', `SELECT ${columns.map(name => `"${name}"`).join(', ')} FROM "sluice_commits"`],
        ['plant', 'SHOW FIELD KEYS FROM "press"']
      ])
    })

    it('deletes points that are too old', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      for (const path of ['write', 'delete']) answers[`POST /api/v2/${path}`] = () => ({ status: 204 })
      answers['POST /query'] = ({ body }) => /ORDER\+BY/.test(body) ? oneRow() : NO_SERIES
      const sink = await openSink(options)
      await sink.write([batchOf([1.5], { source: 'the "press"' })])
      await sink.span?.()
      await sink.removeBefore?.(1_800_000_000_000_000_000n, { maxRows: 1 })
      const { query, body } = fake.asked[fake.asked.length - 1]
      expect(query).to.deep.equal({ org: 'works & co', bucket: 'plant' })
      expect(JSON.parse(body)).to.deep.equal({
        start: '1677-09-21T00:12:43.145224194Z', stop: '2027-01-15T07:59:59.999999999Z', predicate: '_measurement="the \\"press\\""'
      })
    })

    it('keeps commit records in a separate bucket where rows expire', async () => {
      const missing = { status: 404, body: { code: 'not found', message: 'bucket not found' } }
      answers['GET /api/v2/buckets'] = ({ query }) => query.name === 'plant' ? buckets(3600) : missing
      answers['POST /api/v2/buckets'] = () => ({ status: 201, body: {} })
      answers['POST /api/v2/write'] = () => ({ status: 204 })
      const sink = await openSink(options)
      await sink.write([batchOf([1], { identity: identity(0) })])
      expect(written().map(({ query }) => query.bucket)).to.deep.equal(['plant', 'sluice_commits'])
      const created = fake.asked.find(({ method, path }) => method === 'POST' && path === '/api/v2/buckets')
      expect(JSON.parse(created?.body ?? '')).to.deep.equal({ orgID: 'o1', name: 'sluice_commits', retentionRules: [] })
      expect(statements()[0][0]).to.equal('sluice_commits')
    })

    it('reports what to do where that bucket cannot be created, or the bucket does not exist', async () => {
      answers['GET /api/v2/buckets'] = ({ query }) => query.name === 'plant' ? buckets(3600) : { body: { buckets: [] } }
      answers['POST /api/v2/buckets'] = () => ({ status: 403, body: { code: 'forbidden', message: 'insufficient permissions' } })
      const denied = await failureOf(async () => (await openSink(options)).committed())
      expect(denied.message).to.match(/"sluice_commits" cannot be created.*without a retention period/)
      answers['GET /api/v2/buckets'] = () => ({ body: { buckets: [] } })
      const missing = await failureOf(async () => (await openSink(options)).committed())
      expect(missing.message).to.match(/no bucket "plant".*Create the bucket/)
      for (const error of [denied, missing]) expect(isTransient(error)).to.equal(true)
    })

    it('merges commit records, and deletes those that others include', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      answers['POST /api/v2/write'] = () => ({ status: 204 })
      answers['POST /api/v2/delete'] = () => ({ status: 204 })
      const values = [0, 1, 2].map(seq => [seq, seq, 2 ** 47 + seq, 10, 8, 2, 10 * seq, '', 'press', 'gw', 'press', '1-a'])
      const columns = ['time', 'last', 'hash', 'staged', 'stored', 'dead', 'before', 'policy', 'sink_table', 'gateway', 'source', 'epoch']
      const stored = { body: { results: [{ series: [{ name: 'sluice_commits', columns, values }] }] } }
      answers['POST /query'] = ({ body }) => body.includes('last') ? stored : NO_SERIES
      const sink = await openSink(options)
      await sink.compact([{ gateway: 'gw', source: 'press', epoch: '1-a', first: 3, last: 5 }])
      expect(written()[0].body).to.include(`last=2i,hash=${2 ** 47 + 3}i,staged=30i,stored=24i,dead=6i,before=0i`).and.to.match(/ 0\n$/)
      const deleted = fake.asked.at(-1)
      expect(deleted).to.deep.include({ path: '/api/v2/delete', query: { org: 'works & co', bucket: 'plant' } })
      const { start, stop, predicate } = JSON.parse(deleted?.body ?? '')
      expect([start, stop]).to.deep.equal(['1970-01-01T00:00:00.000000001Z', '1970-01-01T00:00:00.000000002Z'])
      expect(predicate).to.match(/^_measurement="sluice_commits" AND of="[\w-]{43}"$/)
    })

    it('distinguishes refused rows from all other failures', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      const sink = await openSink(options)
      for (const [status, code, message, transient] of /** @type {[number, string, string, boolean][]} */ ([
        [400, 'invalid', 'partial write error (0 written): unable to parse \'press force=\': missing field value', false],
        [422, 'unprocessable entity', 'failure writing points to database: partial write: points beyond retention policy dropped=1', false],
        [401, 'unauthorized', 'unauthorized access', true],
        [404, 'not found', 'bucket "plant" not found', true],
        [429, 'too many requests', 'token is temporarily over quota', true],
        [500, 'internal error', 'engine: cache-max-memory-size exceeded', true],
        [503, 'unavailable', 'service unavailable', true]
      ])) {
        answers['POST /api/v2/write'] = () => ({ status, body: { code, message } })
        const error = await failureOf(() => sink.write([batchOf([1])]))
        expect(error.message).to.include(message)
        expect(isTransient(error), message).to.equal(transient)
      }
    })

    it('does not send less and less at once because of rows that are too large', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      const tooLarge = { status: 413, body: { code: 'request too large', message: 'request body too large' } }
      answers['POST /api/v2/write'] = ({ body }) => body.length > 600_000 ? tooLarge : { status: 204 }
      const sink = await openSink(options)
      const large = rowOf({ note: ['string', 'x'.repeat(700_000)] })
      for (let attempt = 0; attempt < 3; attempt++) expect(isTransient(await failureOf(() => sink.write([large])))).to.equal(false)
      fake.asked.length = 0
      await sink.write([batchOf(Array.from({ length: 10_000 }, (_, i) => i))])
      expect(written()).to.have.length(1)
    })

    it('reads the field types again after a conflict', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      const message = 'failure writing points to database: partial write: field type conflict: input field "force" on measurement ' +
        '"press" is type float, already exists as type string dropped=1'
      answers['POST /api/v2/write'] = () => ({ status: 422, body: { code: 'unprocessable entity', message } })
      const sink = await openSink(options)
      await sink.prepare([batchOf([1])])
      const fieldKeys = { name: 'press', columns: ['fieldKey', 'fieldType'], values: [['force', 'string']] }
      answers['POST /query'] = ({ body }) => body.startsWith('q=SHOW') ? { body: { results: [{ series: [fieldKeys] }] } } : NO_SERIES
      const conflict = await failureOf(() => sink.write([batchOf([1])]))
      expect(isTransient(conflict)).to.equal(true)
      expect(conflict.cause).to.include({ code: 'SLUICE_SINK_TABLE_MISFIT' })
      expect((await failureOf(() => sink.prepare([batchOf([1])]))).code).to.equal('SLUICE_SINK_TABLE_MISFIT')
    })

    it('does not blame the rows when a commit record is refused', async () => {
      answers['GET /api/v2/buckets'] = () => buckets(0)
      const message = 'partial write: field type conflict: input field "last" on measurement "sluice_commits" dropped=1'
      answers['POST /api/v2/write'] = ({ body }) => body.startsWith('sluice_commits') ? { status: 422, body: { message } } : { status: 204 }
      const sink = await openSink(options)
      const error = await failureOf(() => sink.write([batchOf([1], { identity: identity(0) })]))
      expect(error.message).to.match(/^Commit records: .*field type conflict.*nothing may be dropped/)
      expect(error.cause).to.include({ code: 'SLUICE_SINK_INFLUXDB' })
      expect(isTransient(error)).to.equal(true)
    })

    it('reports what it finds, and what is wrong', async () => {
      answers['GET /ping'] = () => ({ status: 204, headers: { 'x-influxdb-version': 'v2.7.11' } })
      answers['GET /api/v2/buckets'] = () => buckets(0)
      expect(await connectTo(options).test()).to.equal('InfluxDB v2.7.11, bucket "plant".')
      answers['GET /api/v2/buckets'] = () => ({ status: 401, body: { code: 'unauthorized', message: 'unauthorized access' } })
      expect((await failureOf(() => connectTo(options).test())).message).to.match(/unauthorized access. Check the token/)
    })
  })

  describe('version 3', () => {
    const options = { version: '3' }

    it('writes into the database with a token, after creating it', async () => {
      answers['POST /api/v3/configure/database'] = () => ({ status: 200 })
      answers['POST /api/v3/write_lp'] = () => ({ status: 204 })
      const sink = await openSink(options)
      await sink.write([rowOf({ count: ['int64', 2n ** 60n] }, { identity: identity(0) })])
      expect(fake.asked[0]).to.deep.include({ path: '/api/v3/configure/database', login: 'Bearer secret', body: '{"db":"plant"}' })
      const [rows, records] = written()
      expect(rows).to.deep.equal({
        path: '/api/v3/write_lp',
        query: { db: 'plant', precision: 'nanosecond' },
        login: 'Bearer secret',
        body: `press,gateway=gw count=1152921504606846976i ${T0}\n`
      })
      expect(records.body).to.include(record)
    })

    it('says that it deletes no points, and what does', async () => {
      answers['POST /api/v3/configure/database'] = () => ({ status: 200 })
      answers['POST /api/v3/write_lp'] = () => ({ status: 204 })
      answers['POST /query'] = ({ body }) => /ORDER\+BY/.test(body) ? oneRow() : NO_SERIES
      const sink = await openSink(options)
      await sink.write([batchOf([1.5])])
      await sink.span?.()
      const error = await failureOf(async () => sink.removeBefore?.(1_800_000_000_000_000_000n, { maxRows: 1 }))
      expect(error.message).to.match(/InfluxDB 3 deletes no points.*"plant" a retention period/)
    })

    it('continues where the database exists already, or may not be created', async () => {
      answers['POST /api/v3/write_lp'] = () => ({ status: 204 })
      for (const status of [409, 403]) {
        answers['POST /api/v3/configure/database'] = () => ({ status, body: { error: 'no' } })
        expect(rangesOf(await (await openSink(options)).committed())).to.deep.equal([])
      }
      answers['POST /api/v3/configure/database'] = () => ({ status: 401, body: { error: 'the request was not authenticated' } })
      expect((await failureOf(async () => (await openSink(options)).committed())).message).to.match(/not authenticated. Check the token/)
    })

    it('distinguishes refused rows from all other failures', async () => {
      answers['POST /api/v3/configure/database'] = () => ({ status: 200 })
      const sink = await openSink(options)
      answers['POST /api/v3/write_lp'] = () => ({
        status: 400,
        body: {
          error: 'partial write of line protocol occurred',
          data: [{
            original_line: 'press force=1',
            line_number: 1,
            error_message: 'invalid column type for column \'force\', expected iox::column_type::field::string, ' +
              'got iox::column_type::field::float'
          }]
        }
      })
      const error = await failureOf(() => sink.write([batchOf([1])]))
      expect(error.message).to.match(/invalid column type/)
      expect(isTransient(error)).to.equal(false)
      answers['POST /api/v3/write_lp'] = () => ({ status: 500, body: { error: 'object store is full' } })
      expect(isTransient(await failureOf(() => sink.write([batchOf([1])])))).to.equal(true)
    })

    it('reports what it finds, and what is wrong', async () => {
      answers['GET /ping'] = () => ({ headers: { 'x-influxdb-version': '3.4.1' }, body: { version: '3.4.1' } })
      answers['POST /api/v3/configure/database'] = () => ({ status: 409 })
      expect(await connectTo(options).test()).to.equal('InfluxDB 3.4.1, database "plant".')
    })
  })
})

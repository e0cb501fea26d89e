import { expect } from 'chai'
import pg from 'pg'
import { open } from '../../gateway/databases/postgresql/sink.js'
import { connect } from '../../gateway/databases/postgresql/connection.js'
import { hasTimescale, startPostgresql } from '../servers/postgresql.js'
import { requireServer } from '../servers/programs.js'
import { batchOf, rowOf, T0 } from './contract/batches.js'

describe('PostgreSQL sink on a real TimescaleDB', () => {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let server
  /** @type {import('../../gateway/databases/postgresql/connection.js').PostgresqlServer} */
  let connected
  /** @type {pg.Client} */
  let client

  before(async function () {
    requireServer(this, 'timescaledb', hasTimescale() ? null : 'the extension is not installed')
    server = await startPostgresql({ timescale: true })
    const login = { host: '127.0.0.1', port: server.port, user: server.user, password: server.password, database: server.database }
    client = new pg.Client(login)
    await client.connect()
    await client.query('CREATE EXTENSION timescaledb')
    connected = connect(login)
  })
  after(async () => {
    await connected?.close()
    await client?.end()
    await server?.remove()
  })

  it('reports TimescaleDB when it is tested', async () => {
    expect(await connected.test()).to.match(/^PostgreSQL \d+.* with TimescaleDB \d+/)
  })

  for (const layout of ['wide', 'narrow', 'document']) {
    it(`creates a hypertable for a ${layout} table, and continues when it grows and its chunks are compressed`, async () => {
      const sink = await open({ hypertable: true, layout, chunkHours: 1, compressAfterHours: 24, table: layout }, { server: connected })
      const hour = 3_600_000_000_000n
      await sink.write([batchOf([1, 2, 3], { time: BigInt64Array.of(T0, T0 + hour, T0 + 2n * hour) })])
      const { rows: made } = await client.query(
        'SELECT num_chunks, compression_enabled FROM timescaledb_information.hypertables WHERE hypertable_name = $1',
        [layout]
      )
      expect(made.map(({ num_chunks: chunks, compression_enabled: isCompressed }) => [Number(chunks), isCompressed]))
        .to.deep.equal([[3, true]])
      const { rowCount } = await client.query(
        'SELECT 1 FROM timescaledb_information.jobs WHERE proc_name IN (\'policy_compression\') AND hypertable_name = $1',
        [layout]
      )
      expect(rowCount).to.equal(1)
      await client.query('SELECT compress_chunk(c, if_not_compressed => true) FROM show_chunks($1::regclass) c', [layout])
      await sink.write([batchOf([4]), rowOf({ more: ['float64', 5] })])
      const { rows: [{ count }] } = await client.query(`SELECT count(*) FROM "${layout}"`)
      expect(Number(count)).to.equal(5)
    })
  }

  it('compresses by the key fields, chunks of 12 hours after 7 days, as in SciTS', async () => {
    const options = { hypertable: true, keyFields: ['sensor_id'], chunkHours: 12, compressAfterHours: 168, table: 'scits' }
    const sink = await open(options, { server: connected })
    await sink.write([rowOf({ sensor_id: ['int64', 7n], value: ['float64', 1] })])
    const { rows } = await client.query(
      'SELECT attname FROM timescaledb_information.compression_settings WHERE hypertable_name = \'scits\' AND segmentby_column_index = 1'
    )
    expect(rows).to.deep.equal([{ attname: 'sensor_id' }])
  })
})

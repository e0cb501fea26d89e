import { writeFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { databases } from '../../gateway/doctor/checks/databases.js'
import { databaseFiles } from '../../gateway/doctor/checks/database-files.js'
import { CassandraDatabase } from '../databases/cassandra-database.js'
import { KafkaDatabase } from '../databases/kafka-database.js'
import { ClickhouseDatabase } from '../databases/clickhouse-database.js'
import { InfluxdbDatabase } from '../databases/influxdb-database.js'
import { MysqlDatabase } from '../databases/mysql-database.js'
import { PostgresqlDatabase } from '../databases/postgresql-database.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { freePort } from '../servers/ports.js'
import { requireServer } from '../servers/programs.js'
import { Patient } from './subject.js'

describe('What the doctor finds about databases', () => {
  /** @type {Patient} */
  let patient
  beforeEach(() => { patient = new Patient() })
  afterEach(() => patient.remove())

  /**
   * Of a server with one sink.
   * @param {string} type
   * @param {{user?: string, password?: string, [option: string]: any}} login
   * @param {object} [sink]  its options
   */
  async function findings (type, { user, password, ...server }, sink = {}) {
    patient.flow([
      { id: 'server', type: `sluice-${type}-server`, ...server },
      { id: 'sink', type: `sluice-${type}`, z: 'tab', server: 'server', wires: [], ...sink }
    ], { server: { user, password } })
    return patient.findings(databases)
  }

  /** Of how this machine's clock would be an hour behind. @template T @param {() => Promise<T>} work */
  async function anHourBehind (work) {
    const { now } = Date
    Date.now = () => now() - 3_600_000
    try {
      return await work()
    } finally {
      Date.now = now
    }
  }

  const skewed = /Its clock is 60\.0 min ahead of this machine's\./

  it('is that one cannot be reached, and what to do', async () => {
    patient.flow([
      { id: 'server', type: 'sluice-postgresql-server', port: await freePort() },
      { id: 'sink', type: 'sluice-postgresql', z: 'tab', server: 'server', wires: [] }
    ])
    const [found, ...more] = await databases.find(patient.subject(), new AbortController().signal)
    expect(more).to.deep.equal([])
    expect(found).to.include({ level: 'problem', where: 'postgresql server server', fix: 'Check host and port, and that the server runs.' })
    expect(found.what).to.match(/^No connection to PostgreSQL at 127\.0\.0\.1:\d+, database "postgres": .*ECONNREFUSED/)
  })

  it('is nothing about one that no node uses', async () => {
    patient.flow([{ id: 'server', type: 'sluice-postgresql-server', port: 1 }])
    expect(await patient.findings(databases)).to.deep.equal([])
  })

  describe('of PostgreSQL', () => {
    const database = PostgresqlDatabase.inSuite()

    it('is that all is well, with the password from the encrypted file', async () => {
      const found = await findings('postgresql', database.login)
      expect(found).to.have.length(1)
      expect(found[0]).to.match(/^ok: postgresql server server: PostgreSQL .* logged in as "postgres"\.$/)
    })

    it('are rights that its user lacks', async () => {
      await database.query('CREATE TABLE sluice_commits (seq int); CREATE ROLE weak LOGIN PASSWORD \'weak one\'')
      await database.query('GRANT SELECT ON sluice_commits TO weak')
      try {
        const found = await findings('postgresql', { ...database.login, user: 'weak', password: 'weak one' })
        expect(found.filter(text => text.startsWith('problem'))).to.deep.equal([
          'problem: postgresql server server: Its user lacks rights: CREATE in the schema public, INSERT on public.sluice_commits.'
        ])
      } finally {
        await database.query('DROP OWNED BY weak; DROP ROLE weak')
      }
    })

    it('is a clock that is off', async () => {
      expect((await anHourBehind(() => findings('postgresql', database.login))).at(-1)).to.match(skewed)
    })

    it('is a wrong password', async () => {
      const [found] = await findings('postgresql', { ...database.login, password: 'not this one' })
      expect(found).to.match(/^problem: .*password authentication failed/)
      expect(found).not.to.include('not this one')
    })
  })

  describe('of MariaDB', () => {
    const database = MysqlDatabase.inSuite()

    it('is that all is well', async () => {
      const found = await findings('mysql', database.login)
      expect(found.map(text => text.split(':')[0])).to.deep.equal(['ok'])
    })

    it('are rights that its user lacks', async () => {
      const { database: name } = database.login
      await database.client.query('CREATE USER weak@\'127.0.0.1\' IDENTIFIED BY \'weak one\'')
      await database.client.query(`GRANT SELECT ON ${name}.* TO weak@'127.0.0.1'`)
      try {
        const found = await findings('mysql', { ...database.login, user: 'weak', password: 'weak one' })
        expect(found).to.include('problem: mysql server server: Its user lacks rights: CREATE, INSERT, DELETE.')
      } finally {
        await database.client.query('DROP USER weak@\'127.0.0.1\'')
      }
    })

    it('is a clock that is off', async () => {
      expect((await anHourBehind(() => findings('mysql', database.login))).at(-1)).to.match(skewed)
    })
  })

  describe('of MongoDB', () => {
    /** @type {import('../servers/mongodb.js').MongodbServer} */
    let server
    before(async function () {
      requireServer(this, 'mongodb', missingMongodb())
      server = await startMongodb()
    })
    after(() => server?.remove())

    it('is that all is well', async () => {
      const found = await findings('mongodb', { url: server.url })
      expect(found[0]).to.match(/^ok: mongodb server server: /)
      expect(found.filter(text => text.startsWith('problem'))).to.deep.equal([])
    })

    it('is a clock that is off', async () => {
      expect((await anHourBehind(() => findings('mongodb', { url: server.url }))).join('\n')).to.match(skewed)
    })
  })

  describe('of ClickHouse', () => {
    const database = ClickhouseDatabase.inSuite('modern')

    it('is that all is well', async () => {
      const found = await findings('clickhouse', database.login)
      expect(found[0]).to.match(/^ok: clickhouse server server: ClickHouse /)
      expect(found.filter(text => text.startsWith('problem') && !/ are free\.$/.test(text))).to.deep.equal([])
    })

    it('is a clock that is off', async () => {
      expect((await anHourBehind(() => findings('clickhouse', database.login))).join('\n')).to.match(skewed)
    })
  })

  describe('of InfluxDB', () => {
    const database = InfluxdbDatabase.inSuite()

    it('is that it answers, and does not tell what its user may do', async () => {
      const { port, user, password } = database.server
      const found = await findings('influxdb', { port, user, password, database: database.name })
      expect(found[0]).to.match(/^ok: influxdb server server: InfluxDB /)
      expect(found[1]).to.match(/^note: .*does not tell what its user may do/)
    })

    it('is a clock that is off', async () => {
      const { port, user, password } = database.server
      const found = await anHourBehind(() => findings('influxdb', { port, user, password, database: database.name }))
      expect(found.join('\n')).to.match(skewed)
    })
  })

  describe('of Cassandra', () => {
    const database = CassandraDatabase.inSuite()
    const findingsOf = () => findings('cassandra', { port: database.server.port, database: database.keyspace })

    it('is that it answers, and does not tell what its user may do', async () => {
      const found = await findingsOf()
      expect(found[0]).to.match(/^ok: cassandra server server: Cassandra .*The keyspace does not exist/)
      expect(found[1]).to.match(/^note: .*does not tell what its user may do/)
    })

    it('is a clock that is off', async () => {
      expect((await anHourBehind(findingsOf)).join('\n')).to.match(skewed)
    })
  })

  describe('of Kafka', () => {
    const database = KafkaDatabase.inSuite()

    it('is that it answers, and tells neither its time nor what its user may do', async () => {
      const found = await findings('kafka', { port: database.server.port })
      expect(found[0]).to.match(/^ok: kafka server server: Kafka cluster .*sluice_commits does not exist/)
      expect(found.slice(1).join('\n')).to.match(/note: .*does not tell its time[^]*note: .*does not tell what its user may do/)
    })
  })

  describe('in files', () => {
    const sqlite = { id: 'sqlite', type: 'sluice-sqlite', z: 'tab', file: 'plant.sqlite', wires: [] }

    it('is how large they are, without opening them', async () => {
      patient.flow([sqlite])
      const path = join(patient.userDir, 'sluice', 'plant.sqlite')
      expect(await patient.findings(databaseFiles)).to.deep.equal([`ok: ${path}, sqlite sqlite: It is made when the first rows come.`])
      await mkdir(join(patient.userDir, 'sluice'))
      await writeFile(path, 'no database at all')
      expect(await patient.findings(databaseFiles)).to.deep.equal([`ok: ${path}, sqlite sqlite: 18 B.`])
    })

    it('is one that the gateway\'s user may not write', async () => {
      patient.flow([sqlite])
      await mkdir(join(patient.userDir, 'sluice'))
      writeFileSync(join(patient.userDir, 'sluice', 'plant.sqlite'), '', { mode: 0o600 })
      patient.root.write({ [`proc/${process.pid}/status`]: 'Uid:\t99\t99\t99\t99\nGid:\t99\t99\t99\t99\nGroups:\t99 \n' })
      const [found] = await patient.findings(databaseFiles, { credentialsOf: () => undefined })
      expect(found).to.match(/^problem: .*plant\.sqlite, sqlite sqlite: 99 may not write it\.$/)
    })
  })
})

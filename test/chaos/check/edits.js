import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import cassandra from 'cassandra-driver'
import { MongoClient, ObjectId } from 'mongodb'
import mysql from 'mysql2/promise'
import pg from 'pg'
import { tableName } from '../../../gateway/databases/cassandra/dialect.js'
import { openSession } from '../../../gateway/databases/duckdb/instance.js'
import { quote } from '../../../gateway/databases/names.js'
import { KafkaReader } from '../../servers/kafka-reader.js'

/**
 * How to make rows go missing, come twice or change behind the back of the check.
 *
 * @typedef {object} Edits  of the row of the source `press.left` that has this value in `count`
 * @property {(count: number) => Promise<void>} remove
 * @property {(count: number) => Promise<void>} repeat  stores it once more, with what tells rows apart made new
 * @property {(count: number, strain: number) => Promise<void>} change
 * @property {() => Promise<void>} clear  leaves nothing of any source
 *
 * @typedef {import('../databases/index.js').Database} Database
 */

const TABLE = 'press.left'

/** By type of database. @type {Record<string, (database: any) => Edits>} */
export const editsOf = {
  sqlite: ({ sink: { file } }) => ({
    ...sqlEdits(quote, async sql => {
      const database = new DatabaseSync(file)
      database.exec(sql)
      database.close()
    }),
    async clear () {
      for (const suffix of ['', '-wal', '-shm']) await rm(`${file}${suffix}`, { force: true })
    }
  }),

  duckdb: ({ sink: { file } }) => ({
    ...sqlEdits(quote, async sql => {
      const session = await openSession(file)
      await session.run(sql)
      session.close()
    }),
    async clear () {
      for (const suffix of ['', '.wal']) await rm(`${file}${suffix}`, { force: true })
    }
  }),

  postgresql ({ server, credentials }) {
    const execute = async (/** @type {string} */ sql) => {
      const client = new pg.Client({ ...server, ...credentials })
      await client.connect()
      await client.query(sql)
      await client.end()
    }
    return { ...sqlEdits(quote, execute), clear: () => execute('DROP SCHEMA public CASCADE; CREATE SCHEMA public') }
  },

  mysql ({ server, credentials }) {
    const execute = async (/** @type {string} */ sql) => {
      const connection = await mysql.createConnection({ ...server, ...credentials, multipleStatements: true })
      await connection.query('SET sql_mode = \'\'') // or a row with a column that the server computes could not be copied
      await connection.query(sql)
      await connection.end()
    }
    const database = mysql.escapeId(server.database)
    return {
      ...sqlEdits(name => mysql.escapeId(name, true), execute),
      clear: () => execute(`DROP DATABASE ${database}; CREATE DATABASE ${database}`)
    }
  },

  mongodb ({ server: { url, database } }) {
    const edit = async (/** @type {(database: import('mongodb').Db) => Promise<unknown>} */ work) => {
      const client = new MongoClient(url, { useBigInt64: true })
      await work(client.db(database))
      await client.close()
    }
    return {
      remove: count => edit(db => db.collection(TABLE).deleteOne({ count })),
      repeat: count =>
        edit(async db => db.collection(TABLE).insertOne({ ...(await db.collection(TABLE).findOne({ count })), _id: new ObjectId() })),
      change: (count, strain) => edit(db => db.collection(TABLE).updateOne({ count }, { $set: { strain } })),
      clear: () => edit(db => db.dropDatabase())
    }
  },

  influxdb ({ server: { host, port, database }, credentials: { user, password } }) {
    const post = async (/** @type {string} */ path, /** @type {string|URLSearchParams} */ body) => {
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      const response = await fetch(`http://${host}:${port}/${path}`, { method: 'POST', headers: { authorization }, body })
      if (!response.ok) throw new Error(await response.text())
      return response.text()
    }
    const query = (/** @type {string} */ statement) =>
      post(`query?${new URLSearchParams({ db: database, epoch: 'ns' })}`, new URLSearchParams({ q: statement }))
    /** Columns and cells of a row as the answer has them, so that no number is rounded. @param {number} count */
    const rowOf = async count => {
      const [, columns, cells] = /** @type {string[]} */ (
        /"columns":\[(.*?)\],"values":\[\[(.*)\]\]/.exec(await query(`SELECT * FROM "${TABLE}" WHERE "count" = ${count}`))
      )
      const texts = Array.from(cells.matchAll(/"(?:\\.|[^"])*"|[^,]+/g), ([text]) => text)
      return new Map(columns.split(',').map((name, i) => [JSON.parse(name), texts[i]]))
    }
    const tagsOf = (/** @type {Map<string, string>} */ row) =>
      ['bus', 'device', 'gateway'].map(name => [name, JSON.parse(String(row.get(name)))])
        .map(([name, value]) => value === null ? '' : `,${name}=${value}`).join('')
    const write = (/** @type {string} */ line) => post(`write?${new URLSearchParams({ db: database, precision: 'ns' })}`, line)
    return {
      async remove (count) {
        await query(`DELETE FROM "${TABLE}" WHERE time = ${(await rowOf(count)).get('time')}`)
      },
      async repeat (count) {
        const row = await rowOf(count)
        const fields = [...row].filter(([name, text]) => !['time', 'bus', 'device', 'gateway', 'row'].includes(name) && text !== 'null')
          .map(([name, text]) => `${name}=${text}${['count', 'step', 'level', 'id'].includes(name) ? 'i' : ''}`)
        await write(`${TABLE}${tagsOf(row)},row=7 ${fields.join(',')} ${row.get('time')}`)
      },
      async change (count, strain) {
        const row = await rowOf(count)
        await write(`${TABLE}${tagsOf(row)} strain=${strain} ${row.get('time')}`)
      },
      async clear () {
        await query(`DROP DATABASE "${database}"; CREATE DATABASE "${database}"`)
      }
    }
  },

  clickhouse ({ server: { host, port, database }, credentials: { user, password } }) {
    const execute = async (/** @type {string} */ sql) => {
      const response = await fetch(`http://${host}:${port}/?${new URLSearchParams({ user, password, database })}`, {
        method: 'POST',
        body: sql
      })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text
    }
    // Old servers change and delete rows some time later: a changed copy takes the table's place.
    const replace = async (/** @type {(columns: string[]) => string} */ select) => {
      const columns = (await execute(`SELECT name FROM system.columns WHERE database = '${database}' AND table = '${TABLE}' FORMAT TSV`))
        .trimEnd()
        .split('\n')
      await execute(`CREATE TABLE changed AS \`${TABLE}\``)
      await execute(`INSERT INTO changed ${select(columns)}`)
      await execute(`DROP TABLE \`${TABLE}\``)
      await execute(`RENAME TABLE changed TO \`${TABLE}\``)
    }
    return {
      remove: count => replace(() => `SELECT * FROM \`${TABLE}\` WHERE count != ${count}`),
      async repeat (count) {
        await execute(`INSERT INTO \`${TABLE}\` SELECT * FROM \`${TABLE}\` WHERE count = ${count}`)
      },
      change: (count, strain) =>
        replace(
          columns =>
            `SELECT ${columns.map(name => name === 'strain' ? `if(count = ${count}, ${strain}, strain)` : name).join(', ')} ` +
            `FROM \`${TABLE}\``
        ),
      async clear () {
        for (const table of (await execute('SHOW TABLES FORMAT TSV')).split('\n').slice(0, -1)) await execute(`DROP TABLE \`${table}\``)
      }
    }
  },

  cassandra ({ server: { host, port, database } }) {
    const table = `"${database}"."${tableName(TABLE)}"`
    const edit = async (/** @type {(execute: (cql: string, parameters?: any[]) => Promise<any[]>) => Promise<unknown>} */ work) => {
      const client = new cassandra.Client({
        contactPoints: [host], localDataCenter: 'datacenter1', protocolOptions: { port }, encoding: { useBigIntAsLong: true }
      })
      await work(async (cql, parameters) => (await client.execute(cql, parameters, { prepare: true })).rows)
      await client.shutdown()
    }
    const key = ['bucket', 'time', 'time_ns', 'sluice_id']
    const where = `WHERE ${key.map(name => `${name} = ?`).join(' AND ')}`
    /** @param {number} count @param {(row: any, key: any[], execute: (cql: string, parameters?: any[]) => unknown) => unknown} work */
    const editRow = (count, work) => edit(async execute => {
      const [row] = await execute(`SELECT * FROM ${table} WHERE count = ? ALLOW FILTERING`, [count])
      await work(row, key.map(name => row[name]), execute)
    })
    return {
      remove: count => editRow(count, (_row, its, execute) => execute(`DELETE FROM ${table} ${where}`, its)),
      repeat: count => editRow(count, (row, _its, execute) => {
        const copy = { ...row, sluice_id: Buffer.alloc(20) }
        const names = Object.keys(copy)
        const [columns, values] = [names.map(name => `"${name}"`), names.map(() => '?')]
        return execute(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${values.join(', ')})`, names.map(name => copy[name]))
      }),
      change: (count, strain) => editRow(count, (_row, its, execute) =>
        execute(`UPDATE ${table} SET strain = ? ${where}`, [strain, ...its])),
      clear: () => edit(execute => execute(`DROP KEYSPACE IF EXISTS "${database}"`))
    }
  },

  kafka ({ server: { port } }) {
    /** A topic is written, never changed: this one is made again. @param {number} count @param {(row: string) => string[]} edit */
    const replace = (count, edit) => withReader(port, async reader => {
      const rows = (await reader.committed(TABLE)).map(({ value }) => String(value))
      await reader.admin.deleteTopics({ topics: [TABLE] })
      await reader.admin.createTopics({ topics: [TABLE], partitions: 1, replicas: 1 })
      const edited = rows.flatMap(row => JSON.parse(row).count === count ? edit(row) : [row])
      await reader.produce(edited.map(row => ({ topic: TABLE, partition: 0, key: Buffer.from(TABLE), value: Buffer.from(row) })))
    })
    return {
      remove: count => replace(count, () => []),
      repeat: count => replace(count, row => [row, row]),
      change: (count, strain) => replace(count, row => [row.replace(/"strain":[^,}]+/, `"strain":${strain}`)]),
      clear: () => withReader(port, reader => reader.clear())
    }
  },

  file ({ sink: { folder } }) {
    const editRow = async (/** @type {number} */ count, /** @type {(cells: string[], names: string[]) => string[][]} */ edit) => {
      const path = join(folder, `${TABLE}-000001.csv`)
      const [names, ...rows] = (await readFile(path, 'utf8')).trimEnd().split('\n').map(line => line.split(','))
      const edited = rows.flatMap(cells => cells[names.indexOf('count')] === String(count) ? edit(cells, names) : [cells])
      await writeFile(path, [names, ...edited].map(cells => `${cells.join(',')}\n`).join(''))
    }
    return {
      remove: count => editRow(count, () => []),
      repeat: count => editRow(count, cells => [cells, cells]),
      change: (count, strain) => editRow(count, (cells, names) => [cells.with(names.indexOf('strain'), String(strain))]),
      clear: () => rm(folder, { recursive: true, force: true })
    }
  }
}

/** @param {(name: string) => string} quoted @param {(sql: string) => Promise<void>} execute */
function sqlEdits (quoted, execute) {
  const table = quoted(TABLE)
  const where = (/** @type {number} */ count) => `WHERE ${quoted('count')} = ${count}`
  return {
    remove: (/** @type {number} */ count) => execute(`DELETE FROM ${table} ${where(count)}`),
    repeat: (/** @type {number} */ count) => execute(`INSERT INTO ${table} SELECT * FROM ${table} ${where(count)}`),
    change: (/** @type {number} */ count, /** @type {number} */ strain) =>
      execute(`UPDATE ${table} SET ${quoted('strain')} = ${strain} ${where(count)}`)
  }
}

/** @param {number} port @param {(reader: KafkaReader) => Promise<void>} work */
async function withReader (port, work) {
  const reader = new KafkaReader({ port })
  await work(reader)
  await reader.close()
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { manyAtOnce } from '../base/many-at-once.js'
import { open } from '../databases/postgresql/sink.js'
import { connect } from '../databases/postgresql/connection.js'
import { median, narrowBatches } from './narrow-rows.js'
import { openPostgresql } from './postgresql-server.js'

/** @typedef {{host: string, port: number, user: string, password: string, database: string}} Login */

const RUNS = 3
const IN_FLIGHT = 2

/**
 * The PostgreSQL sink against psql's `\copy … (FORMAT binary)`: the same rows into the same columns with the same index on the same
 * server, in turns.
 * The sink also leaves its commit records, a transaction a batch; psql stores all in one.
 * @param {import('./servers.js').Servers} servers
 * @param {{rows?: number, batchRows?: number}} [options]
 * @returns {Promise<{rows: number, batchRows: number, ours: number, psql: number, ratio: number}>} medians in rows per second
 */
export async function benchPostgresql (servers, { rows = 1_000_000, batchRows = 20_000 } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  const file = join(folder, 'rows')
  const server = await openPostgresql(servers, folder)
  const psql = (/** @type {string[]} */ ...commands) => runPsql(server.login, commands)
  const batches = narrowBatches({ rows, batchRows, source: 'ours' })
  const ours = []
  const theirs = []
  try {
    for (let run = 0; run <= RUNS; run++) {
      await psql('DROP TABLE IF EXISTS ours, sluice_commits', 'CHECKPOINT')
      const oursSeconds = await storeAll(batches, server.login)
      await psql(`\\copy ours TO '${file}' (FORMAT binary)`, 'DROP TABLE IF EXISTS psql', 'CREATE TABLE psql (LIKE ours INCLUDING ALL)',
        'DROP TABLE ours', 'CHECKPOINT')
      const output = await psql('\\timing on', `\\copy psql FROM '${file}' (FORMAT binary)`)
      const psqlSeconds = Number(/Time: ([\d.]+) ms/.exec(output)?.[1]) / 1000
      // The first turn only warms up.
      if (run > 0) {
        ours.push(rows / oursSeconds)
        theirs.push(rows / psqlSeconds)
      }
    }
  } finally {
    await server.remove()
    await rm(folder, { recursive: true })
  }
  return { rows, batchRows, ours: median(ours), psql: median(theirs), ratio: median(ours) / median(theirs) }
}

/**
 * @param {import('../batch/batch.js').Batch[]} batches
 * @param {Login} login
 * @returns {Promise<number>} seconds, from the first write to the last commit
 */
async function storeAll (batches, login) {
  const server = connect({ ...login, connections: IN_FLIGHT })
  const sink = await open({}, { server })
  try {
    await sink.prepare(batches)
    const start = performance.now()
    await manyAtOnce(IN_FLIGHT, batches, batch => sink.write([batch]))
    return (performance.now() - start) / 1000
  } finally {
    await sink.close()
    await server.close()
  }
}

/**
 * @param {Login} login
 * @param {string[]} commands  one after the other
 * @returns {Promise<string>} what psql prints
 */
export async function runPsql ({ host, port, user, password, database }, commands) {
  const args = ['-X', '-v', 'ON_ERROR_STOP=1', ...commands.flatMap(command => ['-c', command])]
  const login = { PGHOST: host, PGPORT: String(port), PGUSER: user, PGPASSWORD: password, PGDATABASE: database }
  const env = { ...process.env, ...login, PGOPTIONS: '-c client_min_messages=warning', LC_ALL: 'C' }
  const child = spawn('psql', args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', text => { output += text })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`psql ended with ${code}`)
  return output
}

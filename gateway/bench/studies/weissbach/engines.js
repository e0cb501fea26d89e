import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { SluiceError } from '../../../base/errors.js'
import { Prepared } from './records.js'

/**
 * Engines do in a job of theirs what a flow does: read a record by its key, add, replace. A job is a program that gets the name of a file
 * with its load, as JSON, and prints what it has measured.
 *
 * @typedef {object} EngineRun  of one operator
 * @property {number} records
 * @property {number} seconds
 * @property {number} rows  that have to be there
 * @property {number} compared  reads that returned what was written
 * @property {number[]} readMicroseconds
 * @property {number[]} writeMicroseconds
 */

/** By the name that the servers of the bench have for them. @type {Record<string, string>} */
export const ENGINES = { flink: 'Flink', spark: 'Spark' }

/** Their jobs speak to these. */
export const ENGINE_DATABASES = ['postgresql', 'cassandra']

/**
 * @param {import('../../servers.js').Server} engine
 * @param {{login: Record<string, any>, type: string}} database
 * @param {{pattern: string, blobBytes: number, ids: number, clients: number, warmUpMs: number, limitMs: number, maxRecords: number}} load
 * @param {{folder: string, signal: AbortSignal}} how
 * @returns {Promise<{runs: EngineRun[], count: number}>}
 * @throws {SluiceError} SLUICE_BENCH_CLIENT
 */
export async function runEngine ({ program }, { login, type }, { blobBytes, ...load }, { folder, signal }) {
  const { host, port, user, password, database } = login
  const prepared = new Prepared(blobBytes)
  const file = join(folder, 'load.json')
  const job = { ...load, database: type, host, port, user, password, name: database, ...prepared.all() }
  await writeFile(file, JSON.stringify(job), { mode: 0o600 })
  const { command: [name, ...args], environment } = /** @type {import('../../servers.js').EngineProgram} */ (program)
  const child = spawn(name, [...args, file], {
    cwd: folder, env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe'], detached: true
  })
  const end = () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-Number(child.pid), 'SIGKILL')
  }
  signal.addEventListener('abort', end)
  process.once('exit', end)
  try {
    const [printed, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    signal.throwIfAborted()
    if (code !== 0) throw new SluiceError('SLUICE_BENCH_CLIENT', `The engine ended with ${code}.`, { cause: new Error(said.slice(-2000)) })
    return JSON.parse(printed.trim().split('\n').at(-1) ?? '')
  } finally {
    signal.removeEventListener('abort', end)
    process.off('exit', end)
  }
}

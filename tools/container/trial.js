import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { COMMITS_TABLE } from '../../gateway/databases/names.js'
import { run } from '../run.js'
import { contain } from './contained.js'
import { configOf, layOut } from './engine.js'

/** Also where every instruction is emulated. */
const PATIENCE_MS = 600_000
/** A database of so much has rows. */
const SOME_BYTES = 2 ** 18
const STRANGER = 54_321

/**
 * Runs an image as a container that may do nothing, and tells whether all is well.
 * @param {import('./engine.js').Engine} engine
 * @param {string} tag
 * @param {string} folder  for what it needs
 * @param {(line: string) => void} log
 */
export async function tryImage (engine, tag, folder, log) {
  if (process.getuid?.() !== 0) throw new Error('Trying an image takes root: it mounts its files, and changes the user.')
  const config = configOf(engine, tag)
  mkdirSync(join(folder, 'root'), { recursive: true })
  const { root, remove } = layOut(engine, tag, join(folder, 'root'))
  try {
    log(`Unpacked: ${Math.round(Number(run('du', ['-sb', root]).split('\t')[0]) / 1e6)} MB.`)
    const secrets = join(folder, 'secrets')
    mkdirSync(secrets)
    const containers = new Containers({ root, config, secrets })
    await containers.refusesWithoutUsers(join(folder, 'none'))
    log('Without users it refuses to listen, and says what to do.')
    writeFileSync(join(secrets, 'login'), 'operator:change:a password for a trial\n')
    chmodSync(join(secrets, 'login'), 0o644)
    const user = Number(config.User.split(':')[0])
    const first = await containers.runs(join(folder, 'data'), user)
    log(`User ${user}, nothing to write but /data, no capabilities: healthy after ${first.startSeconds.toFixed(1)} s, ` +
      `${first.megabytes} MB of memory; ${first.rows} rows when SIGTERM had drained it, in ${first.stopSeconds.toFixed(1)} s.`)
    const second = await containers.runs(join(folder, 'data'), user)
    if (second.rows <= first.rows) throw new Error(`After another start there are ${second.rows} rows, before it ${first.rows}.`)
    log(`Started again with the same volume: healthy after ${second.startSeconds.toFixed(1)} s, ${second.rows} rows.`)
    const other = await containers.runs(join(folder, 'other'), STRANGER)
    log(`As user ${STRANGER}, whom the image does not know: ${other.rows} rows.`)
  } finally {
    remove()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Containers {
  #image

  /** @param {{root: string, config: import('./engine.js').Config, secrets: string}} image */
  constructor (image) {
    this.#image = image
  }

  /** @param {string} data */
  async refusesWithoutUsers (data) {
    const container = this.#start({ data, user: 1000, args: [] })
    const { code, output } = await container.exit
    if (code !== 1 || !output.includes('SLUICE_LOGIN_MISSING')) throw new Error(`Without users it ended with ${code}: ${output}`)
  }

  /** Until there are rows, and a little longer. @param {string} data @param {number} user */
  async runs (data, user) {
    const port = await freePort()
    const startMs = performance.now()
    const container = this.#start({ data, user, args: ['--port', String(port), '--login-file', '/mnt/login'] })
    const ended = container.exit.then(({ code, output }) => { throw new Error(`It ended with ${code}: ${output}`) })
    ended.catch(() => {})
    /** @param {() => Promise<boolean>|boolean} condition */
    const reaches = condition => Promise.race([until(condition), ended])
    try {
      await reaches(() => isHealthy(port))
      const startSeconds = (performance.now() - startMs) / 1000
      await reaches(() => this.#passesItsOwnCheck(port))
      const file = join(data, 'sluice', 'sluice.sqlite')
      const sizeBefore = sizeOf(file)
      await reaches(() => sizeOf(file) > sizeBefore + SOME_BYTES)
      const megabytes = megabytesOf(container.first())
      const stopMs = performance.now()
      container.signal('SIGTERM')
      const { code, output } = await container.exit
      if (code !== 0 || !output.includes('Stopped.\n')) throw new Error(`At SIGTERM it ended with ${code}: ${output}`)
      return { startSeconds, megabytes, rows: countRows(file), stopSeconds: (performance.now() - stopMs) / 1000 }
    } finally {
      container.kill()
      await container.exit
    }
  }

  /** @param {{data: string, user: number, args: string[]}} options */
  #start ({ data, user, args }) {
    if (!existsSync(data)) {
      mkdirSync(data)
      chownSync(data, user, user)
    }
    return contain({ ...this.#image, data, user, args })
  }

  /** @param {number} port */
  #passesItsOwnCheck (port) {
    const { root, config } = this.#image
    const [, ...command] = config.Healthcheck.Test
    return spawnSync('chroot', [root, 'env', ...config.Env, ...command.map(word => word.replace(':1880', `:${port}`))]).status === 0
  }
}

/** All that its commit records say, and no more. @param {string} file */
function countRows (file) {
  const database = new DatabaseSync(file)
  try {
    const sums = `SELECT sink_table AS name, sum(stored) AS stored FROM ${COMMITS_TABLE} WHERE staged > 0 GROUP BY 1`
    const counts = database.prepare(sums).all().map(({ name, stored }) => {
      const { count } = /** @type {{count: number}} */ (database.prepare(`SELECT count(*) AS count FROM "${name}"`).get())
      if (count !== stored) throw new Error(`The table ${name} has ${count} rows; ${stored} were stored.`)
      return count
    })
    return counts.reduce((sum, count) => sum + count, 0)
  } finally {
    database.close()
  }
}

/** Of a database, with what has not moved into it yet. @param {string} file */
function sizeOf (file) {
  return [file, `${file}-wal`].reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0)
}

/** @param {number} pid */
function megabytesOf (pid) {
  const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) * 1024 / 1e6)
}

/** @param {number} port */
async function isHealthy (port) {
  const answer = await fetch(`http://127.0.0.1:${port}/sluice/health`).catch(() => null)
  return answer?.status === 200
}

/** @param {() => Promise<boolean>|boolean} condition */
async function until (condition) {
  const giveUpMs = performance.now() + PATIENCE_MS
  while (!await condition()) {
    if (performance.now() > giveUpMs) throw new Error(`What was waited for did not come in ${PATIENCE_MS / 60_000} minutes.`)
    await setTimeout(50)
  }
}

/** @returns {Promise<number>} */
function freePort () {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      server.close(() => resolve(port))
    })
  })
}

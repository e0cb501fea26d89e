import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** @typedef {import('./plan.js').Kill} Kill */

/**
 * Mosquitto with the configuration that this package ships, but snapshots every second: what comes back is then not an empty broker, but
 * the harder case, sessions without their last messages.
 * @param {string} dir  for all that it keeps
 */
export async function startMosquitto (dir) {
  const { asRoot, startMosquitto: start } = await import('../../test/servers/mosquitto.js')
  const { freePort } = await import('../../test/servers/ports.js')
  const port = await freePort()
  const shipped = await readFile(new URL('../../broker/mosquitto.conf', import.meta.url), 'utf8')
  const confText = [
    shipped.replace('listener 1883 ', `listener ${port} `).replace('autosave_interval 10', 'autosave_interval 1').replace('/var/lib/mosquitto/', `${dir}/`),
    ...asRoot(),
    `log_dest file ${join(dir, 'mosquitto.log')}`,
    ''
  ].join('\n')
  await mkdir(dir)
  const mosquitto = await start({ dir, port, confText })
  return {
    url: mosquitto.url,
    stop: () => mosquitto.stop(),
    start: () => mosquitto.start(),
    /** @param {Kill} kill */
    async kill ({ forgets }) {
      await mosquitto.kill()
      if (forgets) await mosquitto.deletePersistence()
    }
  }
}

/**
 * PostgreSQL, which is killed with all its processes.
 * @param {string} dir  for all that it keeps
 */
export async function startPostgresql (dir) {
  const { startPostgresql: start } = await import('../../test/servers/postgresql.js')
  await mkdir(dir)
  await chmod(join(dir, '..'), 0o711) // it may run as another user, who must get through
  const server = await start({ dir })
  return {
    server,
    start: () => server.start(),
    stop: () => server.stop(),
    async kill () {
      const children = await childrenOf(/** @type {number} */ (server.pid))
      const ended = server.kill()
      for (const child of children) killIfThere(child)
      await ended
    }
  }
}

/** What keeps this machine from a run, null when nothing does. @returns {Promise<string|null>} */
export async function missingServer () {
  let programs, postgresql
  try {
    programs = await import('../../test/servers/programs.js')
    postgresql = await import('../../test/servers/postgresql.js')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ERR_MODULE_NOT_FOUND') throw error
    return 'This needs a checkout of the repository: the published package has no tests, which know how to start the servers.'
  }
  if (programs.findProgram('mosquitto') === null) return 'Mosquitto is not installed. On Debian: apt-get install mosquitto'
  if (postgresql.postgresqlPrograms() === null) return 'PostgreSQL is not installed. On Debian: apt-get install postgresql'
  return null
}

/** Linux tells; elsewhere the children are left to notice that they are orphans. @param {number} pid */
async function childrenOf (pid) {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

/** @param {number} pid */
function killIfThere (pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
  }
}

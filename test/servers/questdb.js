import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingJava, questdb } from './java/jars.js'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real QuestDB on 127.0.0.1, in a folder of its own, that syncs what it acknowledges.
 *
 * @typedef {object} QuestdbServer
 * @property {number} port
 * @property {string} user  empty where it asks for no login
 * @property {string} password
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop  shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

/** What is missing for QuestDB, or null. */
export function missingQuestdb () {
  return missingJava(questdb)
}

/**
 * @param {{dir?: string, login?: boolean, isMeasured?: boolean, commitMode?: string}} [options]  `dir` must be empty or the folder of an
 *   earlier server; `login` makes it ask for one; `isMeasured` gives it more memory
 * @returns {Promise<QuestdbServer>} started
 */
export async function startQuestdb ({ dir, login = false, isMeasured = false, commitMode = 'sync' } = {}) {
  const missing = missingQuestdb()
  if (missing) throw new Error(`QuestDB: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-questdb-'))
  const port = await freePort()
  const [user, password] = login ? ['gateway', 'a secret'] : ['', '']
  await mkdir(join(folder, 'conf'), { recursive: true })
  await writeFile(join(folder, 'conf', 'server.conf'), `http.bind.to=127.0.0.1:${port}
http.min.enabled=false
pg.enabled=false
line.tcp.enabled=false
line.udp.enabled=false
shared.worker.count=2
telemetry.enabled=false
cairo.commit.mode=${commitMode}
dev.mode.enabled=true
${login ? `http.user=${user}\nhttp.password=${password}\n` : ''}`)
  const server = machine(questdb, {
    main: 'io.questdb.ServerMain',
    options: isMeasured ? ['-Xms256m', '-Xmx768m'] : ['-Xms64m', '-Xmx384m'],
    args: ['-d', folder],
    folder,
    port,
    isMeasured
  })
  await server.start()
  return {
    port,
    user,
    password,
    get pid () { return server.pid },
    start: server.start,
    stop: server.stop,
    kill: server.kill,
    async remove () {
      await server.kill()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { machine } from './java/machine.js'
import { freePort } from './ports.js'

/**
 * A real Warp 10 on 127.0.0.1, in a folder of its own, that syncs what it acknowledges. It is in no registry of packages: docs/databases.md
 * says how to build it, and SLUICE_WARP10 where it then is.
 *
 * @typedef {{readToken: string, writeToken: string}} Tokens
 * @typedef {object} Warp10Server
 * @property {number} port
 * @property {Tokens[]} tokens  of many owners, none of whom sees what the others have
 * @property {number|undefined} pid  while it runs
 * @property {() => Promise<void>} start  waits until it answers; recovers after `kill`
 * @property {() => Promise<void>} stop  shuts down cleanly
 * @property {() => Promise<void>} kill  SIGKILL
 * @property {() => Promise<void>} remove  stops it and removes its folder
 */

const BUILT = process.env.SLUICE_WARP10 ?? ''

/** Enough for the tests of a suite. */
const OWNERS = 200

/** WarpScript, whose answer is a list of tokens: of each owner the one to write and the one to read. */
const TOKENS = `
<% 'type' STORE {
  'id' $type 'type' $type 'application' 'sluice' 'owner' $owner 'producer' $owner
  'owners' [ $owner ] 'producers' [ $owner ] 'applications' [ 'sluice' ]
  'issuance' NOW MSTU / 'expiry' NOW MSTU / 864000000 + 'labels' {} 'attributes' {}
} TOKENGEN %> 'token' STORE
1 ${OWNERS} <% DROP UUID 'owner' STORE 'READ' @token 'WRITE' @token %> FOR`

/** What Java must let it see. */
const EXPORTS = ['java.desktop/com.sun.imageio.plugins.png', 'java.base/sun.net.www.protocol.file']
  .flatMap(each => ['--add-exports', `${each}=ALL-UNNAMED`])

/** What is missing for Warp 10, or null. */
export function missingWarp10 () {
  if (BUILT === '') return 'SLUICE_WARP10 does not name the folder of a built one (docs/databases.md)'
  if (!existsSync(join(BUILT, 'classes', 'io', 'warp10'))) return `there is none in ${BUILT}`
  return spawnSync('java', ['-version']).status === 0 ? null : 'Java is not installed'
}

/**
 * @param {{dir?: string, unit?: 'ms'|'us'|'ns', isMeasured?: boolean}} [options]  `dir` must be empty or the folder of an earlier server;
 *   `isMeasured` gives it more memory
 * @returns {Promise<Warp10Server>} started
 */
export async function startWarp10 ({ dir, unit = 'us', isMeasured = false } = {}) {
  const missing = missingWarp10()
  if (missing) throw new Error(`Warp 10: ${missing}`)
  const folder = dir ?? await mkdtemp(join(tmpdir(), 'sluice-warp10-'))
  const port = await freePort()
  const conf = join(folder, 'warp10.conf')
  const classPath = `${join(BUILT, 'classes')}:${join(BUILT, 'lib', '*')}`
  const java = (/** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = spawnSync('java', [...EXPORTS, '-Dsensision.server.port=0', '-cp', classPath, ...args], {
      cwd: folder, encoding: 'utf8'
    })
    if (status !== 0) throw new Error(`Warp 10: ${stderr.trim() || stdout}`)
    return stdout
  }
  const data = join(folder, 'data')
  const kept = await readFile(join(folder, 'tokens.json'), 'utf8').catch(() => null)
  if (kept === null) {
    await mkdir(data, { recursive: true })
    await writeFile(conf, configuration({ folder, data, port, unit }))
    await writeFile(join(folder, 'tokens.mc2'), TOKENS)
    java('io.warp10.leveldb.WarpInit', data)
    await writeFile(join(folder, 'tokens.json'), /\[.*\]/.exec(java('io.warp10.TokenGen', conf, 'tokens.mc2'))?.[0] ?? '')
  } else {
    await writeFile(conf, (await readFile(conf, 'utf8')).replace(/^standalone\.port = .*$/m, `standalone.port = ${port}`))
  }
  const all = JSON.parse(await readFile(join(folder, 'tokens.json'), 'utf8')).map((/** @type {{token: string}} */ { token }) => token)
  const server = machine({ name: 'warp10' }, {
    classPath,
    main: 'io.warp10.standalone.Warp',
    options: [...EXPORTS, '-Dsensision.server.port=0', '-Dfile.encoding=UTF-8', ...isMeasured ? ['-Xms256m', '-Xmx768m'] : ['-Xmx384m']],
    args: [conf],
    folder,
    port,
    isMeasured
  })
  await server.start()
  return {
    port,
    tokens: Array.from({ length: all.length / 2 }, (_, i) => ({ writeToken: all[2 * i], readToken: all[2 * i + 1] })),
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

/** @param {{folder: string, data: string, port: number, unit: string}} options */
function configuration ({ folder, data, port, unit }) {
  const random = (/** @type {number} */ bytes) => `hex:${randomBytes(bytes).toString('hex')}`
  return `
backend = leveldb
leveldb.home = ${data}
leveldb.native.disable = true
leveldb.java.disable = false
leveldb.data.syncrate = 1.0
leveldb.directory.syncrate = 1.0
warp.timeunits = ${unit}
standalone.home = ${folder}
standalone.host = 127.0.0.1
standalone.port = ${port}
standalone.acceptors = 1
standalone.selectors = 2
standalone.max.encoder.size = 100000
standalone.value.maxsize = 1048576
warp.relax.value.maxsize = true
${['class', 'labels', 'token', 'app'].map(name => `warp.hash.${name} = ${random(16)}`).join('\n')}
${['token', 'scripts', 'metasets'].map(name => `warp.aes.${name} = ${random(32)}`).join('\n')}
ingress.websocket.maxmessagesize = 1048576
plasma.frontend.websocket.maxmessagesize = 1048576
${['update', 'meta', 'delete'].map(name => `warpscript.${name}.endpoint = http://127.0.0.1:${port}/api/v0/${name}`).join('\n')}
warpscript.maxops = 10000000
labelsid.slowimpl = true
`
}

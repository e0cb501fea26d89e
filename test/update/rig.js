import { spawn } from 'node:child_process'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { create } from 'tar'
import { ARCHITECTURE } from '../../gateway/update/release.js'
import { freePort } from '../servers/ports.js'

const PROGRAM = fileURLToPath(new URL('../../gateway/cli/sluice.js', import.meta.url))
const BOOT = fileURLToPath(new URL('../../packaging/update/sluice-boot', import.meta.url))
const FAKE_GATEWAY = fileURLToPath(new URL('fake-gateway.js', import.meta.url))
const FAKE_SERVICE = fileURLToPath(new URL('fake-service.sh', import.meta.url))
const PATIENCE_MS = 100_000

/**
 * How a fake release's gateway behaves: `healthy`; `crashes` at once; answers as another version (`liar`); has more `trouble` than others;
 * or is on a machine where its Node does not run (`no-node`).
 * @typedef {'healthy'|'crashes'|'liar'|'trouble'|'no-node'} Kind
 *
 * @typedef {object} Making
 * @property {Kind} [kind]
 * @property {string} [arch]
 * @property {import('../../gateway/update/release.js').Formats} [formats]
 * @property {(folder: string) => Promise<unknown>} [spoil]  before it is packed, and after its sums are taken
 * @property {import('node:crypto').KeyObject} [key]
 */

/** A pair of Ed25519. */
export const makeKeys = () => generateKeyPairSync('ed25519')

/**
 * An installation of fake releases, with real signatures, and a fake service that runs them: all of `sluice update` is real.
 */
export class UpdateRig {
  keys = makeKeys()
  folder = ''
  host = '127.0.0.1'
  port = 0
  /** @type {import('node:child_process').ChildProcess|null} */
  #service = null
  /** What the service and its gateways have said. */
  log = ''

  get root () { return join(this.folder, 'opt') }

  get url () { return `http://${this.host}:${this.port}/` }

  /** With release 1.0.0 as the present one. */
  async begin () {
    this.folder = await mkdtemp(join(tmpdir(), 'sluice-update-'))
    this.host = '127.0.0.1'
    this.port = await freePort()
    this.log = ''
    const folder = join(this.root, 'releases', '1.0.0')
    await this.#fill(folder, '1.0.0', {})
    await symlink('releases/1.0.0', join(this.root, 'current'))
    await cp(BOOT, join(this.root, 'sluice-boot'))
  }

  async end () {
    await this.cut()
    await rm(this.folder, { recursive: true, force: true })
  }

  /**
   * A release as a user gets it: three files.
   * @param {string} version
   * @param {Making} [making]
   * @returns {Promise<string>} the path of the tarball
   */
  async release (version, making = {}) {
    const { arch = ARCHITECTURE, spoil, key } = making
    const folder = join(this.folder, 'made', `sluice-${version}`)
    await this.#fill(folder, version, making)
    await spoil?.(folder)
    const tarball = join(this.folder, `sluice-${version}-linux-${arch}.tar.gz`)
    await create({ gzip: true, portable: true, cwd: dirname(folder), file: tarball }, [basename(folder)])
    await this.sign(tarball, key)
    return tarball
  }

  /** @param {string} tarball @param {import('node:crypto').KeyObject} [key] */
  async sign (tarball, key = this.keys.privateKey) {
    const sums = Buffer.from(`${await hashOf(tarball)}  ${basename(tarball)}\n`)
    await writeFile(`${tarball}.sha256`, sums)
    await writeFile(`${tarball}.sha256.sig`, `${sign(null, sums, key).toString('base64')}\n`)
  }

  /** Runs the gateway as a service does: again whenever it ends. */
  async start () {
    const child = this.#service = spawn('sh', [FAKE_SERVICE, this.root], {
      env: { ...process.env, FAKE_HOST: this.host, FAKE_PORT: `${this.port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true // so that all that it starts ends with it
    })
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => { this.log += text })
    await this.until(async () => (await this.running()) !== null)
  }

  /** As its service does when it is told to. */
  async restart () {
    process.kill(Number(await readFile(join(this.root, 'gateway.pid'), 'utf8')))
  }

  /** Everything stops, as when the power is cut. */
  async cut () {
    const child = this.#service
    if (!child?.pid) return
    this.#service = null
    process.kill(-child.pid, 'SIGKILL')
    await once(child, 'close')
  }

  /**
   * `sluice update …`, by the release that runs, with what it needs to know of this installation.
   * @param {string[]} args
   * @param {NodeJS.ProcessEnv} [environment]
   */
  async update (args, environment = {}) {
    const restart = `kill $(cat ${join(this.root, 'gateway.pid')})`
    const always = ['--root', this.root, '--restart', restart, '--url', this.url, '--wait', '8']
    return this.run([...always, ...args], environment)
  }

  /** @param {string[]} args @param {NodeJS.ProcessEnv} [environment] */
  async run (args, environment = {}) {
    const child = spawn(join(this.root, 'current', 'bin', 'sluice'), ['update', ...args], {
      env: { ...process.env, ...environment }, stdio: ['ignore', 'pipe', 'pipe']
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', text => { stdout += text })
    child.stderr.setEncoding('utf8').on('data', text => { stderr += text })
    const [code, signal] = await once(child, 'close')
    return { code, signal, stdout, stderr }
  }

  /**
   * What has a program run something first, which may change the functions of `fs`.
   * @param {string} code
   * @returns {Promise<NodeJS.ProcessEnv>}
   */
  async preload (code) {
    const file = join(this.folder, 'preload.mjs')
    const imports = 'import fs from "node:fs/promises"\nimport { syncBuiltinESMExports } from "node:module"\n'
    await writeFile(file, `${imports}${code}\nsyncBuiltinESMExports()\n`)
    return { NODE_OPTIONS: `--import ${file}` }
  }

  /** The start-up script, as the service calls it. @param {...string} args */
  async boot (...args) {
    const child = spawn(join(this.root, 'sluice-boot'), args, { stdio: ['ignore', 'ignore', 'pipe'] })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', text => { stderr += text })
    const [code] = await once(child, 'close')
    return { code, stderr }
  }

  /** The same, killed once so many other programs have ended. @param {number} programs @returns {Promise<boolean>} whether it was */
  async killBoot (programs) {
    const folder = join(this.folder, 'wrapped')
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    await writeFile(join(folder, 'left'), '.'.repeat(programs))
    for (const name of ['sed', 'chmod', 'sync', 'mv', 'rm', 'ln']) {
      await writeFile(join(folder, name), `#!/bin/sh
PATH=\${PATH#*:}
${name} "$@"
code=$?
truncate --size=-1 "${folder}/left"
[ -s "${folder}/left" ] || kill -9 "$(cat "${folder}/pid")"
exit $code
`, { mode: 0o755 })
    }
    const script = 'echo $$ > "$0/pid"; PATH=$0:$PATH exec "$1"'
    const child = spawn('sh', ['-c', script, folder, join(this.root, 'sluice-boot')], { stdio: 'ignore' })
    const [, signal] = await once(child, 'close')
    return signal === 'SIGKILL'
  }

  /** The version that answers; null where none does. @returns {Promise<string|null>} */
  async running () {
    return fetch(`${this.url}sluice/health`).then(async response => (await response.json()).version, () => null)
  }

  async current () { return basename(await readlink(join(this.root, 'current'))) }

  /** @returns {Promise<import('../../gateway/update/installation.js').State>} */
  async state () { return JSON.parse(await readFile(join(this.root, 'update.json'), 'utf8')) }

  /** The releases that are there. */
  async kept () { return (await readdir(join(this.root, 'releases'))).sort() }

  /** Older ones are removed once it is decided that a release is kept: by the command, or by the service. @param {string[]} versions */
  async keeps (...versions) {
    await this.until(async () => `${await this.kept()}` === `${versions}`)
  }

  /** @param {() => unknown} isTrue */
  async until (isTrue) {
    for (const deadline = Date.now() + PATIENCE_MS; !await isTrue(); await sleep(50)) {
      if (Date.now() > deadline) throw new Error(`Waited in vain for ${isTrue}\n${this.log}`)
    }
  }

  /** @param {string} folder @param {string} version @param {Making} making */
  async #fill (folder, version, { kind = 'healthy', arch = ARCHITECTURE, formats = { spool: { writes: 2, reads: [2] } } }) {
    const bin = join(folder, 'bin')
    const share = join(folder, 'share')
    for (const path of [bin, join(share, 'update'), join(folder, 'app')]) await mkdir(path, { recursive: true })
    await writeFile(join(folder, 'release.json'), JSON.stringify({ name: 'sluice', version, arch, formats }))
    await writeFile(join(share, 'test.pub'), this.keys.publicKey.export({ type: 'spki', format: 'pem' }))
    await cp(BOOT, join(share, 'update', 'sluice-boot'))
    await cp(FAKE_GATEWAY, join(folder, 'app', 'gateway.js'))
    await writeFile(join(folder, 'app', 'kind'), kind)
    await writeFile(join(bin, 'node'), kind === 'no-node' ? '#!/bin/sh\nexit 127\n' : `#!/bin/sh\nexec "${process.execPath}" "$@"\n`)
    await writeFile(join(bin, 'sluice'), `#!/bin/sh
self=$(readlink -f "$0")
root=\${self%/bin/*}
[ "$1" = start ] && exec "$root/bin/node" "$root/app/gateway.js"
exec "$root/bin/node" "${PROGRAM}" "$@"
`)
    for (const name of ['node', 'sluice']) await chmod(join(bin, name), 0o755)
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter(entry => entry.isFile())
    const sums = await Promise.all(files.map(async ({ parentPath, name }) => {
      const path = join(parentPath, name)
      return `${await hashOf(path)}  ${relative(folder, path)}\n`
    }))
    await writeFile(join(folder, 'SHA256SUMS'), sums.join(''))
  }
}

/** @param {string} file */
async function hashOf (file) {
  return createHash('sha256').update(await readFile(file)).digest('hex')
}

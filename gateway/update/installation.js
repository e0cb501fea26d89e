import { existsSync } from 'node:fs'
import { chmod, copyFile, open, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, SluiceError } from '../base/errors.js'
import { replaceFile, syncFolder } from '../base/files.js'
import { lock } from '../base/lock.js'
import { PACKAGE_ROOT } from '../run/settings.js'
import { readRelease } from './release.js'

/**
 * How an update stands. A release is on trial from before it is switched to until it was healthy; while one is returned from, the way back
 * is not finished.
 *
 * @typedef {object} State
 * @property {'trial'|'confirmed'|'returning'|'returned'} state
 * @property {string} from
 * @property {string} to
 * @property {string} since  when it was switched to
 * @property {number} attempts  starts of the gateway on trial
 * @property {string} started  the first of these in the present run of the machine: its name, and seconds since it began
 * @property {number} waitSeconds  for the gateway to be healthy
 * @property {string} url  of the gateway; empty: as usual
 * @property {number} trouble  what was in trouble before: see health.js
 * @property {string} reason  of the return
 */

/** What the start-up script knows a line by: it comes last, so that all others end with a comma. */
const FORMAT = 1
const READABLE = 0o644
const NOT_ALLOWED = ['EACCES', 'EPERM', 'EROFS']

/**
 * Releases beside each other, and the link to the one that runs:
 *
 *     releases/<version>/     as the tarball has it
 *     current -> releases/<version>
 *     update.json             a State, a property a line
 *     sluice-boot             what chooses the release at each start: packaging/update/sluice-boot
 */
export class Installation {
  /** @param {string} root */
  constructor (root) {
    this.root = root
    this.releases = join(root, 'releases')
  }

  /** @param {string} version */
  folderOf (version) { return join(this.releases, version) }

  /** The version that is started. @returns {Promise<string>} @throws {SluiceError} SLUICE_UPDATE_PLACE */
  async current () {
    const target = await readlink(join(this.root, 'current')).catch(cause => { throw misplaced(this.root, cause) })
    return basename(target)
  }

  /** That the version that is started is there. @throws {SluiceError} SLUICE_UPDATE_PLACE */
  async check () {
    const version = await this.current()
    if (existsSync(this.folderOf(version))) return
    throw new SluiceError('SLUICE_UPDATE_PLACE', `${join(this.root, 'current')} leads to ${version}, which is not in ${this.releases}.`, {
      fix: `Have it lead to one that is: ln -sfn releases/VERSION ${join(this.root, 'current')}`
    })
  }

  /** Of the last update; null where there was none, or a damaged disk has nothing that could be read. @returns {Promise<State|null>} */
  async state () {
    try {
      return JSON.parse(await readFile(join(this.root, 'update.json'), 'utf8'))
    } catch (error) {
      if (error instanceof SyntaxError || /** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
      throw error
    }
  }

  /** The state from the switch on until it is decided that the release is kept, or has been given up; null otherwise. */
  async undecided () {
    const state = await this.state()
    const isOnTrial = state?.state === 'trial' && state.to === await this.current()
    return isOnTrial || state?.state === 'returning' ? state : null
  }

  /** Durably. @param {State} state */
  async save (state) {
    await replaceFile(join(this.root, 'update.json'), `${JSON.stringify({ ...state, format: FORMAT }, null, 2)}\n`, READABLE)
  }

  /**
   * Has the gateway start that version from now on: a rename, before which it starts the old one and after which the new one.
   * @param {string} version
   */
  async switchTo (version) {
    const link = join(this.root, 'current')
    await rm(`${link}.new`, { force: true })
    await symlink(join('releases', version), `${link}.new`)
    await rename(`${link}.new`, link)
    await syncFolder(link)
  }

  /** Where a release is unpacked: in nobody's way, and removed when the next one is. */
  get unpacking () { return join(this.releases, '.unpacking') }

  /** Gives what was unpacked its name. @param {string} version  neither current nor on trial */
  async adopt (version) {
    await rm(this.folderOf(version), { recursive: true, force: true })
    await rename(this.unpacking, this.folderOf(version))
    await syncFolder(this.folderOf(version))
  }

  /** Only these stay. @param {string[]} versions */
  async keepOnly (versions) {
    const kept = new Set([...versions, await this.current()])
    for (const name of await readdir(this.releases)) {
      if (!kept.has(name)) await rm(join(this.releases, name), { recursive: true, force: true })
    }
  }

  /** Brings the start-up script up to a release's. @param {string} version */
  async bringScript (version) {
    const shipped = join(this.folderOf(version), 'share', 'update', 'sluice-boot')
    const path = join(this.root, 'sluice-boot')
    const [text, present] = await Promise.all([shipped, path].map(file => readFile(file, 'utf8').catch(() => null)))
    if (text === null || text === present) return
    await copyFile(shipped, `${path}.new`)
    await chmod(`${path}.new`, 0o755)
    const file = await open(`${path}.new`)
    await file.sync().finally(() => file.close())
    await rename(`${path}.new`, path)
    await syncFolder(path)
  }

  /** @param {string} version */
  release (version) { return readRelease(this.folderOf(version)) }

  /** For one process at a time. @returns {() => void} unlocks it @throws {SluiceError} SLUICE_UPDATE_UNDER_WAY, SLUICE_UPDATE_WRITE */
  lock () {
    try {
      return lock(join(this.root, 'update.lock'), join(this.root, 'update.pid'), (pid, cause) => {
        return new SluiceError('SLUICE_UPDATE_UNDER_WAY', `Process ${pid} is updating ${this.root}.`, { fix: 'Wait for it to end.', cause })
      })
    } catch (cause) {
      if (!NOT_ALLOWED.includes(/** @type {NodeJS.ErrnoException} */ (cause).code ?? '')) throw cause
      throw new SluiceError('SLUICE_UPDATE_WRITE', `Nothing can be written in ${this.root}: ${describe(cause)}.`, {
        fix: 'Use sudo; a disk that was mounted only for reading needs a look at the kernel\'s log.', cause
      })
    }
  }
}

/** What to do instead, by how this program got here. @param {string} root @param {unknown} cause */
function misplaced (root, cause) {
  const text = `${root} has no release that could be updated: there is no link ${join(root, 'current')}.`
  return new SluiceError('SLUICE_UPDATE_PLACE', text, { fix: insteadOfUpdating(), cause })
}

function insteadOfUpdating () {
  if (PACKAGE_ROOT.startsWith('/usr/lib/sluice/')) return 'It came as a package: apt install ./sluice_VERSION_ARCH.deb takes the new one.'
  if (['/.dockerenv', '/run/.containerenv'].some(existsSync)) return 'This is a container: start one of the new image on the same volume.'
  return 'Give the folder that has it with --root; a Node-RED of your own updates Sluice by npm.'
}

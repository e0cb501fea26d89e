import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { SluiceError } from '../base/errors.js'
import { measure } from '../stats/format.js'
import { healthOf, UNKNOWN_TROUBLE } from './health.js'
import { ARCHITECTURE, compareVersions, readRelease, unread } from './release.js'
import { checkHash, keysIn, signedHash } from './signature.js'
import { findTarball, unpackedBytes } from './tarball.js'
import { unpack } from './unpack.js'

/**
 * @typedef {import('./installation.js').Installation} Installation
 * @typedef {import('./tarball.js').Tarball} Tarball
 *
 * @typedef {object} Wishes
 * @property {string[]} keyFiles  besides those that the present release has
 * @property {boolean} [allowDowngrade]
 * @property {boolean} [oneWay]  also where there may be no way back
 * @property {string} url  of the gateway
 * @property {number} waitSeconds  for it to be healthy
 */

/** Files take whole blocks on a disk. */
const ROOM = 1.25
/** Each waits 100 ms longer than the one before. */
const RETRIES = 10

/**
 * Unpacks a release beside the present one, and switches to it: from its next start on the gateway is that release, on trial. Until the
 * last step nothing has changed for it, and that is a rename.
 * @param {Installation} installation
 * @param {string} path  of a tarball, or of a folder that has some
 * @param {Wishes} wishes
 * @returns {Promise<{from: string, to: string}>} the same where there is nothing to do
 * @throws {SluiceError} SLUICE_UPDATE_…
 */
export async function install (installation, path, wishes) {
  const from = await installation.current()
  return whileLocked(installation, async () => {
    const tarball = await findTarball(path)
    const keys = [...wishes.keyFiles, ...await keysIn([join(installation.folderOf(from), 'share')])]
    const hash = await signedHash(tarball.path, keys)
    const to = tarball.version
    checkFit(tarball, from, wishes)
    if (to === from) return { from, to }
    await removeLeftovers(installation)
    await checkRoom(tarball, installation.root)
    await checkHash(tarball.path, hash)
    try {
      await unpack(tarball.path, hash, installation.unpacking)
      await checkName(installation.unpacking, tarball)
      await checkFormats(installation, from, installation.unpacking, wishes)
      await installation.adopt(to)
    } catch (error) {
      // The last of its files may still be being written. The first error says more.
      await rm(installation.unpacking, { recursive: true, force: true, maxRetries: RETRIES }).catch(() => {})
      throw error
    }
    await begin(installation, from, to, wishes)
    return { from, to }
  })
}

/**
 * Switches to the release before the present one, likewise on trial.
 * @param {Installation} installation
 * @param {Wishes} wishes
 */
export async function goBack (installation, wishes) {
  const from = await installation.current()
  return whileLocked(installation, async () => {
    const to = await releaseBefore(installation)
    if (to === null) {
      throw new SluiceError('SLUICE_UPDATE_FILE', 'No release before this one is kept.', {
        fix: 'Give the file of one, with --allow-downgrade.'
      })
    }
    await checkFormats(installation, from, installation.folderOf(to), wishes)
    await begin(installation, from, to, wishes)
    return { from, to }
  })
}

/**
 * One update at a time, and none before the last is decided.
 * @template T
 * @param {Installation} installation
 * @param {() => Promise<T>} work
 */
async function whileLocked (installation, work) {
  const unlock = installation.lock()
  try {
    const undecided = await installation.undecided()
    if (!undecided) return await work()
    throw new SluiceError('SLUICE_UPDATE_UNDER_WAY', `${undecided.to} is on trial: it is not known yet whether it is healthy.`, {
      fix: 'Wait for two minutes, start the gateway if it does not run, or give that release up with sluice update --back.'
    })
  } finally {
    unlock()
  }
}

/** @param {Installation} installation @param {string} from @param {string} to @param {Wishes} wishes */
async function begin (installation, from, to, { url, waitSeconds }) {
  const trouble = (await healthOf(url))?.trouble ?? UNKNOWN_TROUBLE
  const since = new Date().toISOString()
  await installation.bringScript(from)
  await installation.save({ state: 'trial', from, to, since, attempts: 0, started: '', waitSeconds, url, trouble, reason: '' })
  await installation.switchTo(to)
}

/** @param {Tarball} tarball @param {string} from @param {Wishes} wishes */
function checkFit ({ path, version, arch }, from, { allowDowngrade }) {
  if (arch !== ARCHITECTURE) {
    throw new SluiceError('SLUICE_UPDATE_UNFIT', `${path} is for ${arch}, and this machine is ${ARCHITECTURE}.`, {
      fix: 'Take the file of the same release for this one.'
    })
  }
  if (allowDowngrade || compareVersions(version, from) >= 0) return
  throw new SluiceError('SLUICE_UPDATE_UNFIT', `${version} is older than ${from}, which is installed.`, {
    fix: 'If that is what you want, add --allow-downgrade.'
  })
}

/** What has been checked of the name holds for what is in it. @param {string} folder @param {Tarball} tarball */
async function checkName (folder, { path, version, arch }) {
  const release = await readRelease(folder)
  if (release.version === version && release.arch === arch) return
  throw new SluiceError('SLUICE_UPDATE_FILE', `${path} says that it is ${release.version} for ${release.arch}.`, { fix: 'Do not use it.' })
}

/** Of updates that were interrupted or given up: a small card needs the room. @param {Installation} installation */
async function removeLeftovers (installation) {
  const before = await releaseBefore(installation)
  await installation.keepOnly(before === null ? [] : [before])
}

/** @param {Installation} installation @returns {Promise<string|null>} the version before the present one, where it is kept */
async function releaseBefore (installation) {
  const state = await installation.state()
  return state?.state === 'confirmed' && state.to === await installation.current() ? state.from : null
}

/** @param {Tarball} tarball @param {string} root */
async function checkRoom ({ path, version }, root) {
  const needed = await unpackedBytes(path) * ROOM
  const { bavail, bsize } = await statfs(root)
  if (bavail * bsize >= needed) return
  const text = `${version} needs ${measure(needed, 'B')} in ${root}, and ${measure(bavail * bsize, 'B')} are free.`
  throw new SluiceError('SLUICE_UPDATE_SPACE', text, { fix: 'Make room there.' })
}

/**
 * The release reads what there is, and the present one would read what it writes, or there is no way back.
 * @param {Installation} installation
 * @param {string} from
 * @param {string} folder  of the other release
 * @param {Wishes} wishes
 */
async function checkFormats (installation, from, folder, { oneWay }) {
  const present = await installation.release(from)
  const next = await readRelease(folder)
  const lacking = unread(present.formats, next.formats)
  if (lacking.length > 0) {
    throw new SluiceError('SLUICE_UPDATE_FORMATS', `${next.version} does not read what ${from} has written: ${lacking.join(', ')}.`, {
      fix: 'Take a release between the two first; its notes say which.'
    })
  }
  const foreign = unread(next.formats, present.formats)
  if (foreign.length === 0 || oneWay) return
  const text = `${from} would not read what ${next.version} writes: ${foreign.join(', ')}. Once that has run there is no way back: ` +
    `should it not be healthy, ${from} starts again, but leaves what it cannot read as it is until a release comes that can.`
  throw new SluiceError('SLUICE_UPDATE_FORMATS', text, { fix: 'If you accept that, add --one-way.' })
}

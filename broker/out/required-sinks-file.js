import { randomUUID } from 'node:crypto'
import { readdir, readFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe } from '../../gateway/base/errors.js'
import { makePrivateFolder, replaceFile } from '../../gateway/base/files.js'

/**
 * Where the required sinks of a broker are kept, and beside it what the command line asks for.
 *
 * @typedef {import('./required-sinks.js').WiredSink} WiredSink
 * @typedef {import('./required-sinks.js').RemoteSink} RemoteSink
 * @typedef {{wired: (WiredSink & {key: string})[], remote: RemoteSink[], forgotten: [place: string, list: string][]}} Saved
 */

/**
 * The file as it was left; one that cannot be read is put aside, and made again from the wiring and the lists on the broker.
 * @param {{path: string, log: import('../../gateway/base/log.js').Log}} options
 * @returns {Promise<Saved>}
 */
export async function loadSaved ({ path, log }) {
  await makePrivateFolder(dirname(path))
  try {
    return readSaved(await readFile(path, 'utf8'))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') {
      const aside = `${path}.${Date.now()}.damaged`
      await rename(path, aside).catch(() => {})
      log.error(`SLUICE_REQUIRED_SINKS: The list of required sinks cannot be read, and is now ${aside}: ${describe(error)}. It is made ` +
        'again, from the flows and from what is announced on the broker.')
    }
    return { wired: [], remote: [], forgotten: [] }
  }
}

/** @param {string} text  of the file @returns {Saved} */
export function readSaved (text) {
  const { wired, remote, forgotten } = JSON.parse(text)
  if (![wired, remote, forgotten].every(Array.isArray)) throw new Error('it has not the lists that it should')
  const isSink = (/** @type {any} */ sink) => ['key', 'gateway', 'source'].every(name => typeof sink?.[name] === 'string')
  if (![...wired, ...remote].every(isSink)) throw new Error('it has something else than sinks')
  return { wired, remote, forgotten }
}

/**
 * What the gateway on a folder waits for, whether it runs or not, without what it was asked to forget.
 * @param {string} userDir
 * @returns {Promise<(Saved & {path: string, broker: string})[]>} for each broker, by the id of its node
 */
export async function savedIn (userDir) {
  const folder = join(userDir, 'sluice', 'required-sinks')
  const names = await readdir(folder).catch(error => {
    if (['ENOENT', 'ENOTDIR'].includes(error.code)) return []
    throw error
  })
  return Promise.all(names.filter(name => name.endsWith('.json')).sort().map(async name => {
    const path = join(folder, name)
    const { wired, remote, forgotten } = readSaved(await readFile(path, 'utf8'))
    const forgetting = (await forgetRequests(path)).map(({ key }) => key)
    const known = remote.filter(({ key }) => !forgetting.includes(key))
    return { path, broker: decodeURIComponent(name.slice(0, -5)), wired, remote: known, forgotten }
  }))
}

/** Has the gateway forget a sink: at once, or when it starts. @param {string} path  of its file @param {string} key */
export async function requestForget (path, key) {
  await replaceFile(`${path}.forget-${randomUUID()}`, key)
}

/** What `sluice sinks forget` has left beside the file. @param {string} path @returns {Promise<{key: string, path: string}[]>} */
export async function forgetRequests (path) {
  const prefix = `${basename(path)}.forget-`
  const names = (await readdir(dirname(path))).filter(name => name.startsWith(prefix) && !name.endsWith('.new'))
  return Promise.all(names.map(async name => {
    const request = join(dirname(path), name)
    return { key: await readFile(request, 'utf8'), path: request }
  }))
}

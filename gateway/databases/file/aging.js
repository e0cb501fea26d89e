import { lstat, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../base/files.js'
import { numberedName } from './names.js'

/**
 * Finished files that were last written to too long ago, of the names that a sink has given. What is in one is no newer than its last
 * change, if its times are those of a clock.
 *
 * @typedef {import('../sink.js').Span} Span
 * @typedef {import('./folder.js').Opened} Opened
 * @typedef {{table: string, prefix: string, ending: string}} Naming  of the files of a table
 */

/** @param {string} folder @param {Opened} opened @param {Naming[]} namings @returns {Promise<Span|null>} */
export async function spanOfFiles (folder, opened, namings) {
  const files = await filesOf(folder, opened, namings)
  const times = files.map(({ changedNs }) => changedNs).sort((a, b) => a < b ? -1 : 1)
  return times.length === 0 ? null : { oldest: times[0], newest: times[times.length - 1] }
}

/** @param {string} folder @param {Opened} opened @param {Naming[]} namings @param {bigint} before */
export async function removeFiles (folder, opened, namings, before) {
  const old = (await filesOf(folder, opened, namings)).filter(({ changedNs, isFinished }) => isFinished && changedNs < before)
  for (const { path } of old) await unlink(path)
  if (old.length > 0) await syncFolder(old[0].path)
}

/** @param {string} folder @param {Opened} opened @param {Naming[]} namings */
async function filesOf (folder, { journal }, namings) {
  const files = []
  const names = await readdir(folder)
  for (const { table, prefix, ending } of namings) {
    for (const name of names.filter(each => each.startsWith(`${prefix}-`))) {
      const number = parseInt(name.slice(prefix.length + 1), 10)
      if (name !== numberedName(prefix, number, ending) || number > journal.lastNumber(table)) continue
      const path = join(folder, name)
      const found = await lstat(path, { bigint: true })
      if (found.isFile()) files.push({ path, changedNs: found.mtimeNs, isFinished: !journal.entries.has(name) })
    }
  }
  return files
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder, replaceFile } from '../../gateway/base/files.js'
import { aclFile, hasPassword, makePassword, passwordLine, passwordLines } from './mosquitto.js'

/** @typedef {{name: string, password: string}} Made */

/**
 * The two files by which a Mosquitto knows who may do what.
 * @param {string} folder
 * @param {import('./accounts.js').Account[]} accounts  all of them: others that are there are removed
 * @param {import('./accounts.js').Grant[]} grants
 * @param {Map<string, string>} [passwords]  by name; who has none there keeps the one they have, or gets a random one
 * @returns {Promise<{made: Made[], removed: string[], paths: string[], isOther: boolean}>} the random passwords, who was removed, the
 *   files, and whether any of them was written
 */
export async function writeAccounts (folder, accounts, grants, passwords = new Map()) {
  const [passwordPath, aclPath] = ['sluice.passwords', 'sluice.acl'].map(name => join(folder, name))
  const kept = passwordLines(await textOf(passwordPath))
  const without = accounts.filter(({ name }) => !kept.has(name) && !passwords.has(name))
  const made = without.map(({ name }) => ({ name, password: makePassword() }))
  const given = new Map([...passwords, ...made.map(({ name, password }) => /** @type {const} */ ([name, password]))])
  const lines = accounts.map(({ name }) => lineOf(name, kept.get(name), given.get(name)))
  await makeFolder(folder)
  // The rules first: nobody is let in to whom none apply.
  const texts = /** @type {const} */ ([[aclPath, aclFile(accounts, grants)], [passwordPath, `${lines.join('\n')}\n`]])
  let isOther = false
  for (const [path, text] of texts) {
    if (await textOf(path) === text) continue
    await replaceFile(path, text)
    isOther = true
  }
  const removed = [...kept.keys()].filter(name => !accounts.some(account => account.name === name))
  return { made, removed, paths: [passwordPath, aclPath], isOther }
}

/** @param {string} name @param {string} [kept]  the line it has @param {string} [password]  the one it is to have */
function lineOf (name, kept = '', password = undefined) {
  return password === undefined || hasPassword(kept, password) ? kept : passwordLine(name, password)
}

/** Empty where there is no such file. @param {string} path */
function textOf (path) {
  return readFile(path, 'utf8').catch(error => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
}

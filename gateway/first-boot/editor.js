import { randomInt } from 'node:crypto'
import { SluiceError } from '../base/errors.js'
import { isPasswordOf, makeUser, readUsers, writeUsers } from '../web/users.js'
import { SETTINGS_FILE } from './host.js'
import { replaceLine } from './lines.js'
import { readSettings } from './toml.js'

/**
 * Who may use the editor: the user *admin*, with the password of sluice.toml or a random one.
 *
 * @typedef {import('./host.js').Host} Host
 */

const PASSWORD_FILE = 'sluice-password.txt'
const TAKEN_OVER = '# The password was taken over, and removed from here. For another one write: password = "…"'
const USER = 'admin'
/** None that is taken for another. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'
const GROUPS = 5
const GROUP_LETTERS = 4

/**
 * Sees to it that somebody may log in. A random password is on the boot partition before it holds.
 * @param {Host} host
 * @param {import('./owner.js').UserDir} userDir
 * @param {string|undefined} wanted  the password of sluice.toml
 * @param {{url: string, fingerprint: string}} editor
 * @returns {Promise<string|null>} the random password, as long as it holds
 */
export async function setUser ({ boot, done }, userDir, wanted, editor) {
  const random = wanted === undefined ? await randomPassword(userDir.path, await boot.read(PASSWORD_FILE)) : null
  await boot.write(PASSWORD_FILE, random === null ? null : passwordText(random, editor))
  const password = wanted ?? random
  if (password !== null) await userDir.change(() => setPassword(userDir.path, password))
  if (wanted !== undefined) await removePassword(boot)
  done(`Editor: the password of ${USER} is ${random === null ? 'your own' : `in ${PASSWORD_FILE}`}`)
  return random
}

/** @param {string} userDir @param {string} shown  the text of the file that has it; empty where there is none */
async function randomPassword (userDir, shown) {
  const users = readUsers(userDir)
  if (users.size === 0) return makePassword()
  const password = /^Password: +(\S+)\s*$/m.exec(shown)?.[1] ?? ''
  return await isPasswordOf(password, users.get(USER)) ? password : null
}

/** 99 bits, in letters that can be read from a screen and typed. */
function makePassword () {
  const group = () => Array.from({ length: GROUP_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** @param {string} userDir @param {string} password */
async function setPassword (userDir, password) {
  const users = readUsers(userDir)
  const user = users.get(USER)
  if (user?.role === 'change' && await isPasswordOf(password, user)) return
  writeUsers(userDir, new Map([...users, [USER, await makeUser({ name: USER, role: 'change', password })]]))
}

/** @param {string} password @param {{url: string, fingerprint: string}} editor */
function passwordText (password, { url, fingerprint }) {
  return `Editor:   ${url}
User:     ${USER}
Password: ${password}

The browser warns of the certificate, which the machine has made itself. It is the right one if its SHA-256 fingerprint is
${fingerprint}

This file goes away at a start after the password was changed: in sluice.toml, [editor] password, or with sluice start --login.
`
}

/** Takes the password out of sluice.toml, once it holds. @param {Host['boot']} boot */
async function removePassword (boot) {
  const rest = replaceLine(await boot.read(SETTINGS_FILE), 'editor', 'password', TAKEN_OVER)
  const { parts, isReadable } = readSettings(rest)
  if (!isReadable || parts.editor.some(({ given }) => given.has('password'))) {
    throw new SluiceError('SLUICE_FIRST_BOOT', `The editor's password holds, and could not be removed from ${SETTINGS_FILE}.`, {
      fix: 'Delete it there. The next one is removed if it stands on one line below [editor].'
    })
  }
  await boot.write(SETTINGS_FILE, rest)
}

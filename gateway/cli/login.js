import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { SluiceError } from '../base/errors.js'
import { lockUserDir } from '../run/user-dir-lock.js'
import { isLoopback } from '../web/hosts.js'
import { isPasswordOf, makeUser, readUsers, writeUsers } from '../web/users.js'

/**
 * @typedef {import('../web/users.js').Entry} Entry
 * @typedef {import('../web/users.js').Users} Users
 */

/** Whether listening there has to wait until somebody may log in. @param {string} userDir @param {string} host */
export function needsUsers (userDir, host) {
  return !isLoopback(host) && readUsers(userDir).size === 0
}

/**
 * Makes the users those of these lines, `NAME:ROLE:PASSWORD` each; where they are already, nothing is written, and nobody logged out.
 * @param {string} userDir
 * @param {string} lines
 * @throws {SluiceError} SLUICE_LOGIN_USERS, SLUICE_USER_DIR_IN_USE
 */
export async function setUsers (userDir, lines) {
  const entries = lines.split(/\r?\n/).filter(Boolean).map(readLine)
  if (entries.length === 0) throw new SluiceError('SLUICE_LOGIN_USERS', 'No users are given.', { fix: FORM })
  await change(userDir, async users => {
    /** @type {Users} */
    const next = new Map()
    for (const entry of entries) next.set(entry.name, await kept(entry, users.get(entry.name)) ?? await makeUser(entry))
    const isSame = next.size === users.size && [...next].every(([name, user]) => users.get(name) === user)
    return isSame ? users : next
  })
}

/**
 * Asks for a user, who is added or changed, or deleted where the password is left empty.
 * @param {string} userDir
 * @param {NodeJS.ReadableStream} input
 * @param {NodeJS.WritableStream} output
 */
export async function askForUser (userDir, input, output) {
  const { name, role, password } = await ask(input, output)
  await change(userDir, async users => {
    const next = new Map(users)
    if (password === '') next.delete(name)
    else next.set(name, await makeUser({ name, role, password }))
    return next
  })
}

const FORM = 'Give a line NAME:ROLE:PASSWORD for each, where the role is view or change.'

/** The line is not named in what goes wrong: it may be a password. @param {string} line @param {number} i @returns {Entry} */
function readLine (line, i) {
  const [, name, role, password] = /^([^:]*):(view|change):(.*)$/.exec(line) ?? []
  if (name !== undefined) return { name, role: /** @type {Entry['role']} */ (role), password }
  throw new SluiceError('SLUICE_LOGIN_USERS', `Line ${i + 1} of the users is none.`, { fix: FORM })
}

/** @param {Entry} entry @param {import('../web/users.js').User|undefined} user */
async function kept ({ role, password }, user) {
  return user?.role === role && await isPasswordOf(password, user) ? user : null
}

/**
 * No gateway may run there meanwhile: it would still let in those of before.
 * @param {string} userDir
 * @param {(users: Users) => Promise<Users>} edit
 */
async function change (userDir, edit) {
  const unlock = lockUserDir(userDir)
  try {
    const users = readUsers(userDir)
    const next = await edit(users)
    if (next !== users) writeUsers(userDir, next)
  } finally {
    unlock()
  }
}

/** @param {NodeJS.ReadableStream} input @param {NodeJS.WritableStream} output @returns {Promise<Entry>} */
async function ask (input, output) {
  let isSecret = false
  const echo = new Writable({
    write (chunk, _encoding, done) {
      if (!isSecret) output.write(chunk)
      done()
    }
  })
  const lines = createInterface({ input, output: echo, terminal: true })
  const ended = new AbortController()
  lines.on('SIGINT', () => lines.close()).on('close', () => ended.abort())
  /** @param {string} text @param {{preset?: string, secret?: boolean}} [options] */
  const question = async (text, { preset = '', secret = false } = {}) => {
    const answering = lines.question(text, { signal: ended.signal })
    isSecret = secret
    const answer = await answering
    isSecret = false
    if (secret) output.write('\n')
    return answer || preset
  }
  try {
    const name = await question('User (admin): ', { preset: 'admin' })
    const role = /** @type {Entry['role']} */ (await question('Role, view or change (change): ', { preset: 'change' }))
    const password = await question('Password (none deletes the user): ', { secret: true })
    if (password !== '' && await question('Password again: ', { secret: true }) !== password) {
      throw new SluiceError('SLUICE_LOGIN_USERS', 'The two passwords differ.', { fix: 'Try again.' })
    }
    return { name, role, password }
  } catch (error) {
    if (!ended.signal.aborted) throw error
    throw new SluiceError('SLUICE_LOGIN_USERS', 'No user was entered.', { fix: 'Answer the questions, or use --login-file.' })
  } finally {
    lines.close()
  }
}

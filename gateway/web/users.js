import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SluiceError } from '../base/errors.js'
import { replaceFileSync } from '../base/files.js'

/**
 * @typedef {'view'|'change'} Role
 * @typedef {{role: Role, password: string}} User  the password is hashed
 * @typedef {Map<string, User>} Users  by name
 * @typedef {{name: string, role: Role, password: string}} Entry  as it is entered, the password in plain text
 */

/** What a role may do, in the terms of Node-RED. */
export const PERMISSIONS = /** @type {const} */ ({ view: 'read', change: '*' })

const MIN_CHARACTERS = 8
const SALT_BYTES = 16
const HASH_BYTES = 32
/** Takes some 60 ms and 32 MB. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 }
const HASH = /^scrypt\$([\w-]{22})\$([\w-]{43})$/
const NAME = /^[^:\s]{1,64}$/

/** @type {(password: string, salt: Buffer, length: number, options: typeof COST) => Promise<Buffer>} */
const derive = promisify(scrypt)

/** Those who may log in; none where nobody has to. @param {string} userDir @returns {Users} @throws {SluiceError} SLUICE_LOGIN_USERS */
export function readUsers (userDir) {
  const path = fileIn(userDir)
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return new Map()
    throw unreadable(path, error)
  }
  try {
    /** @type {[string, User][]} */
    const entries = Object.entries(JSON.parse(text))
    if (!entries.every(([name, { role, password }]) => NAME.test(name) && Object.hasOwn(PERMISSIONS, role) && HASH.test(password))) {
      throw new TypeError('an entry is not a user')
    }
    return new Map(entries)
  } catch (error) {
    throw unreadable(path, error)
  }
}

/**
 * Replaces them. Whoever was logged in to the editor has to do so again: what is remembered there holds the rights of before.
 * @param {string} userDir
 * @param {Users} users
 */
export function writeUsers (userDir, users) {
  replaceFileSync(fileIn(userDir), `${JSON.stringify(Object.fromEntries(users), null, 2)}\n`)
  rmSync(join(userDir, '.sessions.json'), { force: true })
}

/** A user as it is kept. @param {Entry} entry @returns {Promise<User>} @throws {SluiceError} SLUICE_LOGIN_USERS */
export async function makeUser ({ name, role, password }) {
  const wrong = problem({ name, role, password })
  if (wrong) throw new SluiceError('SLUICE_LOGIN_USERS', wrong)
  const salt = randomBytes(SALT_BYTES)
  const hash = await derive(password, salt, HASH_BYTES, COST)
  return { role, password: `scrypt$${salt.toString('base64url')}$${hash.toString('base64url')}` }
}

/** What of an entry cannot be; null when all can. @param {Entry} entry */
function problem ({ name, role, password }) {
  if (!NAME.test(name)) return 'The name of a user must have 1 to 64 characters, without spaces and colons.'
  if (!Object.hasOwn(PERMISSIONS, role)) return `The role of ${name} must be view or change.`
  if (password.length < MIN_CHARACTERS) return `The password of ${name} must have at least ${MIN_CHARACTERS} characters.`
  return null
}

/** @param {string} password  in plain text @param {User|undefined} user  nobody takes as long, and is refused */
export async function isPasswordOf (password, user) {
  const [, salt, hash] = HASH.exec(user?.password ?? '') ?? ['', '', '']
  const derived = await derive(password, Buffer.from(salt, 'base64url'), HASH_BYTES, COST)
  const kept = Buffer.alloc(HASH_BYTES)
  Buffer.from(hash, 'base64url').copy(kept)
  return timingSafeEqual(derived, kept) && user !== undefined
}

/** @param {string} userDir */
function fileIn (userDir) {
  return join(userDir, 'users.json')
}

/** @param {string} path @param {unknown} cause */
function unreadable (path, cause) {
  return new SluiceError('SLUICE_LOGIN_USERS', `${path}, which has who may log in, cannot be read.`, {
    fix: 'Correct it, or delete it and enter the users anew with sluice start --login.', cause
  })
}

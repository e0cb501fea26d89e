import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { rulesOf } from './accounts.js'

/** As mosquitto_passwd 2.0 has them. A random password needs no more rounds: there is nothing to guess. */
const ROUNDS = 101
const SALT_BYTES = 12
const HASH_BYTES = 64
const PASSWORD_BYTES = 18

/** @param {import('./accounts.js').Account[]} accounts @param {import('./accounts.js').Grant[]} grants */
export function aclFile (accounts, grants) {
  const parts = Array.from(rulesOf(accounts, grants), ([name, rules]) => [
    `user ${name}`,
    ...rules.map(({ access, filter }) => `topic ${access} ${filter}`),
    ''
  ])
  return ['# Written by sluice broker-acl, which replaces it.', '', ...parts.flat()].join('\n')
}

/** Random, for an account nobody types in by heart. */
export function makePassword () {
  return randomBytes(PASSWORD_BYTES).toString('base64url')
}

/** A line of a password file. @param {string} name @param {string} password @param {Buffer} [salt] */
export function passwordLine (name, password, salt = randomBytes(SALT_BYTES)) {
  const hash = pbkdf2Sync(password, salt, ROUNDS, HASH_BYTES, 'sha512')
  return `${name}:$7$${ROUNDS}$${salt.toString('base64')}$${hash.toString('base64')}`
}

/** Whether this is a line of that password, as `passwordLine` writes it. @param {string} line @param {string} password */
export function hasPassword (line, password) {
  const [, name, salt] = /^([^:]*):\$7\$\d+\$([^$]*)\$/.exec(line) ?? []
  return name !== undefined && passwordLine(name, password, Buffer.from(salt, 'base64')) === line
}

/** The lines of a password file, by the names of their accounts. @param {string} text @returns {Map<string, string>} */
export function passwordLines (text) {
  const lines = text.split('\n').filter(line => line.includes(':'))
  return new Map(lines.map(line => [line.slice(0, line.indexOf(':')), line]))
}

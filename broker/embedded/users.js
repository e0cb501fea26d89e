import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import { SluiceError } from '../../gateway/base/errors.js'
import { Attempts } from '../../gateway/web/attempts.js'
import { allows, readAccount, readGrant, rulesOf } from '../access/accounts.js'

const LINE = /^([^:]*:[^:]*):(.*)$/
const MIN_CHARACTERS = 8
/** Return codes of CONNACK. */
const UNAVAILABLE = 3
const BAD_LOGIN = 4

/**
 * Who may use the embedded broker, and what each may do there. Sessions belong to a user: their ids begin with the user's name, so that
 * nobody takes over, ends or reads another's.
 */
export class Users {
  /** @type {Map<string, Buffer>} digests of the passwords, by name */
  #passwords = new Map()
  #rules
  #attempts

  /**
   * @param {string[]} lines  `NAME:ROLE:PASSWORD`
   * @param {string[]} grants  `NAME read|write|readwrite TOPIC`
   * @param {() => number} [now]  monotonic milliseconds
   * @throws {SluiceError} SLUICE_BROKER_ACCOUNT
   */
  constructor (lines, grants, now) {
    this.#attempts = new Attempts(now)
    const accounts = lines.map((line, i) => {
      // The line is not named in what goes wrong: it may be a password.
      const [, text, password = ''] = LINE.exec(line) ?? []
      if (text === undefined) throw wrong(`Line ${i + 1} of the users is none.`, 'Write NAME:ROLE:PASSWORD.')
      const account = readAccount(text)
      if (password.length < MIN_CHARACTERS) throw wrong(`The password of ${account.name} must have at least ${MIN_CHARACTERS} characters.`)
      if (this.#passwords.has(account.name)) throw wrong(`The user ${account.name} is given twice.`)
      this.#passwords.set(account.name, digest(password))
      return account
    })
    this.#rules = rulesOf(accounts, grants.map(grant => readGrant(grant, accounts)))
  }

  /** What Aedes asks, but for who is let in. */
  get handlers () {
    return {
      preConnect: (/** @type {any} */ _client, /** @type {any} */ packet, /** @type {Answer} */ answer) => {
        packet.clientId = `${packet.username}/${packet.clientId || randomUUID()}`
        answer(null, true)
      },
      authorizePublish: (/** @type {any} */ { id }, /** @type {any} */ { topic }, /** @type {(error: any) => void} */ answer) => {
        // To acknowledge it would be to lose it without a word: MQTT 3.1.1 leaves only to end the connection.
        answer(allows(this.#rulesOf(id), 'write', topic)
          ? null
          : new SluiceError('SLUICE_BROKER_DENIED', `The user ${nameIn(id)} may not write to ${topic}.`, {
              fix: 'Check its role, and what it is granted.'
            }))
      }
    }
  }

  /**
   * @param {string} name
   * @param {Uint8Array} password
   * @param {string} address  of the client
   * @returns {(Error & {returnCode?: number})|null} why it is not let in
   */
  refusal (name, password, address) {
    const expected = this.#passwords.get(name)
    // All names that are none count as one: or who invents enough of them has the failures of a user forgotten.
    const who = expected ? `${address} ${name}` : address
    try {
      this.#attempts.begin(who)
    } catch (error) {
      return Object.assign(/** @type {Error} */ (error), { returnCode: UNAVAILABLE })
    }
    if (!expected || !timingSafeEqual(expected, digest(password))) {
      return Object.assign(new Error('user or password is wrong'), { returnCode: BAD_LOGIN })
    }
    this.#attempts.succeed(who)
    return null
  }

  /** Whether a session may have what is published there. @param {string} clientId @param {string} topic */
  mayRead (clientId, topic) {
    return allows(this.#rulesOf(clientId), 'read', topic)
  }

  /** @param {string} clientId */
  #rulesOf (clientId) { return this.#rules.get(nameIn(clientId)) }
}

/** @typedef {(error: any, isGood: boolean) => void} Answer */

/** The user whose session it is. @param {string} clientId */
export function nameIn (clientId) { return clientId.slice(0, clientId.indexOf('/')) }

/** Of one length, for comparing in constant time. @param {string|Uint8Array} password */
function digest (password) { return createHash('sha256').update(password).digest() }

/** @param {string} what @param {string} [fix] */
function wrong (what, fix) { return new SluiceError('SLUICE_BROKER_ACCOUNT', what, { fix }) }

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { SluiceError } from '../base/errors.js'
import { Turns } from '../base/turns.js'
import { Attempts } from './attempts.js'
import { refuse } from './refuse.js'
import { isPasswordOf, PERMISSIONS } from './users.js'

/**
 * @typedef {import('./users.js').Users} Users
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 */

export const HEALTH_PATH = '/sluice/health'
export const READY_PATH = '/sluice/health/ready'
export const METRICS_PATH = '/sluice/metrics'

/** Let in without a login. @type {WeakSet<IncomingMessage>} */
const anonymous = new WeakSet()

/** Whether nobody knows whose request it is: its answer is for everybody to know. @param {IncomingMessage} request */
export function isAnonymous (request) {
  return anonymous.has(request)
}

/** Where an upgrade brings a proof of its own: the editor's token, a ticket of the live page. */
const UPGRADES_WITH_PROOF = ['/comms', '/sluice/stream']

/** Passwords that are being checked, which takes processor time: one at a time, and no more than these wait. */
const MAX_CHECKS = 16

/**
 * Who may see and change the gateway, by name and password. The editor has Node-RED's own login with the same users (`adminAuth`); all
 * other pages, those that flows serve as well, ask for them in the browser's way. To look is enough to read a page; all else needs the
 * role *change*.
 */
export class Login {
  #users
  #metricsToken
  #attempts
  #turns = new Turns(1)
  #key = randomBytes(32)
  /** Those that were right, and those under way, by a digest of name and password. @type {Map<string, Promise<boolean>>} */
  #checks = new Map()
  #checking = 0

  /** @param {Users} users @param {{metricsToken?: string, now?: () => number}} [options]  `now`: monotonic milliseconds */
  constructor (users, { metricsToken, now } = {}) {
    this.#users = users
    this.#attempts = new Attempts(now)
    this.#metricsToken = metricsToken
  }

  /** For the settings of Node-RED. */
  get adminAuth () {
    const named = (/** @type {string} */ name) => {
      const user = this.#users.get(name)
      return user ? { username: name, permissions: PERMISSIONS[user.role] } : null
    }
    return {
      type: 'credentials',
      users: async (/** @type {string} */ name) => named(name),
      authenticate: async (/** @type {unknown} */ name, /** @type {unknown} */ password) => {
        if (typeof name !== 'string' || typeof password !== 'string') return null
        const isRight = await this.#isRight(name, password).catch(() => false) // Node-RED does not expect a rejection
        return isRight ? named(name) : null
      }
    }
  }

  /** Before the editor's login, which Node-RED checks without saying whose it is. @type {import('./guard.js').Middleware} */
  slowDown = ({ socket: { remoteAddress: address = '' } }, response, next) => {
    try {
      this.#attempts.begin(address)
    } catch (error) {
      return refuse(response, error)
    }
    response.on('finish', () => { if (response.statusCode === 200) this.#attempts.succeed(address) })
    next()
  }

  /** For all but the editor. @type {import('./guard.js').Middleware} */
  middleware = (request, response, next) => {
    this.#check(request, isReading(request)).then(() => next(), error => refuse(response, error))
  }

  /** Lets an upgrade pass, over which anything may be sent. @param {IncomingMessage} request */
  async checkUpgrade (request) {
    if (!UPGRADES_WITH_PROOF.includes(pathOf(request))) await this.#check(request, false)
  }

  /** @param {IncomingMessage} request @param {boolean} isToLook @throws {SluiceError} SLUICE_LOGIN_NEEDED, SLUICE_LOGIN_ROLE, … */
  async #check (request, isToLook) {
    const [, scheme = '', proof = ''] = /^(\w+) +(\S+)$/.exec(request.headers.authorization ?? '') ?? []
    if (isToLook && this.#isOpen(request, scheme.toLowerCase(), proof)) return
    const [, name, password] = (scheme.toLowerCase() === 'basic' && /^([^:]*):(.*)$/s.exec(Buffer.from(proof, 'base64').toString())) || []
    if (name === undefined || !await this.#isRight(name, password, request.socket.remoteAddress ?? '')) {
      const reason = name === undefined ? 'This needs a login.' : 'Name or password is wrong.'
      throw new SluiceError('SLUICE_LOGIN_NEEDED', reason, { fix: 'Send name and password of a user of the gateway (HTTP basic).' })
    }
    if (!isToLook && this.#users.get(name)?.role !== 'change') {
      throw new SluiceError('SLUICE_LOGIN_ROLE', `${name} may only look.`, { fix: 'Log in as a user with the role change.' })
    }
  }

  /**
   * A proof has to be right, also where none is needed.
   * @param {IncomingMessage} request
   * @param {string} scheme
   * @param {string} proof
   */
  #isOpen (request, scheme, proof) {
    const path = pathOf(request)
    if (path === HEALTH_PATH) return true
    if (path === READY_PATH && request.headers.authorization === undefined) return anonymous.add(request)
    if (path !== READY_PATH && path !== METRICS_PATH) return false
    return scheme === 'bearer' && this.#metricsToken !== undefined && isEqual(proof, this.#metricsToken)
  }

  /** @param {string} name @param {string} password @param {string} [address]  where attempts are not counted yet */
  #isRight (name, password, address) {
    const digest = createHmac('sha256', this.#key).update(`${name}:${password}`).digest('base64')
    const known = this.#checks.get(digest)
    if (known) return known
    const check = this.#try(name, password, address)
    this.#checks.set(digest, check)
    const forget = () => this.#checks.delete(digest)
    check.then(isRight => isRight || forget(), forget)
    return check
  }

  /** @param {string} name @param {string} password @param {string} [address] */
  async #try (name, password, address) {
    if (address !== undefined) this.#attempts.begin(address)
    if (this.#checking >= MAX_CHECKS) {
      throw new SluiceError('SLUICE_LOGIN_WAIT', 'Too many passwords are being checked.', { fix: 'Try again in a few seconds.' })
    }
    this.#checking++
    try {
      const isRight = await this.#turns.run(() => isPasswordOf(password, this.#users.get(name)))
      if (isRight && address !== undefined) this.#attempts.succeed(address)
      return isRight
    } finally {
      this.#checking--
    }
  }
}

/** In a time that does not depend on where they differ. @param {string} one @param {string} other */
export function isEqual (one, other) {
  const [first, second] = [one, other].map(text => createHash('sha256').update(text).digest())
  return timingSafeEqual(first, second)
}

/** @param {IncomingMessage} request */
function isReading ({ method = '' }) {
  return ['GET', 'HEAD', 'OPTIONS'].includes(method)
}

/** @param {IncomingMessage} request */
function pathOf ({ url = '/' }) {
  return url.split('?')[0]
}

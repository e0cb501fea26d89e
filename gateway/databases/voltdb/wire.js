import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectTcp, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE_MS } from '../connecting/limits.js'
import { noHandshake, silence } from '../connecting/failure.js'
import { tlsOptions } from '../connecting/tls.js'
import { callMessage, loginMessage, MAX_MESSAGE_BYTES, readAnswer, readLogin } from './protocol.js'

/**
 * @typedef {import('./protocol.js').Parameter} Parameter
 * @typedef {import('./protocol.js').Answer} Answer
 * @typedef {{host: string, port: number, user: string, password: string, tls: string, ca: string}} Address
 * @typedef {{resolve: (answers: Answer[]) => void, reject: (error: Error) => void, late: NodeJS.Timeout}} Waiting
 */

/** Longer than any statement takes that a gateway has executed. */
const SILENCE_MS = 60_000

const WRONG = -1
const REFUSALS = new Map([[WRONG, 'user or password is wrong'], [1, 'the server has too many connections'], [2, 'the server timed out'],
  [3, 'the server did not understand the login']])

/** How a server answers a call that it has executed. */
const SUCCESS = 1

/** A login that the server has refused. */
export class LoginError extends Error {
  /** @param {number} refusal */
  constructor (refusal) {
    super(`the login is refused: ${REFUSALS.get(refusal) ?? `reason ${refusal}`}`)
    this.isWrong = refusal === WRONG
  }
}

/** A call that the server has refused: nothing of it is stored, unless the connection was lost to another server of the cluster. */
export class CallError extends Error {
  /** @param {string} reason */
  constructor (reason) {
    super(reason.replace(/^VOLTDB ERROR:\s*/, '').split(/\n\s+at /)[0].replace(/;$/, ''))
  }
}

/** One connection, over which any number of calls are under way. */
export class Wire {
  #socket
  /** @type {Map<bigint, Waiting>} */
  #waiting = new Map()
  #lastId = 0n
  /** Pieces of messages. @type {Buffer[]} */
  #pieces = []
  #bytes = 0
  #wanted = 4
  /** @type {Error|null} */
  #end = null
  /** @type {(bytes: Buffer) => void} */
  #receive = bytes => this.#answer(bytes)

  /** @param {import('node:net').Socket} socket  connected */
  constructor (socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.setKeepAlive(true, KEEP_ALIVE_MS)
    socket.on('data', piece => {
      try {
        this.#take(piece)
      } catch (error) {
        this.close(new Error('the server sent what is no answer', { cause: error }))
      }
    })
    socket.on('error', error => this.close(error))
    socket.on('close', () => this.close(new Error('the server has closed the connection')))
  }

  /** Of the server, once logged in. */
  version = ''

  get isOpen () { return this.#end === null }

  /** @param {Address} address */
  static async connect ({ host, port, user, password, tls, ca }) {
    const secure = tlsOptions({ tls, ca })
    const socket = secure ? connectTls({ host, port, ...isIP(host) === 0 && { servername: host }, ...secure }) : connectTcp({ host, port })
    const tooLate = secure ? noHandshake : silence
    const late = setTimeout(() => socket.destroy(tooLate(CONNECT_TIMEOUT_MS)), CONNECT_TIMEOUT_MS)
    try {
      await once(socket, secure ? 'secureConnect' : 'connect')
      const wire = new Wire(socket)
      await wire.#login(user, password)
      return wire
    } catch (error) {
      socket.destroy()
      throw error
    } finally {
      clearTimeout(late)
    }
  }

  /**
   * @param {string} procedure
   * @param {Parameter[]} parameters
   * @returns {Promise<Answer[]>}
   * @throws {CallError}
   */
  call (procedure, parameters) {
    return new Promise((resolve, reject) => {
      if (this.#end) return reject(this.#end)
      const id = ++this.#lastId
      const bytes = callMessage(id, procedure, parameters)
      if (bytes.length > MAX_MESSAGE_BYTES) return reject(new CallError(`a call of ${bytes.length} bytes, of ${MAX_MESSAGE_BYTES} allowed`))
      this.#wait(id, { resolve, reject })
      this.#socket.write(bytes)
    })
  }

  /** @param {Error} [why] */
  close (why = new Error('the connection was closed')) {
    this.#end ??= why
    for (const [id, { reject }] of this.#waiting) {
      this.#answered(id)
      reject(this.#end)
    }
    this.#socket.destroy()
  }

  /** @param {string} user @param {string} password */
  async #login (user, password) {
    /** @type {Promise<Buffer>} */
    const answered = new Promise((resolve, reject) => {
      this.#receive = resolve
      this.#wait(0n, { resolve: () => {}, reject })
    })
    this.#socket.write(loginMessage(user, createHash('sha256').update(password).digest()))
    const { refusal, version } = readLogin(await answered)
    this.#answered(0n)
    if (refusal !== 0) throw new LoginError(refusal)
    this.version = version
    this.#receive = bytes => this.#answer(bytes)
  }

  /** @param {Buffer} piece */
  #take (piece) {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    while (this.#bytes >= this.#wanted) {
      const all = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
      const length = all.readInt32BE()
      if (length < 2 || length > MAX_MESSAGE_BYTES) throw new RangeError(`a message of ${length} bytes`)
      this.#wanted = 4 + length
      const isWhole = all.length >= this.#wanted
      const rest = isWhole ? all.subarray(this.#wanted) : all
      this.#pieces = rest.length > 0 ? [rest] : []
      this.#bytes = rest.length
      if (!isWhole) return
      this.#receive(all.subarray(4, this.#wanted))
      this.#wanted = 4
    }
  }

  /** @param {Buffer} bytes */
  #answer (bytes) {
    const { id, status, reason, answers } = readAnswer(bytes)
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    if (status === SUCCESS) waiting.resolve(answers())
    else waiting.reject(new CallError(reason))
    this.#answered(id) // an answer that cannot be read ends the call with the connection
  }

  /**
   * For no longer than a server takes for anything, whatever else it answers meanwhile.
   * @param {bigint} id @param {Omit<Waiting, 'late'>} waiting
   */
  #wait (id, waiting) {
    this.#waiting.set(id, { ...waiting, late: setTimeout(() => this.close(silence(SILENCE_MS)), SILENCE_MS) })
  }

  /** @param {bigint} id */
  #answered (id) {
    clearTimeout(this.#waiting.get(id)?.late)
    this.#waiting.delete(id)
  }
}

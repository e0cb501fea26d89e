import { createHash, createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Turns } from '../../gateway/base/turns.js'
import { fromCesu8, parameterMetadata, readParameters, resultMetadata, resultRows } from './fake-hana/cells.js'
import {
  errorReply, fieldsOf, FUNCTION, GREETING, GREETING_BYTES, MESSAGE, PART, readFields, readPacket, reply
} from './fake-hana/packets.js'
import { FakeSql, SqlError } from './fake-hana/sql.js'

/**
 * A fake of SAP HANA, of which no server can be had: it speaks the SQL Command Network Protocol to the real driver, logs it in by SCRAM,
 * has sessions and transactions, and takes the statements that the sink and the reader need, with HANA's types and numbers of errors. It is
 * made by the protocol's reference and SAP's documentation of SQL. Writers wait for each other's transactions, not for rows. What is
 * committed stays over `stop` and `start`.
 */

const SCRAM = 'SCRAMSHA256'
const LAST = 1 | 16
const COMMITTED = Buffer.from([1, 28, 1])
const ROLLED_BACK = Buffer.from([0, 28, 1])
/** @type {Record<string, number>} */
const FUNCTIONS = { INSERT: FUNCTION.INSERT, UPDATE: FUNCTION.UPDATE, DELETE: FUNCTION.DELETE, SELECT: FUNCTION.SELECT }

/** @param {{user?: string, password?: string}} [login] */
export async function startFakeHana ({ user = 'SLUICE', password = 'a secret' } = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-fake-hana-'))
  const file = join(folder, 'data')
  const writers = new Turns(1)
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const server = createServer(socket => {
    sockets.add(socket)
    const session = new FakeSession(file, writers, { user, password })
    let waiting = Buffer.alloc(0)
    let isGreeted = false
    let work = Promise.resolve()
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      work = work.then(() => session.close())
    })
    socket.on('data', bytes => {
      waiting = Buffer.concat([waiting, bytes])
      if (!isGreeted && waiting.length >= GREETING_BYTES) {
        isGreeted = true
        waiting = waiting.subarray(GREETING_BYTES)
        socket.write(GREETING)
      }
      for (let packet = isGreeted ? readPacket(waiting) : null; packet; packet = readPacket(waiting)) {
        const { request, length } = packet
        waiting = waiting.subarray(length)
        work = work.then(async () => { if (!socket.destroyed) socket.write(await session.answer(request)) })
      }
    })
  })
  const listen = async (/** @type {number} */ port) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const stop = async () => {
    if (!server.listening) return
    server.close()
    for (const socket of sockets) socket.destroy()
    await once(server, 'close')
  }
  return {
    port,
    user,
    password,
    file,
    start: () => listen(port),
    stop,
    async remove () {
      await stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

class FakeSession {
  #sql
  #writers
  #login
  /** @type {Map<string, import('./fake-hana/sql.js').Statement>} */
  #statements = new Map()
  /** @type {Map<string, {rows: any[][], columns: import('./fake-hana/cells.js').Column[]}>} */
  #results = new Map()
  #lastId = 0n
  /** Ends the transaction that writes. @type {((how: 'COMMIT'|'ROLLBACK') => void)|null} */
  #end = null
  #scram = { salt: Buffer.alloc(0), challenge: Buffer.alloc(0), client: Buffer.alloc(0) }
  #isIn = false

  /** @param {string} file @param {Turns} writers @param {{user: string, password: string}} login */
  constructor (file, writers, login) {
    this.#sql = new FakeSql(file)
    this.#writers = writers
    this.#login = login
  }

  close () {
    this.#end?.('ROLLBACK')
    this.#sql.close()
  }

  /** @param {import('./fake-hana/packets.js').Request} request */
  async answer (request) {
    try {
      return await this.#answer(request)
    } catch (error) {
      if (error instanceof SqlError) return errorReply(error.code, error.message)
      return errorReply(129, `transaction rolled back by an internal error: ${/** @type {Error} */ (error).stack}`)
    }
  }

  /** @param {import('./fake-hana/packets.js').Request} request @returns {Promise<Buffer>} */
  async #answer ({ type, commits, parts }) {
    const part = (/** @type {number} */ kind) => parts.find(each => each.kind === kind)?.bytes ?? Buffer.alloc(0)
    if (type === MESSAGE.AUTHENTICATE) return this.#challenge(readFields(part(PART.AUTHENTICATION)))
    if (type === MESSAGE.CONNECT) return this.#connect(readFields(part(PART.AUTHENTICATION)))
    if (!this.#isIn) throw new SqlError(10, 'authentication failed')
    switch (type) {
      case MESSAGE.EXECUTE_DIRECT: return this.#execute(this.#sql.prepare(fromCesu8(part(PART.COMMAND))), [[]], commits, true)
      case MESSAGE.PREPARE: return this.#prepare(fromCesu8(part(PART.COMMAND)))
      case MESSAGE.EXECUTE: {
        const statement = this.#statements.get(part(PART.STATEMENT_ID).toString('hex'))
        if (!statement) throw new SqlError(431, 'invalid statement')
        const rows = statement.parameters.length === 0 ? [[]] : readParameters(part(PART.PARAMETERS), statement.parameters)
        return this.#execute(statement, rows, commits, false)
      }
      case MESSAGE.FETCH_NEXT: return this.#fetch(part(PART.RESULT_SET_ID), part(PART.FETCH_SIZE).readInt32LE())
      case MESSAGE.CLOSE_RESULT_SET:
        this.#results.delete(part(PART.RESULT_SET_ID).toString('hex'))
        return reply(FUNCTION.NIL, [])
      case MESSAGE.DROP_STATEMENT_ID:
        this.#statements.delete(part(PART.STATEMENT_ID).toString('hex'))
        return reply(FUNCTION.NIL, [])
      case MESSAGE.COMMIT:
        this.#end?.('COMMIT')
        return reply(FUNCTION.COMMIT, [{ kind: PART.TRANSACTION_FLAGS, arguments: 1, bytes: COMMITTED }])
      case MESSAGE.ROLLBACK:
        this.#end?.('ROLLBACK')
        return reply(FUNCTION.ROLLBACK, [{ kind: PART.TRANSACTION_FLAGS, arguments: 1, bytes: ROLLED_BACK }])
      default: return reply(FUNCTION.NIL, [])
    }
  }

  /** @param {Buffer[]} given  user, then methods with what the client has to say */
  #challenge ([, ...given]) {
    const at = given.findIndex(field => String(field) === SCRAM)
    if (at === -1) throw new SqlError(10, 'authentication failed')
    this.#scram = { salt: randomBytes(16), challenge: randomBytes(48), client: Buffer.from(given[at + 1]) }
    const { salt, challenge } = this.#scram
    return reply(FUNCTION.NIL, [{ kind: PART.AUTHENTICATION, arguments: 1, bytes: fieldsOf(SCRAM, fieldsOf(salt, challenge)) }])
  }

  /** @param {Buffer[]} given */
  #connect ([user, , proof]) {
    const { salt, challenge, client } = this.#scram
    const hmac = (/** @type {Buffer|string} */ key, /** @type {Buffer} */ data) => createHmac('sha256', key).update(data).digest()
    const sha = (/** @type {Buffer} */ data) => createHash('sha256').update(data).digest()
    const key = sha(hmac(this.#login.password, salt))
    const signature = hmac(sha(key), Buffer.concat([salt, challenge, client]))
    const expected = key.map((byte, i) => byte ^ signature[i])
    if (String(user) !== this.#login.user || !proof?.subarray(3).equals(expected)) throw new SqlError(10, 'authentication failed')
    this.#isIn = true
    return reply(FUNCTION.CONNECT, [
      { kind: PART.AUTHENTICATION, arguments: 1, bytes: fieldsOf(SCRAM, '') },
      { kind: PART.CONNECT_OPTIONS, arguments: 0, bytes: Buffer.alloc(0) }
    ])
  }

  /** @param {string} text */
  #prepare (text) {
    const statement = this.#sql.prepare(text)
    const id = this.#nextId()
    this.#statements.set(id.toString('hex'), statement)
    return reply(FUNCTIONS[statement.verb] ?? FUNCTION.DDL, [
      { kind: PART.STATEMENT_ID, arguments: 1, bytes: id },
      { kind: PART.PARAMETER_METADATA, ...parameterMetadata(statement.parameters) },
      ...statement.verb === 'SELECT' ? [{ kind: PART.RESULT_SET_METADATA, ...resultMetadata(statement.columns) }] : []
    ])
  }

  /**
   * @param {import('./fake-hana/sql.js').Statement} statement
   * @param {any[][]} rows  of parameters
   * @param {boolean} commits  at once
   * @param {boolean} isDirect  the columns are not known yet
   */
  async #execute (statement, rows, commits, isDirect) {
    const { verb, columns, affects } = statement
    const isDdl = !(verb in FUNCTIONS)
    if (isDdl) this.#end?.('COMMIT')
    if (affects && !this.#end) await this.#begin()
    const ends = affects && (commits || isDdl)
    let results
    try {
      results = rows.map(values => this.#sql.run(statement, values))
    } catch (error) {
      if (ends) this.#end?.('ROLLBACK')
      throw error
    }
    if (ends) this.#end?.('COMMIT')
    if (isDdl) return reply(FUNCTION.DDL, [])
    if (verb !== 'SELECT') {
      const counts = Buffer.alloc(4 * results.length)
      results.forEach(({ affected }, i) => counts.writeInt32LE(affected, 4 * i))
      return reply(FUNCTIONS[verb], [{ kind: PART.ROWS_AFFECTED, arguments: results.length, bytes: counts }])
    }
    const id = this.#nextId()
    this.#results.set(id.toString('hex'), { rows: results[0].rows, columns })
    return reply(FUNCTION.SELECT, [
      ...isDirect ? [{ kind: PART.RESULT_SET_METADATA, ...resultMetadata(columns) }] : [],
      { kind: PART.RESULT_SET_ID, arguments: 1, bytes: id },
      this.#nextRows(id, 32)
    ])
  }

  /** Waits for the transaction that writes. */
  async #begin () {
    /** @type {PromiseWithResolvers<void>} */
    const begun = Promise.withResolvers()
    this.#writers.run(() => new Promise(resolve => {
      this.#sql.transaction('BEGIN IMMEDIATE')
      this.#end = how => {
        this.#end = null
        this.#sql.transaction(how)
        resolve(undefined)
      }
      begun.resolve()
    })).catch(begun.reject)
    await begun.promise
  }

  /** @param {Buffer} id @param {number} count */
  #fetch (id, count) {
    if (!this.#results.has(id.toString('hex'))) throw new SqlError(471, 'invalid cursor state')
    return reply(FUNCTION.FETCH, [this.#nextRows(id, count)])
  }

  /** @param {Buffer} id @param {number} count */
  #nextRows (id, count) {
    const result = /** @type {{rows: any[][], columns: any[]}} */ (this.#results.get(id.toString('hex')))
    const rows = result.rows.splice(0, count)
    const isOver = result.rows.length === 0
    if (isOver) this.#results.delete(id.toString('hex'))
    return { kind: PART.RESULT_SET, arguments: rows.length, bytes: resultRows(rows, result.columns), attributes: isOver ? LAST : 0 }
  }

  #nextId () {
    const id = Buffer.alloc(8)
    id.writeBigUInt64LE(++this.#lastId)
    return id
  }
}

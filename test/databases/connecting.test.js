import { once } from 'node:events'
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { expect } from 'chai'
import { connectError, fixFor } from '../../gateway/databases/connecting/failure.js'
import { Lender } from '../../gateway/databases/connecting/lender.js'
import { testInTime } from '../../gateway/databases/connecting/limits.js'
import { connectionSchema } from '../../gateway/databases/connecting/schema.js'
import { tlsOptions } from '../../gateway/databases/connecting/tls.js'
import { AnswerError, basicLogin, HttpClient } from '../../gateway/databases/http.js'
import { failureOf } from './contract/batches.js'

describe('connections', () => {
  describe('schema', () => {
    it('has the options that a server names, in their order, with what differs', () => {
      const { properties } = connectionSchema({ title: 'X', description: 'Y', properties: { port: { default: 1 }, host: {} } })
      expect(Object.keys(properties)).to.deep.equal(['port', 'host'])
      expect(properties.port).to.include({ title: 'Port', default: 1, maximum: 65_535 })
    })
  })

  describe('TLS', () => {
    it('is off, encrypts, or checks the server', () => {
      expect(tlsOptions({ tls: 'off', ca: '' })).to.equal(undefined)
      expect(tlsOptions({ tls: 'require', ca: '' })).to.deep.equal({ rejectUnauthorized: false })
      expect(tlsOptions({ tls: 'verify', ca: '' })).to.deep.equal({ rejectUnauthorized: true, ca: undefined })
      expect(tlsOptions({ tls: 'verify', ca: '-----BEGIN CERTIFICATE' })?.ca).to.equal('-----BEGIN CERTIFICATE')
    })

    it('reports a CA certificate that cannot be read', async () => {
      const error = await failureOf(async () => tlsOptions({ tls: 'verify', ca: '/no/such.pem' }))
      expect(error.message).to.match(/CA certificate.*\/no\/such\.pem.*Give the path of a PEM file/)
      expect(connectError('nowhere', error)).to.equal(error)
    })
  })

  describe('advice', () => {
    it('comes from the database first, then from the network', () => {
      const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      expect(fixFor(refused)).to.match(/^Check host and port/)
      expect(fixFor(refused, [['ECONNREFUSED', 'Check the URL.']])).to.equal('Check the URL.')
      expect(fixFor(Object.assign(new Error('denied'), { errno: 1045 }), [[1045, 'Check the user.']])).to.equal('Check the user.')
      expect(fixFor(new Error('self-signed certificate'))).to.match(/^Set the server's certificate/)
      expect(fixFor(new Error('odd'))).to.equal(undefined)
    })

    it('is found for a cause, and for the first of several errors', () => {
      const missing = Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' })
      for (const error of [new Error('failed', { cause: missing }), new AggregateError([missing])]) {
        expect(fixFor(error)).to.equal('Check the host name.')
      }
    })
  })

  it('ends a test that is aborted', async () => {
    const abort = new AbortController()
    const test = failureOf(() => testInTime('nowhere', abort.signal, () => new Promise(() => {})))
    abort.abort(new Error('closed'))
    expect((await test).message).to.equal('closed')
  })

  describe('lending', () => {
    /** @type {string[]} */
    let events
    /** @type {Promise<unknown>} */
    let ready

    beforeEach(() => {
      events = []
      ready = Promise.resolve()
    })

    /** @param {number} connections */
    const lender = connections => new Lender(connections, {
      connect: async () => {
        await ready
        return { release: () => { events.push('released') } }
      },
      breakOff: () => { events.push('broken off') },
      giveBack: async () => { events.push('given back') }
    })

    it('takes a connection back after the work, whether it succeeds or fails', async () => {
      const lending = lender(1)
      expect(await lending.use(async () => 'done')).to.equal('done')
      expect((await failureOf(() => lending.use(async () => { throw new Error('failed') }))).message).to.equal('failed')
      expect(events).to.deep.equal(['released', 'given back'])
    })

    it('leaves one connection to sinks', async () => {
      const lending = lender(2)
      const { promise, resolve } = Promise.withResolvers()
      const readings = [1, 2].map(reading => lending.read(async () => { events.push(`reading ${reading}`); await promise }))
      await lending.use(async () => { events.push('writing') })
      expect(events).to.include.members(['reading 1', 'writing']).and.not.to.include('reading 2')
      resolve(undefined)
      await Promise.all(readings)
      expect(events).to.include('reading 2')
    })

    it('ends work that is aborted', async () => {
      const abort = new AbortController()
      const { promise, reject } = Promise.withResolvers()
      const { promise: begun, resolve: begin } = Promise.withResolvers()
      const use = failureOf(() => lender(1).use(() => { begin(undefined); return promise }, abort.signal))
      await begun
      abort.abort(new Error('closed'))
      reject(new Error('connection lost'))
      expect((await use).message).to.equal('closed')
      expect(events).to.deep.equal(['broken off', 'given back'])
    })

    it('releases a connection that nobody waits for any more', async () => {
      const { promise, resolve } = Promise.withResolvers()
      ready = promise
      const abort = new AbortController()
      const use = failureOf(() => lender(1).use(async () => {}, abort.signal))
      await new Promise(setImmediate)
      abort.abort(new Error('closed'))
      expect((await use).message).to.equal('closed')
      resolve(undefined)
      await new Promise(setImmediate)
      expect(events).to.deep.equal(['released'])
    })
  })

  describe('HTTP', () => {
    /** @type {import('node:http').Server} */
    let server
    /** @type {HttpClient[]} */
    let clients
    /** @type {(request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse) => void} */
    let answer

    beforeEach(async () => {
      clients = []
      server = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
      await once(server, 'listening')
    })

    afterEach(() => {
      for (const client of clients) client.close()
      server.closeAllConnections()
      server.close()
    })

    /** @param {Partial<import('../../gateway/databases/http.js').HttpOptions>} [options] */
    const clientOf = options => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      const plain = { host: '127.0.0.1', port, tls: 'off', ca: '', connections: 1, authorization: '', silenceMs: 60_000 }
      const client = new HttpClient({ ...plain, ...options })
      clients.push(client)
      return client
    }

    it('sends the login, and a body that is compressed or not', async () => {
      /** @type {any[]} */
      const got = []
      answer = async ({ headers, method }, response) => {
        const body = Buffer.concat(await response.req.toArray())
        const text = String(headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body)
        got.push([method, headers.authorization, headers['content-length'] === String(body.length), text])
        response.end('fine')
      }
      const client = clientOf({ authorization: basicLogin('me', 'secret') })
      expect((await client.ask({ path: '/', body: ['a', Buffer.from('b')] })).text).to.equal('fine')
      await client.ask({ path: '/', body: ['a', Buffer.from('b')], encoding: 'gzip' })
      await client.ask({ method: 'GET', path: '/' })
      const login = 'Basic bWU6c2VjcmV0'
      expect(got).to.deep.equal([['POST', login, true, 'ab'], ['POST', login, true, 'ab'], ['GET', login, true, '']])
    })

    it('reports a refusal with its status and the reason in its body', async () => {
      answer = (_request, response) => response.writeHead(422).end('{"error":"no such thing"}')
      const error = await failureOf(() => clientOf({ reasonIn: text => JSON.parse(text).error }).ask({ path: '/' }))
      expect(error).to.be.instanceOf(AnswerError)
      expect(error).to.include({ status: 422, message: 'no such thing' })
      answer = (_request, response) => response.writeHead(503).end()
      expect((await failureOf(() => clientOf().ask({ path: '/' }))).message).to.equal('Service Unavailable')
    })

    it('repeats a request that met a connection closed by the server, where that is safe', async () => {
      let requests = 0
      answer = (request, response) => {
        if (++requests % 2 === 1) response.end('fine')
        else request.socket.destroy()
      }
      const plain = clientOf()
      await plain.ask({ path: '/' })
      expect(await failureOf(() => plain.ask({ path: '/' }))).to.have.property('code', 'ECONNRESET')
      const repeating = clientOf({ repeats: true })
      await repeating.ask({ path: '/' })
      expect((await repeating.ask({ path: '/' })).text).to.equal('fine')
      expect(requests).to.equal(5)
    })

    it('waited as long again for each idle connection that was lost together with one: they are given up with it', async () => {
      /** @type {Set<unknown>} */
      const lost = new Set()
      answer = ({ socket }, response) => {
        if (!lost.has(socket)) setTimeout(() => response.end('fine'), 20)
      }
      server.on('connection', socket => socket.once('data', () => setImmediate(() => lost.add(socket))))
      const client = clientOf({ connections: 3, silenceMs: 200 })
      await Promise.all([1, 2, 3].map(() => client.ask({ path: '/' })))
      expect((await failureOf(() => client.ask({ path: '/' }))).message).to.equal('no answer within 0.2 s')
      expect((await client.ask({ path: '/' })).text).to.equal('fine')
    })

    it('gives up a server that does not answer', async () => {
      answer = () => {}
      const error = await failureOf(() => clientOf({ silenceMs: 50 }).ask({ path: '/' }))
      expect(error).to.include({ code: 'ETIMEDOUT', message: 'no answer within 0.05 s' })
    })

    it('stops a request that is aborted', async () => {
      const abort = new AbortController()
      answer = () => abort.abort()
      expect((await failureOf(() => clientOf().ask({ path: '/', signal: abort.signal }))).name).to.equal('AbortError')
    })
  })
})

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect } from 'chai'
import { plainTextAdvice } from '../../gateway/databases/connecting/tls.js'
import { connect as connectMysql } from '../../gateway/databases/mysql/connection.js'
import { connect as connectPostgresql } from '../../gateway/databases/postgresql/connection.js'
import { failureOf } from './contract/batches.js'

const LOGIN = { host: '127.0.0.1', user: 'sluice', password: 'a secret' }

/** Fake servers that somebody else has put in the place of the real ones, without TLS. */
describe('a rogue server', () => {
  /** @type {import('node:net').Server} */
  let server
  /** What it was sent. @type {Buffer[]} */
  let received

  afterEach(() => new Promise(resolve => server.close(resolve)))

  /**
   * @param {string|Buffer|null} greeting
   * @param {(Buffer|null)[]} answers  to each message; null ends the connection
   */
  const listen = async (greeting, ...answers) => {
    received = []
    server = createServer(socket => {
      socket.on('error', () => {})
      if (greeting) socket.write(greeting)
      const left = [...answers, null]
      socket.on('data', data => {
        received.push(data)
        const answer = left.shift()
        if (answer) socket.write(answer)
        else socket.destroy()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return /** @type {import('node:net').AddressInfo} */ (server.address()).port
  }

  const sent = () => Buffer.concat(received).toString('latin1')

  /** @param {{test: () => Promise<string>, close: () => Promise<void>}} connected */
  const refusal = async connected => {
    try {
      return await failureOf(() => connected.test())
    } finally {
      await connected.close()
    }
  }

  describe('of PostgreSQL', () => {
    const requests = { 'plain text': Buffer.of(82, 0, 0, 0, 8, 0, 0, 0, 3), MD5: Buffer.of(82, 0, 0, 0, 12, 0, 0, 0, 5, 1, 2, 3, 4) }

    for (const [what, request] of Object.entries(requests)) {
      it(`does not learn the password by asking for it in ${what}`, async () => {
        const error = await refusal(connectPostgresql({ ...LOGIN, port: await listen(null, request) }))
        expect(error.message).to.match(new RegExp(`${what}.* without TLS.*scram-sha-256`))
        expect(received).to.have.length(1)
      })

      it(`is answered in ${what} where weak logins are allowed`, async () => {
        await refusal(connectPostgresql({ ...LOGIN, port: await listen(null, request), weakLogin: true }))
        expect(received).to.have.length(2)
        expect(sent()).to.match(what === 'MD5' ? /md5[0-9a-f]{32}/ : /a secret/)
      })
    }
  })

  describe('of MySQL', () => {
    const packet = (/** @type {number} */ seq, /** @type {Buffer} */ payload) =>
      Buffer.concat([Buffer.of(payload.length & 255, payload.length >> 8, 0, seq), payload])
    /** Of protocol version 10, and of a server that has no TLS. */
    const greeting = packet(0, Buffer.concat([
      Buffer.from('\n8.0.36\0'), Buffer.of(1, 0, 0, 0), Buffer.from('12345678\0'), Buffer.of(0x09, 0x82, 45, 2, 0, 0x28, 0, 21),
      Buffer.alloc(10), Buffer.from('abcdefghijkl\0'), Buffer.from('mysql_native_password\0')
    ]))
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048, publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' } })
    const key = Buffer.concat([Buffer.of(1), Buffer.from(publicKey)])
    const change = packet(2, Buffer.from('\xfecaching_sha2_password\0abcdefghijklmnopqrst\0', 'latin1'))
    const askForAll = [change, packet(4, Buffer.of(1, 4)), packet(6, key)]

    it('does not learn the password by sending a key to encrypt it with', async () => {
      const error = await refusal(connectMysql({ ...LOGIN, port: await listen(greeting, ...askForAll) }))
      expect(error.message).to.match(/without TLS.*key.*Switch TLS on/)
      expect(received).to.have.length(3)
    })

    it('is sent it encrypted where weak logins are allowed', async () => {
      await refusal(connectMysql({ ...LOGIN, port: await listen(greeting, ...askForAll), weakLogin: true }))
      expect(received[3]).to.have.length(4 + 256)
    })

    it('does not learn the password by asking for it in plain text', async () => {
      const ask = packet(2, Buffer.from('\xfemysql_clear_password\0', 'latin1'))
      for (const weakLogin of [false, true]) {
        const error = await refusal(connectMysql({ ...LOGIN, port: await listen(greeting, ask), weakLogin }))
        expect(error.message).to.match(/plaintext.*another authentication plugin/)
        expect(sent()).not.to.include('a secret')
        await new Promise(resolve => server.close(resolve))
      }
    })
  })
})

describe('advice about TLS', () => {
  it('is given where a server is on another machine', () => {
    for (const host of ['10.0.0.7', 'plant.example', '2001:db8::1']) expect(plainTextAdvice({ host, tls: 'off' })).to.match(/not encrypted/)
    for (const host of ['127.0.0.1', 'localhost', '::1', '[::1]', '/run/postgresql']) {
      expect(plainTextAdvice({ host, tls: 'off' })).to.equal('')
    }
    expect(plainTextAdvice({ host: '10.0.0.7', tls: 'verify' })).to.equal('')
  })
})

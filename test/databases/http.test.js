import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { HttpClient } from '../../gateway/databases/http.js'

describe('HTTP to a database', function () {
  this.timeout(60_000)

  it('does not wait for an answer to TLS as long as for one to a request', async () => {
    const sockets = new Set()
    // It waits for the end of a line.
    const silent = net.createServer(socket => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = /** @type {net.AddressInfo} */ (silent.address())
    const options = { host: '127.0.0.1', port, ca: '', connections: 1, authorization: '', silenceMs: 300_000 }
    const client = new HttpClient({ ...options, tls: 'require' })
    try {
      const error = await client.ask({ path: '/' }).catch(reason => reason)
      expect(error).to.include({ code: 'EPROTO', message: 'no TLS handshake within 10 s' })
    } finally {
      client.close()
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  })

  it('waits longer for an answer than for a connection', async () => {
    const slow = net.createServer(socket => socket.on('error', () => {}).once('data', () => {
      setTimeout(() => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\nlate'), 11_000)
    })).listen(0, '127.0.0.1')
    await once(slow, 'listening')
    const { port } = /** @type {net.AddressInfo} */ (slow.address())
    const client = new HttpClient({ host: '127.0.0.1', port, ca: '', connections: 1, authorization: '', silenceMs: 300_000, tls: 'off' })
    try {
      expect((await client.ask({ path: '/' })).text).to.equal('late')
    } finally {
      client.close()
      slow.close()
    }
  })

  it('makes a body while it is sent, no faster than the server reads', async () => {
    const PART = Buffer.alloc(2 ** 20)
    let made = 0
    let madeWhenAsleep = 0
    const server = http.createServer(async (request, response) => {
      await sleepUntil(() => made > 1)
      await nothingNew(() => made)
      madeWhenAsleep = made
      const body = await request.toArray()
      response.end(String(Buffer.concat(body).length))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = /** @type {net.AddressInfo} */ (server.address())
    const client = new HttpClient({ host: '127.0.0.1', port, ca: '', connections: 1, authorization: '', silenceMs: 300_000, tls: 'off' })
    const body = { * [Symbol.iterator] () { while (made < 100) yield (made++, PART) } }
    try {
      expect((await client.ask({ path: '/', body })).text).to.equal(String(100 * PART.length))
      expect(madeWhenAsleep).to.be.below(100)
      const broken = { * [Symbol.iterator] () { yield PART; throw new Error('cannot be written') } }
      const error = await client.ask({ path: '/', body: broken }).catch(reason => reason)
      expect(error.message).to.equal('cannot be written')
    } finally {
      client.close()
      server.close()
    }
  })
})

/** @param {() => boolean} test */
async function sleepUntil (test) {
  while (!test()) await sleep(5)
}

/** Resolves when a number has stayed what it is. @param {() => number} number */
async function nothingNew (number) {
  for (let before = -1; before !== number();) {
    before = number()
    await sleep(500)
  }
}

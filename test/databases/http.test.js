import { once } from 'node:events'
import net from 'node:net'
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
})

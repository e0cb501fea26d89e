import { createServer } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'chai'
import { describe as textOf } from '../../../gateway/base/errors.js'
import { RemoteMonitor } from '../../../gateway/stats/monitor/remote.js'
import { Sampler } from '../../../gateway/stats/monitor/sampler.js'
import { serveMonitor } from '../../../gateway/stats/monitor/server.js'

const TOKEN = 'f2a9c4d1-the-right-token'
const OTHER = 'f2a9c4d1-another-token-1'

describe('Monitor of another machine', () => {
  /** @type {Awaited<ReturnType<typeof serveMonitor>>} */
  let served
  /** @type {boolean[]} */
  let asked
  /** @type {() => Promise<void>} */
  let slow

  beforeEach(async () => {
    asked = []
    slow = async () => {}
    const monitor = {
      async read ({ fresh = false } = {}) {
        asked.push(fresh)
        await slow()
        return {
          timeMs: 1e12,
          elapsedSeconds: asked.length,
          processes: { server: { processes: 2, cpuSeconds: asked.length / 2, cgroup: { version: /** @type {2} */ (2), memoryBytes: 5 } } },
          folders: { data: { sizeBytes: 1, diskBytes: 4096, files: 1 } },
          machine: { cores: 4 },
          notes: ['server: something cannot be read']
        }
      }
    }
    served = await serveMonitor(monitor, { token: TOKEN })
  })

  afterEach(() => served.close())

  it('is read like that of this one, with the token', async () => {
    const remote = new RemoteMonitor({ url: served.url, token: TOKEN })
    expect(await remote.read()).to.deep.equal({
      timeMs: 1e12,
      elapsedSeconds: 1,
      processes: { server: { processes: 2, cpuSeconds: 0.5, cgroup: { version: 2, memoryBytes: 5 } } },
      folders: { data: { sizeBytes: 1, diskBytes: 4096, files: 1 } },
      machine: { cores: 4 },
      notes: ['server: something cannot be read']
    })
    const sampler = new Sampler(remote, { intervalMs: 60_000 })
    await sampler.start()
    await sampler.stop()
    expect(asked).to.deep.equal([false, true, true])
    expect(sampler.summary().processes.server.cpuPercent.mean).to.equal(50)
  })

  it('answers 401 without the token, and tells nothing', async () => {
    for (const headers of [{}, { Authorization: `Bearer ${OTHER}` }, { Authorization: `Basic ${TOKEN}` }, { Authorization: 'Bearer' }]) {
      for (const path of ['/sample', '/', '/sample?fresh']) {
        const response = await fetch(served.url + path, { headers: new Headers(/** @type {Record<string, string>} */ (headers)) })
        const text = await response.text()
        expect(response.status, path).to.equal(401)
        expect(text).to.contain('SLUICE_MONITOR_ACCESS').and.not.contain('server')
        expect(text).not.to.match(/f2a9c4d1/)
      }
    }
    expect(asked).to.deep.equal([])
  })

  it('has nothing but samples', async () => {
    const headers = { Authorization: `Bearer ${TOKEN}` }
    expect((await fetch(`${served.url}/proc/1/environ`, { headers })).status).to.equal(404)
    expect((await fetch(`${served.url}/sample`, { headers, method: 'POST' })).status).to.equal(404)
  })

  it('says why it cannot be read, without the token', async () => {
    const failure = async (/** @type {{url: string, token: string}} */ options) => {
      const error = await new RemoteMonitor(options).read().catch(each => each)
      expect(error.code).to.equal('SLUICE_MONITOR_REMOTE')
      expect(`${textOf(error)} ${error.stack} ${JSON.stringify(error)}`).not.to.match(/f2a9c4d1/)
      return error.message
    }
    expect(await failure({ url: served.url, token: OTHER })).to.contain('it refuses the token')
    await served.close()
    expect(await failure({ url: served.url, token: TOKEN })).to.contain('ECONNREFUSED')
    served = await serveMonitor({ read: async () => { throw new Error('broken') } }, { token: TOKEN })
    expect(await failure({ url: served.url, token: TOKEN })).to.contain('it answered 500')
  })

  it('reads once for all that ask at the same time', async () => {
    const gate = Promise.withResolvers()
    slow = async () => { await gate.promise }
    const socket = connect(Number(new URL(served.url).port), '127.0.0.1')
    let answers = ''
    socket.setEncoding('utf8').on('data', text => { answers += text })
    // In one piece, so that the server has all of them when it begins with the first.
    socket.write(`GET /sample HTTP/1.1\r\nHost: monitor\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`.repeat(3))
    while (asked.length === 0) await new Promise(resolve => setImmediate(resolve))
    gate.resolve(undefined)
    while ((answers.match(/200 OK/g)?.length ?? 0) < 3) await once(socket, 'data')
    socket.destroy()
    expect(asked).to.deep.equal([false])
  })

  it('refuses a token that could be guessed, and an address with a login', async () => {
    const none = { read: async () => { throw new Error('it was not to be read') } }
    const refused = async (/** @type {string} */ token) => serveMonitor(none, { token }).catch(({ code }) => code)
    for (const token of ['', 'short', 'has spaces in between it', 'ünicode-ünicode-ünicode']) {
      expect(await refused(token), token).to.equal('SLUICE_MONITOR_ACCESS')
    }
    expect(() => new RemoteMonitor({ url: 'http://user:secret@host:1', token: TOKEN })).to.throw(/without user and password/).and.not.match(/secret/)
  })

  describe('that is none', () => {
    /** @param {import('node:http').RequestListener} listener */
    async function answered (listener) {
      const server = createServer(listener)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      try {
        return await new RemoteMonitor({ url: `http://127.0.0.1:${port}`, token: TOKEN }).read().catch(error => error)
      } finally {
        server.close()
        server.closeAllConnections()
      }
    }

    it('is not believed: neither another answer, nor one without end', async () => {
      expect((await answered((_, response) => response.end('[1]'))).message).to.contain('it does not answer as a monitor does')
      expect((await answered((_, response) => response.end('<html>'))).code).to.equal('SLUICE_MONITOR_REMOTE')
      expect((await answered((_, response) => {
        const more = setInterval(() => response.write(Buffer.alloc(2 ** 18, 32)), 1)
        response.on('close', () => clearInterval(more))
      })).message).to.contain('longer than 1048576 bytes')
    })

    it('gets no token by sending it elsewhere', async () => {
      let arrived = ''
      const thief = createServer((request, response) => { arrived += request.headers.authorization; response.end('{}') })
      await once(thief.listen(0, '127.0.0.1'), 'listening')
      const { port } = /** @type {import('node:net').AddressInfo} */ (thief.address())
      const error = await answered((_, response) => response.writeHead(302, { Location: `http://127.0.0.1:${port}/sample` }).end())
      thief.close()
      expect([error.code, arrived]).to.deep.equal(['SLUICE_MONITOR_REMOTE', ''])
    })

    it('gives numbers and notes, nothing else', async () => {
      const sample = await answered((_, response) => response.end(JSON.stringify({
        timeMs: 1,
        elapsedSeconds: 2,
        processes: { a: { cpuSeconds: '<b>', rssBytes: 5, cgroup: { memoryBytes: 'x' } }, b: 'c' },
        folders: null,
        notes: [{}]
      })))
      expect(sample).to.deep.equal({
        timeMs: 1, elapsedSeconds: 2, processes: { a: { rssBytes: 5, cgroup: {} } }, folders: {}, notes: ['[object Object]']
      })
    })
  })
})

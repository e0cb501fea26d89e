import { createServer } from 'node:http'
import { once } from 'node:events'
import { expect } from 'chai'
import { healthOf } from '../../gateway/update/health.js'
import { compareVersions, isVersion, unread } from '../../gateway/update/release.js'
import { freePort } from '../servers/ports.js'

describe('Releases', () => {
  it('are in the order of their versions; builds of one in that of their time', () => {
    const inOrder = [
      '0.9.0', '0.10.0-alpha', '0.10.0-rc.2', '0.10.0-rc.10', '0.10.0', '0.10.0+20261123081422.091c363', '0.10.0+20261124000000.0a1b2c3',
      '1.0.0'
    ]
    for (const [i, version] of inOrder.entries()) {
      expect(isVersion(version)).to.equal(true)
      for (const [j, other] of inOrder.entries()) expect(Math.sign(compareVersions(version, other))).to.equal(Math.sign(i - j))
    }
    for (const text of ['', '1.0', '1.0.0/..', 'v1.0.0', '..', '1.0.0 x']) expect(isVersion(text)).to.equal(false)
  })

  it('name the formats that another does not read, of those that it knows', () => {
    const writer = { spool: { writes: 3, reads: [2, 3] }, letters: { writes: 1, reads: [1] } }
    expect(unread(writer, { spool: { writes: 4, reads: [3, 4] } })).to.deep.equal([])
    expect(unread(writer, { spool: { writes: 2, reads: [2] }, letters: { writes: 2, reads: [2] } })).to.deep.equal(['spool 3', 'letters 1'])
  })
})

describe('Health of a gateway', () => {
  /** @type {Record<string, [status: number, body: object]>} */
  let answers
  /** @type {import('node:http').Server} */
  let server
  /** @type {number} */
  let port

  before(async () => {
    server = createServer(({ url = '' }, response) => {
      const [status, body] = answers[url] ?? [404, {}]
      response.writeHead(status).end(JSON.stringify(body))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = /** @type {import('node:net').AddressInfo} */ (server.address()).port
  })
  after(() => server.close())

  const health = () => healthOf(`http://127.0.0.1:${port}/`)

  it('is its version, and how much is in trouble', async () => {
    answers = { '/sluice/health': [200, { status: 'running', version: '1.2.3' }], '/sluice/health/ready': [200, { status: 'ready' }] }
    expect(await health()).to.deep.equal({ version: '1.2.3', trouble: 0 })
    answers['/sluice/health/ready'] = [503, { status: 'not ready', missing: [{ name: 'a' }, { name: 'b' }] }]
    expect(await health()).to.deep.equal({ version: '1.2.3', trouble: 2 })
  })

  it('is that something is in trouble, where it does not say how much', async () => {
    answers = { '/sluice/health': [200, { status: 'running', version: '1.2.3' }], '/sluice/health/ready': [503, { status: 'not ready' }] }
    expect(await health()).to.deep.equal({ version: '1.2.3', trouble: 1 })
  })

  it('is nothing while its flows start, and where nobody listens', async () => {
    answers = { '/sluice/health': [503, { status: 'starting', version: '1.2.3' }] }
    expect(await health()).to.equal(null)
    const free = await freePort()
    expect(await healthOf(`http://127.0.0.1:${free}/`)).to.equal(null)
  })
})

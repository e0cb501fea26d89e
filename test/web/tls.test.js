import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createTlsServer } from '../../gateway/web/tls.js'
import { makeCertificates } from '../servers/certificates.js'

describe('A server with TLS', () => {
  /** @type {{ca: string, cert: string, key: string}} */
  let pems
  /** @type {ReturnType<typeof createTlsServer>} */
  let server
  /** @type {number} */
  let port

  before(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-tls-'))
    const { ca, server: files } = makeCertificates(folder)
    const [authority, cert, key] = await Promise.all([ca, files.cert, files.key].map(file => readFile(file, 'utf8')))
    pems = { ca: authority, cert, key }
    await rm(folder, { recursive: true })
    server = createTlsServer(pems, (asked, response) => { response.end(`asked for ${asked.url}`) }, ['plant.example'])
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = /** @type {import('node:net').AddressInfo} */ (server.address()).port
  })
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  /** @param {typeof request} ask @param {import('node:https').RequestOptions} options */
  async function answer (ask, options) {
    const [response] = await once(ask({ host: '127.0.0.1', port, agent: false, ...options }).end(), 'response')
    return { status: response.statusCode, location: response.headers.location, text: (await response.toArray()).join('') }
  }

  it('answers a client that checks its certificate', async () => {
    const { status, text } = await answer(request, { ca: pems.ca, path: '/flows' })
    expect([status, text]).to.deep.equal([200, 'asked for /flows'])
  })

  it('sends those that come by http to the same place by https', async () => {
    const { status, location } = await answer(plainRequest, { path: '/sluice/?a=b', headers: { host: `plant.example:${port}` } })
    expect([status, location]).to.deep.equal([308, `https://plant.example:${port}/sluice/?a=b`])
  })

  it('sends nobody to a name that is not its own', async () => {
    const { status, text, location } = await answer(plainRequest, { headers: { host: 'rebound.example' } })
    expect([status, location]).to.deep.equal([403, undefined])
    expect(text).to.match(/^SLUICE_WEB_HOST: /)
  })

  it('lives on when connections break off before they have said anything, or say neither', async () => {
    for (const bytes of ['', 'x', '\x16', '\x16\x03\x01\x00\x05hello']) {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => {})
      await once(socket, 'connect')
      socket.end(bytes)
      await once(socket.resume(), 'close')
    }
    expect((await answer(request, { ca: pems.ca })).status).to.equal(200)
  })

  it('keeps no connection that says nothing, or never ends its request', async () => {
    const impatient = createTlsServer(pems, () => {}, [], 50)
    await once(impatient.listen(0, '127.0.0.1'), 'listening')
    const address = /** @type {import('node:net').AddressInfo} */ (impatient.address())
    for (const bytes of ['', 'GET / HTTP/1.1\r\nHost: ']) {
      const socket = connect(address.port, '127.0.0.1')
      socket.write(bytes)
      await once(socket.resume(), 'close')
    }
    impatient.close()
  })

  it('is not made of what is no certificate, or not its key', () => {
    const make = (/** @type {object} */ other) => () => createTlsServer({ ...pems, ...other }, () => {}, [])
    expect(make({ cert: 'nothing' })).to.throw(/--tls-cert and --tls-key/).with.property('code', 'SLUICE_TLS_FILE')
    expect(make({ cert: pems.ca })).to.throw().with.property('code', 'SLUICE_TLS_FILE')
  })
})

import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { hostname } from 'node:os'
import { expect } from 'chai'
import { WebSocket, WebSocketServer } from 'ws'
import { guarded, jsonOnly, refusal } from '../../gateway/web/guard.js'
import { isLoopback } from '../../gateway/web/hosts.js'
import { guardUpgrades } from '../../gateway/web/upgrades.js'

const LINK = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

/** The code a request is refused with, if it is. @param {object} headers @param {string} [method] @param {string[]} [allow] */
function codeOf (headers, method = 'GET', allow = []) {
  return refusal({ method, headers: { host: '127.0.0.1:1880', ...headers } }, allow)?.code
}

describe('The guard of the web pages', () => {
  it('knows the machine by its addresses and own names only, so that no name of another leads to it', () => {
    const short = hostname().split('.')[0]
    for (const host of ['127.0.0.1:1880', '10.0.0.7', '[::1]:1880', '[fe80::1]', 'localhost:1880', 'LOCALHOST', 'localhost.', hostname(),
      `${short}:1880`, `${short}.local`]) expect(codeOf({ host }), host).to.equal(undefined)
    for (const host of ['rebound.example', 'rebound.example:1880', `${short}.example`, '127.0.0.1.example', 'localhost.example', '',
      'evil.example/@127.0.0.1', 'a@127.0.0.1', '127.0.0.1#.example']) expect(codeOf({ host }), host).to.equal('SLUICE_WEB_HOST')
  })

  it('knows the names that were allowed', () => {
    expect(codeOf({ host: 'plant.example' }, 'GET', ['plant.example'])).to.equal(undefined)
    expect(codeOf({ host: 'plant.example:1880' }, 'GET', ['plant.example'])).to.equal(undefined)
    expect(codeOf({ host: 'other.plant.example' }, 'GET', ['plant.example'])).to.equal('SLUICE_WEB_HOST')
  })

  it('takes programs that are no browsers', () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) expect(codeOf({}, method)).to.equal(undefined)
  })

  it('takes its own pages, and refuses those of any other origin', () => {
    expect(codeOf({ origin: 'http://127.0.0.1:1880', 'sec-fetch-site': 'same-origin' }, 'POST')).to.equal(undefined)
    for (const origin of ['http://127.0.0.1:1881', 'http://127.0.0.1', 'http://localhost:1880', 'https://evil.example', 'null', 'file://', '']) {
      expect(codeOf({ origin }, 'POST'), origin).to.equal('SLUICE_WEB_ORIGIN')
      expect(codeOf({ origin }), origin).to.equal('SLUICE_WEB_ORIGIN')
    }
  })

  it('takes links from elsewhere, and nothing else from there: no frame, no image, no form', () => {
    for (const site of ['cross-site', 'same-site']) {
      expect(codeOf({ ...LINK, 'sec-fetch-site': site })).to.equal(undefined)
      expect(codeOf({ ...LINK, 'sec-fetch-site': site }, 'POST')).to.equal('SLUICE_WEB_ORIGIN')
      expect(codeOf({ ...LINK, 'sec-fetch-dest': 'iframe', 'sec-fetch-site': site })).to.equal('SLUICE_WEB_ORIGIN')
      expect(codeOf({ 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image', 'sec-fetch-site': site })).to.equal('SLUICE_WEB_ORIGIN')
    }
    for (const site of ['none', 'same-origin']) expect(codeOf({ 'sec-fetch-site': site })).to.equal(undefined)
  })

  it('took requests for images of foreign pages where a browser says neither origin nor site, as it does on a LAN address', () => {
    const image = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', referer: 'http://evil.example/' }
    const ask = (/** @type {object} */ headers, /** @type {string} */ url) => {
      return refusal({ headers: { host: '10.0.0.7', ...headers }, method: 'GET', url })
    }
    for (const referer of ['http://evil.example/', 'http://10.0.0.7:8080/page', 'https://evil.example', 'data:']) {
      expect(ask({ ...image, referer }, '/endpoint')?.code, referer).to.equal('SLUICE_WEB_ORIGIN')
    }
    expect(ask({ ...image, host: 'rebound.example' }, '/')?.code).to.equal('SLUICE_WEB_HOST')
    for (const headers of [{ ...image, referer: 'http://10.0.0.7/editor' }, { ...image, referer: undefined }, { ...image, 'user-agent': 'curl/8' }]) {
      expect(ask(headers, '/endpoint')).to.equal(null)
    }
    for (const url of ['/', '/sluice/', '/sluice?x', '/?x']) expect(ask(image, url), 'a link to a page').to.equal(null)
    for (const url of ['/sluice/session', '/flows', '//', '/sluices']) expect(ask(image, url)?.code, url).to.equal('SLUICE_WEB_ORIGIN')
    expect(refusal({ headers: { host: '10.0.0.7', ...image }, method: 'POST', url: '/' })?.code).to.equal('SLUICE_WEB_ORIGIN')
  })

  it('takes what a proxy passes on under a name that is allowed, and under no other', () => {
    const proxied = { origin: 'https://plant.example', 'x-forwarded-host': 'plant.example' }
    expect(codeOf(proxied, 'POST', ['plant.example'])).to.equal(undefined)
    expect(codeOf({ origin: proxied.origin }, 'POST', ['plant.example'])).to.equal(undefined)
    expect(codeOf(proxied, 'POST')).to.equal('SLUICE_WEB_HOST')
    expect(codeOf({ origin: 'https://rebound.example', 'x-forwarded-host': 'rebound.example' }, 'POST', ['plant.example']))
      .to.equal('SLUICE_WEB_HOST')
    expect(codeOf({ ...proxied, origin: 'https://plant.example:8443' }, 'POST', ['plant.example'])).to.equal('SLUICE_WEB_ORIGIN')
  })

  it('says which addresses only this machine reaches', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) expect(isLoopback(host), host).to.equal(true)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', hostname(), '127.0.0.1.example', '']) expect(isLoopback(host), host).to.equal(false)
  })

  describe('over HTTP', () => {
    /** @type {import('node:http').Server} */
    let server
    /** @type {string} */
    let ownHost
    /** Of the upgrades that the listeners have seen. @type {string[]} */
    let seen

    beforeEach(async () => {
      seen = []
      const guard = guarded([])
      server = createServer((asked, response) => {
        guard(asked, response, () => {
          if (asked.url === '/json') jsonOnly(asked, response, () => response.end('taken'))
          else response.end('taken')
        })
      })
      const sockets = new WebSocketServer({ noServer: true })
      guardUpgrades(server, asked => {
        const refused = refusal(asked)
        if (refused) throw refused
      })
      server.on('upgrade', (asked, socket, head) => {
        seen.push(asked.url ?? '')
        sockets.handleUpgrade(asked, socket, head, client => client.on('message', text => client.send(`heard ${text}`)))
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      ownHost = `127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
    })
    afterEach(() => {
      server.closeAllConnections()
      server.close()
    })

    /** @param {string} path @param {string} method @param {import('node:http').OutgoingHttpHeaders} headers */
    async function ask (path, method, headers) {
      const asked = request(`http://${ownHost}${path}`, { method, headers })
      asked.end()
      const [response] = await once(asked, 'response')
      return { status: response.statusCode, headers: response.headers, text: (await response.setEncoding('utf8').toArray()).join('') }
    }

    it('says why it refuses, and what to do', async () => {
      const { status, headers, text } = await ask('/', 'GET', { host: 'rebound.example' })
      expect(status).to.equal(403)
      expect(headers['content-type']).to.equal('text/plain; charset=utf-8')
      expect(text).to.match(/^SLUICE_WEB_HOST: The gateway is not known as "rebound\.example"\. Allow it with --allow-host NAME/)
      expect((await ask('/', 'POST', { origin: 'null' })).text).to.match(/^SLUICE_WEB_ORIGIN: /)
    })

    it('keeps every page out of the frames of others', async () => {
      for (const host of ['localhost', 'rebound.example']) {
        const answer = await ask('/', 'GET', { host })
        expect(answer.headers['content-security-policy']).to.equal('frame-ancestors \'self\'')
        expect(answer.headers['x-frame-options']).to.equal('SAMEORIGIN')
      }
    })

    it('takes JSON, and nothing that the form of another page could send', async () => {
      for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON']) {
        expect((await ask('/json', 'POST', { 'content-type': type })).status, type).to.equal(200)
      }
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain; application/json', '']) {
        const { status, text } = await ask('/json', 'POST', { 'content-type': type })
        expect(status, type).to.equal(403)
        expect(text).to.match(/^SLUICE_WEB_JSON: /)
      }
    })

    it('lets an upgrade through as it came, with what was sent along', async () => {
      const socket = new WebSocket(`ws://${ownHost}/comms`, { origin: `http://${ownHost}` })
      socket.on('open', () => socket.send('hello'))
      const [text] = await once(socket, 'message')
      expect(String(text)).to.equal('heard hello')
      socket.close()
      expect(seen).to.deep.equal(['/comms'])
    })

    it('refuses an upgrade before any listener sees it', async () => {
      for (const headers of [{ origin: 'http://evil.example' }, { host: 'rebound.example' }, { origin: 'null' }]) {
        const socket = new WebSocket(`ws://${ownHost}/comms`, { headers })
        socket.on('error', () => {})
        const [, response] = await once(socket, 'unexpected-response')
        expect(response.statusCode).to.equal(403)
        socket.terminate()
      }
      expect(seen).to.deep.equal([])
    })
  })
})

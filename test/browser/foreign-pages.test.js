import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { flowLoaded, openBrowser, requireChromium } from './browser.js'
import { startGateway } from './gateway.js'

const FLOW = [
  { id: 'flow', type: 'tab', label: 'flow' },
  { id: 'note', type: 'comment', z: 'flow', name: 'before', x: 200, y: 100, wires: [] }
]
const EXEC = [...FLOW, { id: 'evil', type: 'exec', z: 'flow', command: 'true', wires: [[], [], []] }]

/** A flow that runs a program, as a form has it. */
const FIELDS = { label: 'evil', 'nodes[0][id]': 'evil', 'nodes[0][type]': 'exec', 'nodes[0][command]': 'true', 'nodes[0][wires][0]': '' }

/** What a page of somebody else tries; each gives what it has got. */
const ATTACKS = {
  /** @param {readonly [target: string, fields: Record<string, string>]} given */
  form: ([target, fields]) => new Promise(resolve => {
    const frame = document.body.appendChild(Object.assign(document.createElement('iframe'), { name: 'answer' }))
    const form = document.body.appendChild(document.createElement('form'))
    Object.assign(form, { action: `${target}flow`, method: 'post', target: 'answer' })
    for (const [name, value] of Object.entries(fields)) form.append(Object.assign(document.createElement('input'), { name, value }))
    frame.onload = () => resolve('posted')
    form.submit()
  }),
  /** @param {readonly [target: string, fields: Record<string, string>, flow: object[]]} given */
  fetch: async ([target, fields, flow]) => {
    await fetch(`${target}flow`, { method: 'POST', mode: 'no-cors', body: new URLSearchParams(fields) })
    await fetch(`${target}flows`, { method: 'POST', mode: 'no-cors', body: JSON.stringify(flow) })
    const json = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(flow) }
    return fetch(`${target}flows`, json).then(({ status }) => `answered ${status}`, () => 'not answered')
  },
  /** @param {string} target */
  read: target => fetch(`${target}flows`).then(({ status }) => `answered ${status}`, () => 'not answered'),
  /** @param {string} target */
  comms: target => new Promise(resolve => {
    const socket = new WebSocket(`${target.replace('http', 'ws')}comms`)
    socket.onopen = () => socket.send('{"subscribe":"#"}')
    socket.onmessage = ({ data }) => resolve(`read ${data}`)
    socket.onclose = () => resolve('closed')
  })
}

describe('Pages of others, in a browser', function () {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {import('node:http').Server} */
  let foreign
  /** @type {string[]} */
  let origins

  before(async function () {
    requireChromium(this)
    foreign = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<title>foreign</title><body>'))
    foreign.listen(0, '127.0.0.1')
    await once(foreign, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (foreign.address())
    origins = [`http://127.0.0.1:${port}/`, `http://localhost:${port}/`, `http://evil.example:${port}/`]
    gateway = await startGateway(FLOW)
    browser = await openBrowser([`--host-resolver-rules=MAP *.example 127.0.0.1, MAP ${os.hostname().toLowerCase()} 127.0.0.1`])
    page = browser.page
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
    foreign?.close()
  })

  /** What is deployed, asked as a program does. */
  async function deployed () {
    const flow = /** @type {{type: string}[]} */ (await (await fetch(`${gateway.editorUrl}flows`)).json())
    return flow.map(({ type }) => type)
  }

  for (const i of [0, 1, 2]) {
    describe(['from another port', 'from another name of this machine', 'from another site'][i], () => {
      beforeEach(() => page.goto(origins[i]))

      it('deploy no flow by a form', async () => {
        await page.evaluate(ATTACKS.form, /** @type {const} */ ([gateway.editorUrl, FIELDS]))
        expect(await deployed()).to.deep.equal(['tab', 'comment'])
      })

      it('deploy no flow by a request', async () => {
        const attack = page.evaluate(ATTACKS.fetch, /** @type {const} */ ([gateway.editorUrl, FIELDS, EXEC]))
        expect(await attack).to.equal('not answered')
        expect(await deployed()).to.deep.equal(['tab', 'comment'])
      })

      it('read nothing, by request or websocket', async () => {
        expect(await page.evaluate(ATTACKS.read, gateway.editorUrl)).to.equal('not answered')
        expect(await page.evaluate(ATTACKS.comms, gateway.editorUrl)).to.equal('closed')
        expect(await page.evaluate(ATTACKS.comms, `${gateway.liveUrl}stream?`)).to.equal('closed')
      })

      it('show neither the editor nor the live page in a frame', async () => {
        for (const url of [gateway.editorUrl, gateway.liveUrl]) {
          await page.evaluate(src => new Promise(resolve => {
            document.body.append(Object.assign(document.createElement('iframe'), { src, onload: resolve }))
          }), url)
        }
        for (const frame of page.frames().slice(1)) {
          expect(await frame.evaluate('[document.title, document.querySelectorAll("#red-ui-editor, #ledger").length].join()'))
            .to.not.match(/Sluice|[1-9]$/)
        }
      })

      it('may link to the gateway', async () => {
        await page.setContent(`<a href="${gateway.liveUrl}">the live page</a>`)
        await page.click('a')
        await page.waitForFunction('document.title === "Sluice, live"')
      })
    })
  }

  it('ran a flow by a GET where the browser tells no origin, as over http to any name but localhost', async () => {
    const { port } = new URL(gateway.editorUrl)
    const src = `http://${os.hostname().toLowerCase()}:${port}/endpoint`
    await page.goto(origins[2])
    const [response] = await Promise.all([
      page.waitForResponse(src),
      page.evaluate(address => { document.body.append(Object.assign(document.createElement('iframe'), { src: address })) }, src)
    ])
    expect(await response.request().allHeaders()).to.include.keys('referer').and.not.include.keys('sec-fetch-site')
    expect(response.status()).to.equal(403)
  })

  it('that have their name lead to the gateway are refused', async () => {
    const { port } = new URL(gateway.editorUrl)
    const response = await page.goto(`http://rebound.example:${port}/flows`)
    expect(response?.status()).to.equal(403)
    expect(await page.textContent('body')).to.match(/^SLUICE_WEB_HOST: The gateway is not known as "rebound\.example:\d+"/)
  })

  it('leave the editor as it was: it deploys, and hears from the gateway', async () => {
    const comms = page.waitForEvent('websocket', socket => socket.url().endsWith('/comms'))
    await page.goto(gateway.editorUrl)
    await (await comms).waitForEvent('framereceived')
    await flowLoaded(page, 'node("note")')
    await page.evaluate(`
      Object.assign(RED.nodes.node('note'), { name: 'after', changed: true, dirty: true })
      RED.nodes.dirty(true)
    `)
    await page.click('#red-ui-header-button-deploy')
    await page.waitForFunction('!RED.nodes.dirty()')
    const flow = /** @type {{name?: string}[]} */ (await (await fetch(`${gateway.editorUrl}flows`)).json())
    expect(flow.map(({ name }) => name)).to.include('after')
  })
})

describe('The login, in a browser', function () {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {string} */
  let folder

  before(async function () {
    requireChromium(this)
    folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-users-'))
    await writeFile(path.join(folder, 'users'), 'ada:change:correct horse\nwallboard:view:battery: staple\n')
    gateway = await startGateway(FLOW, ['--login-file', path.join(folder, 'users')])
  })
  beforeEach(async () => { browser = await openBrowser([], { username: 'wallboard', password: 'battery: staple' }) })
  afterEach(() => browser?.close())
  after(async () => {
    await gateway?.stop()
    if (folder) await rm(folder, { recursive: true })
  })

  /** @param {string} name @param {string} password */
  async function logIn (name, password) {
    await browser.page.goto(gateway.editorUrl)
    await browser.page.fill('#node-dialog-login-username', name)
    await browser.page.fill('#node-dialog-login-password', password)
    await browser.page.click('#node-dialog-login-submit')
    await browser.page.waitForFunction('window.RED?.nodes?.node("note")')
  }

  it('opens the live page and its stream to whom it is shown', async () => {
    await browser.page.goto(gateway.liveUrl)
    await browser.page.waitForSelector('#verdict.idle')
  })

  it('opens the editor to look, or to change, and has the browser ask for nothing else', async () => {
    /** @type {string[]} */
    const asked = []
    browser.page.on('response', response => {
      if (response.headers()['www-authenticate']?.startsWith('Basic')) asked.push(response.url())
    })
    await logIn('wallboard', 'battery: staple')
    expect(await browser.page.evaluate('RED.user.hasPermission("flows.write")')).to.equal(false)
    await browser.page.evaluate('localStorage.clear()')
    await logIn('ada', 'correct horse')
    expect(await browser.page.evaluate('RED.user.hasPermission("flows.write")')).to.equal(true)
    expect(asked).to.deep.equal([])
  })
})

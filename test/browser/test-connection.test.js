import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { flowLoaded, openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const RESULT = '.sluice-test-result'

describe('the button Test connection in a browser', function () {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {string[]} */
  const pageErrors = []

  before(async function () {
    requireChromium(this)
    requirePostgresql(this)
    postgresql = await startPostgresql()
    gateway = await startGateway([
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'server', type: 'sluice-postgresql-server', name: 'plant', host: '127.0.0.1', port: postgresql.port, database: 'postgres' },
      { id: 'sink', type: 'sluice-postgresql', z: 'flow', name: 'store', server: 'server', x: 200, y: 100, wires: [] }
    ])
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'node("sink")')
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
    await postgresql?.remove()
  })

  /** Opens the sink's form, and from there its server's. */
  async function openServer () {
    await page.evaluate('RED.editor.edit(RED.nodes.node("sink"))')
    await page.click('#node-input-btn-server-edit')
    await slidIn(page, '.sluice-test button')
  }

  async function closeForms () {
    for (const button of ['#node-config-dialog-ok', '#node-dialog-ok']) {
      await page.$eval(button, element => /** @type {HTMLElement} */ (element).click())
      await page.waitForSelector(button, { state: 'detached' })
    }
  }

  /** Presses the button and gives what is said in the end, as good or bad. */
  async function press () {
    await page.click('.sluice-test button')
    await page.waitForSelector(`${RESULT}:is([data-state=good], [data-state=bad])`, { state: 'attached' })
    expect(await page.isEnabled('.sluice-test button')).to.equal(true)
    return { state: await page.getAttribute(RESULT, 'data-state'), text: await page.textContent(RESULT) }
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `test-connection-${name}.png`) })
  }

  it('shows what is wrong and what to do, of a form that is not deployed', async () => {
    await openServer()
    expect(await page.textContent('.sluice-test button')).to.equal('Test connection')
    await page.fill('#node-config-input-user', postgresql.user)
    await page.fill('#node-config-input-password', 'not the password')
    const { state, text } = await press()
    expect(state).to.equal('bad')
    expect(text).to.match(/password authentication failed.*Check user and password\.$/)
    await look('bad')
  })

  it('forgets that once the form changes, and shows what is there when it is right', async () => {
    await page.fill('#node-config-input-password', postgresql.password)
    expect(await page.textContent(RESULT)).to.equal('')
    const { state, text } = await press()
    expect(state).to.equal('good')
    expect(text).to.match(/^PostgreSQL \S+, database "postgres", logged in as "postgres"\.$/)
    expect(
      await page.$eval(
        RESULT,
        element => element.scrollWidth <= element.clientWidth && element.getBoundingClientRect().right <= innerWidth
      )
    ).to.equal(true)
    await look('good')
  })

  it('shows that it is at it, with the button held', async () => {
    const { promise: seen, resolve: continueRequest } = Promise.withResolvers()
    await page.route('**/sluice-servers/**', async route => {
      await seen
      await route.continue()
    })
    await page.click('.sluice-test button')
    expect(await page.textContent(RESULT)).to.equal('Trying…')
    expect(await page.isEnabled('.sluice-test button')).to.equal(false)
    await look('trying')
    continueRequest(undefined)
    await page.waitForSelector(`${RESULT}[data-state=good]`, { state: 'attached' })
    await page.unroute('**/sluice-servers/**')
  })

  it('says in words that Node-RED does not answer, or does not allow it', async () => {
    for (const [answer, words] of /** @type {const} */ ([
      ['abort', 'Node-RED does not answer.'],
      ['forbid', 'You may not try this: it needs the right to deploy.']
    ])) {
      await page.route('**/sluice-servers/**', route => (answer === 'abort' ? route.abort() : route.fulfill({ status: 403 })))
      expect(await press()).to.deep.equal({ state: 'bad', text: words })
      await page.unroute('**/sluice-servers/**')
    }
  })

  it('uses the stored password, which the form does not show, once it is deployed', async () => {
    await closeForms()
    await page.click('#red-ui-header-button-deploy')
    await page.waitForFunction('!RED.nodes.dirty()')
    await page.reload()
    await flowLoaded(page, 'node("sink")')
    await openServer()
    expect(await page.inputValue('#node-config-input-password')).to.equal('__PWRD__')
    expect((await press()).state).to.equal('good')
    await page.fill('#node-config-input-database', 'nowhere')
    expect(await press()).to.satisfy(
      (/** @type {any} */ { state, text }) => state === 'bad' && text.endsWith('Create the database, or check its name.')
    )
  })

  it('raises no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })
})

import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { faces } from '../../tools/nodes.js'
import { freePort } from '../servers/ports.js'
import { openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

/** The default flow with a broker on a port of its own, and a disabled node of each type that is not in it. */
async function testFlow () {
  const text = await readFile(new URL('../../flows/flows.json', import.meta.url), 'utf8')
  /** @type {{type: string}[]} */
  const flow = JSON.parse(text.replaceAll('1883', String(await freePort())))
  const missing = faces.filter(face => !flow.some(({ type }) => type === face.type))
  return [...flow, ...missing.map(({ type }, i) => ({ id: type, type, z: 'sluice', d: true, x: 160, y: 700 + 60 * i, wires: [] }))]
}

describe('the gateway in a browser', function () {
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
    gateway = await startGateway(await testFlow())
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  it('opens the editor, with all nodes in the palette', async () => {
    await page.goto(gateway.editorUrl)
    await page.waitForSelector('.red-ui-palette-node[data-palette-type="sluice-stats"]', { state: 'attached' })
    const types = await page.$$eval('.red-ui-palette-node', nodes => nodes.map(node => node.getAttribute('data-palette-type')))
    expect(types).to.include.members(faces.filter(({ isConfig }) => !isConfig).map(({ type }) => type))
    await page.waitForFunction('RED.nodes.node("sqlite") && !RED.nodes.dirty()')
    await look('editor')
  })

  for (const { type } of faces) {
    it(`shows the form of ${type}: every option with a label, nothing cut off, nothing red without a sentence`, async () => {
      await openForm(type)
      const rows = await page.$$eval('.sluice-row:not([hidden])', elements => elements.map(row => ({
        label: row.querySelector('label')?.textContent ?? '',
        isCutOff: row.scrollWidth > row.clientWidth || row.getBoundingClientRect().right > innerWidth
      })))
      expect(rows.length).to.be.greaterThan(0)
      for (const { label, isCutOff } of rows) {
        expect(label).to.match(/^[A-Z]/)
        expect(isCutOff, label).to.equal(false)
      }
      const unexplained = await page.$$eval('.sluice-row:not([hidden]):has(.input-error)', elements => elements
        .filter(row => !row.querySelector('.sluice-problem')?.textContent)
        .map(row => row.getAttribute('data-option')))
      expect(unexplained).to.deep.equal([])
      await look(type)
      await closeForm('cancel')
    })
  }

  it('shows the help of every node, with an example', async () => {
    for (const { type } of faces) {
      const help = await page.evaluate(`RED.nodes.getNodeHelp(${JSON.stringify(type)})`)
      expect(help, type).to.match(/<h3[^>]*>Example/).and.match(/message-properties/)
    }
  })

  it('says what is wrong with a batch size of 0', async () => {
    await openForm('sluice-sqlite')
    await page.fill('#node-input-batchRows', '0')
    await page.waitForFunction('document.querySelector("[data-option=batchRows] .sluice-problem").textContent !== ""')
    expect(await page.textContent('[data-option=batchRows] .sluice-problem')).to.equal(
      'Batch size must be between 1 and 1,000,000 rows; 0 is too small.'
    )
    await look('sqlite-batch-size-0')
    await closeForm('ok')
    expect(await page.evaluate('RED.nodes.node("sqlite").valid')).to.equal(false)
  })

  it('takes a good one as a number, and deploys', async () => {
    await openForm('sluice-sqlite')
    await page.fill('#node-input-batchRows', '200')
    expect(await page.textContent('[data-option=batchRows] .sluice-problem')).to.equal('')
    await closeForm('ok')
    expect(await page.evaluate('RED.nodes.node("sqlite").valid')).to.equal(true)
    expect(await page.evaluate('RED.nodes.node("sqlite").batchRows')).to.equal(200)
    await page.click('#red-ui-header-button-deploy')
    await page.waitForFunction('!RED.nodes.dirty()')
  })

  it('shows the fields that matter, and edits a list of channels', async () => {
    await openForm('sluice-simulator')
    expect(await page.isVisible('[data-option=channels]')).to.equal(false)
    await page.selectOption('#node-input-preset', 'channels')
    await page.fill('[data-option=channels] [data-name=name]', 'pressure')
    await page.fill('[data-option=channels] [data-name=noise]', '-1')
    expect(await page.textContent('[data-option=channels] .sluice-table-problems')).to.equal(
      'Row 1: Noise must be at least 0; -1 is too small.'
    )
    await page.fill('[data-option=channels] [data-name=noise]', '0.5')
    await look('simulator-channels')
    await closeForm('ok')
    expect(await page.evaluate('RED.nodes.node("machine").channels[0]')).to.deep.include({ name: 'pressure', noise: 0.5 })
    expect(await page.evaluate('RED.nodes.node("machine").valid')).to.equal(true)
  })

  it('keeps the users of the embedded broker, a line each, among the credentials and not in the flow', async () => {
    const users = 'gw-a:gateway:a long password\nwallboard:reader:another one'
    await openForm('sluice-embedded-broker')
    await page.fill('#node-input-users', users)
    await closeForm('ok')
    const node = await page.evaluate('(({ credentials, ...rest }) => [credentials.users, rest.users, rest.valid])' +
      '(RED.nodes.filterNodes({type: "sluice-embedded-broker"})[0])')
    expect(node).to.deep.equal([users, undefined, true])
  })

  it('shows what a query needs and no more, and asks for the server of its database', async () => {
    await openForm('sluice-query')
    const shown = () => page.$$eval('.sluice-row:not([hidden])', rows => rows.map(row => /** @type {HTMLElement} */ (row).dataset.option))
    expect(await shown())
      .to.include.members(['file', 'sensors', 'windowMinutes'])
      .and.not.to.include.members(['bucketHours', 'lower', 'angle', 'mysqlServer'])
    expect(await page.getAttribute('#node-input-to', 'placeholder')).to.equal('now')
    await page.selectOption('#node-input-query', 'mean')
    expect(await shown()).to.include('bucketHours')
    await closeForm('ok')
    expect(await page.evaluate('RED.nodes.node("sluice-query").validationErrors')).to.deep.equal([])

    await openForm('sluice-query')
    await page.click('[data-option=tags] [data-do=add]')
    await page.fill('[data-option=tags] [data-name=value]', 'a')
    expect(await page.textContent('[data-option=tags] .sluice-table-problems')).to.equal('Row 1: Tag is missing.')
    await page.fill('[data-option=tags] [data-name=tag]', 'device')
    expect(await page.textContent('[data-option=tags] .sluice-table-problems')).to.equal('')
    await look('query-tags')
    await closeForm('ok')
    expect(await page.evaluate('RED.nodes.node("sluice-query").tags')).to.deep.equal([{ tag: 'device', value: 'a' }])

    await openForm('sluice-query')
    await page.selectOption('#node-input-database', 'mysql')
    expect(await shown()).to.include('mysqlServer').and.not.to.include('file')
    await closeForm('ok')
    expect(await page.evaluate('RED.nodes.node("sluice-query").validationErrors'))
      .to.deep.equal(['Server is missing: choose one, or make one.'])
  })

  it('shows moving numbers on the live page', async () => {
    await page.goto(gateway.liveUrl)
    const stored = await sinksOnceThey(text => /\d{3}/.test(text))
    await sinksOnceThey(text => text !== stored)
    await look('live')
  })

  it('raises no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  /** Opens the form of the flow's first node of a type, all options unfolded. @param {string} type */
  async function openForm (type) {
    const isConfig = faces.some(face => face.type === type && face.isConfig)
    await page.evaluate(isConfig
      ? `RED.nodes.eachConfig(({ id, type }) => { if (type === '${type}') RED.editor.editConfig('', type, id) })`
      : `RED.editor.edit(RED.nodes.filterNodes({type: '${type}'})[0])`)
    await slidIn(page, '.red-ui-editor .sluice-row')
    await page.$$eval('.sluice-advanced', elements => elements.forEach(element => element.setAttribute('open', '')))
  }

  /** What the live page says of the sinks. @param {(text: string) => boolean} accept */
  async function sinksOnceThey (accept) {
    for (;;) {
      const text = await page.textContent('#sinks') ?? ''
      if (accept(text)) return text
      await page.waitForTimeout(100)
    }
  }

  /** @param {'ok'|'cancel'} button */
  async function closeForm (button) {
    await page.$eval(`#node-dialog-${button}, #node-config-dialog-${button}`, element => /** @type {HTMLElement} */ (element).click())
    await page.waitForSelector('.sluice-row', { state: 'detached' })
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`) })
  }
})

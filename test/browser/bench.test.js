import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { flowLoaded, openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const STUDY = 'arnst'
/** A look instead of minutes: what is put into the form, by option. From files this study does not read. */
const TINY = { databases: 'sqlite, file', layouts: 'individual', batchSizes: '', seconds: '0.2', warmUpSeconds: '0.2' }
const RUN = `example-bench-${STUDY}-run`
const REPORT = `example-bench-${STUDY}-report`

describe('a study in a browser', function () {
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
    gateway = await startGateway([{ id: 'flow', type: 'tab', label: 'flow' }])
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'workspace("flow")')
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  it('is imported from the examples', async () => {
    await page.evaluate('RED.actions.invoke("core:show-examples-import-dialog")')
    for (const name of ['@sluice/node-red', '5 Benchmarks', STUDY]) {
      await page.click(`.red-ui-clipboard-dialog-box .red-ui-treeList-label:visible:has-text("${name}")`)
    }
    await look('import')
    await page.click('#red-ui-clipboard-dialog-ok')
    await page.waitForFunction(`RED.nodes.node("${RUN}")`)
    const example = JSON.parse(await readFile(new URL(`../../examples/5 Benchmarks/${STUDY}.json`, import.meta.url), 'utf8'))
    await page.click(`.red-ui-tab-label:has-text("Bench: ${STUDY}")`)
    expect(await page.evaluate('RED.nodes.filterNodes({}).length')).to.equal(example.filter((/** @type {any} */ { z }) => z).length)
  })

  it('has no effect before it is deployed, and says so', async () => {
    await button().click()
    await page.waitForSelector('.red-ui-notification:has-text("Deploy first: the node has changed.")')
  })

  it('takes a shorter look where the form says so', async () => {
    await openForm(RUN)
    await page.$eval('.sluice-advanced', element => element.setAttribute('open', ''))
    await page.fill('#node-input-batchSizes', '1; 2')
    expect(await page.textContent('[data-option=batchSizes] .sluice-problem')).to.equal(
      'Batch sizes must look like 1, 100, 1000; "1; 2" does not.'
    )
    for (const [name, value] of Object.entries(TINY)) await page.fill(`#node-input-${name}`, value)
    await look('form')
    await closeForm()
    await deploy()
    expect(await page.evaluate(`RED.nodes.node("${RUN}").seconds`)).to.equal(0.2)
  })

  it('is measured at the press of the button, and tells how far it is', async () => {
    await button().click()
    const seen = await statusOnceIt(RUN, text => text.endsWith(' measured'))
    expect(seen.at(-1)).to.equal('2 of 4 measured')
    expect(seen[0]).to.match(/^starting|^\d of 4, \d+ s left: sqlite/)
    await look('measured')
  })

  it('has its report in the form of bench report, a page that opens', async () => {
    const [status] = (await statusOnceIt(REPORT, text => text.startsWith(`written, ${STUDY}`))).slice(-1)
    const name = status.slice('written, '.length)
    await openForm(REPORT)
    const link = page.locator('.sluice-reports-list a').first()
    await link.waitFor()
    expect(await link.textContent()).to.equal(name)
    await look('reports')
    const [report] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await report.waitForSelector('h1')
    expect(new URL(report.url()).pathname).to.equal(`/sluice/reports/${name}/report.html`)
    expect(await report.textContent('.state')).to.equal('Complete')
    expect(await report.textContent('.facts')).to.contain('2 of 4 measured, 2 absent')
    expect(await report.locator('table').count()).to.be.above(0)
    expect(await report.evaluate('getComputedStyle(document.querySelector("main")).maxWidth'), 'its style').to.match(/px$/)
    if (SCREENSHOTS) await report.screenshot({ path: path.join(SCREENSHOTS, 'bench-report.png') })
    await report.close()
    await closeForm()
  })

  it('stops at the second press', async () => {
    await openForm(RUN)
    await page.$eval('.sluice-advanced', element => element.setAttribute('open', ''))
    await page.fill('#node-input-seconds', '3600')
    await closeForm()
    await deploy()
    await button().click()
    await statusOnceIt(RUN, text => text.startsWith('1 of 4'))
    await look('running')
    await button().click()
    await statusOnceIt(RUN, text => text === 'stopped, 0 measured')
  })

  it('raises no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  function button () {
    return page.locator(`#${RUN} .red-ui-flow-node-button-button`)
  }

  /** What its status said until then. @param {string} id @param {(text: string) => boolean} accept */
  async function statusOnceIt (id, accept) {
    /** @type {string[]} */
    const seen = []
    for (;;) {
      const text = await page.textContent(`#${id} .red-ui-flow-node-status-label`) ?? ''
      if (text && text !== seen.at(-1)) seen.push(text)
      if (accept(text)) return seen
      await page.waitForTimeout(50)
    }
  }

  /** @param {string} id */
  async function openForm (id) {
    await page.evaluate(`RED.editor.edit(RED.nodes.node("${id}"))`)
    await slidIn(page, '.red-ui-editor .sluice-row')
  }

  async function closeForm () {
    await page.$eval('#node-dialog-ok', element => /** @type {HTMLElement} */ (element).click())
    await page.waitForSelector('.sluice-row', { state: 'detached' })
  }

  async function deploy () {
    await page.click('#red-ui-header-button-deploy')
    await page.waitForFunction('!RED.nodes.dirty()')
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `bench-${name}.png`) })
  }
})

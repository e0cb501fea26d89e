import { expect } from 'chai'
import { openBrowser, requireChromium } from './browser.js'
import { startGateway } from './gateway.js'

const flow = [
  { id: 'tab', type: 'tab' },
  { id: 'stats', type: 'sluice-stats', z: 'tab', name: '', intervalMs: '1000', x: 100, y: 80, wires: [[]] },
  { id: 'out', type: 'sluice-stage-out', z: 'tab', name: 'press', broker: 'gone', x: 100, y: 160, wires: [] }
]

describe('The doctor\'s page in the browser', () => {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser

  before(async function () {
    requireChromium(this)
    gateway = await startGateway(flow)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  it('is led to by the live page, checks, and hands out the bundle', async () => {
    const { page } = browser
    /** @type {string[]} */
    const wrong = []
    page.on('pageerror', error => wrong.push(String(error)))
    page.on('console', message => { if (message.type() === 'error') wrong.push(message.text()) })
    await page.goto(gateway.liveUrl)
    await page.click('text=Doctor')
    await page.waitForFunction(() => document.getElementById('state')?.textContent?.includes('checked at'))
    const finding = page.locator('.finding.problem', { hasText: 'stage out "press"' })
    expect(await finding.locator('p').allTextContents()).to.deep.equal([
      'Broker: the node it names is not in the flow, or disabled.', 'Open the node in the editor, correct it and deploy.'
    ])
    const [download] = await Promise.all([page.waitForEvent('download'), page.click('#bundle')])
    expect(download.suggestedFilename()).to.match(/^sluice-.*\.tar\.gz$/)
    expect(await download.failure()).to.equal(null)
    expect(wrong).to.deep.equal([])
  })

  it('is German for a German reader', async () => {
    const { page } = browser
    await page.addInitScript(() => Object.defineProperty(navigator, 'languages', { value: ['de'] }))
    await page.goto(new URL('doctor/', gateway.liveUrl).href)
    await page.waitForFunction(() => document.getElementById('state')?.textContent?.includes('geprüft am'))
    const finding = page.locator('.finding.problem', { hasText: 'stage out "press"' })
    expect(await finding.locator('p').allTextContents()).to.deep.equal([
      'Broker: der Node, der dort genannt ist, fehlt im Flow oder ist deaktiviert.',
      'Den Node im Editor öffnen, berichtigen und übernehmen (Deploy).'
    ])
    await page.click('summary')
    const shown = await page.innerText('body')
    expect(shown.match(/\b(the|and|is|are|not|of|for)\b/)).to.equal(null)
    expect(await page.title()).to.equal('Sluice, Doctor')
  })

  it('fits a phone', async () => {
    const { page } = browser
    await page.setViewportSize({ width: 360, height: 700 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(360)
  })
})

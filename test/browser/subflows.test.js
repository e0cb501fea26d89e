import { expect } from 'chai'
import { flowLoaded, openBrowser, requireChromium } from './browser.js'
import { startGateway } from './gateway.js'

describe('an alarm about a config node in a subflow', function () {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser

  before(async function () {
    requireChromium(this)
    gateway = await startGateway([
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'line', type: 'subflow', name: 'line', in: [], out: [] },
      { id: 'broker', type: 'sluice-broker', z: 'line', name: 'hall', url: 'mqtt://127.0.0.1:70000' },
      { id: 'out', type: 'sluice-stage-out', z: 'line', broker: 'broker', x: 100, y: 100, wires: [] },
      { id: 'one', type: 'subflow:line', z: 'flow', x: 100, y: 100, wires: [] }
    ])
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  it('leads to the node that the editor knows, and not to the one that the subflow has made', async () => {
    const { page } = browser
    await page.goto(gateway.liveUrl)
    const alarm = page.locator('#alarms li', { hasText: 'hall does not work' })
    expect(await alarm.locator('.reason').textContent()).to.contain('The port in Address must be between 1 and 65,535')
    const href = String(await alarm.locator('.alarm-foot a').getAttribute('href'))
    expect(href).to.match(/#node\/broker$/)
    await page.goto(new URL(href, gateway.liveUrl).href)
    await flowLoaded(page, 'node("broker")')
    await page.waitForSelector('.red-ui-palette-node-config.red-ui-flow-node-highlighted:has-text("hall")', { state: 'visible' })
  })
})

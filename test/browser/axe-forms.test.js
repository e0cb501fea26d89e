import { expect } from 'chai'
import { faces } from '../../tools/nodes.js'
import { seriousFaults } from './axe.js'
import { flowLoaded, openBrowser, requireChromium } from './browser.js'
import { closeForms, FLOW_OF_EVERY_NODE, openForm } from './every-form.js'
import { startGateway } from './gateway.js'

/** Around it is Node-RED's frame, and in it are Node-RED's traps for what browsers fill in. */
const FORM = 'form:has(> .sluice-row)'
const OURS = { include: [FORM], exclude: ['[id^=red-ui-trap]'] }

describe('Forms are for everybody', () => {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page

  before(async function () {
    requireChromium(this)
    gateway = await startGateway(FLOW_OF_EVERY_NODE)
    browser = await openBrowser()
    page = browser.page
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'node("sluice-sqlite")')
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })
  afterEach(() => closeForms(page))

  for (const { type } of faces) {
    it(`${type}: axe finds no serious fault, and nothing is cut off where the window is narrow`, async () => {
      await resize(1280)
      await openForm(page, type)
      const faults = await seriousFaults(page, OURS)
      for (const selector of ['.sluice-table-bar [data-do=add]', '.sluice-details:not([hidden]) summary']) {
        await page.$$eval(`${FORM} ${selector}`, elements => elements.forEach(each => /** @type {HTMLElement} */ (each).click()))
      }
      for (const width of [1280, 760, 390]) {
        await resize(width)
        faults.push(...await page.$eval(FORM, beyondTray))
      }
      faults.push(...await darkFaults(), ...await seriousFaults(page, OURS))
      expect(faults).to.deep.equal([])
    })
  }

  async function darkFaults () {
    const turn = () => page.evaluate(() => document.documentElement.classList.toggle('nr-theme-dark'))
    await turn()
    const faults = await seriousFaults(page, { ...OURS, coloursOnly: true })
    await turn()
    return faults
  }

  /** Beside its sidebar, Node-RED leaves no room for any form on a phone. @param {number} width */
  async function resize (width) {
    await page.setViewportSize({ width, height: 900 })
    await page.evaluate(`RED.actions.invoke('core:toggle-right-sidebar', ${width > 390})`)
    await page.waitForFunction(() => (document.querySelector('.red-ui-tray')?.getBoundingClientRect().right ?? 0) <= innerWidth)
  }
})

/** What of a form one would have to scroll its tray for; the cells of a table scroll in that. @param {Element} form */
function beyondTray (form) {
  const tray = /** @type {Element} */ (form.closest('.red-ui-tray'))
  const { left, right } = tray.getBoundingClientRect()
  return [...form.querySelectorAll('*:not(.sluice-table-scroll *)')].filter(element => element.checkVisibility()).filter(element => {
    const box = element.getBoundingClientRect()
    return box.width > 0 && (box.left < left || box.right > Math.min(right, innerWidth))
  }).map(element => element.outerHTML.slice(0, 200))
}

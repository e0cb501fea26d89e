import { expect } from 'chai'
import { servePlant } from '../live/plant-server.js'
import { seriousFaults } from './axe.js'
import { openBrowser, requireChromium } from './browser.js'

const AWAY = { connected: false, lastError: 'SLUICE_SINK_CONNECT: It is away.', pendingRows: 1500, retryingSinceMs: Date.now() }

/**
 * What is looked at: how to get there from the overview of a plant, and what there has to be then.
 * @typedef {{path: string, selector: string, isAway?: boolean, act?: (page: import('playwright-core').Page) => Promise<unknown>}} Look
 * @type {Record<string, Look>}
 */
const PAGES = {
  'the live page': { path: '', selector: '#sources tbody tr >> nth=7' },
  'the live page with alarms': { path: '', selector: '#alarms li', isAway: true },
  'the live page, grouped': {
    path: '', selector: '#sources tr.group', act: page => page.selectOption('#sources .tools select', 'prefix')
  },
  'a source': { path: '#source/machine%201', selector: '.last-rows' },
  'a sink that is away': { path: '#sink/sink-0', selector: '.counters', isAway: true },
  'the doctor': { path: 'doctor/', selector: '#check:not(:empty)' }
}

describe('Pages are for everybody', () => {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {Awaited<ReturnType<typeof servePlant>>} */
  let plant
  /** @type {NodeJS.Timeout} */
  let beating

  before(async function () {
    requireChromium(this)
    plant = await servePlant({ sources: 8, sinks: 2 })
    beating = setInterval(() => {
      plant.beat()
      plant.alarms.judge()
    }, 500)
    browser = await openBrowser()
  })
  after(async () => {
    clearInterval(beating)
    await browser?.close()
    await plant?.close()
  })

  for (const [name, { path, selector, isAway = false, act }] of Object.entries(PAGES)) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      for (const width of [1280, 390]) {
        it(`${name}, ${colorScheme}, ${width} px: axe finds no serious fault`, async () => {
          const { page } = browser
          Object.assign(plant.gauges[0], isAway ? AWAY : { connected: true, lastError: null, pendingRows: 0, retryingSinceMs: null })
          await page.emulateMedia({ colorScheme })
          await page.setViewportSize({ width, height: 900 })
          await page.goto('about:blank')
          await page.goto(plant.url + path)
          if (act) {
            await page.waitForSelector('#sources tbody tr')
            await act(page)
          }
          await page.waitForSelector(selector)
          if (path !== 'doctor/') {
            await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
            await page.waitForSelector('.plot canvas')
          }
          expect(await seriousFaults(page)).to.deep.equal([])
        })
      }
    }
  }
})

import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { expect } from 'chai'
import { asset } from '../../gateway/live/assets.js'
import { paths } from '../../gateway/site/site.js'
import { openBrowser, requireChromium } from './browser.js'
import { pictureOf } from './example-pictures.js'
import { SCENES } from './screenshots.js'

describe('the documentation in a browser', function () {
  /** @type {import('node:http').Server} */
  let server
  /** @type {string} */
  let root
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** What it logs, and what it asks of others. @type {string[]} */
  const faults = []

  before(async function () {
    requireChromium(this)
    server = createServer(({ url = '' }, response) => {
      const found = asset(url)
      response.writeHead(found ? 200 : 404, found?.headers).end(found?.body)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    root = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/docs/`
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => faults.push(error.stack ?? error.message))
    page.on('console', message => faults.push(message.text()))
    page.on('request', request => {
      if (!request.url().startsWith(root)) faults.push(request.url())
    })
  })
  after(async () => {
    await browser?.close()
    server?.closeAllConnections()
    server?.close()
  })

  for (const [scheme, width] of /** @type {const} */ ([['dark', 390], ['light', 1280]])) {
    it(`has nothing cut off, ${scheme}, on ${width} px`, async () => {
      await page.emulateMedia({ colorScheme: scheme })
      await page.setViewportSize({ width, height: 900 })
      for (const path of paths().filter(name => name.endsWith('.html') && (width < 1280 || !name.includes('/')))) {
        await page.goto(root + path)
        expect(await page.evaluate('document.documentElement.scrollWidth'), path).to.be.at.most(width)
        const images = await page.$$eval('img', all => all.map(({ src, naturalWidth }) => ({ src, naturalWidth })))
        expect(images.filter(({ naturalWidth }) => naturalWidth === 0), path).to.deep.equal([])
      }
      const { text, back } = await page.$eval('body', body => {
        const { color, backgroundColor } = getComputedStyle(body)
        return { text: color, back: backgroundColor }
      })
      expect(lightness(text) > lightness(back)).to.equal(scheme === 'dark')
    })
  }

  it('folds the contents away on a phone only', async () => {
    for (const [width, isOpen] of /** @type {const} */ ([[390, false], [1280, true]])) {
      await page.setViewportSize({ width, height: 900 })
      await page.goto(root)
      expect(await page.evaluate('document.querySelector("nav details").open')).to.equal(isOpen)
    }
  })

  it('finds the heading first, then the text, and goes there', async () => {
    await page.goto(`${root}reference/sqlite.html`)
    await page.keyboard.press('/')
    await page.keyboard.type('where it does not hold')
    await page.waitForSelector('#found a')
    expect(await page.textContent('#found a')).to.equal('The promise: Where it does not hold')
    expect(await page.isHidden('article')).to.equal(true)
    await page.click('#found a')
    await page.waitForURL(`${root}promise.html#where-it-does-not-hold`)
    await page.fill('#search', 'broker mosquitto')
    await page.waitForSelector('#found a')
    await page.click('#found a[href*="promise.html"] >> nth=0')
    await page.waitForSelector('article', { state: 'visible' })
  })

  it('says that nothing was found, and comes back', async () => {
    await page.fill('#search', 'zzyzx')
    await page.waitForFunction('document.querySelector("#found").textContent === "Nothing has all these words."')
    await page.fill('#search', '')
    await page.waitForSelector('article', { state: 'visible' })
  })

  it('has only screenshots that npm run screenshots makes', () => {
    const examples = readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'))
    const ofScenes = SCENES.flatMap(([names]) => names.map(name => `${name}.png`))
    const ofExamples = examples.map(name => `examples/${pictureOf(name)}`)
    expect(paths().filter(path => path.endsWith('.png'))).to.have.members([...ofScenes, ...ofExamples])
  })

  it('says nothing in the console, and asks nobody else', () => {
    expect(faults).to.deep.equal([])
  })
})

/** @param {string} color  as `rgb(…)` */
function lightness (color) {
  return (color.match(/\d+/g) ?? []).reduce((sum, part) => sum + Number(part), 0)
}

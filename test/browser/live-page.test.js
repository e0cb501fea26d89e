import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { servePlant } from '../live/plant-server.js'
import { openBrowser, requireChromium } from './browser.js'

/** @typedef {Awaited<ReturnType<typeof servePlant>>} Plant */

const AWAY = {
  connected: false,
  lastError: 'SLUICE_SINK_CONNECT: Cannot connect to PostgreSQL: connect ECONNREFUSED 127.0.0.1:5432. Start it.',
  pendingRows: 1500
}
const SIZES = /** @type {const} */ ([[1280, 900], [390, 800]])
const THEMES = /** @type {const} */ (['light', 'dark'])

/** The date is there around midnight. */
const CLOCK = String.raw`(\w{3} \d+, )?\d\d:\d\d:\d\d`

describe('The live page', () => {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {Plant} */
  let plant
  /** @type {NodeJS.Timeout} */
  let beating
  /** @type {string[]} */
  const wrong = []

  before(async function () {
    requireChromium(this)
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => wrong.push(String(error)))
    page.on('console', message => { if (message.type() === 'error') wrong.push(message.text()) })
  })
  after(() => browser?.close())

  /** @param {Parameters<typeof servePlant>[0]} options @param {string} [hash] */
  async function open (options, hash = '') {
    plant = await servePlant(options)
    beating = setInterval(() => {
      plant.beat()
      plant.alarms.judge()
    }, 500)
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.goto(plant.url + hash)
    await says(/./)
  }
  afterEach(async () => {
    clearInterval(beating)
    await page.goto('about:blank')
    await plant?.close()
    expect(wrong.splice(0)).to.deep.equal([])
  })

  /** Waits until something on the page has such a text. @param {string} selector @param {RegExp} words */
  const has = (selector, words) => page.waitForFunction(([where, pattern]) => {
    return new RegExp(pattern).test(document.querySelector(where)?.textContent ?? '')
  }, [selector, words.source])
  /** The sentence on top. @param {RegExp} words */
  const says = words => has('#verdict p', words)
  const isGone = () => page.evaluate(() => document.body.classList.contains('gone'))
  const look = () => page.$eval('#verdict', box => [box.className, box.querySelector('p')?.textContent])
  const names = () => page.$$eval('#sources tbody .name a', links => links.map(link => link.textContent))
  const cell = (/** @type {string} */ list, /** @type {string} */ label) => {
    return page.$$eval(`${list} tbody td[data-label="${label}"]`, cells => cells.map(each => each.textContent))
  }

  for (const [width, height] of SIZES) {
    for (const colorScheme of THEMES) {
      it(`says that all is right, ${width} px, ${colorScheme}, and cuts nothing off`, async () => {
        await open({ sources: 8, sinks: 2 })
        await page.setViewportSize({ width, height })
        await page.emulateMedia({ colorScheme })
        await says(/^All right: 8 sources, 2 sinks, [\d.]+ rows\/s stored$/)
        expect((await look())[0]).to.equal('good')
        expect(await page.isVisible('#alarms')).to.equal(false)
        expect(await page.evaluate(cutOff)).to.deep.equal([])
        await page.goto(`${plant.url}#sink/sink-0`)
        await page.waitForSelector('.counters')
        expect(await page.evaluate(cutOff)).to.deep.equal([])
        await page.goto(`${plant.url}#source/machine%201`)
        await page.waitForSelector('.last-rows')
        expect(await page.evaluate(cutOff)).to.deep.equal([])
      })

      it(`says since when a sink is away and why, ${width} px, ${colorScheme}`, async () => {
        await open({ sources: 3, sinks: 2 })
        await page.setViewportSize({ width, height })
        await page.emulateMedia({ colorScheme })
        await says(/^All right/)
        Object.assign(plant.gauges[0], AWAY, { retryingSinceMs: Date.now() - 90_000 })
        await says(/^store 1 is not reachable: 1.50 k rows wait$/)
        expect((await look())[0]).to.equal('problem')
        const alarm = await page.textContent('#alarms li')
        expect(alarm).to.match(new RegExp(String.raw`since ${CLOCK} \((90 s|2 min)\)`))
          .and.contain(AWAY.lastError).and.contain('Start the database')
        await has('#sinks tr.problem .name a', /^store 1$/)
        expect(await page.locator('#sinks tr.problem').count()).to.equal(1)
        expect((await cell('#sources', 'Stored'))[0]).to.equal('1 of 2 stopped')
        expect(await page.locator('.flow .wire.problem').count()).to.be.above(0)
        expect(await page.evaluate(cutOff)).to.deep.equal([])
      })
    }
  }

  it('says it before there is an alarm, too', async () => {
    await open({ sources: 3, sinks: 2 })
    await says(/^All right/)
    clearInterval(beating)
    Object.assign(plant.gauges[1], AWAY)
    await says(/^store 2 is not connected$/)
    expect((await look())[0]).to.equal('warning')
  })

  it('announces what is wrong once, not each figure, and leaves no old figure to be read', async () => {
    await open({ sources: 3, sinks: 2 })
    await says(/^All right/)
    await page.evaluate(() => {
      const region = /** @type {HTMLElement} */ (document.getElementById('announced'))
      const said = /** @type {any} */ (globalThis).said = /** @type {string[]} */ ([])
      new MutationObserver(() => { if (region.textContent) said.push(region.textContent) }).observe(region, { childList: true })
    })
    Object.assign(plant.gauges[0], AWAY)
    await has('#announced', /1.50 k rows wait/)
    Object.assign(plant.gauges[0], { pendingRows: 2500 })
    await says(/2.50 k rows wait/)
    Object.assign(plant.gauges[1], AWAY)
    await has('#announced', /and 1 more/)
    await has('#announced', /^$/)
    await says(/and 1 more/)
    /** @type {string[]} */
    const said = await page.evaluate('said')
    expect(said.find(text => text.includes('wait'))).to.match(/1.50 k rows wait$/)
    expect(said.filter(text => /2.50 k rows wait$/.test(text))).to.deep.equal([])
  })

  it('leads from an alarm to what it is about under the name that it has now', async () => {
    await open({ sources: 3, sinks: 2 })
    Object.assign(plant.gauges[0], AWAY)
    await has('#alarms a', /^Show store 1$/)
    plant.stats.meter('sink', 'new store', 'sink-0')
    plant.stats.gauge('sink new store', () => /** @type {any} */ (plant.gauges[0]), 'sink-0')
    await has('#alarms a', /^Show new store$/)
    expect(await page.getAttribute('#alarms a', 'href')).to.equal('#sink/sink-0')
  })

  it('takes an acknowledgement, and folds what is over', async () => {
    await open({ sources: 3, sinks: 2 })
    Object.assign(plant.gauges[0], AWAY)
    await page.click('#alarms button')
    await has('#alarms', /acknowledged \d\d:/)
    expect(plant.alarms.active[0].acknowledgedMs).to.be.a('number')
    expect(await page.isVisible('#alarms button')).to.equal(false)
    Object.assign(plant.gauges[0], { connected: true, lastError: null, pendingRows: 0 })
    await says(/^All right/)
    await page.click('#past-alarms summary')
    expect(await page.textContent('#past-alarms li'))
      .to.match(new RegExp(`store 1 is not reachable.* from ${CLOCK} to ${CLOCK}`))
  })

  it('says when it has no word from the gateway, and goes on when it is back', async () => {
    await open({ sources: 3, sinks: 2 })
    await says(/^All right/)
    await page.context().setOffline(true)
    await says(/^No word from the gateway since (\w{3} \d+, )?\d\d:\d\d:\d\d$/)
    expect((await look())[0]).to.equal('problem')
    expect(await isGone()).to.equal(true)
    expect(await page.isVisible('text=What is below is its last report.')).to.equal(true)
    wrong.length = 0 // the browser tells of each attempt
    await page.context().setOffline(false)
    await says(/^All right/)
    expect(await isGone()).to.equal(false)
    wrong.length = 0
  })

  it('lists each source once: in, staged, stored, last value and its age', async () => {
    await open({ sources: 8, sinks: 2 })
    await page.waitForFunction(() => {
      const rates = [...document.querySelectorAll('#sources td[data-label=In], #sources td[data-label=Staged]')]
      return rates.length > 0 && rates.every(each => /^\d/.test(each.textContent ?? ''))
    })
    expect(await names()).to.deep.equal(Array.from({ length: 8 }, (_, i) => `machine ${i + 1}`))
    for (const label of ['In', 'Staged']) expect((await cell('#sources', label))[0], label).to.match(/^[\d.]+\/s$/)
    expect((await cell('#sources', 'Last value'))[0]).to.match(/^temperature [\d.]+ °C$/)
    expect((await cell('#sources', 'Age'))[0]).to.match(/^\d+ s ago$/)
  })

  it('searches, sorts and groups', async () => {
    await open({ sources: 12, sinks: 2, sourceName: i => `${i % 2 ? 'oven' : 'press'} ${i}` })
    await page.waitForSelector('#sources tbody tr >> nth=11')
    expect((await names()).slice(0, 2)).to.deep.equal(['oven 1', 'oven 3'])
    const sort = async (/** @type {string} */ direction) => {
      do await page.click('#sources th >> nth=0 >> button') // again where what came meanwhile has moved it from under the mouse
      while (await page.getAttribute('#sources th >> nth=0', 'aria-sort') !== direction)
    }
    await sort('ascending')
    expect((await names())[0]).to.equal('oven 1')
    await sort('descending')
    expect((await names())[0]).to.equal('press 10')
    await page.fill('#sources input[type=search]', 'OVEN')
    expect((await names()).every(name => name?.startsWith('oven'))).to.equal(true)
    await page.fill('#sources input[type=search]', 'nothing')
    expect(await page.isVisible('#sources >> text=Nothing has such a name.')).to.equal(true)
    await page.fill('#sources input[type=search]', '')
    await page.selectOption('#sources select', 'prefix')
    const heads = page.locator('#sources tr.group button')
    expect((await heads.allTextContents()).map(head => head.replace(/,.*/, ''))).to.deep.equal(['press: 6', 'oven: 6'])
    await heads.first().focus()
    await page.keyboard.press('Enter')
    expect(await heads.first().getAttribute('aria-expanded')).to.equal('false')
    expect((await names()).length).to.equal(6)
  })

  it('has what is in trouble on top', async () => {
    await open({ sources: 60, sinks: 2 })
    await says(/^All right/)
    plant.stats.statuses.set('node-57', { fill: 'red', shape: 'ring', text: 'device not reachable' })
    await has('#sources tbody tr.problem .name a', /^machine 58$/)
    expect((await names()).slice(0, 2)).to.deep.equal(['machine 58', 'machine 1'])
    await says(/^machine 58 is in trouble$/)
  })

  it('has a page for each source and sink, and the way back', async () => {
    await open({ sources: 3, sinks: 2 })
    await page.click('#sources tbody tr >> nth=1')
    await page.waitForSelector('.last-rows tbody tr >> nth=9')
    expect(page.url()).to.match(/#source\/machine%202$/)
    expect(await page.locator('.last-rows tbody tr').count()).to.equal(10)
    expect(await page.textContent('.detail h2')).to.equal('machine 2')
    expect(await page.getAttribute('text=Open in the editor', 'href')).to.equal('/#node/node-1')
    await page.click('.detail .plain a >> text=store 2')
    await has('.detail h2', /^store 2$/)
    await page.waitForSelector('.counters')
    const counters = await page.$$eval('.counters tr', lines => lines.map(line => [...line.children].map(each => each.textContent)))
    expect(counters).to.deep.include(['Writes tried again', '0 writes',
      'Writes that failed and were tried again; – before the database was reached for the first time.'])
    await page.goBack()
    await page.goBack()
    await page.waitForSelector('#overview', { state: 'visible' })
  })

  it('claims no retries of a sink that was never reached', async () => {
    await open({ sources: 3, sinks: 2 })
    clearInterval(beating)
    plant.stats.drop('sink', 'sink-1')
    plant.stats.meter('sink', 'store 2', 'sink-1')
    Object.assign(plant.gauges[1], AWAY, { retryingSinceMs: Date.now() - 300_000 })
    await page.goto(`${plant.url}#sink/sink-1`)
    await has('.detail .facts', /Connected\s*never since the start/)
    expect(await page.textContent('.counters tr:has-text("Writes tried again") td')).to.equal('–')
    expect(await page.textContent('.counters tr:has-text("Trying again since") td')).to.match(/^(\w{3} \d+, )?\d\d:\d\d:\d\d$/)
    expect(await page.getAttribute('.detail .dot', 'class')).to.equal('dot problem')
  })

  it('changes the window of all charts, by choice and by the mouse, and hands out CSV and PNG', async () => {
    await open({ sources: 3, sinks: 2 })
    await page.waitForSelector('.plot canvas >> nth=5')
    const windowOf = async () => {
      const query = new URLSearchParams((await page.getAttribute('.charts a', 'href'))?.split('?')[1])
      return (Number(query.get('to')) - Number(query.get('from'))) / 60_000
    }
    expect(await windowOf()).to.equal(5)
    const asked = page.waitForRequest(request => request.url().includes('/history?'))
    await page.selectOption('.charts .window', { label: '30 days' })
    expect((await asked).url()).to.contain('sink%2Fsink-0%2Frows')
    expect(await windowOf()).to.equal(30 * 24 * 60)
    await page.locator('.plot .u-over').first().scrollIntoViewIfNeeded()
    const over = await page.locator('.plot .u-over').first().boundingBox()
    if (!over) throw new Error('There is no chart.')
    await page.mouse.move(over.x + over.width * 0.25, over.y + 20)
    await page.mouse.down()
    await page.mouse.move(over.x + over.width * 0.75, over.y + 20, { steps: 4 })
    await page.mouse.up()
    await page.waitForSelector('.charts >> text=Back to now')
    expect(await windowOf()).to.be.within(14 * 24 * 60, 16 * 24 * 60)
    await page.click('text=Back to now')
    expect(await windowOf()).to.equal(30 * 24 * 60)
    const [csv] = await Promise.all([page.waitForEvent('download'), page.click('.charts a')])
    expect((await readFile(await csv.path(), 'utf8')).split('\r\n')[0]).to.match(/^time,sink (store 1|sink-0) rows \(rows\/s\),/)
    const [png] = await Promise.all([page.waitForEvent('download'), page.click('.charts button:has-text("PNG")')])
    expect((await readFile(await png.path())).subarray(1, 4).toString()).to.equal('PNG')
  })

  it('gives a sink the same colour everywhere', async () => {
    await open({ sources: 3, sinks: 2 })
    await page.waitForSelector('.plot .legend li >> nth=3')
    const colours = await page.evaluate(() => {
      const of = (/** @type {string} */ selector) => {
        const element = /** @type {Element} */ (document.querySelector(selector))
        return element.className.match(/series-\d/)?.[0]
      }
      return [of('#sinks tbody tr:nth-child(2) .swatch'), of('#sources .squares i:nth-child(2)'), of('.legend li:nth-child(2) .line')]
    })
    expect(new Set(colours).size).to.equal(1)
    expect(colours[0]).to.match(/^series-/)
  })

  it('opens with 200 sources and 10 sinks, and has no more rows than fit a page', async () => {
    await open({ sources: 200, sinks: 10 })
    await says(/^All right: 200 sources, 10 sinks/)
    expect(await page.locator('#sources tbody tr').count()).to.equal(50)
    expect(await page.locator('#sinks tbody tr').count()).to.equal(10)
    expect(await page.textContent('#sources .pager span')).to.equal('1 to 50 of 200')
    await page.click('#sources .pager button >> nth=1')
    expect((await names())[0]).to.equal('machine 51')
    await page.fill('#sources input[type=search]', 'machine 199')
    expect(await names()).to.deep.equal(['machine 199'])
    expect(await page.locator('.flow rect').count()).to.be.below(20)
  })

  it('draws what flows where, and says it in words', async () => {
    await open({ sources: 2, sinks: 1 })
    await has('.flow ul', /store 1, [\d.]+\/s, in order/)
    expect(await page.$$eval('.flow svg .strong', titles => titles.map(title => title.textContent)))
      .to.deep.equal(['machine 1', 'machine 2', 'Spools (stage out)', 'Stage in', 'store 1'])
  })
})

/** Runs in the page: what stands out of it to the right. */
function cutOff () {
  const limit = innerWidth
  const out = [...document.querySelectorAll('body *')].filter(each => {
    const { right, width } = each.getBoundingClientRect()
    return width > 0 && right > limit + 0.5 && !each.closest('.scroll, svg, .uplot')
  })
  if (document.documentElement.scrollWidth > limit) out.push(document.documentElement)
  return out.map(({ tagName, className }) => `${tagName} ${className}`)
}

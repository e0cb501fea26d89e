import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { compare } from '../../gateway/bench/studies/report/compare.js'
import { page as pageOf } from '../../gateway/bench/studies/report/page.js'
import { inventedResult, inventedSections } from '../bench/studies/invented.js'
import { openBrowser, requireChromium } from './browser.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const REPORTS = { report, comparison }
const WIDTHS = { desktop: 1280, phone: 390, 'small phone': 320 }
/** Of A4 and US Letter, whatever of these is narrower or shorter, within the margins, in CSS pixels. */
const PRINTED = { width: 703, height: 950 }

describe('A report of a study in a browser', function () {
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {string} */
  let folder
  /** @type {string[]} */
  const messages = []

  before(async function () {
    requireChromium(this)
    folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-report-'))
    for (const [name, make] of Object.entries(REPORTS)) await writeFile(file(name), make())
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => messages.push(error.stack ?? error.message))
    page.on('console', message => messages.push(message.text()))
    page.on('request', request => { if (!/^(?:file|data):/.test(request.url())) messages.push(request.url()) })
  })
  after(async () => {
    await browser?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  for (const name of Object.keys(REPORTS)) {
    for (const [device, width] of Object.entries(WIDTHS)) {
      it(`fits a ${device}: nothing of a ${name} overflows the page, charts are legible`, async () => {
        await open(name, { width, scheme: 'light' })
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width)
        expect(await overflowing()).to.deep.equal([])
        expect(await smallestText()).to.be.at.least(10)
        await look(`${name}-${device}`)
      })
    }

    for (const scheme of /** @type {const} */ (['light', 'dark'])) {
      it(`has enough contrast where a ${name} is ${scheme}`, async () => {
        await open(name, { width: WIDTHS.desktop, scheme })
        const { background, texts, marks } = await colours()
        expect(luminance(background) > 0.5).to.equal(scheme === 'light')
        expect(texts.length).to.be.above(2)
        expect(marks.length).to.be.above(4)
        for (const text of texts) expect(contrast(text, background), `text ${text}`).to.be.at.least(4.5)
        for (const mark of marks) expect(contrast(mark, background), `mark ${mark}`).to.be.at.least(3)
        await look(`${name}-${scheme}`)
      })
    }

    it(`is light and whole where a ${name} is printed`, async () => {
      await open(name, { width: PRINTED.width, scheme: 'dark', media: 'print' })
      expect(luminance((await colours()).background)).to.be.above(0.9)
      expect(await page.$$eval('.chart', charts => Math.max(...charts.map(chart => chart.getBoundingClientRect().height))))
        .to.be.within(100, PRINTED.height)
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(PRINTED.width)
      const heads = await page.$$eval('figure.parted th[scope=col]', all => all.filter(each => each.checkVisibility()))
      expect(heads).to.have.length(14)
    })
  }

  it('shows what is in a text, and runs nothing of it', async () => {
    await open('report', { width: WIDTHS.desktop, scheme: 'light' })
    expect(await page.title()).to.match(/^Invented figures/)
    expect(await page.textContent('header')).to.contain('<script>document.title = "run"</script>')
  })

  it('has for each chart a name, and its figures as a table that a keyboard reaches', async () => {
    await open('report', { width: WIDTHS.phone, scheme: 'light' })
    expect(await page.$$eval('.chart', charts => charts.filter(chart => !chart.getAttribute('aria-label')).length)).to.equal(0)
    await page.focus('figure.bars summary')
    await page.keyboard.press('Enter')
    await page.waitForSelector('figure.bars details[open] table', { state: 'visible' })
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(WIDTHS.phone)
  })

  it('loads nothing, and raises no error', () => {
    expect(messages).to.deep.equal([])
  })

  /** @param {string} name @param {{width: number, scheme: 'light'|'dark', media?: 'screen'|'print'}} how */
  async function open (name, { width, scheme, media = 'screen' }) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: scheme, media })
    await page.goto(pathToFileURL(file(name)).href)
  }

  /** What is visible and neither within the page nor in something that scrolls. */
  function overflowing () {
    return page.$$eval('body *', elements => elements
      .filter(element => !element.closest('.scroll') || element.matches('.scroll'))
      .map(element => ({ box: element.getBoundingClientRect(), text: `${element.tagName} ${element.textContent?.slice(0, 40)}` }))
      .filter(({ box }) => box.width > 0 && (box.left < -0.5 || box.right > innerWidth + 0.5))
      .map(({ box, text }) => `${text}: ${box.left} to ${box.right}`))
  }

  /** Of the charts that are visible, in pixels of the screen. */
  function smallestText () {
    return page.$$eval('svg.chart text', texts => Math.min(...texts
      .filter(text => text.getBoundingClientRect().width > 0)
      .map(text => {
        const svg = /** @type {SVGSVGElement} */ (text.closest('svg'))
        return parseFloat(getComputedStyle(text).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width
      })))
  }

  /** As they are computed, each once. */
  function colours () {
    return page.evaluate(() => {
      const visible = [...document.querySelectorAll('body *')].filter(element => element.getBoundingClientRect().width > 0)
      const isText = (/** @type {ChildNode} */ node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim()
      const texts = visible.filter(element => [...element.childNodes].some(isText))
        .map(element => element instanceof SVGElement ? getComputedStyle(element).fill : getComputedStyle(element).color)
      const marks = visible.filter(element => element instanceof SVGElement)
        .filter(element => element.matches('.ours, .paper, .whisker, .median, .line, .published-mark'))
        .map(element => {
          const { fill, fillOpacity, stroke } = getComputedStyle(element)
          return fill === 'none' || Number(fillOpacity) < 1 || stroke !== 'none' ? stroke : fill
        })
      return { background: getComputedStyle(document.body).backgroundColor, texts: [...new Set(texts)], marks: [...new Set(marks)] }
    })
  }

  /** @param {string} name */
  function file (name) {
    return path.join(folder, `${name}.html`)
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `${name}.png`), fullPage: true })
  }
})

function report () {
  return pageOf(inventedResult(), inventedSections())
}

function comparison () {
  return compare([
    { name: 'laptop', result: inventedResult({ limited: '' }), sections: inventedSections() },
    { name: 'pi4', result: inventedResult({ isComplete: false }), sections: inventedSections(0.5) }
  ]).page
}

/** Of WCAG 2. @param {string} a @param {string} b */
function contrast (a, b) {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

/** @param {string} colour  `rgb(1, 2, 3)` */
function luminance (colour) {
  const [red, green, blue] = (colour.match(/[\d.]+/g) ?? []).map(part => {
    const value = Number(part) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

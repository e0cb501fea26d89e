import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { faces } from '../../tools/nodes.js'
import { flowLoaded, openBrowser, requireChromium } from './browser.js'
import { closeForms, FLOW_OF_EVERY_NODE, openForm } from './every-form.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

/** @type {Record<string, string>} */
const german = JSON.parse(await readFile(new URL('../../tools/languages/de.json', import.meta.url), 'utf8'))
const germanTexts = new Set(Object.values(german))
/** What is only English. */
const english = new Set(Object.keys(german).filter(text => !germanTexts.has(text)))

/** What the live page says in a language. @param {string} code @returns {Promise<string[]>} */
async function catalogueOf (code) {
  const text = await readFile(new URL(`../../gateway/live/page/locales/${code}.json`, import.meta.url), 'utf8')
  return Object.values(JSON.parse(text)).flatMap(each => typeof each === 'string' ? [each] : Object.values(each))
}

describe('the editor in a German browser', function () {
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
    gateway = await startGateway(FLOW_OF_EVERY_NODE)
    browser = await openBrowser([], undefined, 'de-DE')
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'node("sluice-sqlite")')
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })

  afterEach(() => closeForms(page))

  for (const { type } of faces) {
    it(`has no word of English, and nothing cut off, in the form of ${type}`, async () => {
      await openForm(page, type)
      const found = await texts()
      expect(found).to.include('Name')
      expect(found.filter(text => english.has(text) || /sluice-[\w-]+\./.test(text))).to.deep.equal([])
      const isCutOff = await page.$$eval('.sluice-row:not([hidden])', rows =>
        rows.filter(row => row.scrollWidth > row.clientWidth || row.getBoundingClientRect().right > innerWidth).map(row => row.textContent))
      expect(isCutOff).to.deep.equal([])
      await look(type)
    })
  }

  it('names nodes as users look for them, and what a German engineer calls otherwise in German', async () => {
    const label = (/** @type {string} */ type) => page.evaluate(`RED.nodes.getType("${type}")._("${type}.label")`)
    expect(await label('sluice-stage-out')).to.equal('stage out')
    expect(await label('sluice-postgresql-server')).to.equal('PostgreSQL-Server')
    expect(await page.textContent('#red-ui-palette-header-sluice_sources > span')).to.equal('sluice Quellen')
  })

  it('has labels, units and choices in German', async () => {
    await openForm(page, 'sluice-sqlite')
    expect(await page.textContent('[data-option=batchRows] label')).to.equal('Batchgröße')
    expect(await page.textContent('[data-option=batchRows] .sluice-unit')).to.equal('Zeilen')
    expect(await page.textContent('#node-input-layout option:checked')).to.equal('wide: eine Zeile je Zeit')
  })

  it('says in German what is wrong with a number, and how a decimal is written', async () => {
    await openForm(page, 'sluice-simulator')
    const said = async (/** @type {string} */ text) => {
      await page.fill('#node-input-sampleRateHz', text)
      return page.textContent('[data-option=sampleRateHz] .sluice-problem')
    }
    await page.selectOption('#node-input-preset', 'channels')
    expect(await said('1,5')).to.equal('Abtastrate: 0.001 bis 100\u202f000 Hz erwartet; "1,5" braucht einen Punkt: 1.5.')
    expect(await said('1.000')).to.equal('"1.000" wird als 1 gelesen: 1000 schreiben, wenn das gemeint ist.')
    await look('warning')
    expect(await said('1.5')).to.equal('')
    await page.fill('[data-option=channels] [data-name=noise]', '0,5')
    expect(await tableProblems()).to.deep.equal(['Zeile 1: Rauschen: mindestens 0 erwartet; "0,5" braucht einen Punkt: 0.5.'])
    await page.fill('[data-option=channels] [data-name=noise]', '1.000')
    expect(await tableProblems()).to.deep.equal(['Zeile 1: "1.000" wird als 1 gelesen: 1000 schreiben, wenn das gemeint ist.'])
    await look('table-warning')
  })

  it('says in German why a node is not complete', async () => {
    expect(await page.evaluate('RED.nodes.node("sluice-modbus-write").validationErrors'))
      .to.deep.equal([
        'Gerät: Angabe fehlt. Auswählen oder anlegen.',
        'Es gibt keine Tags. Einen in der Tabelle hinzufügen oder eine CSV-Datei importieren.'
      ])
  })

  it('shows the help of every node in German', async () => {
    for (const { type } of faces) {
      const help = await page.evaluate(`RED.nodes.getNodeHelp(${JSON.stringify(type)})`)
      expect(help, type).to.match(/<h3[^>]*>Beispiel/).and.match(/message-properties/).and.not.match(/<h3[^>]*>(Details|Options)/)
    }
  })

  it('has no word of English on the live page', async () => {
    const [said, words] = await Promise.all(['en-US', 'de'].map(catalogueOf))
    const englishWords = new Set(said.filter(text => !words.includes(text)))
    await page.goto(gateway.liveUrl)
    await page.waitForSelector('text=Noch gibt es keine Senke.')
    expect(await page.getAttribute('html', 'lang')).to.equal('de')
    const found = await page.$$eval('body, body *', elements => elements.flatMap(element => [
      ...[...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.textContent?.trim() ?? ''),
      element.getAttribute('aria-label') ?? '', element.getAttribute('title') ?? '', element.getAttribute('placeholder') ?? ''
    ]))
    expect(found).to.include('Gateway und Maschine')
    expect(found.filter(text => englishWords.has(text))).to.deep.equal([])
    await look('live')
  })

  it('says alarms in German, and to programs in English', async () => {
    await page.goto(gateway.liveUrl)
    await page.waitForSelector('#alarms .alarm', { timeout: 60_000 })
    const { active } = await (await fetch(new URL('alarms', gateway.liveUrl))).json()
    expect(active[0].what).to.match(/ (is|are|do|does|has|of) /)
    const told = new Set(active.flatMap((/** @type {any} */ { what, fix }) => [what, fix]))
    const places = '#alarms .alarm-head b, #alarms .fix, #verdict'
    const found = await page.$$eval(places, elements => elements.map(each => each.textContent ?? ''))
    expect(found.length).to.be.above(2)
    expect(found.filter(text => told.has(text) || /\b(the|is|has|does|it)\b/.test(text))).to.deep.equal([])
    await look('alarms')
  })

  it('raises no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  /** All that the open form says. @returns {Promise<string[]>} */
  function texts () {
    return page.$$eval('.sluice-row, .sluice-test, .sluice-reports, .sluice-advanced > summary', places => places.flatMap(place => {
      const own = /** @type {HTMLElement[]} */ ([place, ...place.querySelectorAll(':not(.sluice-details[hidden] *)')])
      return own.flatMap(element => [
        ...[...element.childNodes].filter(node => node.nodeType === Node.TEXT_NODE).map(node => node.textContent ?? ''),
        element.dataset.i18n?.includes('[placeholder]') ? element.getAttribute('placeholder') ?? '' : '', element.title
      ])
    }).map(text => text.trim()).filter(Boolean))
  }

  function tableProblems () {
    return page.$$eval('[data-option=channels] .sluice-table-problems li', items => items.map(item => item.textContent))
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `german-${name}.png`) })
  }
})

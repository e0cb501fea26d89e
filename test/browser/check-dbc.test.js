import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { flowLoaded, openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const ROW = '[data-option=dbcFile]'
const RESULT = `${ROW} .sluice-check`

const ENGINE = `BO_ 100 Engine: 8 ECU
 SG_ speed : 0|16@1+ (0.25,0) [0|16000] "rpm" X
`

describe('Check file in a browser', function () {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {string} */
  let folder
  /** @type {string[]} */
  const pageErrors = []

  before(async function () {
    requireChromium(this)
    folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-dbc-'))
    gateway = await startGateway([
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'bus', type: 'sluice-can-bus', kind: 'virtual', channel: 'car' },
      { id: 'read', type: 'sluice-can-read', z: 'flow', name: 'car', bus: 'bus', x: 200, y: 100, wires: [[]] }
    ])
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'node("read")')
    await page.evaluate('RED.editor.edit(RED.nodes.node("read"))')
    await slidIn(page, `${ROW} button`)
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
    if (folder) await rm(folder, { recursive: true })
  })

  it('says what is in the file that the node reads where the field is empty', async () => {
    const vehicle = await readFile(new URL('../../data/vehicle.dbc', import.meta.url), 'utf8')
    const [messages, signals] = [/^BO_ /gm, /^ SG_ /gm].map(line => vehicle.match(line)?.length)
    expect(await check('')).to.deep.equal({ state: 'good', text: `Messages: ${messages}, signals: ${signals}.` })
    await look('good')
  })

  it('lists the lines it cannot read, by their numbers, and what of the file it can', async () => {
    const file = path.join(folder, 'bad.dbc')
    await writeFile(file, `${ENGINE} SG_ torque : 16|8@1+ (1,0 [0|1] "<b>Nm</b>" X\n SG_ wide : 0|99@1+ (1,0) [0|1] "" X\n`)
    const { state, text } = await check(file)
    expect(state).to.equal('doubtful')
    expect(text).to.match(/^Messages: 1, signals: 1\.2 lines could not be read:/)
    const lines = await page.$$eval(`${RESULT} li`, items =>
      items.map(item => ({
        line: item.getAttribute('value'),
        reason: item.firstChild?.textContent,
        code: item.querySelector('code')?.textContent
      }))
    )
    expect(lines.map(({ line }) => line)).to.deep.equal(['3', '4'])
    expect(lines[0].code).to.contain('<b>Nm</b>')
    for (const { reason } of lines) expect(reason).to.match(/\w/)
    await look('bad-lines')
  })

  it('lists fifty of many, and stays within the form', async () => {
    const file = path.join(folder, 'worse.dbc')
    await writeFile(file, ENGINE + ` SG_ ${'long'.repeat(50)}\n`.repeat(60))
    expect((await check(file)).text).to.contain('60 lines could not be read:').and.match(/And 10 more\.$/)
    expect(await page.$$eval(`${RESULT} li`, items => items.length)).to.equal(50)
    expect(await page.$eval(ROW, row => row.scrollWidth > row.clientWidth)).to.equal(false)
    await look('many-bad-lines')
  })

  it('hints at a file of J1939 or NMEA 2000 that does not say so', async () => {
    const file = path.join(folder, 'groups.dbc')
    await writeFile(file, `BO_ ${0x80000000 + 0x19F112FE} PGN_127250: 8 X\n SG_ heading : 8|16@1+ (0.0001,0) [0|0] "rad" X\n`)
    const { state, text } = await check(file)
    expect(state).to.equal('doubtful')
    expect(text).to.match(/^Messages: 1, signals: 1\.It looks like a file for J1939 or NMEA 2000, .* by parameter group/)
    await look('groups')
  })

  it('says which file is not there', async () => {
    const file = path.join(folder, 'missing.dbc')
    const { state, text } = await check(file)
    expect(state).to.equal('bad')
    expect(text).to.contain(file)
    await look('missing')
  })

  it('forgets what it found as soon as the path changes', async () => {
    await page.type(`${ROW} input`, 'x')
    expect(await page.textContent(RESULT)).to.equal('')
  })

  it('raises no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  /** What the form says of a file. @param {string} file */
  async function check (file) {
    await page.fill(`${ROW} input`, file)
    await page.click(`${ROW} button`)
    const result = await page.waitForSelector(`${RESULT}:is([data-state=good], [data-state=doubtful], [data-state=bad])`)
    return { state: await result.getAttribute('data-state'), text: await result.textContent() }
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `check-dbc-${name}.png`) })
  }
})

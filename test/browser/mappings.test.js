import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { flowLoaded, openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const MAPPINGS = '[data-option=mappings]'
const EDITED = `${MAPPINGS} .sluice-edited`
const TRIAL = `${MAPPINGS} .sluice-topics`

/** Twelve devices of three lines, and three topics of the same plant that are of another kind. */
const DEVICES = ['press', 'paint', 'pack'].flatMap(line => [1, 2, 3, 4].map(device => `plant/${line}/${device}/telemetry`))
const OTHERS = ['plant/shift', 'plant/press/alarm', 'plant/pack/alarm']

describe('mappings of topics in a browser', function () {
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('mqtt').MqttClient} */
  let devices
  /** @type {NodeJS.Timeout} */
  let publishing
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
    requireMosquitto(this)
    mosquitto = await startMosquitto()
    devices = await mqtt.connectAsync(mosquitto.url)
    publishing = setInterval(publish, 200)
    gateway = await startGateway([
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'broker', type: 'sluice-broker', name: 'plant', url: mosquitto.url },
      { id: 'in', type: 'sluice-stage-in', z: 'flow', name: 'plant', broker: 'broker', x: 200, y: 100, wires: [['store']] },
      { id: 'store', type: 'sluice-sqlite', z: 'flow', name: 'store', file: 'plant.sqlite', x: 400, y: 100, wires: [] },
      { id: 'out', type: 'sluice-stage-out', z: 'flow', name: 'out', broker: 'broker', x: 200, y: 200, wires: [] }
    ])
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
    await openEditor()
  })
  after(async () => {
    clearInterval(publishing)
    await browser?.close()
    await gateway?.stop()
    await devices?.endAsync(true)
    await mosquitto?.stop()
  })

  let temperature = 20
  function publish () {
    temperature += 0.5
    const payload = (/** @type {string} */ topic) => JSON.stringify({ temperature, running: true, device: { id: topic.split('/')[2] } })
    for (const topic of DEVICES) devices.publish(topic, payload(topic))
    for (const topic of OTHERS) devices.publish(topic, '"quiet"')
  }

  async function openEditor () {
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, 'node("in")')
  }

  it('listen to all there is while there is no pattern, and change nothing on the broker', async () => {
    await openForm('in')
    expect(await page.textContent(`${MAPPINGS} > label`)).to.equal('Topics')
    await page.click(`${TRIAL} [data-do=listen]`)
    await found('0 topics match, 15 do not.')
    expect(await page.textContent(`${TRIAL} [data-do=listen]`)).to.equal('Stop')
    await look('all')
    await page.click(`${TRIAL} [data-do=listen]`)
    await said(/^Topics: 15, messages: \d+\. Edit the mappings/)
    expect(await page.isHidden(`${TRIAL} progress`)).to.equal(true)
  })

  it('say at once what is wrong with a pattern, where, and what to do', async () => {
    await page.click(`${MAPPINGS} >> text=Add row`)
    expect(await problems()).to.deep.equal(['Row 1: Topic pattern is missing.'])
    await page.fill(`${EDITED} [data-name=topic]`, 'plant/{line/+/telemetry')
    expect(await problems()).to.deep.equal([
      'Row 1: Topic pattern must look like plant/{line}/{device}/telemetry; "plant/{line/+/telemetry" does not.'
    ])
    await page.fill(`${EDITED} [data-name=topic]`, 'plant/{line}/{line}/telemetry')
    await complains(/^Mapping 1: the topic "plant\/\{line\}\/\{line\}\/telemetry" has \{line\} twice\. Give each level a name/)
    await look('wrong')
  })

  it('try what is typed on what has been heard, without listening again', async () => {
    const heard = await page.textContent(`${TRIAL} .sluice-topics-bar [role=status]`)
    await page.fill(`${EDITED} [data-name=topic]`, 'plant/{line}/alarm')
    await found('2 topics match, 13 do not.')
    await page.fill(`${EDITED} [data-name=topic]`, 'plant/{line}/{device}/telemetry')
    await found('12 topics match, 3 do not.')
    await page.click(`${TRIAL} li button:has-text("plant/press/3/telemetry")`)
    await row('plant/press/3/telemetry – by mapping 1')
    expect(await page.textContent(`${TRIAL} li .sluice-chosen`)).to.equal('1plant/press/3/telemetry')
    const cells = await cellsOf()
    expect(cells.find(([name]) => name === 'Source')?.[1]).to.equal('plant')
    expect(cells).to.deep.include.members([['line', 'press', 'tag'], ['device', '3', 'tag'], ['running', 'true', 'bool']])
    expect(await page.textContent(`${TRIAL} .sluice-topics-bar [role=status]`)).to.equal(heard)
    await look('row')
  })

  it('fold away what is seldom needed, each with its help, and show the row it makes', async () => {
    await page.click(`${MAPPINGS} summary`)
    expect(await page.textContent(`${MAPPINGS} [data-column=tags] .sluice-hint`)).to.match(/^Members that tell devices .* apart/)
    await page.fill(`${MAPPINGS} [data-name=exclude]`, 'running')
    await page.fill(`${MAPPINGS} [data-name=prefix]`, 'm_')
    await page.waitForSelector(`${TRIAL} th:text-is("m_temperature")`)
    expect((await cellsOf()).map(([name]) => name)).not.to.include('m_running')
    expect(await page.textContent(`${MAPPINGS} summary`)).to.equal('Mapping 1: time, tags, fields (Prefix, Not these fields)')
    await look('folded-out')
    await page.fill(`${MAPPINGS} [data-name=prefix]`, '')
  })

  it('show what a preset fills in, and move it before the others', async () => {
    await page.click(`${MAPPINGS} >> text=Add row`)
    await page.selectOption(`${EDITED} [data-name=preset]`, 'ttn')
    expect(await problems()).to.deep.equal([])
    expect(await page.getAttribute(`${EDITED} [data-name=topic]`, 'placeholder')).to.equal('v3/{application}/devices/{device}/up')
    expect(await page.getAttribute(`${MAPPINGS} [data-name=time]`, 'placeholder')).to.equal('received_at')
    expect(await page.textContent(`${MAPPINGS} [data-name=timeFormat] option:checked`)).to.equal('ISO 8601')
    await page.selectOption(`${EDITED} [data-name=preset]`, 'zigbee2mqtt')
    expect(await page.getAttribute(`${MAPPINGS} [data-name=values]`, 'placeholder')).to.equal('')
    expect(await page.getAttribute(`${EDITED} [data-name=topic]`, 'placeholder')).to.equal('zigbee2mqtt/{device}')
    expect(await page.textContent(`${MAPPINGS} .sluice-details > .sluice-hint`)).to.match(/^One table of all devices/)
    await look('preset')
    await page.click(`${MAPPINGS} [data-do=moveUp]`)
    await row('plant/press/3/telemetry – by mapping 2')
    await page.click(`${EDITED} [data-do=delete]`)
    await row('plant/press/3/telemetry – by mapping 1')
  })

  it('are deployed, and their rows land in the table with columns of tags', async () => {
    await closeForm()
    await page.click('#red-ui-header-button-deploy')
    await page.waitForFunction('!RED.nodes.dirty()')
    /** @type {Record<string, any>[]} */
    let rows = []
    while (new Set(rows.map(({ line, device }) => `${line}/${device}`)).size < DEVICES.length) {
      await sleep(50)
      rows = stored('plant')
    }
    expect(Object.keys(rows[0])).to.have.members(['time', 'line', 'device', 'temperature', 'device.id'])
    expect(rows.some(({ line, device }) => line === 'paint' && device === '2')).to.equal(true)
  })

  it('are read back as they were, sparsely', async () => {
    await openEditor()
    await openForm('in')
    expect(await page.inputValue(`${EDITED} [data-name=topic]`)).to.equal('plant/{line}/{device}/telemetry')
    expect(await page.inputValue(`${MAPPINGS} [data-name=exclude]`)).to.equal('running')
    expect(await page.inputValue(`${MAPPINGS} [data-name=source]`)).to.equal('')
    await closeForm()
  })

  it('are tried at stage out on a message that is pasted', async () => {
    await openForm('out')
    await page.click(`${MAPPINGS} >> text=Add row`)
    await page.fill(`${EDITED} [data-name=topic]`, '{source}/{room}/#')
    await page.fill(`${TRIAL} [data-trial=topic]`, 'climate/cellar/now')
    await page.fill(`${TRIAL} [data-trial=payload]`, '{"humidity": 61}')
    await row('climate/cellar/now – by mapping 1')
    const cells = await cellsOf()
    expect(cells[0]).to.deep.equal(['Source', 'climate', ''])
    expect(cells.slice(2)).to.deep.equal([['room', 'cellar', 'tag'], ['humidity', '61', 'float64']])
    await look('stage-out')
    await page.fill(`${TRIAL} [data-trial=payload]`, '{"humidity": ')
    await waitForWords(`${TRIAL} .sluice-topics-row .sluice-problem`, /^Refused: .*JSON/)
    await closeForm()
  })

  it('say that the broker cannot be reached, and what to do', async () => {
    await page.evaluate('RED.nodes.node("broker").url = "mqtt://127.0.0.1:1"')
    await openForm('in')
    await page.click(`${TRIAL} [data-do=listen]`)
    await complains(/^Nothing listens at mqtt:\/\/127\.0\.0\.1:1\. Start the broker, or correct host and port\.$/)
    await page.waitForSelector(`${TRIAL} [data-do=listen]:text-is("Listen")`)
  })

  it('stay within the form, in the dark too', async () => {
    await page.evaluate(url => { /** @type {any} */ (window).RED.nodes.node('broker').url = url }, mosquitto.url)
    await page.click(`${TRIAL} [data-do=listen]`)
    await page.waitForSelector(`${TRIAL} .sluice-topics-row table`)
    await page.click(`${MAPPINGS} summary`)
    await page.$eval(`${MAPPINGS} .sluice-table`, table => table.scrollIntoView())
    for (const theme of ['light', 'dark']) {
      await page.evaluate(dark => { document.documentElement.classList.toggle('nr-theme-dark', dark) }, theme === 'dark')
      for (const width of [1000, 1280]) {
        await page.setViewportSize({ width, height: 900 })
        await page.waitForFunction(each => innerWidth === each, width)
        const tooWide = await page.$$eval(`${MAPPINGS}, ${MAPPINGS} .sluice-details, ${TRIAL}`, parts =>
          parts.filter(part => part.scrollWidth > part.clientWidth).map(part => part.className))
        expect(tooWide, `${theme}, ${width} px`).to.deep.equal([])
        await look(`${theme}-${width}`)
        if (SCREENSHOTS) await (await page.$(TRIAL))?.scrollIntoViewIfNeeded()
        await look(`${theme}-${width}-below`)
        await page.$eval(`${MAPPINGS} .sluice-table`, table => table.scrollIntoView())
      }
    }
  })

  it('are in German where the editor is', async () => {
    await page.evaluate('document.documentElement.classList.remove("nr-theme-dark")')
    await page.evaluate('localStorage.setItem("editor-language", "de")')
    await openEditor()
    await openForm('in')
    expect(await page.textContent(`${MAPPINGS} summary`)).to.equal('Zuordnung 1: Zeit, Tags, Felder (Diese Felder nicht)')
    await page.click(`${TRIAL} [data-do=listen]:text-is("Mithören")`)
    await found('12 Topics passen, 3 nicht.')
    await page.click(`${MAPPINGS} summary`)
    await look('german-1280')
    await closeForm()
    await page.setViewportSize({ width: 1000, height: 900 })
    await openForm('in')
    await look('german-1000')
    await page.setViewportSize({ width: 1280, height: 900 })
  })

  it('raise no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  /** @param {string} id */
  async function openForm (id) {
    await page.evaluate(`RED.editor.edit(RED.nodes.node("${id}"))`)
    await slidIn(page, TRIAL)
  }

  async function closeForm () {
    await page.$eval('#node-dialog-ok', element => /** @type {HTMLElement} */ (element).click())
    await page.waitForSelector('.sluice-row', { state: 'detached' })
  }

  /** @param {string} table @returns {Record<string, any>[]} */
  function stored (table) {
    try {
      const database = new DatabaseSync(path.join(gateway.userDir, 'sluice', 'plant.sqlite'), { readOnly: true })
      try {
        const statement = database.prepare(`SELECT * FROM "${table}"`)
        statement.setReadBigInts(true)
        return statement.all()
      } finally {
        database.close()
      }
    } catch {
      return [] // it is not there yet
    }
  }

  const found = (/** @type {string} */ text) => page.waitForSelector(`${TRIAL} .sluice-topics-count:text-is("${text}")`)
  const row = (/** @type {string} */ text) => page.waitForSelector(`${TRIAL} .sluice-topics-row p:has-text("${text}")`)
  const said = (/** @type {RegExp} */ words) => waitForWords(`${TRIAL} .sluice-topics-bar [role=status]`, words)
  const complains = (/** @type {RegExp} */ words) => waitForWords(`${TRIAL} > .sluice-problem`, words)

  /** @param {string} selector @param {RegExp} words */
  async function waitForWords (selector, words) {
    const isThere = (/** @type {string[]} */ [place, source]) => new RegExp(source).test(document.querySelector(place)?.textContent ?? '')
    await page.waitForFunction(isThere, [selector, words.source])
  }

  /** The row that is shown: name, value, kind. */
  function cellsOf () {
    return page.$$eval(`${TRIAL} .sluice-topics-row tr`, rows => rows.map(each => [...each.children].map(cell => cell.textContent ?? '')))
  }

  function problems () {
    return page.$$eval(`${MAPPINGS} .sluice-table-problems li`, items => items.map(item => item.textContent))
  }

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `mappings-${name}.png`) })
  }
})

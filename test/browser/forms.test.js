import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { openModbusSimulator } from '../../gateway/simulators/modbus/simulator.js'
import { flowLoaded, openBrowser, requireChromium, slidIn } from './browser.js'
import { startGateway } from './gateway.js'
import { Hands } from './hands.js'

/** Set it to a folder to look at what the tests see. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const log = { info () {}, warn () {}, error () {} }

const BROKER = '[data-option=broker]'

describe('what forms know already', function () {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {Hands} */
  let hands
  /** @type {string[]} */
  const pageErrors = []

  before(async function () {
    requireChromium(this)
    gateway = await startGateway([{ id: 'flow', type: 'tab', label: 'flow' }])
    browser = await openBrowser()
    page = browser.page
    page.on('pageerror', error => pageErrors.push(error.stack ?? error.message))
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
  })
  beforeEach(async () => {
    await page.goto(gateway.editorUrl)
    await page.waitForSelector('.red-ui-palette-node[data-palette-type="sluice-stats"]', { state: 'attached' })
    await flowLoaded(page, 'workspace("flow")')
    hands = new Hands(page)
  })

  /** @param {string} id @returns {Promise<any>} */
  const node = id => page.evaluate(`(({ valid, validationErrors, broker, device, server, tags, url, host, port, unit }) =>
    ({ valid, validationErrors, broker, device, server, tags, url, host, port, unit }))(RED.nodes.node("${id}"))`)

  /** @param {string} type @returns {Promise<string[]>} */
  const configs = type => page.evaluate(`{
    const ids = []
    RED.nodes.eachConfig(({ id, type }) => { if (type === "${type}") ids.push(id) })
    ids
  }`)

  /** Presses *Test connection* and gives what comes of it. */
  async function pressTest () {
    await page.click('.sluice-test button')
    const result = await page.waitForSelector('.sluice-test-result:is([data-state=good], [data-state=bad])', { state: 'attached' })
    return [await result.getAttribute('data-state'), await result.textContent()]
  }

  /** @param {object[]} nodes */
  const add = nodes => page.evaluate(`RED.nodes.import(${JSON.stringify(nodes)}, { generateIds: false }); RED.view.redraw(true, true)`)

  it('say that a broker is missing, and make one at a click', async () => {
    const out = await hands.drop('sluice-stage-out', 300, 200)
    expect(await node(out)).to.deep.include({ broker: '', valid: false, validationErrors: ['Broker is missing: choose one, or make one.'] })
    await hands.open(out)
    expect(await page.textContent(`${BROKER} .sluice-problem`)).to.equal('Broker is missing: choose one, or make one.')
    expect(await page.textContent(`${BROKER} .sluice-make`)).to.equal('Make one: mqtt://127.0.0.1:1883')
    await look('broker-missing')
    await page.click(`${BROKER} .sluice-make`)
    expect(await page.textContent(`${BROKER} .sluice-problem`)).to.equal('')
    expect(await page.locator(`${BROKER} .sluice-make`).count()).to.equal(0)
    await look('broker-made')
    await hands.confirm('#node-dialog-ok', '#red-ui-workspace-chart')
    const [broker] = await configs('sluice-broker')
    expect(await node(out)).to.deep.include({ broker, valid: true })
    expect(await node(broker)).to.deep.include({ url: 'mqtt://127.0.0.1:1883', valid: true })

    const second = await hands.drop('sluice-stage-in', 300, 300)
    expect(await node(second)).to.deep.include({ broker, valid: true })
  })

  it('choose the only one when a form is opened that has none, and leave it to the user where there are two', async () => {
    await add([{ id: 'out', type: 'sluice-stage-out', z: 'flow', x: 300, y: 200, wires: [] }])
    await add([{ id: 'b1', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1' }])
    await hands.open('out')
    expect(await page.inputValue('#node-input-broker')).to.equal('b1')
    await page.selectOption('#node-input-broker', '_ADD_')
    expect(await page.textContent(`${BROKER} .sluice-problem`)).to.match(/^Broker is missing/)
    await hands.confirm('#node-dialog-cancel', '#red-ui-workspace-chart')

    await add([{ id: 'b2', type: 'sluice-broker', url: 'mqtt://127.0.0.1:2' }])
    await hands.open('out')
    expect(await page.inputValue('#node-input-broker')).to.equal('_ADD_')
    expect(await page.locator(`${BROKER} .sluice-make`).count()).to.equal(0)
    await hands.confirm('#node-dialog-cancel', '#red-ui-workspace-chart')
    expect((await node(await hands.drop('sluice-stage-in', 300, 300))).broker).to.equal('')
  })

  it('lead to the form of a new server, which needs a login', async () => {
    const sink = await hands.drop('sluice-postgresql', 300, 200)
    expect((await node(sink)).validationErrors).to.deep.equal(['Server is missing: choose one, or make one.'])
    await hands.open(sink)
    expect(await page.textContent('[data-option=server] .sluice-make')).to.equal('New PostgreSQL server…')
    await look('server-missing')
    await page.click('[data-option=server] .sluice-make')
    await slidIn(page, '#node-config-input-password')
  })

  it('let simulator and device, embedded broker and broker meet', async () => {
    await add([
      { id: 'sim', type: 'sluice-modbus-simulator', z: 'flow', x: 200, y: 100, port: 1777, units: '3-5', wires: [[]], registers: [
        { area: 'holding-registers', address: 7, type: 'float32', order: 'ABCD', shape: 'sine', unit: '' },
        { area: 'holding-registers', address: 9, type: 'uint16', order: 'ABCD', shape: 'sine', unit: '' },
        { area: 'coils', address: 1 }
      ] },
      { id: 'embedded', type: 'sluice-embedded-broker', z: 'flow', x: 200, y: 160, port: 1999, wires: [] }
    ])
    const read = await hands.drop('sluice-modbus-read', 300, 240)
    const { device, tags } = await node(read)
    expect(await node(device)).to.deep.include({ host: '127.0.0.1', port: 1777, unit: 3, valid: true })
    expect(tags).to.deep.equal([
      { name: 'sine', area: 'holding-registers', address: '7', type: 'float32', order: 'ABCD' },
      { name: 'sine 2', area: 'holding-registers', address: '9', type: 'uint16', order: 'ABCD' },
      { name: 'constant', area: 'coils', address: '1', type: 'bool' }
    ])
    const out = await hands.drop('sluice-stage-out', 300, 320)
    expect((await node((await node(out)).broker)).url).to.equal('mqtt://127.0.0.1:1999')
    const write = await node(await hands.drop('sluice-modbus-write', 300, 400))
    expect(write).to.deep.include({ device, tags: [] })
  })

  it('begin the form of a new device with the address of the simulator', async () => {
    const write = await hands.drop('sluice-modbus-write', 300, 400)
    const simulator = { id: 'sim', type: 'sluice-modbus-simulator', z: 'flow', port: 1777, connection: 'rtu-over-tcp' }
    await add([{ ...simulator, x: 200, y: 100, wires: [[]] }])
    await hands.open(write)
    await page.click('#node-input-btn-device-add')
    await slidIn(page, '.sluice-test button')
    expect(await page.inputValue('#node-config-input-port')).to.equal('1777')
    expect(await page.inputValue('#node-config-input-connection')).to.equal('rtu-over-tcp')
  })

  it('say "all sources" where stage in takes all, offer those that are seen, and store the same as ever', async () => {
    await add([{ id: 'broker', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1' }])
    const id = await hands.drop('sluice-stage-in', 300, 200)
    await hands.open(id)
    expect(await page.inputValue('#node-input-source')).to.equal('')
    expect(await page.getAttribute('#node-input-source', 'placeholder')).to.equal('all sources')
    expect(await page.getAttribute('#node-input-gateway', 'placeholder')).to.equal('all gateways')
    await page.route('**/sluice-staging/seen', route => route.fulfill({ json: { sources: ['boiler', 'press'], gateways: [] } }))
    await page.focus('#node-input-source')
    await page.waitForSelector('[data-option=source] datalist option[value=press]', { state: 'attached' })
    await page.unroute('**/sluice-staging/seen')
    await look('stage-in')
    await hands.confirm('#node-dialog-ok', '#red-ui-workspace-chart')
    expect(await page.evaluate(`RED.nodes.node("${id}").source`)).to.equal('+')
  })

  it('offer the topics of a server, which are taken into the list one by one', async () => {
    await page.route('**/sluice-staging/sluice-kafka-server/topics', route => {
      const { options: { host } } = route.request().postDataJSON()
      return route.fulfill({ json: { topics: [`${host}.press`, `${host}.paint`] } })
    })
    await add([{ id: 'kafka', type: 'sluice-kafka-server', host: 'plant', port: '9092' }])
    await hands.open(await hands.drop('sluice-kafka-in', 300, 400))
    const entry = '[data-option=topics] .sluice-offer'
    await page.focus(entry)
    await page.waitForSelector('[data-option=topics] option[value="plant.paint"]', { state: 'attached' })
    for (const topic of ['plant.press', 'own', 'plant.press']) {
      await page.fill(entry, topic)
      await page.press(entry, 'Tab')
    }
    expect(await page.inputValue('[data-option=topics] textarea')).to.equal('plant.press\nown')
    expect(await page.inputValue(entry)).to.equal('')
    await page.unroute('**/sluice-staging/sluice-kafka-server/topics')
  })

  it('offer my own channels first', async () => {
    await hands.open(await hands.drop('sluice-simulator', 300, 200))
    const presets = await page.$$eval('#node-input-preset option', options => options.map(option => option.textContent))
    expect(presets[0]).to.equal('My own channels')
    expect(await page.inputValue('#node-input-preset')).to.equal('machine-tool')
  })

  it('try a broker, a device and its registers before anything is deployed', async () => {
    const simulator = await openModbusSimulator({ port: 0, registers: [{ address: 2, value: 513 }] }, { log })
    const port = Number(simulator.address.split(':')[1])
    try {
      await add([{ id: 'device', type: 'sluice-modbus-device', name: 'meter', connection: 'tcp', host: '127.0.0.1', port, unit: 1 }])
      const read = await hands.drop('sluice-modbus-read', 300, 200)
      await hands.open(read)
      await page.click('[data-option=tags] [data-do=add]')
      await page.fill('[data-option=tags] .sluice-edited [data-name=address]', '2')
      await page.click('[data-option=tags] .sluice-edited [data-do=act]')
      await page.waitForSelector('.sluice-try .sluice-try-raw')
      expect(await page.textContent('.sluice-try .sluice-try-raw')).to.match(/^0x0201 /)
      await look('try')
      await page.click('#node-input-btn-device-edit')
      await slidIn(page, '.sluice-test button')
      expect(await pressTest()).to.deep.equal(['good', `Unit 1 at 127.0.0.1:${port} answers: holding register 0 is 0.`])
      await look('device')
    } finally {
      await simulator.close()
    }
  })

  it('try a new broker', async () => {
    await hands.open(await hands.drop('sluice-stage-out', 300, 200))
    await page.click('#node-input-btn-broker-add')
    await slidIn(page, '.sluice-test button')
    await page.fill('#node-config-input-url', 'mqtt://127.0.0.1:1')
    const [state, text] = await pressTest()
    expect(state).to.equal('bad')
    expect(text).to.equal('Nothing listens at mqtt://127.0.0.1:1. Start the broker, or correct host and port.')
    await look('broker')
  })

  it('explain the decimal comma, and warn of a point that may part thousands', async () => {
    await hands.open(await hands.drop('sluice-simulator', 300, 200))
    const said = async (/** @type {string} */ text) => {
      await page.fill('#node-input-sampleRateHz', text)
      return page.textContent('[data-option=sampleRateHz] .sluice-problem')
    }
    expect(await said('1,5')).to.match(/; "1,5" needs a point: 1\.5\.$/)
    expect(await said('1.000')).to.equal('"1.000" is read as 1: write 1000 if that is meant.')
    await look('warning')
    expect(await said('1000')).to.equal('')
    expect(await said('1.125')).to.equal('')
  })

  it('are found in five categories of the palette, in the order of the data', async () => {
    const found = await page.$$eval('.red-ui-palette-header', headers => headers.map(header => header.textContent ?? ''))
    expect(found.filter(name => name.startsWith('sluice'))).to.deep.equal([
      'sluice sources', 'sluice fieldbus', 'sluice staging', 'sluice databases', 'sluice operations'
    ])
    await look('palette')

    await page.evaluate('localStorage.setItem("editor-language", "de")')
    await page.reload()
    await page.waitForSelector('.red-ui-palette-header:has-text("sluice Betrieb")')
    await page.evaluate('localStorage.removeItem("editor-language")')
  })

  it('raise no error in the browser', () => {
    expect(pageErrors).to.deep.equal([])
  })

  afterEach(async function () { if (this.currentTest?.state === 'failed') await look('failed') })

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: path.join(SCREENSHOTS, `forms-${name}.png`) })
  }
})

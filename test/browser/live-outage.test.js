import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { flowLoaded, openBrowser, requireChromium } from './browser.js'
import { startGateway } from './gateway.js'

const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

/** The date is there around midnight. */
const CLOCK = String.raw`(\w{3} \d+, )?\d\d:\d\d:\d\d`

describe('The live page while a database is away', function () {
  this.timeout(300_000)
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser

  before(async function () {
    requireChromium(this)
    requirePostgresql(this)
    postgresql = await startPostgresql()
    const { port, user, password, database } = postgresql
    const brokerPort = await freePort()
    gateway = await startGateway([])
    const at = (/** @type {number} */ x, /** @type {number} */ y) => ({ z: 'tab', x, y })
    const flow = [
      { id: 'tab', type: 'tab', label: 'Plant' },
      { id: 'embedded', type: 'sluice-embedded-broker', port: brokerPort, ...at(160, 60), wires: [] },
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${brokerPort}` },
      { id: 'server', type: 'sluice-postgresql-server', host: '127.0.0.1', port, database, credentials: { user, password } },
      { id: 'press', type: 'sluice-simulator', name: 'press', sampleRateHz: 100, autostart: true, ...at(160, 120), wires: [['out']] },
      { id: 'out', type: 'sluice-stage-out', name: 'out', broker: 'broker', ...at(400, 120), wires: [] },
      { id: 'in', type: 'sluice-stage-in', name: 'in', broker: 'broker', ...at(160, 200), wires: [['plant', 'files']] },
      { id: 'plant', type: 'sluice-postgresql', name: 'plant', server: 'server', ...at(400, 200), wires: [] },
      { id: 'files', type: 'sluice-sqlite', name: 'files', ...at(400, 260), wires: [] }
    ]
    const deployed = await fetch(`${gateway.editorUrl}flows`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'Node-RED-Deployment-Type': 'full' }, body: JSON.stringify(flow)
    })
    expect(deployed.status).to.equal(204)
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
    await postgresql?.remove()
  })

  /** @param {string} selector @param {RegExp} words */
  const has = (selector, words) => browser.page.waitForFunction(([where, pattern]) => {
    return new RegExp(pattern).test(document.querySelector(where)?.textContent ?? '')
  }, [selector, words.source])
  const level = () => browser.page.getAttribute('#verdict', 'class')
  const row = '#sinks tbody tr:has(a[href="#sink/plant"])'

  it('says so at each moment, from the first refused connection to the recovery', async () => {
    const { page } = browser
    await page.goto(gateway.liveUrl)
    await has('#verdict p', /^All right: 1 source, 2 sinks, [\d.]+( k)? rows\/s stored$/)
    expect(await page.getAttribute(row, 'class')).to.equal('good')
    await look('1-all-right')

    await postgresql.stop()
    await has('#verdict p', /^plant is not connected$/)
    expect(await level()).to.equal('warning')
    await look('2-away')

    await has('#verdict p', /^plant is not reachable: [\d.]+( k)? rows wait/)
    expect(await level()).to.equal('problem')
    await has('#alarms li', new RegExp(
      String.raw`Problem.*plant is not reachable.*since ${CLOCK} \(\d+ s\).*SLUICE_SINK_CONNECT.*Start the database`
    ))
    await has(row, /plant is not reachable.*since (\w{3} \d+, )?\d\d:\d\d:\d\d/)
    expect(await page.getAttribute(row, 'class')).to.equal('problem')
    expect(await page.getAttribute('#sinks tbody tr:has(a[href="#sink/files"])', 'class')).to.equal('good')
    expect(await page.locator('#sources tbody tr').count()).to.equal(1)
    await has('#sources tbody tr', /1 of 2 stopped/)
    expect(await page.locator('.flow .wire.problem').count()).to.equal(1)
    await look('3-alarm')

    await page.goto(`${gateway.liveUrl}#sink/plant`)
    await has('.detail .card.remarks', /SLUICE_SINK_/)
    await has('.detail .facts', /Connectedno.*Trying again since(\w{3} \d+, )?\d\d:\d\d:\d\d/)
    await look('4-sink')
    await page.click('.detail >> text=Open in the editor')
    await flowLoaded(page, 'node("plant")')
    await page.waitForFunction('RED.view.selection().nodes?.[0]?.id === "plant"')
    await look('5-editor')
    await page.goto(gateway.liveUrl)

    await page.click('#alarms button')
    await has('#alarms li', /acknowledged (\w{3} \d+, )?\d\d:\d\d:\d\d/)
    await postgresql.start()
    await has('#verdict p', /^All right: 1 source, 2 sinks/)
    await has('#past-alarms', /1 alarm is over/)
    expect(await page.getAttribute(row, 'class')).to.equal('good')
    await look('6-back')
  })

  /** @param {string} name */
  async function look (name) {
    if (!SCREENSHOTS) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await browser.page.screenshot({ path: path.join(SCREENSHOTS, `outage-${name}.png`), fullPage: true })
  }
})

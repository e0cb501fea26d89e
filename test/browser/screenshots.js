import { readFile } from 'node:fs/promises'
import path from 'node:path'
import mqtt from 'mqtt'
import { startMosquitto } from '../servers/mosquitto.js'
import { freePort } from '../servers/ports.js'
import { startPostgresql } from '../servers/postgresql.js'
import { flowLoaded, openBrowser, slidIn } from './browser.js'
import { startGateway } from './gateway.js'

/**
 * The pictures of the documentation: each shows a gateway that runs and does what it shows. `npm run screenshots` makes them anew, into
 * `docs/`; with names, only those.
 *
 * @typedef {import('playwright-core').Page} Page
 * @typedef {(name: string, selector?: string) => Promise<void>} Take  of a part of the page, or of all of it
 */

const ROOT = path.join(import.meta.dirname, '../..')
const TAB = { id: 'flow', type: 'tab', label: 'Plant' }
const FORM = '.red-ui-tray'
const TAGS = '[data-option=tags]'
const MAPPINGS = '[data-option=mappings]'
/** The plots then have something to show. */
const ROWS_TO_SEE = 30_000

/** What each scene takes, and how. @type {[string[], (page: Page, take: Take) => Promise<void>][]} */
export const SCENES = [
  [['editor', 'form', 'live', 'live-source'], defaultFlow],
  [['can'], can],
  [['query'], query],
  [['server'], server],
  [['tags'], tags],
  [['mapping'], mapping]
]

/** @param {Page} page @param {Take} take */
async function defaultFlow (page, take) {
  await inGateway(page, await flowOf('flows/flows.json'), 'sqlite', async gateway => {
    await status(page, 'sqlite', /rows\/s/)
    await take('editor')
    await openForm(page, 'sqlite')
    await page.$$eval('.sluice-advanced', elements => elements.forEach(element => element.setAttribute('open', '')))
    await take('form', FORM)
    await page.goto(gateway.liveUrl)
    const stored = async () => {
      const { meters } = await (await fetch(`${gateway.liveUrl}metrics`, { headers: { Accept: 'application/json' } })).json()
      return meters.find((/** @type {{stage: string}} */ { stage }) => stage === 'sink')?.rows ?? 0
    }
    while (await stored() < ROWS_TO_SEE) await page.waitForTimeout(500)
    await take('live')
    await page.goto(`${gateway.liveUrl}#source/machine`)
    await page.waitForSelector('.last-rows')
    await take('live-source')
  })
}

/** @param {Page} page @param {Take} take */
async function can (page, take) {
  await inGateway(page, await flowOf('examples/2 Sources/vehicle.json'), 'example-vehicle-read', async () => {
    await openForm(page, 'example-vehicle-read')
    await page.click('[data-option=dbcFile] button')
    await page.waitForSelector('[data-option=dbcFile] .sluice-check:not(:empty)')
    await status(page, 'example-vehicle-read', /rows\/s/)
    await take('can')
  })
}

/** @param {Page} page @param {Take} take */
async function query (page, take) {
  await inGateway(page, await flowOf('examples/3 Databases/query.json'), 'example-query-query', async () => {
    await status(page, 'example-query-store', /rows\/s/)
    await page.evaluate('fetch("inject/example-query-means", { method: "POST" })')
    await status(page, 'example-query-query', /rows in/)
    await page.click('.red-ui-debug-content .red-ui-debug-msg-object-handle >> nth=0')
    for (const row of [0, 1]) await page.click(`.red-ui-debug-msg-object-entry .red-ui-debug-msg-object-handle >> nth=${row}`)
    await take('query')
  })
}

/** @param {Page} page @param {Take} take */
async function server (page, take) {
  const postgresql = await startPostgresql()
  try {
    const { port, user, password } = postgresql
    await inGateway(page, [
      TAB,
      { id: 'server', type: 'sluice-postgresql-server', name: 'plant', host: '127.0.0.1', port, database: 'postgres' },
      { id: 'sink', type: 'sluice-postgresql', z: 'flow', name: 'plant', server: 'server', x: 200, y: 100, wires: [] }
    ], 'sink', async () => {
      await openForm(page, 'sink')
      await page.click('#node-input-btn-server-edit')
      await slidIn(page, '.sluice-test button')
      await page.fill('#node-config-input-user', user)
      await page.fill('#node-config-input-password', password)
      await page.click('.sluice-test button')
      await page.waitForSelector('.sluice-test-result[data-state=good]')
      await take('server', `${FORM} >> nth=-1`)
    })
  } finally {
    await postgresql.remove()
  }
}

/** @param {Page} page @param {Take} take */
async function tags (page, take) {
  const port = await freePort()
  const registers = [{ address: 10, type: 'float32', order: 'CDAB', value: 21.5 }]
  const rows = Array.from({ length: 300 }, (_, i) => ({ name: `tag ${i}`, address: String(2 * i + 100), type: 'float32' }))
  const temperature = { name: 'temperature', address: '10', type: 'float32', order: 'CDAB' }
  await inGateway(page, [
    TAB,
    { id: 'plant', type: 'sluice-modbus-simulator', z: 'flow', port, registers, x: 200, y: 100, wires: [[]] },
    { id: 'device', type: 'sluice-modbus-device', name: 'plant', host: '127.0.0.1', port },
    {
      id: 'read', type: 'sluice-modbus-read', z: 'flow', name: 'boiler', device: 'device', autostart: false,
      tags: [...rows, temperature], x: 200, y: 200, wires: [[]]
    }
  ], 'read', async () => {
    await openForm(page, 'read')
    await page.click(`${TAGS} tbody tr:last-child td >> nth=0`)
    await page.click(`${TAGS} .sluice-edited [data-do=act]`)
    await page.waitForSelector('.sluice-try .sluice-chosen')
    await page.$eval(`${TAGS} tbody tr:last-child`, row => row.scrollIntoView())
    await take('tags')
  })
}

/** @param {Page} page @param {Take} take */
async function mapping (page, take) {
  const mosquitto = await startMosquitto()
  const devices = await mqtt.connectAsync(mosquitto.url)
  const topics = ['press', 'paint', 'pack'].flatMap(line => [1, 2, 3, 4].map(device => `plant/${line}/${device}/telemetry`))
  const publishing = setInterval(() => {
    for (const topic of topics) devices.publish(topic, JSON.stringify({ temperature: 59.5, running: true }))
    devices.publish('plant/shift', '"late"')
  }, 200)
  try {
    const mappings = [{ topic: 'plant/{line}/{device}/telemetry' }]
    await inGateway(page, [
      TAB,
      { id: 'broker', type: 'sluice-broker', name: 'plant', url: mosquitto.url },
      { id: 'in', type: 'sluice-stage-in', z: 'flow', name: 'plant', broker: 'broker', mappings, x: 200, y: 100, wires: [['store']] },
      { id: 'store', type: 'sluice-sqlite', z: 'flow', name: 'store', file: 'plant.sqlite', x: 400, y: 100, wires: [] }
    ], 'in', async () => {
      await openForm(page, 'in')
      await page.click(`${MAPPINGS} [data-do=listen]`)
      await page.waitForFunction('document.querySelector(".sluice-topics").textContent.includes("12 topics match, 1 does not")')
      await page.click(`${MAPPINGS} [data-do=listen]`)
      await page.click(`${MAPPINGS} li button:has-text("plant/press/3/telemetry")`)
      await page.waitForSelector(`${MAPPINGS} .sluice-topics-row table`)
      await take('mapping', MAPPINGS)
    })
  } finally {
    clearInterval(publishing)
    await devices.endAsync(true)
    await mosquitto.stop()
  }
}

/** A flow file, its broker on a port that is free. @param {string} file @returns {Promise<object[]>} */
async function flowOf (file) {
  const text = await readFile(path.join(ROOT, file), 'utf8')
  return JSON.parse(text.replaceAll('1883', String(await freePort())))
}

/**
 * @param {Page} page  gets the editor
 * @param {object[]} flow
 * @param {string} node  of it
 * @param {(gateway: Awaited<ReturnType<typeof startGateway>>) => Promise<void>} show
 */
async function inGateway (page, flow, node, show) {
  const gateway = await startGateway(flow)
  try {
    await page.goto(gateway.editorUrl)
    await flowLoaded(page, `node("${node}")`)
    await page.evaluate('RED.actions.invoke("core:toggle-show-tips")')
    await show(gateway)
  } finally {
    await gateway.stop()
  }
}

/** @param {Page} page @param {string} id  of the node */
async function openForm (page, id) {
  await page.evaluate(`RED.editor.edit(RED.nodes.node("${id}"))`)
  await slidIn(page, '.red-ui-editor .sluice-row')
}

/** Waits for what a node says. @param {Page} page @param {string} id @param {RegExp} text */
async function status (page, id, text) {
  await page.waitForFunction(`${text}.test(RED.nodes.node("${id}").status?.text)`)
}

if (process.argv[1] === import.meta.filename) {
  const wanted = process.argv.slice(2)
  const browser = await openBrowser()
  try {
    await browser.page.setViewportSize({ width: 1280, height: 800 })
    for (const [names, scene] of SCENES) {
      if (wanted.length > 0 && !names.some(name => wanted.includes(name))) continue
      await scene(browser.page, async (name, selector) => {
        await (selector ? browser.page.locator(selector) : browser.page).screenshot({ path: path.join(ROOT, 'docs', `${name}.png`) })
        console.log(`docs/${name}.png`)
      })
    }
  } finally {
    await browser.close()
  }
}

import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import pg from 'pg'
import { freePort } from '../servers/ports.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { flowLoaded, openBrowser, requireChromium, slidIn, usePortsOfThisMachine } from './browser.js'
import { startGateway } from './gateway.js'
import { Hands } from './hands.js'

/** Set it to a folder to look at what the test sees. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

/** Before forms knew anything it took 30 actions and 8 decisions. */
const MAX_ACTIONS = 14
const MAX_DECISIONS = 1

describe('the shortest way from a device to a database', function () {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser

  before(async function () {
    requireChromium(this)
    requirePostgresql(this)
    postgresql = await startPostgresql()
    gateway = await startGateway([{ id: 'flow', type: 'tab', label: 'flow' }])
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await gateway?.stop()
    await postgresql?.remove()
  })

  it(`takes at most ${MAX_ACTIONS} actions and ${MAX_DECISIONS} decisions, the deploy included, and stores rows`, async () => {
    const { page } = browser
    await usePortsOfThisMachine(page, { 1502: await freePort(), 1883: await freePort(), 5432: postgresql.port })
    await page.goto(gateway.editorUrl)
    await page.waitForSelector('.red-ui-palette-node[data-palette-type="sluice-stats"]', { state: 'attached' })
    await flowLoaded(page, 'workspace("flow")')

    const hands = new Hands(page)
    await hands.drop('sluice-modbus-simulator', 140, 80)
    const read = await hands.drop('sluice-modbus-read', 140, 180)
    await hands.drop('sluice-embedded-broker', 140, 380)
    const out = await hands.drop('sluice-stage-out', 380, 180)
    const into = await hands.drop('sluice-stage-in', 140, 280)
    const store = await hands.drop('sluice-postgresql', 380, 280)
    await hands.wire(read, out)
    await hands.wire(into, store)
    await hands.open(store)
    await hands.click('[data-option=server] .sluice-make')
    await slidIn(page, '#node-config-input-password')
    await hands.decide('#node-config-input-password', postgresql.password)
    await hands.confirm('#node-config-dialog-ok', '#node-dialog-ok')
    await hands.confirm('#node-dialog-ok', '#red-ui-workspace-chart')
    if (SCREENSHOTS) {
      await mkdir(SCREENSHOTS, { recursive: true })
      await page.screenshot({ path: path.join(SCREENSHOTS, 'actions.png') })
    }
    await hands.deploy()

    await rowsIn(postgresql)
    expect(hands.actions).to.be.at.most(MAX_ACTIONS)
    expect(hands.decisions).to.be.at.most(MAX_DECISIONS)
  })
})

/** Waits until values of the simulated device are in the database. @param {import('../servers/postgresql.js').PostgresqlServer} server */
async function rowsIn ({ port, user, password, database }) {
  const client = new pg.Client({ host: '127.0.0.1', port, user, password, database })
  await client.connect()
  try {
    for (;;) {
      const { rows: [{ exists }] } = await client.query('SELECT to_regclass(\'modbus\') IS NOT NULL AS exists')
      const { rows: [found] } = exists ? await client.query('SELECT count(*)::int AS rows, max(sine) AS sine FROM modbus') : { rows: [] }
      if (found?.rows >= 3) return expect(found.sine).to.be.within(15, 25)
      await new Promise(resolve => setTimeout(resolve, 100))
    }
  } finally {
    await client.end()
  }
}

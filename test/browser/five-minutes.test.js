import path from 'node:path'
import { expect } from 'chai'
import { requireMosquitto } from '../servers/mosquitto.js'
import { freePort, waitForPort } from '../servers/ports.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { findProgram, requireServer } from '../servers/programs.js'
import { flowLoaded, openBrowser, requireChromium, slidIn, usePortsOfThisMachine } from './browser.js'
import { Hands } from './hands.js'
import { differences } from './tour/differences.js'
import { holesBy, inPostgresql, inSqlite } from './tour/machine-rows.js'
import { sectionOf } from './tour/readme.js'
import { Statuses } from './tour/statuses.js'
import { Stranger } from './tour/stranger.js'
import { until } from './tour/until.js'

/** Set it to a folder to look at what the stranger sees. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

const SECOND_MS = 1000
const NS_PER_MS = 1_000_000n
const MIN_KILLS = 2
const RUNS = 'Ctrl-C stops it.'
const STOPS = 'Ctrl-C stores what is on its way and stops.'

/** For what is only read. */
const remark = () => {}

/**
 * The README is the script: what it says is done and found true, sentence by sentence. A sentence that is changed there is looked for
 * here in vain, and the other way round.
 */
describe('the first five minutes, as the README has them', function () {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {Hands} */
  let hands
  /** @type {Statuses} */
  let statuses
  /** @type {Stranger} */
  let stranger
  const ports = { editor: 0, broker: 0 }

  /** @typedef {import('./tour/stranger.js').Program} Program @type {Program} */
  let gateway
  /** @type {Program} */
  let mosquitto
  let holesQuery = ''
  let postgresqlNode = ''
  /** @type {{before: import('./tour/machine-rows.js').Stored, killedMs: number}[]} */
  const kills = []

  before(async function () {
    requireChromium(this)
    requireMosquitto(this)
    requirePostgresql(this)
    requireServer(this, 'sqlite3', findProgram('sqlite3') ? null : 'the program sqlite3 is not installed (apt-get install sqlite3)')
    postgresql = await startPostgresql()
    ports.editor = await freePort()
    ports.broker = await freePort()
    const environment = { SLUICE_PORT: String(ports.editor), PATH: `${process.env.PATH}:/usr/sbin` }
    stranger = await Stranger.moveIn(environment, home => differences(home, ports.broker))
    browser = await openBrowser()
    page = browser.page
    hands = new Hands(page)
    statuses = new Statuses(page)
    await usePortsOfThisMachine(page, { 5432: postgresql.port })
  })

  afterEach(function () {
    if (this.currentTest?.state === 'failed') console.log(gateway?.said)
  })

  after(async () => {
    await browser?.close()
    await stranger?.moveOut()
    await postgresql?.remove()
  })

  /** By what the README says; commands and what they print by their first lines. @type {Record<string, (text: string) => unknown>} */
  const steps = {
    'You need Linux, Node.js with npm (20 or newer; the gateway brings the version that it runs on), and a clone of this repository.':
      remark,
    'npm start    # the gateway, with its own broker and an SQLite file: no server needed': start,
    'The first start installs the packages (about a minute), then prints:': () => gateway.says(RUNS),
    'Sluice is running.': text => expect(gateway.said).to.include(text.replaceAll('1880', String(ports.editor))),
    'It listens on this machine only; `npm start -- --login` sets a password, and `--host 0.0.0.0` lets others in, who have to log in.':
      remark,

    'Open the editor.': async () => {
      await page.goto(`http://127.0.0.1:${ports.editor}/`)
      await flowLoaded(page, 'node("sqlite")')
    },
    'A simulated machine tool produces 1000 rows of 5 values a second, and the log of a boat\'s NMEA 2000 bus is played.': async () => {
      await statuses.show('machine', /\d rows\/s/)
      await statuses.show('n2k', /\d rows\/s/)
    },
    'stage out puts every batch into a spool on disk and sends it to the broker; stage in receives it from there; sqlite stores it.':
      () => statuses.show('sqlite', /\d rows\/s/),
    'Each node shows its state below itself.': async () => {
      for (const id of ['machine', 'n2k', 'stage-out', 'embedded-broker', 'stage-in', 'sqlite']) await statuses.show(id, /\d/)
    },
    'Double-click one for its settings (a form); the book symbol in the form opens its help.': async () => {
      await hands.open('machine')
      await page.click('.red-ui-tray-footer .fa-book')
      await page.waitForSelector('.red-ui-help:has-text("Produces samples at exact times")')
      await hands.confirm('#node-dialog-cancel', '#red-ui-workspace-chart')
    },

    'Forms and help speak English or German, as the browser does.': remark,
    'The live page says in one sentence whether everything is all right, and else what is wrong and since when.': seeLivePage,
    'Below are what flows where, a row for each sink and source, charts, and the balance of every sink, in rows:': remark,
    'produced = before it began + stored + dead letters + settled by a flow + parked + lost + in flight.': remark,

    'Read the database, while it is being written.': remark,
    'In a second terminal, in the same folder (Debian has `sqlite3` in a package of that name):': remark,
    'sqlite3 .sluice/sluice/sluice.sqlite "SELECT count(*), count(DISTINCT time) FROM machine"': async commands => {
      const counts = async () => (await stranger.type(commands)).trim().split('|').map(Number)
      const [rows, times] = await until(counts, ([found]) => found > 0)
      expect(times).to.equal(rows)
    },
    'Both numbers are the same:': remark,
    'the samples are 1 ms apart, each has its own time, and none is stored twice.': async () => {
      await until(() => inSqlite(stranger), ({ rows, times, first, last }) => {
        return times === rows && last - first === BigInt(rows - 1) * NS_PER_MS
      })
    },
    'A second later they have grown.': grows,

    'Kill it, and start it again:': remark,
    'kill -9 $(cat .sluice/gateway.pid)': async commands => {
      do {
        const before = await grows()
        const { ended } = gateway
        const killedMs = Date.now()
        start(commands)
        await ended
        await gateway.says(RUNS)
        await storedUntil(Date.now())
        kills.push({ before, killedMs })
      } while (kills.length < MIN_KILLS || await duplicates() === 0)
    },
    'Where something came twice, stage in says how many duplicates it refused.': () => statuses.show('stage-in', /\d duplicates? refused/),
    'Then look for holes longer than the 1 ms between two samples:': remark,
    'sqlite3 .sluice/sluice/sluice.sqlite "': commands => { holesQuery = commands },
    'One hole for each kill, as long as there was no gateway.': async () => {
      for (const [i, { endMs, holeMs }] of (await holesOfKills()).entries()) {
        expect(kills[i].killedMs).to.be.within(endMs - holeMs - SECOND_MS, endMs + SECOND_MS) // the query's times are whole seconds
      }
    },
    'Everything from before it is there.': async () => {
      for (const { before: { first, last, rows } } of kills) {
        const now = await inSqlite(stranger, { to: last })
        expect([now.first, now.last]).to.deep.equal([first, last])
        expect(now.rows).to.be.at.least(rows)
      }
    },

    'In the menu beside Deploy choose Modified Nodes, so that a deploy does not interrupt the sources.': async () => {
      await page.click('#red-ui-header-button-deploy-options')
      await page.click('text="Modified Nodes"')
    },
    'Click the embedded broker node, press Delete, and deploy:': async () => {
      await page.click('[id="embedded-broker"] .red-ui-flow-node')
      await page.keyboard.press('Delete')
      await hands.deploy()
    },
    'the spool fills.': () => statuses.spoolGrows('stage-out'),
    'Then, on Debian, as root:': remark,
    'apt-get install --no-install-recommends mosquitto': startMosquitto,
    '(Elsewhere, or without systemd:': () => mosquitto.interrupt(),
    '`mosquitto -c broker/mosquitto.conf`.)': text => startMosquitto(text.split('`')[1]),
    'The nodes find it by themselves and send what has piled up.': () => storedUntil(Date.now()),
    'Once it is stored, the query above shows no new hole.': holesOfKills,
    'More about brokers:': remark,
    'Topics and brokers.': remark,

    'Add PostgreSQL, or any of the others.': remark,
    'Drag a second stage in and a PostgreSQL node onto the flow, and wire them.': async () => {
      const stageIn = await hands.drop('sluice-stage-in', 160, 660)
      postgresqlNode = await hands.drop('sluice-postgresql', 430, 660)
      await hands.wire(stageIn, postgresqlNode)
    },
    'Double-click the PostgreSQL node.': () => hands.open(postgresqlNode),
    'Write a table such as `measurements`, and press New PostgreSQL server….': async () => {
      await page.fill('#node-input-table', 'measurements')
      await press('New PostgreSQL server…')
      await slidIn(page, '#node-config-input-password')
    },
    'Enter host, user and password, and press Test connection:': async () => {
      await page.fill('#node-config-input-host', '127.0.0.1')
      await page.fill('#node-config-input-user', postgresql.user)
      await page.fill('#node-config-input-password', postgresql.password)
      await press('Test connection')
    },
    'it says whether it works.': () => page.waitForSelector('.sluice-test-result[data-state=good]'),
    'Press Add and Done, and deploy.': async () => {
      await press('Add')
      await page.waitForSelector('#node-config-dialog-ok', { state: 'detached' })
      await press('Done')
      await page.waitForSelector('#node-dialog-ok', { state: 'detached' })
      await hands.deploy()
    },
    'It starts with what the spool still holds.': bothHaveTheSame,
    'Each sink has its own stage in, so that a slow database holds back no other.': remark,
    'Stop the database for a while:': () => postgresql.stop(),
    'the node says that it is not reachable, and the spool grows.': async () => {
      await statuses.show(postgresqlNode, /^PostgreSQL not reachable/)
      await statuses.spoolGrows('stage-out')
    },
    'Start it again, and the rows arrive.': async () => {
      await postgresql.start()
      await bothHaveTheSame()
      await holesOfKills()
    },
    'Import → Examples → @sluice/node-red begins with 1 Start here, and has a finished flow for each node.': remark,

    [STOPS]: async () => {
      await gateway.interrupt()
      expect(gateway.said).to.match(/Stopping: what is on its way is being stored\..*\nStopped\.\n$/)
      start('npm start') // what a slow database had not asked for yet is in the spool
      await gateway.says(RUNS)
      await bothHaveTheSame()
    }
  }

  /** @param {string} commands */
  function start (commands) { gateway = stranger.start(commands) }

  /** @param {string} commands */
  async function startMosquitto (commands) {
    mosquitto = stranger.start(commands)
    await waitForPort(ports.broker, { gone: () => mosquitto.hasEnded ? mosquitto.said : null })
  }

  async function seeLivePage () {
    const live = await page.context().newPage()
    await live.goto(`http://127.0.0.1:${ports.editor}/sluice/`)
    expect(await live.title()).to.include('Sluice')
    await live.waitForFunction(() => /machine[^]*\d/.test(document.body.innerText))
    await live.close()
  }

  /** @param {string} name */
  const press = name => page.getByRole('button', { name, exact: true }).click()

  async function grows () {
    const { rows } = await inSqlite(stranger)
    return await until(() => inSqlite(stranger), found => found.rows > rows)
  }

  /** Not every kill makes some: what is stored may have been said in time. */
  async function duplicates () {
    const metrics = await (await fetch(`http://127.0.0.1:${ports.editor}/sluice/metrics`)).text()
    return Number(/^sluice_stage_in_duplicates_total\S* (\d+)$/m.exec(metrics)?.[1])
  }

  /** @param {number} timeMs */
  function storedUntil (timeMs) {
    return until(() => inSqlite(stranger), ({ last }) => last > BigInt(timeMs) * NS_PER_MS)
  }

  /** Those of the README's query, once there is one for each kill: what comes late closes others. */
  function holesOfKills () {
    return until(() => holesBy(holesQuery, stranger), found => found.length === kills.length)
  }

  /** Of all that was produced until now, PostgreSQL has the same rows as SQLite, from its first one on, and each once. */
  async function bothHaveTheSame () {
    const { last: to } = await inSqlite(stranger)
    const found = await until(async () => {
      const there = await inPostgresql(postgresql, to)
      return { there, here: await inSqlite(stranger, { from: there.first, to }) }
    }, ({ there, here }) => there.last === to && there.rows === here.rows)
    expect(found.there).to.deep.equal(found.here)
    expect(found.there.times).to.equal(found.there.rows)
  }

  const tour = [...sectionOf('Two commands'), ...sectionOf('Five minutes')]
  const inOrder = [...tour.filter(({ title }) => title !== STOPS), ...tour.filter(({ title }) => title === STOPS)]
  let isBroken = false // what follows a failure has no ground to stand on
  for (const [i, { title, text }] of inOrder.entries()) {
    it(title, async function () {
      if (isBroken) this.skip()
      isBroken = true
      if (!steps[title]) expect.fail('The README says this, and no step does it.')
      await steps[title](text)
      if (SCREENSHOTS) await page.screenshot({ path: path.join(SCREENSHOTS, `five-minutes-${i}.png`) })
      isBroken = false
    })
  }

  it('is all that is done here', () => {
    expect(Object.keys(steps).filter(step => !tour.some(({ title }) => title === step))).to.deep.equal([])
    if (!isBroken) expect([...stranger.unmet]).to.deep.equal([])
  })
})

import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import pg from 'pg'
import { asRoot, requireMosquitto } from '../servers/mosquitto.js'
import { freePort, waitForPort } from '../servers/ports.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { requireServer, findProgram } from '../servers/programs.js'
import { flowLoaded, openBrowser, requireChromium, slidIn, usePortsOfThisMachine } from './browser.js'
import { Hands } from './hands.js'
import { sectionOf } from './tour/readme.js'
import { Stranger } from './tour/stranger.js'

/** @typedef {import('./tour/readme.js').Piece} Piece */

/** Set it to a folder to look at what the stranger sees. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

/** What the stranger only reads. */
const remark = () => {}

const KILLS = 2
const SECOND_MS = 1000

describe('the first five minutes, as the README has them', function () {
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {Awaited<ReturnType<typeof openBrowser>>} */
  let browser
  /** @type {import('playwright-core').Page} */
  let page
  /** @type {Hands} */
  let hands
  /** @type {Stranger} */
  let stranger
  /** @type {Record<'editor'|'broker', number>} */
  let ports

  /** @type {ReturnType<Stranger['start']>} */
  let gateway
  /** @type {ReturnType<Stranger['start']>} */
  let mosquitto
  let countsQuery = ''
  let holesQuery = ''
  let sink = ''
  /** @type {any[]} */
  const kills = []

  before(async function () {
    requireChromium(this)
    requireMosquitto(this)
    requirePostgresql(this)
    requireServer(this, 'sqlite3', findProgram('sqlite3') ? null : 'the program sqlite3 is not installed (apt-get install sqlite3)')
    postgresql = await startPostgresql()
    ports = { editor: await freePort(), broker: await freePort() }
    stranger = await Stranger.moveIn(differences, { SLUICE_PORT: String(ports.editor) })
    const etc = path.join(stranger.folder, '..', 'etc')
    await mkdir(path.join(etc, 'conf.d'), { recursive: true })
    await writeFile(path.join(etc, 'mosquitto.conf'), `persistence true\npersistence_location ${etc}/\nlog_dest file ${etc}/mosquitto.log\ninclude_dir ${etc}/conf.d\n`)
    browser = await openBrowser()
    page = browser.page
    hands = new Hands(page)
    await usePortsOfThisMachine(page, { 5432: postgresql.port })
  })
  after(async () => {
    await browser?.close()
    await stranger?.moveOut()
    await postgresql?.remove()
  })

  /** What the README's machine has, and this one cannot have: it is used by other tests too. @param {string} folder */
  function differences (folder) {
    const etc = path.join(folder, '..', 'etc')
    return [
      { file: 'flows/flows.json', readme: '1883', here: String(ports.broker) },
      { file: 'broker/mosquitto.conf', readme: '1883', here: String(ports.broker) },
      // A machine that is so busy that a gateway stands still for a second would have a hole that nobody made.
      { file: 'flows/flows.json', readme: '"sampleRateHz": 1000', here: '"sampleRateHz": 1000, "maxBacklogMs": 60000' },
      { file: 'broker/mosquitto.conf', readme: '/var/lib/mosquitto/', here: [`${folder}/`, ...asRoot()].join('\n') },
      { readme: 'npm test ', here: ': ' }, // which this is one of
      { readme: 'apt-get install --no-install-recommends mosquitto', here: 'command -v mosquitto' }, // `npm test` has installed it
      { readme: '/etc/mosquitto/', here: `${etc}/` },
      { readme: 'systemctl restart mosquitto', here: `exec mosquitto -c ${etc}/mosquitto.conf` } // as its unit does
    ]
  }

  /** @type {Record<string, (text: string) => unknown>} */
  const steps = {
    'You need Linux, Node.js with npm (20 or newer; the version that the gateway runs on is installed with the rest) and a clone of this repository.':
      remark,
    'npm start    # the gateway, with its own broker and an SQLite file: no server needed': commands => {
      gateway = stranger.start(commands)
    },
    'The first start installs the packages (about a minute), then prints:': () => gateway.says('Ctrl-C stops it.'),
    'Sluice is running.': text => expect(gateway.said).to.include(text.replaceAll('1880', String(ports.editor))),
    'It listens on this machine only; `npm start -- --login` sets a password, and `--host 0.0.0.0` lets others in, who have to log in.':
      remark,
    'Ctrl-C stores what is on its way and stops.': remark, // pressed when all the rest is done

    'Open the editor.': async () => {
      await page.goto(`http://127.0.0.1:${ports.editor}/`)
      await flowLoaded(page, 'node("sqlite")')
    },
    'A simulated machine tool produces 1000 rows of 5 values a second, and the log of a boat\'s NMEA 2000 bus is played.': async () => {
      console.log(await status('machine'), await status('n2k'))
    },
    'stage out puts every batch into a spool on disk and sends it to the broker; stage in receives it from there; sqlite stores it.':
      async () => {
        console.log(await status('stage-out'), await status('stage-in'), await status('sqlite'))
      },
    'Each node shows its state below itself.': async () => {
      for (const id of ['machine', 'n2k', 'stage-out', 'embedded-broker', 'stage-in', 'sqlite']) await shows(id, /\d/)
    },
    'Double-click one for its settings (a form); the book symbol in the form opens its help.': async () => {
      await hands.open('machine')
      await page.click('.red-ui-tray-footer .fa-book')
      await page.waitForSelector('.red-ui-help:has-text("Produces samples at exact times")')
      await hands.confirm('#node-dialog-cancel', '#red-ui-workspace-chart')
    },

    'The live page shows rates, latency, queues, processor time and memory, and on top the balance of every sink, in rows:': lookAtLivePage,
    'produced = before it began + stored + dead letters + settled by a flow + parked + lost + in flight.': remark,

    'Read the database, while it is being written.': remark,
    'In a second terminal, in the same folder (Debian has `sqlite3` in a package of that name):': remark,
    'sqlite3 .sluice/sluice/sluice.sqlite "SELECT count(*), count(DISTINCT time) FROM machine"': async commands => {
      countsQuery = commands
      await until(async () => await rowsOnce() > 0)
    },
    'Both numbers are the same:': rowsOnce,
    'the samples are 1 ms apart, each has its own time, and none is stored twice.': remark,
    'A second later they have grown.': grows,

    'Kill it, and start it again:': remark,
    'kill -9 $(cat .sluice/gateway.pid)': async commands => {
      for (let i = 0; i < KILLS; i++) {
        await grows()
        const before = await newestRow()
        const [killed, killedMs] = [gateway, Date.now()]
        gateway = stranger.start(commands)
        await killed.ended
        await gateway.says('Ctrl-C stops it.')
        kills.push({ before, killedMs, startedMs: Date.now() })
      }
    },
    'stage in counts the duplicates that it was sent and refused.': () => shows('stage-in', /\d duplicates refused/),
    'Then look for holes longer than the 1 ms between two samples:': remark,
    'sqlite3 .sluice/sluice/sluice.sqlite "': commands => { holesQuery = commands },
    'One hole for each kill, as long as there was no gateway.': async () => {
      const { startedMs } = kills[KILLS - 1]
      await until(async () => (await newestRow()).timeMs > startedMs)
      const holes = await holesNow()
      expect(holes).to.have.length(KILLS)
      holes.forEach(({ endMs, holeMs }, i) => {
        expect(endMs + SECOND_MS).to.be.above(kills[i].killedMs)
        expect(endMs - holeMs).to.be.below(kills[i].killedMs + SECOND_MS)
      })
    },
    'Everything from before it is there.': async () => {
      for (const { before } of kills) expect(await rowsUntil(before.time)).to.be.at.least(before.rows)
    },

    'Use a real broker.': remark,
    'Click the embedded broker node, press Delete, and deploy:': async () => {
      await hands.click('[id="embedded-broker"] .red-ui-flow-node')
      await page.keyboard.press('Delete')
      await hands.deploy()
    },
    'the spool fills.': spoolGrows,
    'Then, on Debian, as root:': remark,
    'apt-get install --no-install-recommends mosquitto': commands => startMosquitto(commands),
    '(Elsewhere, or without systemd:': remark,
    '`mosquitto -c broker/mosquitto.conf`.)': async text => {
      await mosquitto.interrupt()
      await startMosquitto(text.replace(/^`|`.*$/g, ''))
    },
    'The nodes find it by themselves and send what has piled up.': async () => {
      const nowMs = Date.now()
      await shows('stage-out', /^[^,]* to store/)
      await until(async () => (await newestRow()).timeMs > nowMs)
    },
    'The query above shows no new hole.': async () => expect(await holesNow()).to.have.length(KILLS),
    'More about brokers:': remark,
    'Topics and brokers.': remark,

    'Add PostgreSQL, or any of the others.': remark,
    'Drag a second stage in and a PostgreSQL node onto the flow, and wire them.': async () => {
      const stageIn = await hands.drop('sluice-stage-in', 160, 660)
      sink = await hands.drop('sluice-postgresql', 430, 660)
      await hands.wire(stageIn, sink)
    },
    'Double-click the PostgreSQL node.': () => hands.open(sink),
    'Write a table such as `measurements`, and press New PostgreSQL server….': async () => {
      await hands.decide('#node-input-table', 'measurements')
      await page.getByText('New PostgreSQL server…').click()
      await slidIn(page, '#node-config-input-password')
    },
    'Enter host, user and password, and press Test connection:': async () => {
      await hands.decide('#node-config-input-host', '127.0.0.1')
      await hands.decide('#node-config-input-user', postgresql.user)
      await hands.decide('#node-config-input-password', postgresql.password)
      await page.getByText('Test connection').click()
    },
    'it says whether it works.': async () => {
      await page.waitForSelector('.sluice-test-result[data-state=good]')
    },
    'Press Add and Done, and deploy.': async () => {
      await page.getByText('Add', { exact: true }).click()
      await page.waitForSelector('#node-config-dialog-ok', { state: 'detached' })
      await page.getByText('Done', { exact: true }).click()
      await page.waitForSelector('#node-dialog-ok', { state: 'detached' })
      await hands.deploy()
    },
    'It starts with what the spool still holds.': async () => {
      await shows(sink, /\d rows/)
    },
    'Each sink has its own stage in, so that a slow database holds back no other.': remark,
    'Stop the database for a while:': () => postgresql.stop(),
    'the node says that it is not reachable, and the spool grows.': async () => {
      await shows(sink, /PostgreSQL not reachable/)
      await spoolGrows()
    },
    'Start it again, and the rows arrive.': async () => {
      const nowMs = Date.now()
      await postgresql.start()
      await until(async () => (await inPostgresql()).lastMs > nowMs)
    },
    'Import → Examples → @sluice/node-red begins with 1 Start here, and has a finished flow for each node.': remark
  }

  /** The rows of `machine`: the README's command has them twice, as rows and as times. */
  async function rowsOnce () {
    const [rows, times] = (await stranger.type(countsQuery)).trim().split('|').map(Number)
    expect(times).to.equal(rows)
    return rows
  }

  async function grows () {
    const rows = await rowsOnce()
    await until(async () => await rowsOnce() > rows)
  }

  async function holesNow () {
    const lines = (await stranger.type(holesQuery)).trim().split('\n').filter(line => line !== '')
    return lines.map(line => line.split('|')).map(([at, holeMs]) => ({ endMs: Date.parse(`${at.replace(' ', 'T')}Z`), holeMs: Number(holeMs) }))
  }
  async function newestRow () {
    const [time, rows] = (await stranger.type('sqlite3 .sluice/sluice/sluice.sqlite "SELECT max(time), count(*) FROM machine"')).trim().split('|')
    return { time, timeMs: Number(BigInt(time) / 1_000_000n), rows: Number(rows) }
  }
  /** @param {string} time */
  async function rowsUntil (time) {
    return Number(await stranger.type(`sqlite3 .sluice/sluice/sluice.sqlite "SELECT count(*) FROM machine WHERE time <= ${time}"`))
  }
  async function inPostgresql () {
    const client = new pg.Client({ host: '127.0.0.1', port: postgresql.port, user: postgresql.user, password: postgresql.password, database: postgresql.database })
    await client.connect()
    try {
      console.log((await client.query('select * from measurements limit 1')).rows)
      return { lastMs: 0 }
    } finally { await client.end() }
  }
  /** @param {string} id */
  const status = id => page.textContent(`[id="${id}"] .red-ui-flow-node-status-label`)
  /** @param {string} id @param {RegExp} pattern */
  async function shows (id, pattern) {
    await until(async () => pattern.test(await status(id) ?? ''))
  }
  async function unstored () {
    const [, number, unit] = /([\d.]+) (\w*B) to store/.exec(await status('stage-out') ?? '') ?? []
    return Number(number) * { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }[/** @type {'B'} */ (unit)]
  }
  async function spoolGrows () {
    const before = await unstored()
    await until(async () => await unstored() > 2 * before + 100_000)
  }
  /** @param {() => Promise<boolean>} condition */
  async function until (condition) {
    while (!await condition()) await sleep(100)
  }
  /** @param {string} commands */
  async function startMosquitto (commands) {
    mosquitto = stranger.start(commands)
    await waitForPort(ports.broker)
  }
  async function lookAtLivePage () {
    const live = await page.context().newPage()
    await live.goto(`http://127.0.0.1:${ports.editor}/sluice/`)
    await live.waitForFunction(() => /machine[^]*\d/.test(document.body.innerText))
    await live.close()
  }

  let isBroken = false
  for (const { title, text } of [...sectionOf('Two commands'), ...sectionOf('Five minutes')]) {
    it(title, async function () {
      if (isBroken) this.skip()
      isBroken = true
      const began = Date.now()
      await steps[title](text)
      console.log('   ', Date.now() - began)
      isBroken = false
    })
  }
})

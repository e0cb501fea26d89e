import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect } from 'chai'
import { asRoot, requireMosquitto } from '../servers/mosquitto.js'
import { freePort, waitForPort } from '../servers/ports.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { findProgram, requireServer } from '../servers/programs.js'
import { flowLoaded, openBrowser, requireChromium, slidIn, usePortsOfThisMachine } from './browser.js'
import { Hands } from './hands.js'
import { inPostgresql, inSqlite } from './tour/machine-rows.js'
import { sectionOf } from './tour/readme.js'
import { Stranger } from './tour/stranger.js'

/** Set it to a folder to look at what the stranger sees. */
const SCREENSHOTS = process.env.SLUICE_SCREENSHOTS

/** For any one thing to become true; less than a test's own limit, so that what is found instead is named. */
const PATIENCE_MS = 120_000
const SECOND_MS = 1000
const NS_PER_MS = 1_000_000n
const KILLS = 2

const RUNS = 'Ctrl-C stops it.'
const STOPS = 'Ctrl-C stores what is on its way and stops.'

/** What the stranger only reads. */
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
  /** @type {Stranger} */
  let stranger
  const ports = { editor: 0, broker: 0 }

  /** @type {import('./tour/stranger.js').Program} */
  let gateway
  /** @type {import('./tour/stranger.js').Program} */
  let mosquitto
  let holesQuery = ''
  let postgresqlNode = ''
  /** @type {{before: import('./tour/machine-rows.js').Stored, killedMs: number, runsMs: number}[]} */
  const kills = []

  before(async function () {
    requireChromium(this)
    requireMosquitto(this)
    requirePostgresql(this)
    requireServer(this, 'sqlite3', findProgram('sqlite3') ? null : 'the program sqlite3 is not installed (apt-get install sqlite3)')
    postgresql = await startPostgresql()
    ports.editor = await freePort()
    ports.broker = await freePort()
    stranger = await Stranger.moveIn({ SLUICE_PORT: String(ports.editor), PATH: `${process.env.PATH}:/usr/sbin` }, differences)
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

  /** All that this machine has otherwise: others use its ports, and its services are not the test's. @param {string} home */
  async function differences (home) {
    const etc = path.join(home, 'mosquitto')
    await mkdir(path.join(etc, 'conf.d'), { recursive: true })
    const debian = ['persistence true', `persistence_location ${etc}/`, `log_dest file ${etc}/mosquitto.log`, `include_dir ${etc}/conf.d`]
    await writeFile(path.join(etc, 'mosquitto.conf'), `${debian.join('\n')}\n`)
    return [
      { file: 'flows/flows.json', readme: '1883', here: String(ports.broker) },
      { file: 'broker/mosquitto.conf', readme: 'listener 1883', here: [...asRoot(), `listener ${ports.broker}`].join('\n') },
      { file: 'broker/mosquitto.conf', readme: '/var/lib/mosquitto/', here: `${home}/` },
      // A machine that is so busy that the gateway stands still for a second would have a hole that nobody made.
      { file: 'flows/flows.json', readme: '"sampleRateHz": 1000', here: '"sampleRateHz": 1000, "maxBacklogMs": 60000' },
      { readme: 'npm test ', here: ': ' }, // this is one of them
      { readme: 'apt-get install --no-install-recommends mosquitto', here: 'command -v mosquitto' }, // `npm test` has installed it
      { readme: '/etc/mosquitto/', here: `${etc}/` },
      { readme: 'systemctl restart mosquitto', here: `exec mosquitto -c ${etc}/mosquitto.conf` } // as Debian's unit has it
    ]
  }

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
      await shows('machine', /\d rows\/s/)
      await shows('n2k', /\d rows\/s/)
    },
    'stage out puts every batch into a spool on disk and sends it to the broker; stage in receives it from there; sqlite stores it.':
      () => shows('sqlite', /\d rows\/s/),
    'Each node shows its state below itself.': async () => {
      for (const id of ['machine', 'n2k', 'stage-out', 'embedded-broker', 'stage-in', 'sqlite']) await shows(id, /\d/)
    },
    'Double-click one for its settings (a form); the book symbol in the form opens its help.': async () => {
      await hands.open('machine')
      await page.click('.red-ui-tray-footer .fa-book')
      await page.waitForSelector('.red-ui-help:has-text("Produces samples at exact times")')
      await hands.confirm('#node-dialog-cancel', '#red-ui-workspace-chart')
    },

    'The live page shows rates, latency, queues, processor time and memory, and on top the balance of every sink, in rows:': seeLivePage,
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
      for (let i = 0; i < KILLS; i++) {
        const before = await grows()
        const { ended } = gateway
        const killedMs = Date.now()
        start(commands)
        await ended
        await gateway.says(RUNS)
        kills.push({ before, killedMs, runsMs: Date.now() })
      }
    },
    'stage in counts the duplicates that it was sent and refused.': () => shows('stage-in', /\d duplicates refused/),
    'Then look for holes longer than the 1 ms between two samples:': remark,
    'sqlite3 .sluice/sluice/sluice.sqlite "': commands => { holesQuery = commands },
    'One hole for each kill, as long as there was no gateway.': async () => {
      await storedUntil(kills[KILLS - 1].runsMs)
      const found = await holesOfKills()
      found.forEach(({ endMs, holeMs }, i) => {
        expect(endMs + SECOND_MS).to.be.above(kills[i].killedMs) // the query's times are whole seconds
        expect(endMs - holeMs).to.be.below(kills[i].killedMs + SECOND_MS)
      })
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
    'the spool fills.': spoolGrows,
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
      await shows(postgresqlNode, /^PostgreSQL not reachable/)
      await spoolGrows()
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
      const [{ last }, there] = [await inSqlite(stranger), await inPostgresql(postgresql)]
      expect(there.last).to.equal(last)
    }
  }

  /** @param {string} commands */
  function start (commands) {
    gateway = stranger.start(commands)
  }

  /** @param {string} commands */
  async function startMosquitto (commands) {
    mosquitto = stranger.start(commands)
    await waitForPort(ports.broker, { patienceMs: PATIENCE_MS, gone: () => mosquitto.hasEnded ? mosquitto.said : null })
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

  /** What the editor shows below a node. @param {string} id */
  const statusOf = async id => await page.textContent(`[id="${id}"] .red-ui-flow-node-status-label`) ?? ''

  /** @param {string} id @param {RegExp} pattern */
  const shows = (id, pattern) => until(() => statusOf(id), text => pattern.test(text))

  /** As *stage out* says it. */
  async function spooledBytes () {
    const [, number, unit] = /([\d.]+) (\w*B) to store/.exec(await statusOf('stage-out')) ?? []
    return Number(number) * (new Map([['B', 1], ['kB', 1e3], ['MB', 1e6]]).get(unit) ?? NaN)
  }

  async function spoolGrows () {
    const before = await until(spooledBytes, bytes => bytes >= 0)
    await until(spooledBytes, bytes => bytes > 2 * before)
  }

  async function grows () {
    const { rows } = await inSqlite(stranger)
    return await until(() => inSqlite(stranger), found => found.rows > rows)
  }

  /** @param {number} timeMs */
  const storedUntil = timeMs => until(() => inSqlite(stranger), ({ last }) => last > BigInt(timeMs) * NS_PER_MS)

  /** Those of the README's query, once there is one for each kill: what comes late closes others. */
  async function holesOfKills () {
    const holes = async () => (await stranger.type(holesQuery)).trim().split('\n').map(line => {
      const [at, holeMs] = line.split('|')
      return { endMs: Date.parse(`${at.replace(' ', 'T')}Z`), holeMs: Number(holeMs) }
    })
    return await until(holes, found => found.length === KILLS)
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

  /**
   * Waits until something is as it has to be, and gives it.
   * @template T @param {() => Promise<T>} read @param {(found: T) => boolean} isSo @returns {Promise<T>}
   */
  async function until (read, isSo) {
    for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(100)) {
      const found = await read()
      if (isSo(found)) return found
      if (Date.now() > deadline) expect.fail(`Found at last: ${inspect(found)}. The gateway said: ${gateway.said}`)
    }
  }

  const tour = [...sectionOf('Two commands'), ...sectionOf('Five minutes')]
  const [running, stopping] = [tour.filter(({ title }) => title !== STOPS), tour.filter(({ title }) => title === STOPS)]
  let isBroken = false // what follows a failure has no ground to stand on
  for (const { title, text } of [...running, ...stopping]) {
    it(title, async function () {
      if (isBroken) this.skip()
      isBroken = true
      if (!steps[title]) expect.fail('The README says this, and no step does it.')
      await steps[title](text)
      if (SCREENSHOTS) await look(title)
      isBroken = false
    })
  }

  it('has nothing here that the README does not say', () => {
    expect(Object.keys(steps).filter(step => !tour.some(({ title }) => title === step))).to.deep.equal([])
    expect([...stranger.unmet]).to.deep.equal([])
  })

  /** @param {string} title */
  async function look (title) {
    const folder = /** @type {string} */ (SCREENSHOTS)
    await mkdir(folder, { recursive: true })
    await page.screenshot({ path: path.join(folder, `${title.replace(/\W+/g, '-').slice(0, 60)}.png`) })
  }
})

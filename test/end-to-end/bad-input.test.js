import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { Batch } from '../../gateway/batch/batch.js'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { sluice } from '../cli/process.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { Gateway, node } from './gateway.js'

const TEN_MEGABYTES = 10_000_000

describe('Bad input to a running gateway', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto
  /** @type {import('../servers/postgresql.js').PostgresqlServer} */
  let postgresql
  /** @type {mqtt.MqttClient} */
  let client
  /** @type {DatabaseSync} */
  let stored
  /** @type {string|null} what keeps this machine from making a small disk */
  let noSmallDisk

  before(async function () {
    requireMosquitto(this)
    requirePostgresql(this)
    mosquitto = await startMosquitto()
    postgresql = await startPostgresql()
    client = await mqtt.connectAsync(mosquitto.url)
    gateway = await Gateway.start()
    await writeFiles()
    noSmallDisk = await mountSmallDisk()
    await deploy()
    await gateway.until(() => gateway.status('store').includes('rows/s'), () => gateway.status('store'))
    stored = new DatabaseSync(join(gateway.folder, 'store.sqlite'), { readOnly: true, timeout: 10_000 })
  })

  afterEach(async () => {
    const before = rowsOf('machine')
    await gateway.until(() => rowsOf('machine') > before + 20, () => 'other data to go on flowing')
  })

  after(async () => {
    stored?.close()
    await client?.endAsync()
    await gateway?.stop()
    if (noSmallDisk === null) execFileSync('umount', [spoolFolder('small-disk')])
    await gateway?.remove()
    await postgresql?.remove()
    await mosquitto?.stop()
  })

  const file = (/** @type {string} */ name) => join(gateway.folder, name)
  const spoolFolder = (/** @type {string} */ stage) => join(gateway.userDir, 'sluice', 'spool', stage)

  async function deploy ({ password = 'not the password', database = 'nowhere', smallMachine = true } = {}) {
    const { port, user } = postgresql
    const machine = (/** @type {string} */ name, /** @type {string} */ stage, autostart = true) =>
      node(name, '-simulator', { name, sampleRateHz: 500, autostart }, stage)
    const stageOut = (/** @type {string} */ id) => node(id, '-stage-out', { broker: 'broker' })
    await gateway.deploy([
      node('broker', '-broker', { url: mosquitto.url }),
      machine('machine', 'stage-out'),
      node('cut', '-candump', { name: 'cut', logFile: file('cut.log'), dbcFile: file('bad.dbc'), speed: 0 }, 'stage-out'),
      stageOut('stage-out'),
      node('stage-in', '-stage-in', { broker: 'broker', foreignTopics: ['plant/#'] }, 'store'),
      node('store', '-sqlite', { name: 'store', file: file('store.sqlite'), maxAgeMs: 50 }),

      node('taken', '-embedded-broker', { port: mosquitto.port }),
      node('nobody', '-broker', { url: 'mqtt://127.0.0.1:1' }),
      node('unheard', '-stage-out', { broker: 'nobody' }),

      machine('stopped-machine', 'unwritable'),
      stageOut('unwritable'),
      machine('small-machine', 'small-disk', smallMachine),
      stageOut('small-disk'),

      node('stage-in-b', '-stage-in', { broker: 'broker', source: 'machine' }, ['wrong-password', 'no-database']),
      node('locked-server', '-postgresql-server', { port, database: 'postgres', credentials: { user, password } }),
      node('wrong-password', '-postgresql', { name: 'wrong-password', server: 'locked-server', maxAgeMs: 50 }),
      node('empty-server', '-postgresql-server', { port, database, credentials: { user, password: postgresql.password } }),
      node('no-database', '-postgresql', { name: 'no-database', server: 'empty-server', schema: 'second' })
    ], { type: 'nodes', feeds: ['stage-out'] })
  }

  async function writeFiles () {
    const lines = (await readFile('data/nmea2000.log', 'utf8')).split('\n')
    await writeFile(file('cut.log'), [...lines.slice(0, 100), lines[100].slice(0, 30)].join('\n'))
    const dbc = await readFile('data/nmea2000.dbc', 'utf8')
    await writeFile(file('bad.dbc'), dbc.replace('BA_DEF_', 'BO_ many Wheel: 8 Vector__XXX\n SG_ Speed : 0|16@1+ (0.1 "km/h"\n\nBA_DEF_'))
    await mkdir(join(gateway.userDir, 'sluice', 'spool'), { recursive: true })
    await writeFile(spoolFolder('unwritable'), 'a file, where a folder must be')
  }

  /** A spool's folder as a disk of its own, of 128 KiB. */
  async function mountSmallDisk () {
    await mkdir(spoolFolder('small-disk'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', spoolFolder('small-disk')], { stdio: 'pipe' })
      return null
    } catch (error) {
      return `no disk of its own can be mounted here: ${/** @type {Error} */ (error).message.split('\n').at(-2)}`
    }
  }

  /** @param {string} table  that may not be there yet */
  const rowsOf = table => {
    const isThere = stored.prepare('SELECT 1 FROM sqlite_schema WHERE type = \'table\' AND name = ?').get(table)
    return isThere ? Number(stored.prepare(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows) : 0
  }

  /** Those kept under a name, a sink's or a stage in's. @param {string} name */
  async function deadLetters (name) {
    const { stdout } = await sluice('dead-letters', 'list', '--json', '--user-dir', gateway.userDir).exit
    return stdout.trim().split('\n').filter(Boolean).map(line => JSON.parse(line)).filter(({ sink }) => sink === name)
  }

  it('values that are none are refused, counted and named; the others of their message are stored', async () => {
    await gateway.feed(() => [
      { topic: 'press', payload: { speed: NaN } },
      { topic: 'press', payload: Infinity },
      { topic: 'press', payload: { force: -Infinity, speed: 1 } },
      { topic: 'press', payload: () => 'a function' },
      { topic: 'press', payload: { speed: { inner: 1 } } },
      { topic: 'press', payload: [{ speed: 2 }, { speed: 'fast' }, { speed: 3 }] },
      { topic: 'press', payload: [{ speed: 4 }, 'five', [6]] },
      { topic: 'press', payload: { time: 'yesterday', speed: 7 } },
      { topic: 'press' },
      { payload: 8 }
    ])
    await gateway.until(
      async () => (await gateway.meter('stage', 'stage-out (stage out)'))?.errors === 11,
      async () => JSON.stringify(await gateway.report())
    )
    for (const what of [
      'row 0: "speed" is NaN',
      'row 0: "value" is Infinity',
      'row 0: "force" is -Infinity',
      'row 0: "value" is a function',
      'row 0: "speed" is an object',
      'row 1: "speed" is string here and float64 in the rows before',
      'row 1: it is not an object of values, a point or a [fields, tags] pair, and 1 more',
      'row 0: SLUICE_TIME_FORMAT: "yesterday" is not a time',
      'the message has no payload',
      'row 0: it has no source'
    ]) { expect(gateway.log).to.include(`SLUICE_PAYLOAD: Refused ${what}`) }
    await gateway.until(() => gateway.status('stage-out').includes(', 11 refused'), () => gateway.status('stage-out'))
    await gateway.until(() => rowsOf('press') === 4, () => `4 rows: ${rowsOf('press')}`)
    expect(stored.prepare('SELECT speed FROM press ORDER BY speed').all()).to.deep.equal([1, 2, 3, 4].map(speed => ({ speed })))
  })

  it('a value that does not fit its column becomes a dead letter', async () => {
    await gateway.feed(() => [{ topic: 'press', payload: { speed: 'fast' } }, { topic: 'press', payload: { speed: 5 } }])
    await gateway.says(
      /sluice-sqlite:store +Refused for good, kept as a dead letter: SLUICE_SINK_TABLE_MISFIT: .*"speed" is of type REAL, and a field/
    )
    await gateway.until(() => rowsOf('press') === 5, () => `5 rows: ${rowsOf('press')}`)
    expect((await gateway.meter('sink', 'store'))?.deadLetters).to.equal(1)
    await gateway.until(() => gateway.status('store').endsWith(', 1 dead letter'), () => gateway.status('store'))
    expect((await deadLetters('store')).map(({ source, values }) => ({ source, values }))).to.deep.equal([
      { source: 'press', values: ['fast'] }
    ])
  })

  it('a message of 10 MB is stored, from the flow and from others', async () => {
    await gateway.feed(() => [{ topic: 'text', payload: 'x'.repeat(10_000_000) }])
    await client.publishAsync('plant/text', JSON.stringify({ value: 'y'.repeat(TEN_MEGABYTES) }), { qos: 1 })
    for (const table of ['text', 'plant']) {
      await gateway.until(() => rowsOf(table) > 0, () => `a row in ${table}`)
      expect(stored.prepare(`SELECT length(value) AS length FROM "${table}"`).all()).to.deep.equal([{ length: TEN_MEGABYTES }])
    }
  })

  it('broken Arrow and broken JSON are kept as dead letters, whatever the topic', async () => {
    const batch = new Batch({
      source: 'broken',
      time: new BigInt64Array([1_700_000_000_000_000_000n]),
      fields: [{ name: 'speed', type: 'float64' }],
      columns: [new Float64Array([1])]
    })
    const arrow = Buffer.from(encode(batch))
    const identified = Buffer.from(encode(batch.withIdentity({ gateway: 'elsewhere', source: 'broken', epoch: '1-cafe', seq: 0 })))
    const messages = [
      '',
      '{"speed":',
      '{"speed":NaN}',
      Buffer.from([0xff, 0xfe, 0, 1]),
      arrow.subarray(0, 8),
      arrow.subarray(0, 300),
      identified.subarray(0, -20)
    ]
    const topics = ['plant/broken', 'sluice/v2/elsewhere/data/broken']
    for (const topic of topics) for (const message of messages) await client.publishAsync(topic, message, { qos: 1 })

    const kept = async () => (await gateway.meter('stage', 'stage-in (stage in)'))?.errors
    await gateway.until(
      async () => (await kept()) === topics.length * messages.length,
      async () => `${topics.length * messages.length} messages kept: ${await kept()}`
    )
    const letters = await deadLetters('stage-in (refused)')
    expect(topics.map(topic => letters.filter(({ source }) => source === topic).length)).to.deep.equal(topics.map(() => messages.length))
    for (const topic of topics) {
      expect(gateway.log).to.match(new RegExp(`warn .*SLUICE_MESSAGE: Kept 1 refused value of a message on ${topic}: it is not JSON`))
    }
    const reason = 'SLUICE_CODEC_ARROW: Arrow stream: it is cut short'
    expect(gateway.log).to.match(new RegExp(`error .*SLUICE_MESSAGE: Kept a broken batch on sluice/v2/elsewhere/data/broken: ${reason}`))
    await gateway.until(() => gateway.status('stage-in').endsWith(', 1 refused'), () => gateway.status('stage-in'))
  })

  it('nonsense on the topics of the protocol is ignored, and said so', async () => {
    const id = await readFile(join(gateway.userDir, 'sluice', 'gateway-id'), 'utf8')
    const own = `sluice/v2/${id.trim()}`
    /** @type {[string, ...unknown[]][]} none in the head of a spool that has just begun */
    let epochs = []
    const listen = (/** @type {string} */ _topic, /** @type {Buffer} */ payload) => {
      epochs = JSON.parse(String(payload)).sources.find((/** @type {any} */ { source }) => source === 'machine')?.epochs ?? []
    }
    client.on('message', listen)
    await client.subscribeAsync(`${own}/head/stage-out`)
    await gateway.until(() => epochs.length > 0, () => 'a head with an epoch')
    await client.unsubscribeAsync(`${own}/head/stage-out`)
    client.off('message', listen)
    const [[epoch]] = epochs
    const say = (/** @type {string} */ topic, /** @type {unknown} */ payload) => client.publishAsync(
      `sluice/v2/${topic}`,
      typeof payload === 'string' ? payload : JSON.stringify(payload),
      { qos: 1 }
    )

    await say('elsewhere/head/spool', { sources: [{ source: 'machine', rows: 1, epochs: [[5, 0, 3, 0, 4]] }] })
    await gateway.says(/Ignored a head on sluice\/v2\/elsewhere\/head\/spool: .*epoch/)
    await say('nowhere/head/other', 'nonsense')
    await gateway.says(/Ignored a head on sluice\/v2\/nowhere\/head\/other/)
    await say(`elsewhere/commit/store/${id.trim()}`, { store: 's', label: 'store', sources: { machine: { '1-a': [null] } } })
    await gateway.says(/A commit came from elsewhere\/store, for which nothing is kept/)
    await say(`elsewhere/resend/reader/${id.trim()}`, '[]')
    await gateway.says(/A message on .*elsewhere\/resend\/reader\/.* was ignored/)
    await say(`elsewhere/resend/reader/${id.trim()}`, { sources: { machine: { unknown: [[0, 9e15]], [epoch]: [[0, 9e15]] } } })
  })

  it('a truncated line of a log and bad lines of a DBC file are named and counted, the rest is played', async () => {
    await gateway.until(() => gateway.status('cut').includes('finished'), () => gateway.status('cut'))
    const { rows = 0, errors } = await gateway.meter('source', 'cut') ?? {}
    expect(errors).to.equal(1)
    expect(gateway.status('cut')).to.equal(`grey dot: finished, ${rows} rows, 1 unreadable`)
    expect(gateway.log).to.match(/sluice-candump:cut .*cut\.log, line 101: /)
    expect(gateway.log).to.match(/sluice-candump:cut .*bad\.dbc, line \d+: .* such in all/)
    const tables = stored
      .prepare('SELECT name FROM sqlite_schema WHERE type = \'table\' AND name LIKE \'cut.%\'')
      .all()
      .map(({ name }) => String(name))
    expect(tables.reduce((sum, table) => sum + rowsOf(table), 0)).to.equal(rows).and.to.be.above(40)
  })

  it('a port that is taken, a broker that is not there: the nodes say so', async () => {
    await gateway.says(
      /sluice-embedded-broker:taken +SLUICE_BROKER_PORT: The embedded broker cannot listen on 127\.0\.0\.1:\d+ \(EADDRINUSE\)/
    )
    expect(gateway.status('taken')).to.match(/^red ring: broker's port cannot be opened$/)
    await gateway.says(/sluice-stage-out:unheard +SLUICE_BROKER_REFUSED: Nothing listens at/)
    await gateway.until(() => gateway.status('unheard').startsWith('yellow ring: broker not reachable'), () => gateway.status('unheard'))
  })

  it('a folder that cannot be written to holds the source', async () => {
    await gateway.says(/sluice-stage-out:unwritable +SLUICE_SPOOL_OPEN: /)
    expect(gateway.status('unwritable')).to.match(/^red ring: spool cannot be opened$/)
    await gateway.until(
      () => /^yellow ring: paused by stage out, .* missed/.test(gateway.status('stopped-machine')),
      () => gateway.status('stopped-machine')
    )
    const given = (await gateway.meter('source', 'stopped-machine'))?.rows
    expect((await gateway.meter('stage', 'stopped-machine'))?.dropped).to.equal(given)
  })

  it('a wrong password and a missing database: the sinks say so, wait, and store when it is mended', async () => {
    for (const [sink, headline, reason] of [
      ['wrong-password', 'PostgreSQL refuses the login', 'password authentication failed'],
      ['no-database', 'PostgreSQL lacks what is named', 'database "nowhere" does not exist']
    ]) {
      await gateway.until(
        () => gateway.status(sink).startsWith(`red ring: ${headline}`),
        () => gateway.status(sink)
      )
      await gateway.says(new RegExp(`SLUICE_SINK_CONNECT: .*${reason}`))
    }
    expect(gateway.status('stage-in-b')).to.equal('yellow ring: waiting for no-database, wrong-password')
    expect(gateway.log).to.not.include(postgresql.password).and.not.include('not the password')

    await deploy({ password: postgresql.password, database: 'postgres' })
    for (const sink of ['wrong-password', 'no-database']) {
      await gateway.until(async () => ((await gateway.meter('sink', sink))?.rows ?? 0) > 500, () => gateway.status(sink))
      await gateway.until(() => gateway.status(sink).startsWith('green dot: '), () => gateway.status(sink))
    }
  })

  it('a full disk holds the source; what the disk had accepted is stored, and it goes on', async function () {
    if (noSmallDisk) {
      console.log(`      skipped: ${noSmallDisk}`)
      this.skip()
    }
    const fillings = () =>
      gateway.log.match(/sluice-stage-out:small-disk +Spool \S+ is full: cannot write to .*ENOSPC/g)?.length ?? 0
    await gateway.until(
      () => fillings() >= 2,
      () => `the disk to be full a second time; ${gateway.status('small-disk')}; ${gateway.status('small-machine')}`
    )
    expect((await gateway.meter('source', 'small-machine'))?.missed).to.be.above(0)

    await deploy({ smallMachine: false })
    const { rows } = await gateway.meter('source', 'small-machine') ?? {}
    await gateway.until(() => rowsOf('small-machine') === rows, () => `${rows} rows: ${rowsOf('small-machine')}`)
  })
})

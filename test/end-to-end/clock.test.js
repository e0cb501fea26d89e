import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { connectAsync } from 'mqtt'
import { RELEASED } from '../../gateway/clock/release.js'
import { freePort } from '../servers/ports.js'
import { requireServer } from '../servers/programs.js'
import { Gateway, node } from './gateway.js'

const LIBRARY = ['x86_64-linux-gnu', 'aarch64-linux-gnu', 'arm-linux-gnueabihf']
  .map(folder => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
  .find(existsSync)

const SAMPLE_RATE_HZ = 100
const PERIOD_NS = BigInt(1e9 / SAMPLE_RATE_HZ)

describe('A gateway on a machine whose clock shows 1970', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {string} */
  let folder
  /** @type {number} */
  let port
  /** @type {import('./gateway.js').FlowNode[]} */
  let nodes
  /** Rows of before the second deploy. */
  let letGo = 0

  before(async function () {
    requireServer(this, 'faketime', LIBRARY ? null : 'libfaketime is not installed (apt-get install faketime)')
    folder = await mkdtemp(join(tmpdir(), 'sluice-clock-'))
    await machineShows('@1970-01-01 00:00:20')
    gateway = await Gateway.start({
      LD_PRELOAD: LIBRARY,
      FAKETIME_TIMESTAMP_FILE: join(folder, 'time'),
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1'
    })
    port = await freePort()
    nodes = [
      node('embedded', '-embedded-broker', { port }),
      node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
      node(
        'machine',
        '-simulator',
        { name: 'machine', preset: 'channels', channels: [{ name: 'sequence', shape: 'counter' }], sampleRateHz: SAMPLE_RATE_HZ },
        'stage-out'
      ),
      node('short', '-simulator', { name: 'short', preset: 'channels', sampleRateHz: SAMPLE_RATE_HZ, maxSamples: 10 }, 'stage-out'),
      node('stage-out', '-stage-out', { broker: 'broker' }),
      node('stage-in', '-stage-in', { broker: 'broker', foreignTopics: ['plant/#'] }, 'store'),
      node('store', '-sqlite', { name: 'store', file: join(folder, 'store.sqlite'), maxAgeMs: 100 })
    ]
    await gateway.deploy(nodes, { feeds: ['stage-out'] })
  })

  after(async () => {
    await gateway?.remove()
    if (folder) await rm(folder, { recursive: true })
  })

  /** @param {string} time  as libfaketime reads it */
  const machineShows = time => writeFile(join(folder, 'time'), `${time}\n`)

  /** The rows in the order in which they were stored, whole numbers as BigInt; none before the table is there. @returns {any[]} */
  const rows = (table = 'machine') => {
    try {
      const database = new DatabaseSync(join(folder, 'store.sqlite'), { readOnly: true })
      const statement = database.prepare(`SELECT * FROM "${table}" ORDER BY rowid`)
      statement.setReadBigInts(true)
      const all = statement.all()
      database.close()
      return all
    } catch {
      return []
    }
  }

  /** The times of those since the second deploy, in nanoseconds. @returns {bigint[]} */
  const stored = () => rows().slice(letGo).map(({ time }) => time)

  it('stores nothing while the clock is not set, and says so', async () => {
    await gateway.until(
      () => /^yellow ring: the clock is not set: .* rows wait/.test(gateway.status('machine')),
      () => gateway.status('machine')
    )
    expect(stored()).to.deep.equal([])
  })

  it('marks what comes without a time, from the flow and from others', async () => {
    await gateway.feed(() => [{ topic: 'press', payload: 7 }])
    const status = () => gateway.status('stage-in')
    await gateway.until(() => status().startsWith('green'), status) // subscribed: nobody keeps what is published before
    const publisher = await connectAsync(`mqtt://127.0.0.1:${port}`)
    await publisher.publishAsync('plant/level', '3.5', { qos: 1 })
    await publisher.publishAsync('plant/stamped', '{"time":"2026-12-01T00:00:00Z","level":3.5}', { qos: 1 })
    await publisher.endAsync()
    await gateway.until(() => rows('plant').length === 2)
    expect(rows('plant').find(({ topic }) => topic === 'plant/level')).to.include({ value: 3.5, clock: 'unsynchronised' })
    expect(rows('plant').find(({ topic }) => topic === 'plant/stamped')).to.include({ level: 3.5, clock: null })
    await gateway.until(() => rows('press').length > 0)
    expect(rows('press')[0]).to.include({ value: 7, clock: 'unsynchronised' })
  })

  it('lets go of what waits, marked, when all is deployed again, and loses none of it', async () => {
    await gateway.until(
      () => Number(/: (\d+) rows wait/.exec(gateway.status('machine'))?.[1]) > SAMPLE_RATE_HZ,
      () => gateway.status('machine')
    )
    await gateway.deploy(nodes)
    await gateway.until(() => rows().length > SAMPLE_RATE_HZ, () => `${rows().length} rows`)
    const all = rows()
    letGo = all.length
    all.forEach(({ sequence, clock }, i) => expect([sequence, clock]).to.deep.equal([i, 'unsynchronised']))
  })

  it('stores every sample at the time it had, once the clock is set', async () => {
    const setNs = BigInt(Date.now()) * 1_000_000n
    await machineShows('+0')
    await gateway.until(() => stored().length > 5 * SAMPLE_RATE_HZ, () => `${stored().length} rows`)
    letGo = rows().findIndex(({ clock }) => clock === null) // more of the marked ones may have been stored meanwhile
    const times = stored()
    expect(times[0] > BigInt(Date.parse(RELEASED)) * 1_000_000n, 'long after 1970').to.equal(true)
    expect(times[0] < setNs, 'those from before it was set, too').to.equal(true)
    expect(times[0] > setNs - 60_000_000_000n, 'and those not long before').to.equal(true)
    times.forEach((time, i) => { if (i > 0) expect(time - times[i - 1]).to.equal(PERIOD_NS) })
  })

  it('lets samples wait for that after their source has ended, too', () => {
    expect(gateway.status('short')).to.equal('grey dot: finished, 10 rows')
    expect(rows('short').map(({ clock }) => clock)).to.deep.equal([...Array(10).fill('unsynchronised'), ...Array(10).fill(null)])
  })

  it('goes on in order when the clock is put back an hour', async () => {
    const before = stored().length
    await machineShows('-1h')
    await gateway.until(() => stored().length > before + 2 * SAMPLE_RATE_HZ, () => `${stored().length} rows`)
    const times = stored()
    times.forEach((time, i) => { if (i > 0) expect(time > times[i - 1], `row ${i}`).to.equal(true) })
    expect(rows().at(-1).clock).to.equal('unsynchronised')
  })
})

import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { RELEASED } from '../../gateway/release.js'
import { freePort } from '../servers/ports.js'
import { requireServer } from '../servers/programs.js'
import { Gateway, node } from './gateway.js'

const LIBRARY = ['x86_64-linux-gnu', 'aarch64-linux-gnu', 'arm-linux-gnueabihf']
  .map(folder => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
  .find(existsSync)

const SAMPLE_RATE_HZ = 100
const PERIOD_NS = BigInt(1e9 / SAMPLE_RATE_HZ)

describe('A gateway on a machine whose clock shows 1970', function () {
  this.timeout(90_000)

  /** @type {Gateway} */
  let gateway
  /** @type {string} */
  let folder

  before(async function () {
    requireServer(this, 'faketime', LIBRARY ? null : 'libfaketime is not installed (apt-get install faketime)')
    folder = await mkdtemp(join(tmpdir(), 'sluice-clock-'))
    await machineShows('@1970-01-01 00:00:20')
    gateway = await Gateway.start({
      LD_PRELOAD: LIBRARY, FAKETIME_TIMESTAMP_FILE: join(folder, 'time'), FAKETIME_NO_CACHE: '1', DONT_FAKE_MONOTONIC: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1'
    })
    const port = await freePort()
    await gateway.deploy([
      node('embedded', '-embedded-broker', { port }),
      node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
      node('machine', '-simulator', { name: 'machine', sampleRateHz: SAMPLE_RATE_HZ }, 'stage-out'),
      node('stage-out', '-stage-out', { broker: 'broker' }),
      node('stage-in', '-stage-in', { broker: 'broker' }, 'store'),
      node('store', '-sqlite', { name: 'store', file: join(folder, 'store.sqlite'), maxAgeMs: 100 })
    ])
  })

  after(async () => {
    await gateway?.remove()
    if (folder) await rm(folder, { recursive: true })
  })

  /** @param {string} time  as libfaketime reads it */
  const machineShows = time => writeFile(join(folder, 'time'), `${time}\n`)

  /** The times in the order in which they were stored, in nanoseconds; none before the table is there. */
  const stored = () => {
    try {
      const database = new DatabaseSync(join(folder, 'store.sqlite'), { readOnly: true })
      const statement = database.prepare('SELECT time FROM machine ORDER BY rowid')
      statement.setReadBigInts(true)
      const times = statement.all().map(row => /** @type {bigint} */ (row.time))
      database.close()
      return times
    } catch {
      return []
    }
  }

  it('stores nothing while the clock is not set, and says so', async () => {
    await gateway.until(() => /^yellow ring: the clock is not set: .* rows wait/.test(gateway.status('machine')), () => gateway.status('machine'))
    expect(stored()).to.deep.equal([])
  })

  it('stores every sample at the time it had, once the clock is set', async () => {
    const setNs = BigInt(Date.now()) * 1_000_000n
    await machineShows('+0')
    await gateway.until(() => stored().length > 5 * SAMPLE_RATE_HZ, () => `${stored().length} rows`)
    const times = stored()
    expect(times[0] > BigInt(Date.parse(RELEASED)) * 1_000_000n, 'long after 1970').to.equal(true)
    expect(times[0] < setNs, 'those from before it was set, too').to.equal(true)
    expect(times[0] > setNs - 60_000_000_000n, 'and those not long before').to.equal(true)
    times.forEach((time, i) => { if (i > 0) expect(time - times[i - 1]).to.equal(PERIOD_NS) })
  })

  it('goes on in order when the clock is put back an hour', async () => {
    const before = stored().length
    await machineShows('-1h')
    await gateway.until(() => stored().length > before + 2 * SAMPLE_RATE_HZ, () => `${stored().length} rows`)
    const times = stored()
    times.forEach((time, i) => { if (i > 0) expect(time > times[i - 1], `row ${i}`).to.equal(true) })
    const database = new DatabaseSync(join(folder, 'store.sqlite'), { readOnly: true })
    expect(database.prepare("SELECT count(*) AS marked FROM machine WHERE clock = 'unsynchronised'").get()?.marked).to.be.above(0)
    database.close()
  })
})

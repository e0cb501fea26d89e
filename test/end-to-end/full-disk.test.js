import { execFileSync } from 'node:child_process'
import { mkdtemp, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

const DISK_BYTES = 32 * 2 ** 20
/** What Node-RED and the lock of the folder need. */
const LEFT_BYTES = 64 * 2 ** 10

describe('A gateway that starts on a disk that is nearly full', () => {
  /** @type {string} */
  let folder
  let isMounted = false
  /** @type {Gateway|undefined} */
  let gateway

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'sluice-full-disk-'))
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', folder], { stdio: 'pipe' })
      isMounted = true
    } catch (error) {
      console.log(`      skipped: no disk of its own can be mounted here: ${/** @type {Error} */ (error).message.split('\n').at(-2)}`)
      this.skip()
    }
  })
  after(async () => {
    await gateway?.stop()
    if (isMounted) execFileSync('umount', [folder])
    await rm(folder, { recursive: true })
  })

  /** Empty while there is no table. */
  function stored () {
    const database = new DatabaseSync(join(folder, 'rows.sqlite'), { timeout: 10_000 })
    try {
      return /** @type {{rows: number, times: number}} */ (
        database.prepare('SELECT count(*) AS rows, count(DISTINCT time) AS times FROM machine').get())
    } catch {
      return { rows: 0, times: 0 }
    } finally {
      database.close()
    }
  }

  it('says so, and takes up its work once there is room', async () => {
    const port = await freePort()
    await writeFile(join(folder, 'flows.json'), JSON.stringify([
      { id: 'flow', type: 'tab', label: 'flow' },
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      node('embedded', '-embedded-broker', { port: String(port) }),
      node('machine', '-simulator', { name: 'machine', sampleRateHz: '1000' }, 'out'),
      node('out', '-stage-out', { broker: 'broker' }),
      node('in', '-stage-in', { broker: 'broker' }, 'store'),
      node('store', '-sqlite', { file: join(folder, 'rows.sqlite') })
    ]))
    gateway = await Gateway.startOn(folder)
    await gateway.until(() => stored().rows > 0, () => 'rows to be stored')
    await gateway.stop()

    const filler = join(folder, 'filler')
    await writeFile(filler, Buffer.alloc(DISK_BYTES)).catch(() => {}) // as much as there is room for
    await truncate(filler, (await stat(filler)).size - LEFT_BYTES)
    gateway = await Gateway.startOn(folder)
    await gateway.says('ENOSPC')
    await rm(filler)
    const before = stored().rows
    await gateway.until(() => stored().rows > before + 1000, () => `more than ${before} rows to be stored`)
    const { rows, times } = stored()
    expect(times, 'none twice').to.equal(rows)
  })
})

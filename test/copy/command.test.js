import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { encryptCredentials } from '../../gateway/base/credentials.js'
import { Batch } from '../../gateway/batch/batch.js'
import { open } from '../../gateway/databases/sqlite/sink.js'
import { sluice } from '../cli/process.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { history, identity, SECOND, T0 } from './history.js'

/** Of which a window takes a sixth. */
const ROWS = 120_000
const KILLS = 3

describe('sluice copy: the command', () => {
  /** @type {string} */
  let folder

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'))
    await mkdir(join(folder, 'sluice'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** @param {object[]} nodes @param {import('../../gateway/base/credentials.js').Credentials} [credentials] */
  const writeFlow = async (nodes, credentials) => {
    await writeFile(join(folder, 'flows.json'), JSON.stringify(nodes))
    if (!credentials) return
    await writeFile(join(folder, 'credential-secret'), 'a secret')
    await writeFile(join(folder, 'flows_cred.json'), encryptCredentials(credentials, 'a secret'))
  }
  const node = (/** @type {string} */ id, more = {}) => ({ id, type: 'sluice-sqlite', name: id, file: `${id}.sqlite`, ...more })
  const fileOf = (/** @type {string} */ id) => join(folder, 'sluice', `${id}.sqlite`)

  /** @param {string} id @param {...Batch} batches */
  const store = async (id, ...batches) => {
    const sink = await open({ file: fileOf(id) })
    await sink.write(batches)
    await sink.close()
  }
  const copy = (/** @type {string[]} */ ...args) => sluice('copy', '--user-dir', folder, ...args)
  /** @param {string} id @param {string} sql @returns {any[]} */
  const query = (id, sql) => {
    const database = new DatabaseSync(fileOf(id), { timeout: 10_000 })
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }

  it('goes on where it was killed, and neither loses nor doubles a row', async function () {
    this.timeout(120_000)
    await writeFlow([node('old'), node('new')])
    const all = Array.from({ length: ROWS }, (_, i) => i)
    await store('old', new Batch({
      source: 'press',
      time: BigInt64Array.from(all, row => T0 + BigInt(row) * SECOND),
      fields: [{ name: 'force', type: 'float64' }],
      columns: [Float64Array.from(all)],
      tags: { line: 'A' },
      identity: identity(0)
    }))
    const begin = () => copy('--from', 'old', '--to', 'new', '--until', '2100-01-01T00:00:00Z')
    const records = () => {
      try {
        return query('new', 'SELECT count(*) AS n FROM sluice_commits')[0].n
      } catch {
        return 0 // it is not there yet
      }
    }
    for (let kill = 1; kill <= KILLS; kill++) {
      const running = begin()
      while (records() < 2 * kill) await sleep(1)
      running.child.kill('SIGKILL')
      expect(await running.exit).to.include({ signal: 'SIGKILL' })
    }
    const { code, stdout, stderr } = await begin().exit
    expect(code, stderr).to.equal(0)
    expect(stdout).to.match(/^press: 2023-11-14T.*120000 values: copied \d+ rows; \d+ rows had been copied before; both have the same\n$/)
    const [{ n, distinct, sum }] = query('new', 'SELECT count(*) AS n, count(DISTINCT time) AS "distinct", sum(force) AS sum FROM press')
    expect({ n, distinct, sum }).to.deep.equal({ n: ROWS, distinct: ROWS, sum: ROWS * (ROWS - 1) / 2 })
  })

  it('copies a file that is no sink\'s, says what it would do, and answers as JSON', async () => {
    await writeFlow([node('new')])
    const database = new DatabaseSync(join(folder, 'theirs.db'))
    database.exec('CREATE TABLE samples (time INTEGER, level REAL)')
    database.exec('INSERT INTO samples VALUES (1700000000000000000, 1.5), (1700000001000000000, 2)')
    database.close()
    const args = ['--from', join(folder, 'theirs.db'), '--table', 'samples', '--to', 'new', '--until', '2100-01-01T00:00:00Z']
    const dry = await copy(...args, '--dry-run').exit
    expect(dry).to.deep.include({ code: 0 })
    expect(dry.stdout).to.match(/^samples: 2023-11-14T22:13:20.* … 2100-01-01.*, 2 values, in windows of/)
    const { code, stdout } = await copy(...args, '--json').exit
    expect(code).to.equal(0)
    expect(JSON.parse(stdout)).to.deep.include({ source: 'samples', rows: 2, deadRows: 0, differences: [] })
    expect(query('new', 'SELECT level FROM samples ORDER BY time').map(({ level }) => level)).to.deep.equal([1.5, 2])
  })

  it('finds a sink by its name or id, and its server\'s password among the encrypted ones', async function () {
    requirePostgresql(this)
    const server = await startPostgresql()
    try {
      const { port, user, password, database } = server
      await writeFlow([
        node('old'),
        { id: 'pg', type: 'sluice-postgresql', name: 'the plant', server: 'srv', table: '{source}' },
        { id: 'srv', type: 'sluice-postgresql-server', host: '127.0.0.1', port: String(port), database }
      ], { srv: { user, password } })
      await store('old', history(0, 100, { identity: identity(0) }))
      const { code, stdout, stderr } = await copy('--from', 'old', '--to', 'the plant', '--until', '2100-01-01T00:00:00Z').exit
      expect(code, stderr).to.equal(0)
      expect(stdout).to.match(/copied 100 rows; both have the same/)
      const back = await copy('--from', 'pg', '--to', 'old', '--until', '2024-01-01T00:00:00Z', '--dry-run').exit
      expect(back.stdout).to.match(/^press: .* values, in/)
      await writeFile(join(folder, 'credential-secret'), 'another')
      expect((await copy('--from', 'old', '--to', 'pg').exit).stderr).to.match(/SLUICE_CREDENTIALS.*SLUICE_CREDENTIAL_SECRET/)
    } finally {
      await server.remove()
    }
  })

  it('says what is wrong with its arguments, and which sinks there are', async () => {
    await writeFlow([node('old'), node('new')])
    expect(await copy('--from', 'old').exit).to.include({ code: 2 })
    const { code, stderr } = await copy('--from', 'older', '--to', 'new').exit
    expect(code).to.equal(1)
    expect(stderr).to.match(/SLUICE_COPY_PLACE.*"older".*old \(old\), new \(new\)/)
    expect((await copy('--help').exit).stdout).to.match(/^Usage: sluice copy --from/)
  })
})

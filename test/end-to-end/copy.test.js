import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { sluice } from '../cli/process.js'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

const ROWS_AT_FIRST = 500

describe('A sink that comes late, and sluice copy', function () {
  /** @type {Gateway} */
  let gateway

  before(async () => { gateway = await Gateway.start() })
  after(() => gateway?.remove())

  const file = (/** @type {string} */ id) => join(gateway.folder, `${id}.sqlite`)
  /** @param {string} id @param {string} sql @returns {any} */
  const ask = (id, sql) => {
    const database = new DatabaseSync(file(id), { timeout: 10_000 })
    const read = database.prepare(sql)
    read.setReadBigInts(true)
    const rows = read.all()
    database.close()
    return rows
  }
  const count = (/** @type {string} */ id) => {
    try {
      return Number(ask(id, 'SELECT count(*) AS n FROM machine')[0].n)
    } catch {
      return 0 // it is not there yet
    }
  }

  it('brings it what it has missed while both go on: each row is there, and once', async () => {
    const port = await freePort()
    const sink = (/** @type {string} */ id) => node(id, '-sqlite', { name: id, file: file(id), maxAgeMs: 50 })
    const flow = (/** @type {string[]} */ ...sinks) => [
      node('machine', '-simulator', { name: 'machine', sampleRateHz: 200 }, 'out'),
      node('embedded', '-embedded-broker', { port }),
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      node('out', '-stage-out', { broker: 'broker' }),
      node('in', '-stage-in', { broker: 'broker' }, sinks),
      ...sinks.map(sink)
    ]
    await gateway.deploy(flow('old'))
    await gateway.until(() => count('old') > ROWS_AT_FIRST)
    await gateway.deploy(flow('old', 'late'), { type: 'nodes' })
    await gateway.until(() => count('late') > 0)

    const args = ['copy', '--from', 'old', '--to', 'late', '--user-dir', gateway.userDir, '--flows', join(gateway.folder, 'flows.json')]
    await gateway.until(async () => {
      const { code, stderr } = await sluice(...args).exit
      if (code !== 0) expect(stderr).to.match(/SLUICE_COPY_(BEHIND|RANGE)/) // batches on their way
      return code === 0
    })
    const copied = count('late')
    await gateway.until(() => count('late') > copied)
    await gateway.stop()

    const [old, late] = ['old', 'late'].map(id => ask(id, 'SELECT * FROM machine ORDER BY time'))
    const both = Math.min(old.length, late.length)
    expect(both).to.be.above(ROWS_AT_FIRST)
    expect(late.slice(0, both)).to.deep.equal(old.slice(0, both))
    expect(new Set(late.map((/** @type {any} */ { time }) => time)).size).to.equal(late.length)
  })
})

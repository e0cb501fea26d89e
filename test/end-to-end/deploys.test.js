import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

/** Of a step: enough to fill some segments of the small spool, so that what is not required is gone. */
const ROWS = 8000
const ROWS_A_MESSAGE = 200

describe('Deploys of modified nodes', () => {
  /** @type {Gateway} */
  let gateway
  let port = 0
  let produced = 0

  before(async () => {
    gateway = await Gateway.start()
    port = await freePort()
  })
  after(() => gateway?.remove())

  const sinkOf = (/** @type {string} */ id, options = {}) => {
    return node(id, '-sqlite', { name: id, file: join(gateway.folder, `${id}.sqlite`), maxAgeMs: 20, ...options })
  }

  /** @param {import('./gateway.js').FlowNode[]} sinks  behind the stage in @param {'full'|'flows'|'nodes'} [type] */
  const deploy = (sinks, type = 'nodes') => gateway.deploy([
    node('embedded', '-embedded-broker', { port }),
    node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
    node('stage-out', '-stage-out', { broker: 'broker', spoolMegabytes: 2, gatherMs: 0 }),
    node('stage-in', '-stage-in', { broker: 'broker' }, sinks.map(({ id }) => id)),
    ...sinks
  ], { type, feeds: ['stage-out'] })

  /** Produces the rows of a step, and waits until the spool has them. */
  async function produce () {
    const { accepted = 0 } = await gateway.gauge('spool stage-out')
    const text = `() => Array.from({ length: ${ROWS / ROWS_A_MESSAGE} }, (_, m) => ({
      topic: 'machine',
      payload: Array.from({ length: ${ROWS_A_MESSAGE} }, (_, i) => {
        const n = ${produced} + m * ${ROWS_A_MESSAGE} + i
        return { time: 1700000000000 + n, n, a: n / 3, b: n / 5, c: n / 7, d: n / 11, e: n / 13 }
      })
    }))`
    await gateway.feed(/** @type {any} */ ({ toString: () => text }))
    produced += ROWS
    const expected = accepted + ROWS / ROWS_A_MESSAGE
    await gateway.until(async () => (await gateway.gauge('spool stage-out')).accepted >= expected, () => 'the spool to have it all')
  }

  /** @param {string} id @returns {number[]} none before its table is there */
  function stored (id) {
    const database = new DatabaseSync(join(gateway.folder, `${id}.sqlite`), { timeout: 10_000 })
    try {
      return database.prepare('SELECT n FROM machine ORDER BY n').all().map(({ n }) => Number(n))
    } catch {
      return []
    } finally {
      database.close()
    }
  }

  const rowsOf = (/** @type {number} */ from, to = produced) => Array.from({ length: to - from }, (_, i) => from + i)

  /** All rows of these have reached the sink. @param {string} id @param {number[]} rows */
  const has = (id, rows) => gateway.until(() => {
    const there = new Set(stored(id))
    return rows.every(n => there.has(n))
  }, () => `${id} to have rows ${rows[0]} … ${rows.at(-1)}; it has ${stored(id).length} of ${produced}`)

  /** @param {...string} ids  of the sinks that the spool waits for */
  const requires = (...ids) => gateway.until(async () => {
    const { requiredSinks = '' } = await gateway.gauge('spool stage-out')
    return requiredSinks.split(', ').map((/** @type {string} */ key) => key.split('/')[1]).join() === ids.join()
  }, () => `the spool to wait for ${ids.join(' and ')}`)

  /** @param {string} id */
  function hasNoneTwice (id) {
    const rows = stored(id)
    expect(rows.length, id).to.equal(new Set(rows).size)
  }

  it('lose, double and stall nothing: a sink is added, renamed, disabled, deleted and brought back, with kills in between', async () => {
    const a = sinkOf('a')
    await deploy([a], 'full')
    await produce()
    await has('a', rowsOf(0))

    const bBegins = produced
    await deploy([a, sinkOf('b', { d: true })]) // not there yet, and required all the same
    await requires('a', 'b')
    await produce()
    await has('a', rowsOf(0))
    await gateway.restart('SIGKILL')
    await deploy([a, sinkOf('b')])
    await has('b', rowsOf(bBegins))

    await deploy([a, sinkOf('b', { name: 'renamed' })])
    await produce()
    await has('a', rowsOf(0))
    await has('b', rowsOf(bBegins))

    const b = sinkOf('b', { name: 'renamed' })
    await deploy([{ ...a, d: true }, b])
    await produce()
    await has('b', rowsOf(bBegins))
    await gateway.restart('SIGKILL')
    await produce()
    await has('b', rowsOf(bBegins))
    await deploy([a, b])
    await has('a', rowsOf(0))

    const deletedFrom = produced
    await deploy([b])
    await requires('b')
    await produce()
    await has('b', rowsOf(bBegins))
    const deletedTo = produced
    await deploy([a, b])
    await produce()
    await gateway.restart('SIGKILL')
    await has('a', [...rowsOf(0, deletedFrom), ...rowsOf(deletedTo)])
    await has('b', rowsOf(bBegins))

    await requires('a', 'b')
    const { lostRows, droppedRows } = await gateway.gauge('spool stage-out')
    expect({ lostRows, droppedRows }).to.deep.equal({ lostRows: 0, droppedRows: 0 })
    await gateway.stop()
    for (const id of ['a', 'b']) hasNoneTwice(id)
  })
})

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

const BATCHES = 60
const ROWS = 2 * BATCHES

describe('Rows that a flow has changed', () => {
  /** @type {Gateway} */
  let gateway
  let port = 0

  before(async () => {
    gateway = await Gateway.start()
    port = await freePort()
    await deploy()
    await gateway.until(() => ['one', 'two', 'late', 'parts'].every(sink => gateway.status(sink).startsWith('green')))
  })

  after(() => gateway?.remove())

  const file = (/** @type {string} */ sink) => join(gateway.folder, `${sink}.sqlite`)

  const deploy = ({ type = /** @type {'full'|'nodes'} */ ('full'), maxAgeMs = 20, comment = '' } = {}) => {
    const stageIn = (/** @type {string} */ source, /** @type {string} */ next) =>
      node(`in-${source}`, '-stage-in', { broker: 'broker', source }, next)
    const change = (/** @type {string} */ source, /** @type {string} */ func, /** @type {string[]} */ sinks) =>
      node(`change-${source}`, 'function', { func, outputs: 1 }, sinks)
    const sink = (/** @type {string} */ name, options = {}) =>
      node(name, '-sqlite', { name, file: file(name), maxAgeMs: 20, drainMs: 0, ...options })
    return gateway.deploy([
      node('embedded', '-embedded-broker', { port }),
      node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
      node('stage-out', '-stage-out', { broker: 'broker', gatherMs: 0 }),
      stageIn('parts', 'change-parts'),
      change('parts', 'return [[{...msg, payload: msg.payload.slice(0, 1)}, {...msg, payload: msg.payload.pick([1])}]]', ['parts']),
      sink('parts'),
      stageIn('shared', 'change-shared'),
      change('shared', 'return {...msg, payload: msg.payload.toObjects()}', ['one', 'two']),
      sink('one', { maxAgeMs }),
      sink('two'),
      stageIn('late', 'change-late'),
      change('late', `const [first, second] = msg.payload.toObjects()
        setTimeout(() => node.send({...msg, payload: [second]}), 1500)
        return {...msg, payload: [first]} // ${comment}`, ['late']),
      sink('late')
    ], { type, feeds: ['stage-out'] })
  }

  /** @param {string} sink @param {string} [source] @returns {number[]} the numbers that it has stored; none before its table is there */
  function stored (sink, source = sink) {
    const database = new DatabaseSync(file(sink), { timeout: 10_000 })
    try {
      return database.prepare(`SELECT n FROM "${source}" ORDER BY n`).all().map(({ n }) => Number(n))
    } catch {
      return []
    } finally {
      database.close()
    }
  }

  /** @param {number[]} numbers */
  const distinct = numbers => new Set(numbers).size

  it('are stored, each part of a batch, none dropped as a duplicate of another', async () => {
    await gateway.feed(() => Array.from({ length: 60 }, (_, i) => ({ topic: 'parts', payload: [{ n: 2 * i }, { n: 2 * i + 1 }] })))
    await gateway.until(() => stored('parts').length >= ROWS, () => `${stored('parts').length} rows`)
    expect(stored('parts')).to.deep.equal(Array.from({ length: ROWS }, (_, n) => n))
  })

  it('are stored once by a sink that has them when another sink is deployed again', async () => {
    const lock = new DatabaseSync(file('one'))
    lock.exec('BEGIN IMMEDIATE')
    await gateway.feed(() => Array.from({ length: 60 }, (_, i) => ({ topic: 'shared', payload: [{ n: 2 * i }, { n: 2 * i + 1 }] })))
    await gateway.until(() => stored('two', 'shared').length === ROWS, () => `${stored('two', 'shared').length} rows`)
    await deploy({ type: 'nodes', maxAgeMs: 30 })
    lock.exec('ROLLBACK')
    lock.close()
    await gateway.until(() => distinct(stored('one', 'shared')) === ROWS, () => `${distinct(stored('one', 'shared'))} rows`)
    await gateway.until(async () => (await gateway.gauge('stage in in-shared')).held === 0, () => 'all to be finished')
    expect(stored('two', 'shared')).to.have.length(ROWS)
  })

  it('are not lost when a node that has the rest of a batch is deployed again', async () => {
    await gateway.feed(() => Array.from({ length: 60 }, (_, i) => ({ topic: 'late', payload: [{ n: -2 * i - 1 }, { n: -2 * i - 2 }] })))
    await gateway.until(() => distinct(stored('late')) >= BATCHES, () => `${stored('late').length} rows`)
    await deploy({ type: 'nodes', maxAgeMs: 30, comment: 'changed' })
    await gateway.until(() => distinct(stored('late')) === ROWS, () => `${distinct(stored('late'))} rows`)
  })

  it('are not lost when the gateway is killed before the flow has sent the rest of a batch', async () => {
    await gateway.feed(() => Array.from({ length: 60 }, (_, i) => ({ topic: 'late', payload: [{ n: 2 * i }, { n: 2 * i + 1 }] })))
    await gateway.until(() => distinct(stored('late')) >= ROWS + BATCHES, () => `${stored('late').length} rows`)
    await sleep(500) // nothing waits for this; it is when a batch was taken for stored
    await gateway.restart('SIGKILL')
    await gateway.until(() => distinct(stored('late')) === 2 * ROWS, () => `${distinct(stored('late'))} rows`)
  })
})

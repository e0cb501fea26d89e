import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { Gateway, node } from './gateway.js'

describe('Of two sinks, each behind a stage in of its own', function () {
  this.timeout(300_000)
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto

  before(async function () {
    requireMosquitto(this)
    mosquitto = await startMosquitto()
    gateway = await Gateway.start()
  })
  after(async () => {
    await gateway?.remove()
    await mosquitto?.stop()
  })

  const sink = (/** @type {string} */ id) => node(id, '-sqlite', { name: id, file: join(gateway.folder, `${id}.sqlite`), maxAgeMs: 20 })

  /** @param {boolean} isDisabled  the stage in of one of them @param {string} [url]  of the broker that it reads */
  const deploy = (isDisabled, url = mosquitto.url) => gateway.deploy([
    node('broker', '-broker', { url: mosquitto.url }),
    node('other-broker', '-broker', { url }),
    node('stage-out', '-stage-out', { broker: 'broker', gatherMs: 0 }),
    node('in-a', '-stage-in', { broker: 'broker', receiveMaximum: 2 }, 'a'),
    node('in-b', '-stage-in', { broker: 'other-broker', d: isDisabled }, 'b'),
    sink('a'),
    sink('b')
  ], { type: 'nodes', feeds: ['stage-out'] })

  /** @param {Record<string, [produced: number, stored: number, inFlight: number]>} expected */
  const balances = expected => {
    const read = async () => {
      const { ledger } = await gateway.report()
      return Object.keys(expected).map(name => {
        const { produced, stored, inFlight } = ledger.find((/** @type {any} */ { id }) => id === name) ?? {}
        return [name, [produced, stored, inFlight]]
      })
    }
    const text = JSON.stringify(Object.entries(expected))
    return gateway.until(async () => JSON.stringify(await read()) === text, async () => `${text}; it is ${JSON.stringify(await read())}`)
  }

  it('the balance says what waits for the one whose stage in is disabled', async () => {
    const produce = () => gateway.feed(() => Array.from({ length: 100 }, (_, n) => ({ topic: 'machine', payload: { n } })))
    await deploy(false)
    await produce()
    await balances({ a: [100, 100, 0], b: [100, 100, 0] })
    await deploy(true)
    await produce()
    await balances({ a: [200, 200, 0], b: [200, 100, 100] })
    await gateway.restart('SIGKILL')
    await balances({ a: [200, 200, 0], b: [200, 100, 100] })
    await deploy(false)
    await balances({ a: [200, 200, 0], b: [200, 200, 0] })
  })

  it('the balance says what waits for the one whose database is held up, also what its full stage in has not heard of', async () => {
    const other = new DatabaseSync(join(gateway.folder, 'a.sqlite'))
    other.exec('BEGIN EXCLUSIVE')
    const { accepted } = await gateway.gauge('spool stage-out')
    for (let message = 1; message <= 12; message++) {
      await gateway.feed(() => [{ topic: 'machine', payload: { n: 1 } }])
      await gateway.until(async () => (await gateway.gauge('spool stage-out')).accepted === accepted + message)
    }
    await balances({ a: [212, 200, 12] })
    other.close()
    await balances({ a: [212, 212, 0] })
  })

  it('both are waited for, whatever address of the broker each stage in has', async () => {
    const url = mosquitto.url.replace('127.0.0.1', 'localhost')
    /** @param {...string} ids */
    const requires = (...ids) => gateway.until(async () => {
      const { requiredSinks = '' } = await gateway.gauge('spool stage-out')
      return requiredSinks.replace(/gw-[^/]*\//g, '') === ids.join(', ')
    }, () => gateway.gauge('spool stage-out').then(({ requiredSinks }) => `${ids}, not ${requiredSinks}`))
    await deploy(false, url)
    await requires('a', 'b')
    await deploy(true, url)
    await gateway.feed(() => [{ topic: 'machine', payload: { n: 1 } }])
    await balances({ a: [213, 213, 0], b: [213, 212, 1] })
    await gateway.restart('SIGKILL')
    await requires('a', 'b')
    await deploy(false, url)
    await balances({ a: [213, 213, 0], b: [213, 213, 0] })
    await gateway.until(async () => (await gateway.gauge('spool stage-out')).unstoredBytes === 0)
  })
})

import { join } from 'node:path'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

describe('Of two sinks, each behind a stage in of its own', function () {
  this.timeout(120_000)
  /** @type {Gateway} */
  let gateway
  let port = 0

  before(async () => {
    gateway = await Gateway.start()
    port = await freePort()
  })
  after(() => gateway?.remove())

  const sink = (/** @type {string} */ id) => node(id, '-sqlite', { name: id, file: join(gateway.folder, `${id}.sqlite`), maxAgeMs: 20 })

  /** @param {boolean} isDisabled  the stage in of one of them */
  const deploy = isDisabled => gateway.deploy([
    node('embedded', '-embedded-broker', { port }),
    node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
    node('stage-out', '-stage-out', { broker: 'broker', gatherMs: 0 }),
    node('in-a', '-stage-in', { broker: 'broker' }, 'a'),
    node('in-b', '-stage-in', { broker: 'broker', d: isDisabled }, 'b'),
    sink('a'),
    sink('b')
  ], { type: 'nodes', feeds: ['stage-out'] })

  /** @param {Record<string, [produced: number, stored: number, inFlight: number]>} expected */
  const balances = expected => {
    const read = async () => {
      const { ledger } = await gateway.report()
      return Object.keys(expected).map(sink => {
        const { produced, stored, inFlight } = ledger.find((/** @type {any} */ { id }) => id === sink) ?? {}
        return [sink, [produced, stored, inFlight]]
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
})

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway, node } from './gateway.js'

describe('A thousand small messages of many devices', () => {
  /** @type {Gateway} */
  let gateway
  before(async () => { gateway = await Gateway.start() })
  after(() => gateway?.remove())

  function rows () {
    const database = new DatabaseSync(join(gateway.folder, 'store.sqlite'), { timeout: 10_000 })
    try {
      return database.prepare('SELECT n, device, pressure FROM plant ORDER BY n').all().map(row => ({ ...row }))
    } catch {
      return [] // no table yet
    } finally {
      database.close()
    }
  }

  it('are few batches, of which each row keeps its device, and each is stored once', async () => {
    const port = await freePort()
    await gateway.deploy([
      node('embedded', '-embedded-broker', { port }),
      node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
      node('stage-out', '-stage-out', { broker: 'broker' }),
      node('stage-in', '-stage-in', { broker: 'broker' }, 'store'),
      node('store', '-sqlite', { name: 'store', file: join(gateway.folder, 'store.sqlite'), maxAgeMs: 50 })
    ], { feeds: ['stage-out'] })
    await gateway.feed(() => Array.from({ length: 1000 }, (_, n) => ({
      payload: { measurement: 'plant', tags: { device: `d${n % 100}` }, fields: n % 2 ? { n, pressure: n / 3 } : { n } }
    })))
    await gateway.until(() => rows().length >= 1000, () => `1000 rows, there are ${rows().length}`)
    expect(rows()).to.deep.equal(Array.from({ length: 1000 }, (_, n) => ({ n, device: `d${n % 100}`, pressure: n % 2 ? n / 3 : null })))
    const { accepted } = await gateway.gauge('spool stage-out')
    expect(accepted).to.be.within(1, 100)
  })
})

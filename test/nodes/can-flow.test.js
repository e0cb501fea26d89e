import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { Gateway, node } from '../end-to-end/gateway.js'
import { freePort } from '../servers/ports.js'

describe('A simulated car, from its CAN bus through a broker into a database', function () {
  this.timeout(60_000)

  /** @type {Gateway} */
  let gateway
  after(() => gateway?.remove())

  it('is there row by row, no frame missing and none twice', async () => {
    gateway = await Gateway.start()
    const port = await freePort()
    const file = join(gateway.folder, 'car.sqlite')
    await gateway.deploy([
      node('embedded', '-embedded-broker', { port }),
      node('broker', '-broker', { url: `mqtt://127.0.0.1:${port}` }),
      node('bus', '-can-bus', { kind: 'virtual', channel: 'car', bitrate: 500_000 }),
      node('vehicle', '-vehicle', { bus: 'bus' }),
      node('read', '-can-read', { name: 'car', bus: 'bus', choices: 'texts' }, 'stage-out'),
      node('stage-out', '-stage-out', { broker: 'broker' }),
      node('stage-in', '-stage-in', { broker: 'broker' }, 'sqlite'),
      node('sqlite', '-sqlite', { name: 'sqlite', file })
    ])
    await gateway.until(async () => ((await gateway.meter('sink', 'sqlite'))?.rows ?? 0) >= 1000, () => '1000 rows')
    await gateway.until(() => / dot: [\d.]+ ?k? frames\/s/.test(gateway.status('vehicle')), () => gateway.status('vehicle'))
    const { loadPercent, framesPerSecond, missed } = await gateway.gauge('source car')
    expect(loadPercent).to.be.above(0)
    expect(framesPerSecond).to.be.above(0)
    expect(missed).to.equal(0)
    expect(await gateway.stop()).to.equal(0)
    expect(gateway.log).to.not.match(/ error /)

    const database = new DatabaseSync(file, { readOnly: true })
    const rows = database.prepare('SELECT counter FROM "car.Dynamics" ORDER BY time').all()
    const [door] = database.prepare('SELECT door FROM "car.Door" ORDER BY time').all()
    database.close()
    const counters = rows.map(({ counter }) => Number(counter))
    const missing = counters.slice(1).reduce((sum, counter, i) => sum + (counter - counters[i] + 255) % 256, 0)
    const unsent = Number(/(\d+) missed/.exec(gateway.status('vehicle'))?.[1] ?? 0) // by a process that was too busy
    expect(missing).to.be.at.most(unsent)
    expect(door.door).to.equal('open')
  })
})

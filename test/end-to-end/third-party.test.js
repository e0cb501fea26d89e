import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import mqtt from 'mqtt'
import { freePort } from '../servers/ports.js'
import { Gateway } from './gateway.js'

describe('The example of third-party messages', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {import('./gateway.js').FlowNode[]} */
  let nodes
  /** @type {number} of the broker */
  let port

  before(async () => {
    gateway = await Gateway.start()
    port = await freePort()
    nodes = JSON.parse((await readFile('examples/2 Sources/third-party.json', 'utf8')).replaceAll('1884', String(port)))
    await gateway.deploy(nodes)
  })

  after(() => gateway?.remove())

  /** The rows of a table without their times. @param {string} table @returns {Record<string, any>[]} */
  const stored = table => {
    try {
      const database = new DatabaseSync(join(gateway.userDir, 'sluice', 'third-party.sqlite'), { readOnly: true })
      const statement = database.prepare(`SELECT * FROM "${table}"`)
      statement.setReadBigInts(true)
      const rows = statement.all().map(({ time: _, ...row }) => row)
      database.close()
      return rows
    } catch {
      return []
    }
  }

  /** What the row of a topic has. @param {string} topic */
  const present = topic => {
    const row = stored('plant').find(each => each.topic === topic) ?? {}
    return Object.fromEntries(Object.entries(row).filter(([name, value]) => name !== 'topic' && value !== null))
  }

  it('stores what each of them sends, and keeps what is broken', async () => {
    await gateway.until(() => /^green dot/.test(gateway.status('example-third-party-in')), () => gateway.status('example-third-party-in'))
    for (const { id, type } of nodes) if (type === 'inject') await gateway.press(id)
    const isStored = () => stored('plant').length === 3 && stored('cpu').length === 1
    await gateway.until(isStored, () => JSON.stringify(gateway.log))
    expect(stored('cpu')).to.deep.equal([{ host: 'gate', topic: 'telegraf/gate/cpu', usage_idle: 97.25, uptime: 86400n }])
    expect(present('plant/hall/senml')).to.deep.equal({ device: 'urn:dev:mac:0024befffe804ff1', temperature: 21.5, humidity: 43 })
    expect(present('plant/tank')).to.deep.equal({ level: 3.5, open: 1n })
    expect(present('plant/plc')).to.deep.equal({ node: 'plc', group: 'slow', pressure: 1.2, quality: 'flow: error 3002' })
    await gateway.says(/Kept 1 refused value of a message on plant\/tank: it is not JSON/)
  })

  it('accepts no more sources than it may have: invented ones are kept as dead letters, once a message', async () => {
    const isIn = (/** @type {{id: string}} */ { id }) => id === 'example-third-party-in'
    const changed = nodes.map(each => isIn(each) ? { ...each, maxSources: 2 } : each) // those of the test before
    await gateway.deploy(changed, { type: 'nodes' }) // the broker goes on, and keeps what comes before the node listens
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`)
    await client.publishAsync('plant/invented', 'a v=1\nb v=2\nc v=3\ncpu,host=gate usage_idle=5 1700000000000000000\n', { qos: 1 })
    await client.endAsync()
    await gateway.says(/Kept 3 refused values of a message on plant\/invented: SLUICE_SOURCE_COUNT: More than 2 sources/)
    await gateway.until(() => stored('cpu').length === 2, () => JSON.stringify(gateway.log))
    expect([stored('a'), stored('b'), stored('c')]).to.deep.equal([[], [], []])
  })

  it('says once that a topic has what it cannot read, however much comes there: a flood fills no disk with log', async () => {
    await gateway.until(() => /^green dot/.test(gateway.status('example-third-party-in')), () => gateway.status('example-third-party-in'))
    const errors = async () => (await gateway.meter('stage', 'third-party (stage in)'))?.errors ?? 0
    const before = await errors()
    const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`)
    await Promise.all(Array.from({ length: 200 }, () => client.publishAsync('plant/flooded', '{"level":', { qos: 1 })))
    await client.endAsync()
    await gateway.until(async () => (await errors()) === before + 200, async () => `200 refused: ${await errors() - before}`)
    expect(gateway.log.split('\n').filter(line => line.includes('of a message on plant/flooded'))).to.have.length(1)
  })
})

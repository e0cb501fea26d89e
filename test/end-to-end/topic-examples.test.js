import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway } from './gateway.js'

const FOLDER = 'examples/2 Sources/topics'

/** The table that each example's messages come to, by its name. @type {Record<string, string>} */
const TABLES = {
  telegraf: 'cpu', 'topic-source': 'garden.rain', sparkplug: 'plant.gate', custom: 'plant',
  shelly: 'shelly', 'shelly-events': 'shelly', 'shelly-gen1': 'shelly'
}

describe('The examples of topic mappings', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {import('./gateway.js').FlowNode[]} */
  let nodes
  /** @type {string[]} */
  let examples

  before(async () => {
    gateway = await Gateway.start()
    examples = (await readdir(FOLDER)).map(name => name.replace('.json', ''))
    nodes = []
    for (const name of examples) {
      const flow = await readFile(join(FOLDER, `${name}.json`), 'utf8')
      const [, port] = /** @type {RegExpExecArray} */ (/127\.0\.0\.1:(\d+)/.exec(flow))
      nodes.push(...JSON.parse(flow.replaceAll(port, String(await freePort()))))
    }
    await gateway.deploy(nodes)
  })

  after(() => gateway?.remove())

  /** @param {string} example @returns {Record<string, unknown>[]} */
  const stored = example => {
    try {
      const file = join(gateway.userDir, 'sluice', `topics-${example}.sqlite`)
      const database = new DatabaseSync(file, { readOnly: true })
      const rows = database.prepare(`SELECT * FROM "${TABLES[example] ?? example}"`)
      rows.setReadBigInts(true)
      const all = rows.all()
      database.close()
      return all
    } catch {
      return [] // not there yet
    }
  }

  it('can be imported together, and store what their buttons send', async () => {
    for (const example of examples) {
      for (const node of ['in', 'publish']) { // what is published before its connection is made, Node-RED drops
        const status = () => gateway.status(`example-topics-${example}-${node}`)
        await gateway.until(() => /^green dot/.test(status()), status)
      }
    }
    for (const { id, type } of nodes) if (type === 'inject') await gateway.press(id)
    for (const example of examples) await gateway.until(() => stored(example).length > 0, () => `${example}: ${gateway.log}`)
    const [{ device, temperature }] = stored('zigbee2mqtt').filter(row => row.device === 'kitchen')
    expect({ device, temperature }).to.deep.equal({ device: 'kitchen', temperature: 21.37 })
    expect(stored('custom').map(({ line }) => line)).to.include('press')
    expect(gateway.log).not.to.match(/Kept \d+ refused/)
  })
})

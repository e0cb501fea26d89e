import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { freePort } from '../servers/ports.js'
import { Gateway } from './gateway.js'

const FLOW = 'examples/1 Start here/From a device to a database and a chart.json'

describe('The example "1 Start here"', () => {
  /** @type {Gateway} */
  let gateway

  before(async () => {
    gateway = await Gateway.start()
    const [device, broker] = [await freePort(), await freePort()]
    const text = (await readFile(FLOW, 'utf8')).replaceAll('1505', String(device)).replaceAll('1884', String(broker))
    await gateway.deploy(JSON.parse(text))
  })

  after(() => gateway?.remove())

  /** @param {string} table @returns {Record<string, unknown>[]} */
  const stored = table => {
    try {
      const database = new DatabaseSync(join(gateway.userDir, 'sluice', 'start-here.sqlite'), { readOnly: true })
      try {
        const rows = database.prepare(`SELECT * FROM "${table}" ORDER BY time`)
        rows.setReadBigInts(true)
        return rows.all()
      } finally {
        database.close()
      }
    } catch {
      return [] // not there yet
    }
  }

  it('stores what its device has, and what its button sends', async () => {
    await gateway.press('example-start-hand')
    await gateway.until(() => stored('by-hand').length === 1 && stored('plant').length > 1, () => gateway.log)
    const [{ temperature, checked }] = stored('by-hand')
    expect({ temperature, checked }).to.deep.equal({ temperature: 21.5, checked: 1n })
    expect(stored('plant')[0]).to.include.keys('parts', 'temperature')
  })

  it('shows a chart of the rows that are stored', async () => {
    const { status, headers, text } = await gateway.page('start-here')
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8'])
    expect(text).to.match(/<p>\d+ rows of the last two minutes, from [\d.-]+ to [\d.-]+ °C/)
    expect(text).to.match(/<polyline points="0\.0,[\d.]+ /)
  })
})

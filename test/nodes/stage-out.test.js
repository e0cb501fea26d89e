import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { stats } from '../../gateway/stats/stats.js'
import broker from '../../nodes/staging/broker.js'
import stageOut from '../../nodes/staging/stage-out.js'
import { until } from '../broker/waiting.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('a stage out', () => {
  /** @type {string} */
  let userDir
  /** @type {Awaited<ReturnType<typeof startEmbeddedBroker>>} */
  let embedded

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
    embedded = await startEmbeddedBroker({ port: 0 })
  })
  afterEach(() => helper.unload())
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await embedded.close()
    await rm(userDir, { recursive: true })
  })

  it('shows and counts as its own the rows that it refuses for the name of their source, of which there is no end', async () => {
    await helper.load([broker, stageOut], [
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${embedded.port}` },
      { id: 'names-stage', type: 'sluice-stage-out', name: 'names', broker: 'broker', wires: [] }
    ])
    const node = helper.getNode('names-stage')
    const status = () => stats.statuses.get('names-stage')
    await until(() => status()?.fill === 'green')
    for (const topic of ['nul\0', 'half \ud800']) node.receive({ topic, payload: [{ x: 1 }, { x: 2 }] })
    await until(() => status()?.fill === 'yellow')
    expect(status()?.text).to.equal('0 B to store, 4 rows refused')
    expect(stats.ownMeter('names (stage out)', 'names-stage')).to.include({ dropped: 4 })
    expect(stats.metersOf('stage').filter(({ id }) => /^(nul|half)/.test(id))).to.deep.equal([])
  })

  it('says of rows that found a full spool and did not wait that they are refused and counted, not that they wait', async () => {
    await helper.load([broker, stageOut], [
      { id: 'away', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1' },
      { id: 'full-stage', type: 'sluice-stage-out', name: 'full', broker: 'away', spoolMegabytes: 5, wires: [] }
    ])
    const node = helper.getNode('full-stage')
    /** @type {any[]} */
    const said = []
    node.error = (/** @type {unknown} */ text) => said.push(text)
    const gauge = () => stats.readGauges()['spool full']
    await until(() => gauge() !== undefined)
    const row = { text: 'x'.repeat(2 ** 20) }
    while (said.length === 0) {
      for (let i = 0; i < 10; i++) node.receive({ topic: 'pump', payload: [row] })
      await until(() => stats.meter('stage', 'pump').rows >= 3)
    }
    expect(String(said[0])).to.match(/^SLUICE_SPOOL_FULL: The spool is full: /)
      .and.include('Sources of Sluice wait for room; what sent a row of "pump" did not. That is refused, counted, and lost unless')
    expect(gauge().refusedRows).to.equal(stats.meter('stage', 'pump').dropped).and.be.above(0)
  })
})

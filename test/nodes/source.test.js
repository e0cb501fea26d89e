import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { backpressure } from '../../gateway/flow/backpressure.js'
import { stats } from '../../gateway/stats/stats.js'
import csv from '../../nodes/sources/csv.js'
import simulator from '../../nodes/sources/simulator.js'
import { isSound } from './sound-status.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('a source node', () => {
  /** @type {string} */
  let folder
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-source-'))
    helper.settings({ userDir: folder })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(folder, { recursive: true })
  })
  afterEach(() => helper.unload())

  /** @param {any} node @param {RegExp} text @returns {Promise<any>} the first status from now on that is like it */
  async function statusLike (node, text) {
    for (;;) {
      const [{ args: [status] }] = await once(node, 'call:status')
      isSound(status)
      if (text.test(status?.text)) return status
    }
  }

  it('without a name has one of its own in each instance of a subflow, and keeps it', async () => {
    const flow = (/** @type {string[]} */ ...instances) => [
      { id: 'flow', type: 'tab' },
      { id: 'line', type: 'subflow', name: 'line', in: [], out: [] },
      { id: 'unnamed', type: 'sluice-simulator', z: 'line', x: 1, y: 1, wires: [[]] },
      { id: 'named', type: 'sluice-simulator', z: 'line', name: 'press', x: 1, y: 2, wires: [[]] },
      ...instances.map(id => ({ id, type: 'subflow:line', z: 'flow', x: 1, y: 1, wires: [] }))
    ]
    /** @param {string} id  of a node that runs */
    const sourceOf = async id => {
      for (;;) {
        await statusLike(helper.getNode(id), /rows\/s/)
        const meter = stats.metersOf('source').find(({ running }) => running.has(id))
        const source = [...meter?.rowsBySource.keys() ?? []].at(-1)
        if (source) expect(meter?.name).to.equal(source)
        if (source) return source
      }
    }
    const sources = (/** @type {string[]} */ ...ids) => Promise.all(ids.map(sourceOf))
    await helper.load(simulator, flow('one', 'two'))
    expect(await sources('one-unnamed', 'two-unnamed', 'one-named', 'two-named')).to.deep.equal(['machine', 'machine 2', 'press', 'press'])
    await helper.unload()
    await helper.load(simulator, flow('zero', 'two', 'one'))
    expect(await sources('zero-unnamed', 'one-unnamed', 'two-unnamed')).to.deep.equal(['machine 3', 'machine', 'machine 2'])
    await helper.unload()
    await helper.load(simulator, flow('two'))
    expect(await sources('two-unnamed')).to.deep.equal(['machine 2'])
  })

  it('that cannot start when it is told to says why, whatever it was about to show', async () => {
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', file: path.join(folder, 'none.csv'), autostart: false }])
    const node = helper.getNode('replay')
    await statusLike(node, /^stopped$/)
    node.receive({ payload: 'stop' }) // shown a second after the last one
    node.receive({ payload: 'start' })
    const [{ args: [error] }] = await once(node, 'call:error')
    expect(error).to.include('none.csv cannot be read')
    expect(await statusLike(node, /^.*$/)).to.deep.equal({ fill: 'red', shape: 'ring', text: 'the CSV file cannot be read' })
  })

  it('that fails while it runs shows it, and brings what it could not read to the stats', async () => {
    const file = path.join(folder, 'never.csv')
    await writeFile(file, 'time,x\nnever,1\nnever,2\n')
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', name: 'unreadable', file }])
    expect(await statusLike(helper.getNode('replay'), /^no row of the file can be read/)).to.include({ fill: 'red' })
    expect(helper.getNode('replay').error.firstCall.args[0]).to.match(/no row that can be read/)
    expect(stats.meter('source', 'unreadable').errors).to.equal(2)
  })

  it('that has ended with an error is told among the gauges, until it is started or stopped', async () => {
    const file = path.join(folder, 'never-again.csv')
    await writeFile(file, 'time,x\nnever,1\n')
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', name: 'ended', file }])
    const node = helper.getNode('replay')
    await statusLike(node, /^no row of the file can be read/)
    expect(stats.readGauges()['failed ended (replay)']).to.include({ connected: false }).with.property('problem').that.matches(/SLUICE_/)
    expect(stats.nodeOf('failed ended (replay)')).to.equal('replay')
    expect([...stats.meter('source', 'ended').running]).to.deep.equal([])
    node.receive({ payload: 'stop' })
    await statusLike(node, /^stopped$/)
    expect(stats.readGauges()).not.to.have.property('failed ended (replay)')
  })

  it('is expected to send while it runs, and no more when it is stopped', async () => {
    const file = path.join(folder, 'slow.csv')
    await writeFile(file, 'time,x\n2024-05-01,1\n2024-05-02,2\n')
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', name: 'slow', file }])
    const node = helper.getNode('replay')
    await statusLike(node, /rows\/s/)
    expect([...stats.meter('source', 'slow').running]).to.deep.equal(['replay'])
    node.receive({ payload: 'stop' })
    await statusLike(node, /^stopped$/)
    expect([...stats.meter('source', 'slow').running]).to.deep.equal([])
  })

  it('that could not read something is yellow as long as it runs', async () => {
    const file = path.join(folder, 'partly.csv')
    await writeFile(file, 'time,x\nnever,1\n2024-05-01,1\n2024-05-02,2\n')
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', name: 'partly', file }])
    expect(await statusLike(helper.getNode('replay'), /rows\/s, 1 unreadable/)).to.include({ fill: 'yellow', shape: 'dot' })
  })

  it('tells how fast it sends itself, whatever another of its name sends', async () => {
    const file = path.join(folder, 'slow-twin.csv')
    await writeFile(file, 'time,x\n2024-05-01,1\n2024-05-02,2\n')
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', name: 'twin', file }])
    const node = helper.getNode('replay')
    await statusLike(node, /^0 rows\/s/)
    backpressure.pause('replay', 'a full spool')
    await statusLike(node, /^paused/)
    backpressure.resume('replay', 'a full spool')
    stats.meter('source', 'twin').rows += 1e6
    expect((await statusLike(node, /rows\/s/)).text).to.match(/^0 rows\/s/)
  })

  it('tells how many rows it gave when it has ended, whatever another of its name gives', async () => {
    const file = path.join(folder, 'two.csv')
    await writeFile(file, 'time,x\n2024-05-01,1\n2024-05-02,2\n')
    await helper.load(csv, [{ id: 'replay', type: 'sluice-csv', name: 'shared', file, speed: 0, autostart: false }])
    const node = helper.getNode('replay')
    backpressure.pause('replay', 'a full spool')
    node.receive({ payload: 'start' })
    await statusLike(node, /^paused/)
    stats.meter('source', 'shared').rows += 50
    backpressure.resume('replay', 'a full spool')
    await statusLike(node, /^finished, 2 rows$/)
  })
})

import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { stats } from '../../gateway/stats/stats.js'
import broker from '../../nodes/staging/broker.js'
import stageOut from '../../nodes/staging/stage-out.js'
import { patchSyncs } from './syncs.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('a stage out that is closed', () => {
  /** @type {string} */
  let userDir

  before(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  after(async () => {
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })

  it('has written all that it writes, also without a broker', async () => {
    const restore = await patchSyncs(async sync => {
      await sleep(200)
      await sync()
    })
    try {
      await helper.load(stageOut, [{ id: 'stage', type: 'sluice-stage-out', broker: 'nowhere', wires: [] }])
      await helper.unload()
      const lists = await readdir(path.join(userDir, 'sluice', 'required-sinks'))
      expect(lists.filter(name => !name.endsWith('.json'))).to.deep.equal([])
    } finally {
      restore()
    }
  })

  it('says in a line that the disk is full, and what to do', async () => {
    await helper.load([broker, stageOut], [
      { id: 'broker', type: 'sluice-broker', url: 'mqtt://127.0.0.1:1' },
      { id: 'stage', type: 'sluice-stage-out', broker: 'broker', source: 'disk-full', wires: [] }
    ])
    const node = helper.getNode('stage')
    /** @type {unknown[]} */
    const said = []
    node.error = (/** @type {unknown} */ text) => said.push(text)
    node.receive({ payload: { force: 1 } })
    while (stats.meter('stage', 'disk-full').totals.rows === 0) await sleep(10)
    const restore = await patchSyncs(async () => {
      throw Object.assign(new Error('ENOSPC: no space left on device, fsync'), { code: 'ENOSPC' })
    })
    try {
      await helper.unload()
    } finally {
      restore()
    }
    expect(said.at(-1)).to.equal(`SLUICE_DISK_FULL: The disk of ${path.join(userDir, 'sluice')} is full. ` +
      'Make room on it, then start again, or deploy: sluice doctor shows what is left and what the spools take.')
  })
})

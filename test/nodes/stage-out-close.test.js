import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
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
})

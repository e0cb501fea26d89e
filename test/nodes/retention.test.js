import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { sinks } from '../../gateway/flow/sinks.js'
import { stats } from '../../gateway/stats/stats.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import { until } from '../broker/waiting.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('a sink that keeps rows for a time only', () => {
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
  afterEach(() => helper.unload())

  /** @param {object} options */
  const load = async options => {
    await helper.load([sqlite], [{ id: 'sink', type: 'sluice-sqlite', name: 'store', wires: [], ...options }])
    await until(() => sinks.get('sink') !== undefined)
    return stats.readGauges()['sink store']
  }

  it('shows how old they are, and ends with its node', async () => {
    expect(await load({ keepDays: 0.5 })).to.include({ oldestRow: '' })
    await helper.unload()
    expect(await load({})).not.to.have.property('oldestRow')
  })
})

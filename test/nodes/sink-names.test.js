import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { deadLetter } from '../../gateway/dead-letters/dead-letter.js'
import { deadLettersFolder, openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { sinks } from '../../gateway/flow/sinks.js'
import { stats } from '../../gateway/stats/stats.js'
import sqlite from '../../nodes/sinks/sqlite.js'
import { until } from '../broker/waiting.js'
import { batchOf } from '../writer/fake-sink.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

const [FIRST, SECOND] = ['16dc29069ea3080e', '26dc29069ea3080e']

describe('the name of a sink', () => {
  /** @type {string} */
  let userDir
  beforeEach(async () => {
    userDir = await mkdtemp(path.join(os.tmpdir(), 'sluice-nodes-'))
    helper.settings({ userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })
  afterEach(async () => {
    await helper.unload()
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
  })

  const fileOf = (/** @type {string} */ id) => path.join(userDir, `${id}.sqlite`)

  /** @param {string} name  of all of them @param {...string} ids @returns {Promise<(string|undefined)[]>} what they are called */
  async function load (name, ...ids) {
    await helper.load([sqlite], ids.map(id => ({ id, type: 'sluice-sqlite', name, file: fileOf(id), maxAgeMs: 20, wires: [] })))
    await until(() => ids.every(id => sinks.get(id) !== undefined))
    return ids.map(id => sinks.get(id)?.name)
  }

  it('can be read where it has none, and its dead letters are in the folder in which they always were', async () => {
    const kept = await openDeadLetterQueue(deadLettersFolder(userDir, SECOND)) // by version 0.1
    await kept.append([deadLetter(batchOf([1], 7), 0, new Error('no'))])
    await kept.close()
    expect(await load('', FIRST, SECOND)).to.deep.equal(['sqlite', 'sqlite 2'])
    const kepts = () => ['sqlite', 'sqlite 2'].map(name => stats.readGauges()[`sink ${name}`]?.keptDeadLetters)
    expect(kepts()).to.deep.equal([0, 1])
    expect(Object.keys(stats.readGauges()).join()).to.not.match(/6dc29069ea3080e/)
    await helper.unload()
    expect(await load('', SECOND), 'once the first is deleted').to.deep.equal(['sqlite 2'])
    expect(kepts()).to.deep.equal([undefined, 1])
  })

  it('may be that of another: what each stores and keeps is its own', async () => {
    expect(await load('store', FIRST, SECOND)).to.deep.equal(['store', 'store 2'])
    for (const [i, id] of [FIRST, SECOND].entries()) {
      helper.getNode(id).receive({ topic: 'press', payload: i })
      await until(() => stats.meter('sink', ['store', 'store 2'][i], id).rows === 1)
      const stored = new DatabaseSync(fileOf(id), { readOnly: true })
      expect(stored.prepare('SELECT value FROM press').all().map(({ value }) => value)).to.deep.equal([i])
      stored.close()
      expect(existsSync(deadLettersFolder(userDir, `store (${id})`))).to.equal(true)
    }
  })
})

import { createRequire } from 'node:module'
import { expect } from 'chai'
// @ts-expect-error it has no types
import helper from 'node-red-node-test-helper'
import { stats } from '../../gateway/stats/stats.js'
import stageIn from '../../nodes/staging/stage-in.js'

helper.init(createRequire(import.meta.url).resolve('node-red'))

describe('what forms are offered', () => {
  before(async () => { await helper.startServer() })
  afterEach(() => helper.unload())
  after(async () => { await helper.stopServer() })

  it('are the sources and gateways that this gateway has heard of', async () => {
    await helper.load(stageIn, [])
    stats.meter('source', 'a node').rowsBySource.set('boiler', 1)
    const dropBalances = stats.balances(() => /** @type {any[]} */ ([
      { source: 'press', gateway: 'hall 2' }, { source: 'press', gateway: 'hall 1' }
    ]))
    const { body } = await helper.request().post('/sluice-staging/seen').send({}).expect(200)
    dropBalances()
    stats.drop('source', 'a node')
    expect(body.sources).to.include.members(['boiler', 'press'])
    expect(body.gateways).to.deep.equal(['hall 1', 'hall 2'])
  })
})

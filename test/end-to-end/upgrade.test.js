import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { requireServer } from '../servers/programs.js'
import { BACK_TO, checkOut, hasCommit } from './upgrade/check-out.js'
import { ALL, leave, LEFT, takeOver } from './upgrade/stages.js'

describe('A spool that another version has left, and a database with its commit records', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-upgrade-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('are taken over by this one: each row is stored exactly once', async () => {
    await cp(LEFT, folder, { recursive: true })
    const { numbers, log } = await takeOver(folder)
    expect(numbers).to.deep.equal(ALL)
    expect(log).to.not.include('SLUICE_SPOOL')
  })

  it('are taken over by the version before, which goes back: each row is stored exactly once', async function () {
    requireServer(this, 'history', hasCommit(BACK_TO) ? null : `this clone lacks the version before, ${BACK_TO}`)
    const command = checkOut(BACK_TO, join(folder, 'code'))
    await leave(folder)
    const { numbers, log } = await takeOver(folder, command)
    expect(numbers).to.deep.equal(ALL)
    expect(log).to.not.include('SLUICE_SPOOL')
  })
})

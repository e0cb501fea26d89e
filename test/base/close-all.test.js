import { expect } from 'chai'
import { closeAll } from '../../gateway/base/close-all.js'

describe('closing several things', () => {
  it('closes the later ones too when one fails, and then reports the first failure', async () => {
    /** @type {string[]} */
    const closed = []
    const failing = (/** @type {string} */ name) => async () => {
      closed.push(name)
      throw new Error(`${name} fails`)
    }
    const error = await closeAll(failing('spool'), () => closed.push('connection'), failing('queue')).catch(problem => problem)
    expect(closed).to.deep.equal(['spool', 'connection', 'queue'])
    expect(error.message).to.equal('spool fails')
  })
})

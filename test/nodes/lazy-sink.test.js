import { expect } from 'chai'
import { LazySink } from '../../nodes/sinks/lazy-sink.js'

describe('a sink that opens when it is needed', () => {
  it('is not well while its database, which may be open without a word from it, has not answered the first question', async () => {
    let answer = (/** @type {any} */ _committed) => {}
    const committed = () => new Promise(resolve => { answer = resolve })
    const lazy = new LazySink(async () => /** @type {any} */ ({ module: {}, sink: { committed, close: async () => {} } }))
    await lazy.sink()
    expect(lazy.isWell, 'nothing is asked').to.equal(true)
    const asked = [lazy.committed()]
    await new Promise(resolve => setImmediate(resolve))
    expect([lazy.isWell, lazy.hasAnswered]).to.deep.equal([false, false])
    answer({ isSetBack: false })
    await Promise.all(asked)
    expect([lazy.isWell, lazy.hasAnswered]).to.deep.equal([true, true])
    asked.push(lazy.committed())
    expect(lazy.isWell, 'it is asked again').to.equal(true)
    await lazy.close()
  })

  it('opens no more connections once it is closed', async () => {
    let opened = 0
    const lazy = new LazySink(async () => {
      opened++
      throw new Error('no server')
    })
    await lazy.committed().catch(() => {})
    await lazy.close()
    const error = await lazy.committed().catch(failure => failure)
    expect(error.message).to.match(/has been closed/)
    expect(lazy.isTransient(error)).to.equal(true)
    expect(opened).to.equal(1)
  })
})

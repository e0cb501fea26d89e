import { expect } from 'chai'
import { SinkRegistry } from '../../gateway/flow/sinks.js'

describe('the name of a sink', () => {
  /** @param {Promise<unknown>} promise */
  const isResolved = async promise => {
    let resolved = false
    promise.then(() => { resolved = true })
    await new Promise(resolve => setImmediate(resolve))
    return resolved
  }

  it('is free for the next sink as soon as the one that had it has drained, however long that takes', async () => {
    const registry = new SinkRegistry()
    const drained = Promise.withResolvers()
    registry.claim('db').closing(drained.promise)
    const { free } = registry.claim('db')
    expect(await isResolved(free)).to.equal(false)
    drained.resolve(undefined)
    expect(await isResolved(free)).to.equal(true)
  })

  it('is free also when draining has failed', async () => {
    const registry = new SinkRegistry()
    registry.claim('db').closing(Promise.reject(new Error('disk error')))
    expect(await isResolved(registry.claim('db').free)).to.equal(true)
  })

  it('is refused at once while another sink has it', () => {
    const registry = new SinkRegistry()
    registry.claim('db').closing(Promise.resolve())
    registry.claim('db')
    expect(() => registry.claim('db')).to.throw('Two sinks are named "db"').with.property('code', 'SLUICE_SINK_NAME')
    registry.claim('archive')
  })
})

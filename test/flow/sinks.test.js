import { expect } from 'chai'
import { SinkRegistry } from '../../gateway/flow/sinks.js'

describe('the sinks that run', () => {
  /** @param {Promise<unknown>} promise */
  const isResolved = async promise => {
    let resolved = false
    promise.then(() => { resolved = true })
    await new Promise(resolve => setImmediate(resolve))
    return resolved
  }

  /** @param {string} id @param {string} name @returns {any} */
  const handle = (id, name) => ({ id, name })

  it('are known by the ids of their nodes: two may have one name', () => {
    const registry = new SinkRegistry()
    const [one, two] = [handle('a1', 'db'), handle('b2', 'db')]
    registry.add(one)
    const remove = registry.add(two)
    remove()
    expect([registry.get('a1'), registry.get('b2')]).to.deep.equal([one, undefined])
  })

  it('begin once the one that had the id has drained, however long that takes', async () => {
    const registry = new SinkRegistry()
    const drained = Promise.withResolvers()
    registry.closing('a1', drained.promise)
    const free = registry.free('a1')
    expect(await isResolved(free)).to.equal(false)
    expect(await isResolved(registry.free('b2'))).to.equal(true)
    drained.resolve(undefined)
    expect(await isResolved(free)).to.equal(true)
  })

  it('begin also when draining has failed', async () => {
    const registry = new SinkRegistry()
    registry.closing('a1', Promise.reject(new Error('disk error')))
    expect(await isResolved(registry.free('a1'))).to.equal(true)
  })
})

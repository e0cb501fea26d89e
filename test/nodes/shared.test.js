import { expect } from 'chai'
import { Shared } from '../../nodes/shared.js'

describe('what several nodes share', () => {
  it('is closed, with all that it writes, before the node is that gives back the last lease', async () => {
    const closing = Promise.withResolvers()
    /** @type {string[]} */
    const order = []
    const shared = new Shared(() => ({
      async close () {
        await closing.promise
        order.push('closed')
      }
    }))
    const [first, last] = [await shared.lease(), await shared.lease()]
    await first.release()
    const released = last.release().then(() => order.push('released'))
    closing.resolve(undefined)
    await released
    expect(order).to.deep.equal(['closed', 'released'])
  })

  it('is opened again once it is closed', async () => {
    let open = 0
    const shared = new Shared(() => {
      open++
      return { close: async () => { open-- } }
    })
    await (await shared.lease()).release()
    expect(open).to.equal(0)
    const { release } = await shared.lease()
    expect(open).to.equal(1)
    await release()
    await shared.close()
    expect(open).to.equal(0)
  })
})

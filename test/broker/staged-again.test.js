import { expect } from 'chai'
import { hashOf } from '../../gateway/batch/hashes.js'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { observed } from './observed.js'
import { batchOf, FakeDatabase, until } from './pipeline.js'

describe('a reader of what was staged again', () => {
  const rig = observed()
  const epoch = '1-aaaaaaaa'
  const identity = { gateway: 'gw', source: 'press', epoch, seq: 10 }
  const old = encode(batchOf(7).withIdentity(identity))
  const again = encode(batchOf(7).withIdentity({ ...identity, seq: 20, ancestors: [{ epoch, seq: 10, hash: hashOf(old) }] }))
  /** @type {FakeDatabase} */
  let database
  let commit = () => {}

  /** A reader whose database is busy until `commit`. */
  async function openReader () {
    database = new FakeDatabase('db')
    database.busy = new Promise(resolve => { commit = () => resolve(undefined) })
    rig.pipeline.addSink(database)
    const { it: consumer } = await rig.pipeline.openConsumer(['db'])
    await until(() => consumer.state.connected)
    return consumer
  }

  /** @param {Buffer} payload */
  const publish = payload => rig.observer.client.publishAsync('sluice/v2/gw/data/press', payload, { qos: 1 })
  const head = (/** @type {object} */ exceptions) => rig.tell('sluice/v2/gw/head/out', {
    sources: [{ source: 'press', rows: 21, epochs: [[epoch, 10, 20, 10, 21, exceptions]] }]
  })

  it('leaves alone the old identity that comes late: its rows have another one', async () => {
    const consumer = await openReader()
    await head({ replaced: [[10, 10, 1]] })
    await until(() => consumer.balances.length > 0)
    await publish(old)
    await until(() => consumer.counters.replaced === 1)
    commit()
    await publish(again)
    await until(() => database.rows.length === 1 && consumer.state.held === 0)
    expect([...database.records.keys()]).to.deep.equal(['gw/press/1-aaaaaaaa/20'])
  })

  for (const [what, first, second, seq] of /** @type {[string, Buffer, Buffer, number][]} */ ([
    ['an ancestor', old, again, 20],
    ['a descendant', again, old, 10]
  ])) {
    it(`does not hold a batch while ${what} of it is held, and asks for it once that is stored`, async () => {
      const asked = await rig.listen('sluice/v2/reading/resend/in/gw')
      const consumer = await openReader()
      await head({ lost: [[11, 19, 9]] })
      await publish(first)
      await until(() => consumer.state.held === 1)
      await publish(second)
      await until(() => consumer.state.overflow === 1)
      const request = JSON.stringify({ press: { [epoch]: [[seq, seq]] } })
      const wanted = () => asked.some(({ payload }) => JSON.stringify(JSON.parse(String(payload)).sources) === request)
      await until(() => consumer.state.received === 2)
      expect([consumer.state.held, wanted()]).to.deep.equal([1, false])
      commit()
      await until(wanted)
      expect(database.rows).to.deep.equal([7])
    })
  }
})

import { expect } from 'chai'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Batch } from '../../gateway/batch/batch.js'
import { Deliveries } from '../../gateway/flow/deliveries.js'

const identity = { gateway: 'gw', source: 'press', epoch: '1-aaaaaaaa', seq: 7 }
const batch = new Batch({
  source: 'press',
  time: new BigInt64Array([1n]),
  fields: [{ name: 'value', type: 'float64' }],
  columns: [new Float64Array([42])],
  identity
})

/** The batch as it was staged. */
const asStaged = { identified: true, part: null }
/** Something a flow made of it. */
const changed = { identified: false, part: null }
/** @param {number} index @param {string} [id]  of the split */
const part = (index, id = 'split') => ({ identified: false, part: { id, index, count: 3 } })

describe('a delivery', () => {
  /** @type {string[]} */
  let finished
  /** @type {[sink: string, record: Batch][]} */
  let marked
  /** Holds commit records back. @type {Promise<unknown>} */
  let marking

  beforeEach(() => {
    deliveries = new Deliveries()
    finished = []
    marked = []
    marking = Promise.resolve()
  })

  let deliveries = new Deliveries()

  /** @param {...string} sinks */
  function deliver (...sinks) {
    const delivery = deliveries.open({
      id: 'in:7',
      batch,
      sinks: sinks.length > 0 ? sinks : ['db'],
      mark: async (sink, record) => {
        marked.push([sink, record])
        await marking
      },
      onFinished: sink => finished.push(sink)
    })
    delivery.begin()
    return delivery
  }

  /**
   * Accepts pieces all at once, as a sink does that writes them together.
   * @param {import('../../gateway/flow/delivery.js').Delivery} delivery
   * @param {...import('../../gateway/flow/delivery.js').Piece} pieces
   */
  const accept = (delivery, ...pieces) => pieces.map(piece => delivery.accept('db', piece))

  it('is finished when its batch is stored: the commit record came with it', () => {
    const delivery = deliver()
    expect(accept(delivery, asStaged)).to.deep.equal([true])
    expect(delivery.finished).to.equal(false)
    delivery.settle('db', asStaged)
    expect(finished).to.deep.equal(['db'])
    expect(marked).to.deep.equal([])
  })

  it('is finished when each of its sinks has it', () => {
    const delivery = deliver('db', 'archive')
    delivery.accept('db', asStaged)
    delivery.accept('archive', asStaged)
    delivery.settle('archive', asStaged)
    expect([delivery.finished, finished]).to.deep.equal([false, ['archive']])
    delivery.settle('db', asStaged)
    expect([delivery.finished, finished]).to.deep.equal([true, ['archive', 'db']])
  })

  it('has nothing to store when the batch comes again', () => {
    const delivery = deliver()
    expect(accept(delivery, asStaged, asStaged)).to.deep.equal([true, false])
    delivery.settle('db', asStaged)
    expect(accept(delivery, asStaged)).to.deep.equal([false])
  })

  it('leaves a record without rows where a flow has changed the batch', async () => {
    const delivery = deliver()
    accept(delivery, changed)
    delivery.settle('db', changed)
    expect(finished).to.deep.equal([])
    await nextTurn()
    expect(marked[0][1]).to.deep.include({ identity, rows: 0 })
    expect(finished).to.deep.equal(['db'])
  })

  it('is in hand while that record is being stored', async () => {
    let store = () => {}
    marking = new Promise(resolve => { store = () => resolve(undefined) })
    const delivery = deliver()
    accept(delivery, changed)
    delivery.settle('db', changed)
    await nextTurn()
    expect(delivery).to.include({ idle: false, waiting: false, finished: false })
    store()
    await nextTurn()
    expect(delivery).to.include({ idle: true, finished: true })
  })

  it('waits for every piece that has reached the sink', async () => {
    const delivery = deliver()
    accept(delivery, changed, changed)
    delivery.settle('db', changed)
    await nextTurn()
    expect(marked).to.deep.equal([])
    delivery.settle('db', changed)
    await nextTurn()
    expect(finished).to.deep.equal(['db'])
  })

  it('waits for every part of a split, each of which is stored once', async () => {
    const delivery = deliver()
    for (const index of [2, 0]) {
      expect(accept(delivery, part(index), part(index))).to.deep.equal([true, false])
      delivery.settle('db', part(index))
      expect(accept(delivery, part(index))).to.deep.equal([false])
    }
    await nextTurn()
    expect(marked).to.deep.equal([])
    accept(delivery, part(1))
    delivery.settle('db', part(1))
    await nextTurn()
    expect(finished).to.deep.equal(['db'])
  })

  it('does not forget a piece that the sink let go of because others were stored', async () => {
    const delivery = deliver()
    accept(delivery, changed, changed, changed)
    delivery.release('db', changed)
    delivery.settle('db', changed)
    delivery.settle('db', changed)
    await nextTurn()
    expect(marked).to.deep.equal([])
    expect(delivery).to.include({ idle: true, waiting: true })

    delivery.begin()
    accept(delivery, changed, changed, changed)
    for (let i = 0; i < 3; i++) delivery.settle('db', changed)
    await nextTurn()
    expect(finished).to.deep.equal(['db'])
  })

  it('is finished by a second emission, which is split again', async () => {
    const delivery = deliver()
    accept(delivery, part(0, 'once'), part(1, 'once'))
    delivery.settle('db', part(0, 'once'))
    delivery.release('db', part(1, 'once'))
    delivery.begin()
    accept(delivery, part(0, 'again'), part(1, 'again'), part(2, 'again'))
    for (const index of [0, 1, 2]) delivery.settle('db', part(index, 'again'))
    await nextTurn()
    expect(finished).to.deep.equal(['db'])
  })

  it('keeps count of a split that is being stored when it is emitted again', async () => {
    const delivery = deliver()
    accept(delivery, part(0, 'once'), part(1, 'once'))
    delivery.begin()
    delivery.settle('db', part(0, 'once'))
    delivery.settle('db', part(1, 'once'))
    await nextTurn()
    expect(marked).to.deep.equal([])
  })

  it('takes the batch again after the sink has let go of it', () => {
    const delivery = deliver()
    accept(delivery, asStaged)
    delivery.release('db', asStaged)
    expect(delivery).to.include({ idle: true, waiting: true })
    expect(accept(delivery, asStaged)).to.deep.equal([true])
    delivery.settle('db', asStaged)
    expect(finished).to.deep.equal(['db'])
  })

  it('is not the flow\'s fault when a sink releases it', () => {
    const delivery = deliver()
    delivery.begin()
    expect(delivery.attempts).to.equal(2)
    accept(delivery, asStaged)
    delivery.release('db', asStaged)
    expect(delivery.attempts).to.equal(0)
  })

  it('is finished for a sink whose database has its record anyway', () => {
    const delivery = deliver()
    delivery.recorded('db')
    delivery.recorded('db')
    expect(finished).to.deep.equal(['db'])
    expect(accept(delivery, asStaged)).to.deep.equal([false])
  })

  it('lets a sink that it was not meant for store what it gets', () => {
    const delivery = deliver('db')
    expect(delivery.accept('elsewhere', asStaged)).to.equal(true)
    delivery.settle('elsewhere', asStaged)
    delivery.release('elsewhere', asStaged)
    expect(delivery.finished).to.equal(false)
  })

  describe('by its id', () => {
    it('is dropped on purpose for all its sinks', async () => {
      deliver('db', 'archive')
      expect(deliveries.drop('in:7', changed)).to.equal(true)
      await nextTurn()
      expect(finished).to.deep.equal(['db', 'archive'])
    })

    it('is dropped in part', async () => {
      deliver()
      for (const index of [0, 1]) {
        deliveries.accept('in:7', 'db', part(index))
        deliveries.settle('in:7', 'db', part(index))
      }
      deliveries.drop('in:7', part(2))
      await nextTurn()
      expect(finished).to.deep.equal(['db'])
    })

    it('is stored though it is not known, or there is none: a stage in that is gone, a message straight from a flow', () => {
      for (const id of ['in:7', undefined]) {
        expect(deliveries.accept(id, 'db', asStaged)).to.equal(true)
        deliveries.settle(id, 'db', asStaged)
        deliveries.release(id, 'db', asStaged)
      }
      expect(deliveries.drop('in:7', changed)).to.equal(false)
    })
  })
})

import { expect } from 'chai'
import { asStaged, changed, Rig } from './rig.js'

describe('a delivery', () => {
  /** @type {Rig} */
  let rig

  beforeEach(() => { rig = new Rig() })
  afterEach(() => rig.close())

  it('is finished at once when its batch is stored: the commit record came with it', () => {
    const delivery = rig.deliver()
    const attempt = delivery.emit()
    expect(attempt.accept(asStaged)).to.equal(true)
    expect(delivery.finished).to.equal(false)
    attempt.settle(asStaged)
    expect(rig.finished).to.deep.equal(['db'])
    expect(rig.marked).to.deep.equal([])
  })

  it('is finished when each of its sinks has it', () => {
    const delivery = rig.deliver(['db', 'archive'])
    const attempt = delivery.emit()
    attempt.store(asStaged, 'archive')
    expect([delivery.finished, rig.finished]).to.deep.equal([false, ['archive']])
    attempt.store(asStaged)
    expect([delivery.finished, rig.finished]).to.deep.equal([true, ['archive', 'db']])
  })

  it('has nothing to store when the batch comes again', () => {
    const attempt = rig.deliver(['db', 'archive']).emit()
    expect([attempt.accept(asStaged), attempt.accept(asStaged)]).to.deep.equal([true, false])
    attempt.settle(asStaged)
    expect(attempt.accept(asStaged)).to.equal(false)
  })

  it('names its attempts, each otherwise', () => {
    const delivery = rig.deliver()
    delivery.begin()
    const first = delivery.attemptId
    delivery.begin()
    expect(first).to.match(/^in:7#\d+$/)
    expect(delivery.attemptId).to.match(/^in:7#\d+$/).and.not.equal(first)
  })

  it('takes the batch again after the sink has let go of it', () => {
    const delivery = rig.deliver()
    const first = delivery.emit()
    first.accept(asStaged)
    first.release(asStaged)
    expect(delivery).to.include({ idle: true, waiting: true })
    expect(delivery.emit().store(asStaged)).to.equal(true)
    expect(rig.finished).to.deep.equal(['db'])
  })

  it('is let go where a sink can store nothing of it for now: nothing of it is stored, unless some of it was', () => {
    const delivery = rig.deliver(['db', 'archive'])
    const attempt = delivery.emit()
    attempt.store(asStaged, 'archive')
    expect(rig.deliveries.postpone(delivery.attemptId, 'archive')).to.equal(false)
    attempt.accept(asStaged)
    expect(rig.deliveries.postpone(delivery.attemptId, 'db')).to.equal(false)
    attempt.release(asStaged)
    expect(rig.deliveries.postpone(delivery.attemptId, 'db')).to.equal(true)
    expect([attempt.accept(changed), delivery.finished, rig.finished]).to.deep.equal([false, true, ['archive']])
  })

  it('is not ended by what a flow adds to a batch that was let go of', async () => {
    const delivery = rig.deliver()
    const first = delivery.emit()
    first.accept(asStaged)
    rig.deliveries.doubt('db')
    const second = delivery.emit()
    expect([second.accept(asStaged), second.accept(changed)]).to.deep.equal([false, false])
    first.release(asStaged)
    await rig.quiet()
    expect(rig.finished).to.deep.equal([])
  })

  it('is not the flow\'s fault when a sink releases it', () => {
    const delivery = rig.deliver()
    delivery.begin()
    const attempt = delivery.emit()
    expect(delivery.attempts).to.equal(2)
    attempt.accept(asStaged)
    attempt.release(asStaged)
    expect(delivery.attempts).to.equal(0)
  })

  it('is finished for a sink whose database has its record anyway', () => {
    const delivery = rig.deliver(['db', 'archive'])
    delivery.recorded('db')
    delivery.recorded('db')
    expect(rig.finished).to.deep.equal(['db'])
    const attempt = delivery.emit()
    expect([attempt.accept(asStaged), attempt.accept(changed)]).to.deep.equal([false, false])
  })

  it('lets a sink that it was not meant for store what it gets', () => {
    const delivery = rig.deliver()
    const attempt = delivery.emit()
    expect(attempt.store(asStaged, 'elsewhere')).to.equal(true)
    expect(attempt.release(asStaged, 'elsewhere')).to.equal(false)
    expect(delivery.finished).to.equal(false)
  })

  it('is dropped on purpose for all its sinks', async () => {
    rig.deliver(['db', 'archive']).emit().drop()
    await rig.quiet()
    expect(rig.finished).to.deep.equal(['db', 'archive'])
  })

  it('is stored though it is not known, or there is none: a stage in that is gone, a message straight from a flow', () => {
    for (const id of ['in:7#1', 'in:7', undefined]) {
      expect(rig.deliveries.accept(id, 'db', asStaged)).to.equal(true)
      rig.deliveries.settle(id, 'db', asStaged)
    }
    expect(rig.deliveries.release('in:7#1', 'db', asStaged)).to.equal(true)
    expect(rig.deliveries.release(undefined, 'db', asStaged)).to.equal(false)
    rig.deliveries.drop('in:7#1', null)
  })
})

import { expect } from 'chai'
import { asStaged, changed, identity, part, Rig } from './rig.js'

describe('a delivery', () => {
  /** @type {Rig} */
  let rig

  beforeEach(() => { rig = new Rig() })
  afterEach(() => rig.close())

  describe('that a flow has changed', () => {
    it('leaves a record without rows, once nothing more has come for a while', async () => {
      rig.deliver().emit().store(changed)
      await rig.quiet(1)
      expect([rig.marked, rig.finished]).to.deep.equal([[], []])
      await rig.quiet()
      expect(rig.marked[0][1]).to.deep.include({ identity, rows: 0 })
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is not finished before a second message that the flow sends later is stored', async () => {
      const attempt = rig.deliver().emit()
      attempt.store(changed)
      await rig.quiet(1)
      expect(attempt.accept(changed)).to.equal(true)
      await rig.quiet()
      expect(rig.marked).to.deep.equal([])
      attempt.settle(changed)
      await rig.quiet(1)
      expect(rig.marked).to.deep.equal([])
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is stored, however late it comes, of the attempt that the sink took part in', async () => {
      const attempt = rig.deliver(['db', 'archive']).emit()
      attempt.store(changed)
      await rig.quiet()
      expect(attempt.store(changed), 'finished').to.equal(true)
      attempt.store(changed, 'archive')
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db', 'archive'])
      expect(attempt.store(changed), 'ended').to.equal(true)
    })

    it('does not come again when it is released after that: it is to be counted as lost', async () => {
      const attempt = rig.deliver().emit()
      attempt.store(changed)
      await rig.quiet()
      expect(attempt.accept(changed)).to.equal(true)
      expect(attempt.release(changed)).to.equal(false)
    })

    it('is stored once by a sink that had it when another sink lets go of it, and it goes into the flow again', async () => {
      const delivery = rig.deliver(['db', 'archive'])
      const first = delivery.emit()
      first.store(changed)
      first.accept(changed, 'archive')
      first.release(changed, 'archive')
      expect(delivery.waiting).to.equal(true)
      const second = delivery.emit()
      expect(second.store(changed)).to.equal(false)
      expect(second.store(changed, 'archive')).to.equal(true)
      await rig.quiet()
      expect(rig.finished).to.have.members(['db', 'archive'])
      expect(second.store(changed), 'even after it has ended').to.equal(false)
    })

    it('is stored of one attempt in full, not of halves of two', async () => {
      const delivery = rig.deliver()
      const [first, second] = [delivery.emit(), delivery.emit()]
      first.accept(changed)
      expect(second.accept(changed)).to.equal(false)
      first.release(changed)
      expect(second.accept(changed), 'the other half of the second').to.equal(false)
      await rig.quiet()
      expect(rig.marked).to.deep.equal([])
      const third = delivery.emit()
      expect([third.store(changed), third.store(changed)]).to.deep.equal([true, true])
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is not forgotten in part because the rest was stored', async () => {
      const delivery = rig.deliver()
      const first = delivery.emit()
      first.accept(changed)
      first.accept(changed)
      first.release(changed)
      first.settle(changed)
      await rig.quiet()
      expect(rig.marked).to.deep.equal([])
      expect(delivery).to.include({ idle: true, waiting: true })
      delivery.emit().store(changed)
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('goes into the flow again when a sink stops: what the flow sends to it meanwhile is lost', async () => {
      const delivery = rig.deliver(['db', 'archive'])
      const first = delivery.emit()
      first.store(changed)
      first.store(changed, 'archive')
      rig.deliveries.doubt('db')
      expect(delivery.waiting).to.equal(true)
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['archive'])
      const second = delivery.emit()
      expect([second.store(changed), second.store(changed, 'archive')]).to.deep.equal([true, false])
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['archive', 'db'])
    })

    it('is in hand in the quiet time, and while its record is being stored', async () => {
      let store = () => {}
      rig.marking = new Promise(resolve => { store = () => resolve(undefined) })
      const delivery = rig.deliver()
      delivery.emit().store(changed)
      expect(delivery).to.include({ idle: false, waiting: false, finished: false })
      await rig.quiet()
      expect(delivery).to.include({ idle: false, waiting: false, finished: false })
      store()
      await rig.settled()
      expect(delivery).to.include({ idle: true, finished: true })
    })

    it('goes into the flow again when the sink\'s database has lost what it had stored, before the record of it', async () => {
      const delivery = rig.deliver(['db', 'archive'])
      const first = delivery.emit()
      first.store(changed)
      first.store(changed, 'archive')
      rig.deliveries.setBack('db')
      expect([rig.opened, delivery.waiting, delivery.attempts]).to.deep.equal([1, true, 0])
      await rig.quiet()
      expect([rig.finished, rig.marked.length]).to.deep.equal([['archive'], 1])
      const second = delivery.emit()
      expect([second.store(changed), second.store(changed, 'archive')]).to.deep.equal([true, false])
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['archive', 'db'])
    })

    it('goes into the flow again when its record met a database that has lost what it had stored', async () => {
      let notLeft = () => {}
      rig.marking = new Promise(resolve => { notLeft = () => resolve(false) })
      const delivery = rig.deliver()
      delivery.emit().store(changed)
      await rig.quiet()
      rig.deliveries.setBack('db')
      expect(rig.opened, 'while it is under way').to.equal(0)
      rig.marking = Promise.resolve()
      notLeft()
      await rig.settled()
      expect([rig.opened, rig.finished]).to.deep.equal([1, []])
      expect(delivery.emit().store(changed)).to.equal(true)
      await rig.quiet()
      expect([rig.finished, rig.marked.length]).to.deep.equal([['db'], 2])
    })

    it('is left alone where the database that has lost something has stored nothing of it', async () => {
      const delivery = rig.deliver()
      const attempt = delivery.emit()
      attempt.accept(changed)
      rig.deliveries.setBack('db')
      rig.deliveries.setBack('elsewhere')
      attempt.settle(changed)
      await rig.quiet()
      expect([rig.opened, rig.finished]).to.deep.equal([0, ['db']])
    })

    it('says when all that came is stored: what comes after it need not wait', async () => {
      const attempt = rig.deliver(['db', 'archive']).emit()
      attempt.store(changed)
      expect(rig.stored).to.equal(0)
      attempt.store(changed, 'archive')
      expect(rig.stored).to.equal(1)
    })

    it('holds up no other attempt once it is known to be lost in part', async () => {
      const delivery = rig.deliver()
      const first = delivery.emit()
      first.store(part(0))
      delivery.doubt()
      const second = delivery.emit()
      for (const index of [0, 1, 2]) expect(second.store(part(index, 'again'))).to.equal(true)
      expect(first.store(part(1)), 'late').to.equal(true)
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is known by few of its attempts, however many there were', async () => {
      const delivery = rig.deliver()
      for (let i = 0; i < 1000; i++) {
        const attempt = delivery.emit()
        attempt.accept(changed)
        attempt.release(changed)
      }
      expect(delivery.sinks.get('db')?.attempts.length).to.be.below(20)
      delivery.emit().store(changed)
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is not taken for stored by what comes late of an attempt before a deploy', async () => {
      const before = rig.deliver().emit()
      rig.deliveries.close('in:7')
      const delivery = rig.deliver()
      const after = delivery.emit()
      expect(before.store(changed)).to.equal(true)
      await rig.quiet()
      expect(rig.finished).to.deep.equal([])
      expect(after.store(changed)).to.equal(true)
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })
  })

  describe('that is split', () => {
    it('waits for every part, each of which is stored once', async () => {
      const attempt = rig.deliver().emit()
      for (const index of [2, 0]) {
        expect([attempt.accept(part(index)), attempt.accept(part(index))]).to.deep.equal([true, false])
        attempt.settle(part(index))
        expect(attempt.accept(part(index))).to.equal(false)
      }
      await rig.quiet()
      expect(rig.marked).to.deep.equal([])
      attempt.store(part(1))
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is finished by a second emission, which is split again', async () => {
      const delivery = rig.deliver()
      const once = delivery.emit()
      once.accept(part(0, 'once'))
      once.accept(part(1, 'once'))
      once.settle(part(0, 'once'))
      once.release(part(1, 'once'))
      const again = delivery.emit()
      for (const index of [0, 1, 2]) again.store(part(index, 'again'))
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('keeps count of what is being stored when it is emitted again', async () => {
      const delivery = rig.deliver()
      const first = delivery.emit()
      first.accept(part(0))
      first.accept(part(1))
      delivery.begin()
      first.settle(part(0))
      first.settle(part(1))
      await rig.quiet()
      expect(rig.marked).to.deep.equal([])
    })

    it('is dropped in part', async () => {
      const attempt = rig.deliver().emit()
      for (const index of [0, 1]) attempt.store(part(index))
      attempt.drop(part(2).part)
      await rig.quiet()
      expect(rig.finished).to.deep.equal(['db'])
    })
  })

  describe('that the flow settles', () => {
    it('waits for that, however long, and ends when the rest is stored', async () => {
      const delivery = rig.deliver(['db', 'archive'], { settledByFlow: true })
      const attempt = delivery.emit()
      attempt.store(changed)
      await rig.quiet()
      await rig.quiet()
      expect(delivery).to.include({ idle: true, waiting: true })
      attempt.accept(changed)
      attempt.drop()
      await rig.settled()
      expect(rig.finished, 'the sink that got nothing').to.deep.equal(['archive'])
      attempt.settle(changed)
      await rig.settled()
      expect(rig.finished).to.deep.equal(['archive', 'db'])
    })

    it('is not ended by the end of an attempt that was lost in part', async () => {
      const delivery = rig.deliver(['db'], { settledByFlow: true })
      const first = delivery.emit()
      first.accept(changed)
      first.release(changed)
      first.drop()
      await rig.settled()
      expect(rig.marked).to.deep.equal([])
      const second = delivery.emit()
      second.store(changed)
      second.drop()
      await rig.settled()
      expect(rig.finished).to.deep.equal(['db'])
    })

    it('is finished without when its batch is stored unchanged', () => {
      rig.deliver(['db'], { settledByFlow: true }).emit().store(asStaged)
      expect(rig.finished).to.deep.equal(['db'])
    })
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { ManualClock, batchOf, openWriter, range, settle } from './fake-sink.js'

describe('a writer of a database in this process', () => {
  it('does not keep everything else from its turn while group follows group', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-writer-'))
    const { writer, sink } = await openWriter(folder, { options: { batchRows: 1 } })
    /** @type {string[]} */
    const happened = []
    sink.onStep = step => { if (step === 'commit') happened.push('group') }
    const turn = () => {
      happened.push('turn')
      ticking = setImmediate(turn)
    }
    let ticking = setImmediate(turn)
    await Promise.all(range(0, 20).map(value => writer.write(batchOf([value]))))
    clearImmediate(ticking)
    expect(happened.filter(what => what === 'group')).to.have.length(20)
    expect(happened.join(' ')).to.not.include('group group')
    await writer.close()
    await rm(folder, { recursive: true })
  })
})

describe('a writer to which little comes', () => {
  it('writes at once, with what comes in the same moment, what comes seldom: waiting would gather nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-writer-'))
    const clock = new ManualClock()
    const { writer, sink } = await openWriter(folder, { clock, options: { maxAgeMs: 100 } })
    const written = []
    for (const value of range(0, 3)) {
      await clock.pass(300)
      for (const half of [0, 0.5]) writer.write(batchOf([value + half]))
      await clock.pass(1)
      written.push(sink.stored.length)
    }
    for (const value of range(3, 10)) { // once more comes, it waits for its like
      writer.write(batchOf([value]))
      await clock.pass(20)
    }
    expect([written, sink.transactions.map(batches => batches.length)]).to.deep.equal([[2, 4, 6], [2, 2, 2, 5]])
    await writer.close()
    await rm(folder, { recursive: true })
  })
})

describe('a writer whose dead letters one source uses up', () => {
  it('leaves out what it cannot finish of that source, and stores the others of the same write', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-writer-'))
    const deadLetters = await openDeadLetterQueue(folder, { maxBytes: 1600 })
    const { writer, sink } = await openWriter(folder, { deadLetters, options: { batchRows: 4 } })
    sink.isPoison = value => value < 0
    await writer.write(batchOf([-1, -2, 1, 2], 0))
    const kept = deadLetters.count
    const batches = [batchOf([-3], 1), batchOf([3], 2, 'lathe'), batchOf([-4], 3, 'mill'), batchOf([4], 4)]
    const written = batches.map(batch => writer.write(batch))
    expect(await written[0].catch(error => error.code)).to.equal('SLUICE_DEAD_LETTERS_SHARE')
    expect(await Promise.all(written.slice(1))).to.deep.equal([0, 1, 0].map(deadRows => ({ outcome: 'stored', deadRows })))
    expect(sink.stored).to.deep.equal([1, 2, 3, 4])
    expect(sink.commits.has('gw/press/1-a/1')).to.equal(false)
    expect([kept, deadLetters.count]).to.deep.equal([2, 3])
    expect(writer.state()).to.include({ pendingRows: 0, retryingSinceMs: null })
    await deadLetters.replayed(deadLetters.keys)
    expect(await Promise.all([batchOf([-3], 1), batchOf([5, 6, 7], 5)].map(batch => writer.write(batch)))).to.have.length(2)
    await writer.close()
    await rm(folder, { recursive: true })
  })
})

describe('a writer that is full', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-')) })
  afterEach(() => rm(folder, { recursive: true }))

  it('reports room as soon as something is stored', async () => {
    const { writer, sink } = await openWriter(folder, { options: { maxPendingBytes: 1024, maxAgeMs: 1 } })
    const storing = Promise.withResolvers()
    sink.onStep = () => /** @type {Promise<void>} */ (storing.promise)
    const large = writer.write(batchOf(range(0, 1000)))
    let hasRoom = false
    const room = writer.room.then(() => { hasRoom = true })
    await settle()
    expect(hasRoom).to.equal(false)
    storing.resolve(undefined)
    await room
    expect((await writer.write(batchOf([1]))).outcome).to.equal('stored')
    expect((await large).outcome).to.equal('stored')
    await writer.close()
  })
})

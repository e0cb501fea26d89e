import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { batchBytes } from '../../gateway/batch/batch-bytes.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { schema } from '../../gateway/writer/writer.js'
import {
  FakeSink, ManualClock, RefusedError, TransientError, batchOf, impatientClock, openWriter, range, settle, valuesOf
} from './fake-sink.js'

describe('writer', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** The code of the error a promise rejects with. @param {Promise<unknown>} promise */
  const codeOf = promise => promise.then(() => 'none', error => error.code)

  it('has a schema whose defaults keep it', () => {
    const options = Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, property.default]))
    const validate = new Ajv({ strict: false }).compile(schema)
    expect(validate(options), JSON.stringify(validate.errors)).to.equal(true)
    expect(validate({ ...options, batchRows: 0 })).to.equal(false)
  })

  describe('gathers batches', () => {
    it('until there are enough rows', async () => {
      const { writer, sink } = await openWriter(folder, { options: { batchRows: 4, maxAgeMs: 60_000 } })
      const written = [writer.write(batchOf([1, 2])), writer.write(batchOf([3, 4]))]
      expect(await Promise.all(written)).to.deep.equal([{ outcome: 'stored', deadRows: 0 }, { outcome: 'stored', deadRows: 0 }])
      expect(sink.transactions.map(batches => batches.map(valuesOf))).to.deep.equal([[[1, 2], [3, 4]]])
      await writer.close()
    })

    it('until there are enough bytes', async () => {
      const { writer, sink } = await openWriter(folder, { options: { batchBytes: 2 * batchBytes(batchOf([1])), maxAgeMs: 60_000 } })
      await Promise.all([writer.write(batchOf([1])), writer.write(batchOf([2]))])
      expect(sink.transactions).to.have.length(1)
      await writer.close()
    })

    it('until the first has waited long enough, with one timer for all', async () => {
      const clock = new ManualClock()
      const { writer, sink } = await openWriter(folder, { clock, options: { maxAgeMs: 1000 } })
      writer.write(batchOf([1]))
      await clock.pass(600)
      for (const value of range(2, 100)) writer.write(batchOf([value]))
      await clock.pass(399)
      expect(sink.stored).to.deep.equal([])
      await clock.pass(1)
      expect(sink.stored).to.deep.equal(range(1, 100))
      expect(clock.count).to.equal(1)
      await writer.close()
    })

    it('and never splits one with an identity: what does not fit goes with the next', async () => {
      const { writer, sink } = await openWriter(folder, { options: { batchRows: 4, inFlight: 1 } })
      const written = [[1, 2, 3], [4, 5], range(6, 16), [16]].map((values, seq) => writer.write(batchOf(values, seq)))
      await writer.flush()
      await Promise.all(written)
      expect(sink.transactions.map(batches => batches.flatMap(valuesOf))).to.deep.equal([[1, 2, 3], [4, 5], range(6, 16), [16]])
      await writer.close()
    })

    it('into larger groups while the database is busy', async () => {
      const clock = new ManualClock()
      const sink = new FakeSink()
      const open = Promise.withResolvers()
      sink.onStep = async () => { await open.promise }
      const { writer } = await openWriter(folder, { sink, clock, options: { inFlight: 1, batchRows: 10, maxAgeMs: 100 } })
      for (const value of range(0, 5)) {
        writer.write(batchOf([value]))
        await clock.pass(100)
      }
      expect({ ...writer.state(), waitingMs: writer.waitingMs }).to.include({ pendingRows: 5, inFlight: 1, waitingMs: 400 })
      open.resolve(undefined)
      await clock.pass(100)
      expect(sink.transactions.map(batches => batches.flatMap(valuesOf))).to.deep.equal([[0], [1, 2, 3, 4]])
      expect(writer.state()).to.deep.equal({ pendingRows: 0, pendingBytes: 0, inFlight: 0, retryingSinceMs: null, lastError: null })
      await writer.close()
    })
  })

  it('sends in the order of arrival, no more at once than allowed', async () => {
    const sink = new FakeSink()
    /** @type {number[]} */
    const sent = []
    sink.onStep = async (step, batches) => {
      if (step === 'write') sent.push(...batches.flatMap(valuesOf))
      await settle()
    }
    const { writer } = await openWriter(folder, { sink, options: { batchRows: 1, inFlight: 3 } })
    await Promise.all(range(0, 20).map(value => writer.write(batchOf([value]))))
    expect(sent).to.deep.equal(range(0, 20))
    expect(sink.mostActive).to.equal(3)
    await writer.close()
  })

  it('tells a batch that the database had already stored', async () => {
    const { writer, sink, meter } = await openWriter(folder, { options: { batchRows: 1 } })
    expect((await writer.write(batchOf([1, 2], 7))).outcome).to.equal('stored')
    expect((await writer.write(batchOf([1, 2], 7))).outcome).to.equal('duplicate')
    expect(sink.stored).to.deep.equal([1, 2])
    expect(meter).to.include({ rows: 2, duplicates: 2 })
    await writer.close()
  })

  it('tells a batch whose identity another has taken, also while that one is pending', async () => {
    const { writer, sink, meter } = await openWriter(folder, { options: { batchRows: 2 } })
    const batches = [1, 2].map(hash => batchOf([hash], 7)).map((batch, hash) =>
      batch.withIdentity({ .../** @type {import('../../gateway/batch/batch.js').Identity} */ (batch.identity), hash }))
    const written = batches.map(batch => writer.write(batch))
    expect((await Promise.all(written)).map(({ outcome }) => outcome)).to.deep.equal(['stored', 'clash'])
    expect(sink.stored).to.deep.equal([1])
    expect(meter).to.include({ rows: 1, duplicates: 0 })
    await writer.close()
  })

  it('writes once what is delivered again while it is pending', async () => {
    const { writer, sink } = await openWriter(folder)
    const written = [writer.write(batchOf([1], 7)), writer.write(batchOf([1], 7))]
    expect(writer.state().pendingRows).to.equal(1)
    await writer.flush()
    expect((await Promise.all(written)).map(({ outcome }) => outcome)).to.deep.equal(['stored', 'duplicate'])
    expect(sink.writes).to.equal(1)
    await writer.close()
  })

  it('refuses at once what it has no memory for, but takes one batch of any size', async () => {
    const { writer } = await openWriter(folder, { options: { maxPendingBytes: 1024 } })
    const large = writer.write(batchOf(range(0, 1000)))
    expect(await codeOf(writer.write(batchOf([1])))).to.equal('SLUICE_WRITER_FULL')
    await writer.flush()
    expect((await large).outcome).to.equal('stored')
    const small = writer.write(batchOf([1]))
    await writer.close()
    expect((await small).outcome).to.equal('stored')
  })

  describe('tries again', () => {
    it('without end, and says so no more than once a minute', async () => {
      const clock = new ManualClock()
      const sink = new FakeSink()
      let isDown = true
      sink.onStep = step => {
        if (isDown && step === 'prepare') throw new TransientError('no connection')
      }
      const { writer, meter, said } = await openWriter(folder, { sink, clock, options: { batchRows: 1 } })
      const written = writer.write(batchOf([1]))
      await clock.pass(59_000)
      expect(writer.state().lastError).to.equal('no connection')
      expect(writer.state().retryingSinceMs).to.be.closeTo(Date.now(), 60_000)
      expect(said).to.have.length(1)
      await clock.pass(3_600_000)
      expect(meter.retries).to.be.within(120, 1000)
      expect(said.length).to.be.within(40, 62)
      expect(said[1]).to.match(/no connection \(\d+ more times/)
      isDown = false
      await clock.pass(30_000)
      expect((await written).outcome).to.equal('stored')
      expect(writer.state()).to.include({ retryingSinceMs: null, lastError: null })
      expect(said.at(-1)).to.match(/^Storing again, after 36[5-9]\d\.\d s/) // also where the computer's own clock has been set meanwhile
      await writer.close()
    })

    it('when the answer to a commit was lost: it is recognised, not doubled', async () => {
      const sink = new FakeSink()
      sink.afterCommit = () => {
        sink.afterCommit = () => {}
        throw new TransientError('connection reset')
      }
      const { writer } = await openWriter(folder, { sink, clock: impatientClock, options: { batchRows: 1 } })
      expect((await writer.write(batchOf([1], 0))).outcome).to.equal('duplicate')
      expect(sink.stored).to.deep.equal([1])
      await writer.close()
    })
  })

  describe('closing', () => {
    it('stores what is pending, and takes no more', async () => {
      const { writer, sink } = await openWriter(folder)
      const written = range(0, 10).map(value => writer.write(batchOf([value])))
      const closed = writer.close()
      expect(await codeOf(writer.write(batchOf([11])))).to.equal('SLUICE_WRITER_RELEASED')
      await closed
      await Promise.all(written)
      expect(sink.stored).to.deep.equal(range(0, 10))
    })

    it('tries again at once what was waiting to be tried again', async () => {
      const clock = new ManualClock()
      const sink = new FakeSink()
      sink.onStep = () => { throw new TransientError('down') }
      const { writer } = await openWriter(folder, { sink, clock, options: { batchRows: 1 } })
      const written = writer.write(batchOf([1]))
      await clock.pass(3_600_000)
      sink.onStep = () => {}
      await Promise.all([writer.close(), clock.pass(0)])
      expect((await written).outcome).to.equal('stored')
    })

    it('releases the rest at the deadline: what waits, what is tried again, what hangs', async () => {
      /** @type {FakeSink['onStep']} */
      const untilAborted = (_step, _batches, signal) => new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
      for (const onStep of [() => { throw new TransientError('down') }, untilAborted, () => new Promise(() => {})]) {
        const sink = Object.assign(new FakeSink(), { onStep })
        const { writer } = await openWriter(folder, { sink, clock: impatientClock, options: { batchRows: 1, inFlight: 1 } })
        const codes = [1, 2, 3].map(value => codeOf(writer.write(batchOf([value]))))
        await writer.close({ deadlineMs: 20 })
        expect(await Promise.all(codes)).to.deep.equal(Array(3).fill('SLUICE_WRITER_RELEASED'))
        expect(writer.state()).to.include({ pendingRows: 0, pendingBytes: 0 })
        expect(sink.stored).to.deep.equal([])
      }
    })
  })

  describe('what the database refuses', () => {
    it('becomes dead letters, found with few probes, and the rest one transaction', async () => {
      const sink = new FakeSink()
      const poison = [17, 4999, 5000, 9123]
      sink.isPoison = value => poison.includes(value)
      const { writer, deadLetters, meter } = await openWriter(folder, { sink, options: { batchRows: 10_000 } })
      const written = range(0, 10).map(i => writer.write(batchOf(range(i * 1000, (i + 1) * 1000), i)))
      const outcomes = await Promise.all(written)
      expect(outcomes.map(({ deadRows }) => deadRows)).to.deep.equal([1, 0, 0, 0, 1, 1, 0, 0, 0, 1])
      expect(sink.transactions).to.have.length(1)
      expect(sink.stored).to.deep.equal(range(0, 10_000).filter(value => !poison.includes(value)))
      expect(sink.probes).to.be.at.most(1 + poison.length * 2 * Math.log2(10_000))
      expect((await deadLetters.list()).map(({ key, values, reason }) => [key, values[0], reason.text])).to.deep.equal([
        ['gw/press/1-a/0/17', 17, '17 is not allowed'],
        ['gw/press/1-a/4/999', 4999, '4999 is not allowed'],
        ['gw/press/1-a/5/0', 5000, '5000 is not allowed'],
        ['gw/press/1-a/9/123', 9123, '9123 is not allowed']
      ])
      expect(meter).to.include({ rows: 9996, deadLetters: 4, errors: 1, retries: 0 })
      await writer.close()
    })

    it('leaves a commit record of a batch with no good row, and nothing of one without identity', async () => {
      const sink = new FakeSink()
      sink.isPoison = value => value < 10
      const { writer } = await openWriter(folder, { sink, options: { batchRows: 3 } })
      const written = await Promise.all([batchOf([1], 0), batchOf([2]), batchOf([10], 1)].map(batch => writer.write(batch)))
      expect(written.map(({ deadRows }) => deadRows)).to.deep.equal([1, 1, 0])
      expect([...sink.commits.keys()]).to.deep.equal(['gw/press/1-a/0', 'gw/press/1-a/1'])
      expect(sink.transactions[0]).to.have.length(2)
      await writer.close()
    })

    it('is all rows of a batch that does not fit its table', async () => {
      const sink = new FakeSink()
      sink.isMisfit = ({ source, rows }) => source === 'other' && rows > 0
      const { writer, deadLetters } = await openWriter(folder, { sink, options: { batchRows: 6 } })
      await Promise.all([batchOf([1, 2], 0), batchOf([3, 4], 0, 'other'), batchOf([5, 6], 1)].map(batch => writer.write(batch)))
      expect(sink.stored).to.deep.equal([1, 2, 5, 6])
      expect(deadLetters.keys).to.deep.equal(['gw/other/1-a/0/0', 'gw/other/1-a/0/1'])
      expect(sink.commits.has('gw/other/1-a/0')).to.equal(true)
      await writer.close()
    })

    it('is the later one of rows that cannot be stored together', async () => {
      const sink = Object.assign(new FakeSink(), { isUnique: true })
      const { writer, deadLetters } = await openWriter(folder, { sink, options: { batchRows: 9 } })
      await Promise.all([batchOf([1, 2, 3], 0), batchOf([4, 2, 6], 1), batchOf([7, 1, 9], 2)].map(batch => writer.write(batch)))
      expect(sink.stored).to.deep.equal([1, 2, 3, 4, 6, 7, 9])
      expect(deadLetters.keys).to.deep.equal(['gw/press/1-a/1/1', 'gw/press/1-a/2/1'])
      await writer.close()
    })

    it('is on the disk before the others are committed', async () => {
      const sink = new FakeSink()
      sink.isPoison = value => value === 2
      /** @type {number[]} */
      const onDisk = []
      sink.onStep = async step => {
        if (step !== 'commit') return
        const letters = await openDeadLetterQueue(folder, { readOnly: true })
        onDisk.push(letters.count)
        await letters.close()
      }
      const { writer } = await openWriter(folder, { sink, options: { batchRows: 3 } })
      await writer.write(batchOf([1, 2, 3], 0))
      expect(onDisk).to.deep.equal([1])
      await writer.close()
    })

    it('stays dead when the process died before the commit, even if the database would take it by now', async () => {
      const sink = new FakeSink()
      sink.isPoison = value => value === 2
      sink.onStep = step => {
        if (step === 'commit') throw new TransientError('died')
      }
      const first = await openWriter(folder, { sink, clock: impatientClock, options: { batchRows: 3 } })
      const lost = codeOf(first.writer.write(batchOf([1, 2, 3], 0)))
      while (first.deadLetters.count === 0) await settle()
      await first.writer.close({ deadlineMs: 0 })
      expect(await lost).to.equal('SLUICE_WRITER_RELEASED')

      sink.isPoison = () => false
      sink.onStep = () => {}
      const second = await openWriter(folder, { sink, options: { batchRows: 3 } })
      expect(await second.writer.write(batchOf([1, 2, 3], 0))).to.deep.equal({ outcome: 'stored', deadRows: 1 })
      expect(sink.stored).to.deep.equal([1, 3])
      expect(second.deadLetters.keys).to.deep.equal(['gw/press/1-a/0/1'])
      await second.writer.close()
    })

    it('waits, in view, while the dead letters are full', async () => {
      const sink = new FakeSink()
      sink.isPoison = value => value > 0
      const deadLetters = await openDeadLetterQueue(folder, { maxBytes: 300 })
      const { writer } = await openWriter(folder, { sink, deadLetters, clock: impatientClock, options: { batchRows: 1 } })
      await writer.write(batchOf([1], 0, 'lathe'))
      const blocked = writer.write(batchOf([2], 1))
      while (writer.state().lastError === null) await settle()
      expect(writer.state().lastError).to.include('SLUICE_DEAD_LETTERS_FULL')
      expect(sink.commits.has('gw/press/1-a/1')).to.equal(false)
      await deadLetters.replayed(['gw/lathe/1-a/0/0'])
      expect(await blocked).to.deep.equal({ outcome: 'stored', deadRows: 1 })
      await writer.close()
    })

    it('is not the rows when it is refused without them: that is tried again', async () => {
      const sink = new FakeSink()
      let refusals = 10
      sink.onStep = step => {
        if (step !== 'prepare' && refusals-- > 0) throw new RefusedError('whatever it is')
      }
      const { writer, deadLetters, meter } = await openWriter(folder, { sink, clock: impatientClock, options: { batchRows: 2 } })
      expect(await writer.write(batchOf([1, 2], 0))).to.deep.equal({ outcome: 'stored', deadRows: 0 })
      expect(deadLetters.count).to.equal(0)
      expect(meter.retries).to.be.greaterThan(0)
      await writer.close()
    })

    it('survives a lost connection in the middle of the search', async () => {
      const sink = new FakeSink()
      sink.isPoison = value => value === 70
      let steps = 0
      sink.onStep = () => {
        if (++steps % 3 === 0) throw new TransientError('connection reset')
      }
      const { writer, deadLetters } = await openWriter(folder, { sink, clock: impatientClock, options: { batchRows: 100 } })
      await writer.write(batchOf(range(0, 100), 0))
      expect(deadLetters.keys).to.deep.equal(['gw/press/1-a/0/70'])
      expect(sink.stored).to.have.length(99)
      await writer.close()
    })
  })
})

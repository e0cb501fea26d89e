import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { FakeSink, ManualClock, RefusedError, TransientError, batchOf, openWriter } from './fake-sink.js'

describe('The time that each batch takes', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-write-times-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /**
   * A database that takes so long for each answer, and gives these.
   * @param {{ms: number, error?: Error}[]} answers
   * @param {ManualClock} clock
   */
  function slowSink (answers, clock) {
    const sink = new FakeSink()
    sink.onStep = async step => {
      if (step !== 'write') return
      const { ms, error } = answers.shift() ?? { ms: 0 }
      await new Promise(resolve => clock.setTimeout(() => resolve(undefined), ms))
      if (error) throw error
    }
    return sink
  }

  it('is recorded in microseconds, of those that fail too, with their outcome', async () => {
    const clock = new ManualClock()
    const answers = [{ ms: 7, error: new TransientError('away') }, { ms: 11, error: new TransientError('away') }, { ms: 3 }]
    const { writer, meter } = await openWriter(folder, { clock, sink: slowSink(answers, clock), options: { maxAgeMs: 1 } })
    const written = writer.write(batchOf([1]))
    await clock.pass(60_000)
    await written
    expect(meter.writes).to.deep.equal([['failed', 7000], ['failed', 11_000], ['stored', 3000]])
    const closed = writer.close()
    await clock.pass(0)
    await closed
  })

  it('is recorded of a batch that is refused for good, and not of the tries that find out which row it was', async () => {
    const clock = new ManualClock()
    const sink = slowSink([{ ms: 5, error: new RefusedError('one of them') }, { ms: 2 }], clock)
    sink.isPoison = value => value === 13
    const { writer, meter } = await openWriter(folder, { clock, sink, options: { maxAgeMs: 1 } })
    const written = writer.write(batchOf([1, 13, 3]))
    await clock.pass(60_000)
    let isWritten = false
    written.then(() => { isWritten = true })
    while (!isWritten) await clock.pass(1000) // the dead letter is being written to the disk
    expect(meter.writes).to.deep.equal([['refused', 5000], ['stored', 2000]])
    expect(sink.probes).to.be.above(0)
    const closed = writer.close()
    await clock.pass(0)
    await closed
  })
})

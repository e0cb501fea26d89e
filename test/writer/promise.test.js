import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { FakeSink, TransientError, batchOf, impatientClock, openWriter } from './fake-sink.js'

describe('writer and dead letters', () => {
  it('keep the promise: every row is stored once or dead once, whatever is refused, lost, delivered again or restarted', async () => {
    const root = await mkdtemp(join(tmpdir(), 'sluice-promise-'))
    let run = 0
    const scenarios = fc.record({
      sizes: fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 1, maxLength: 20 }),
      poison: fc.uniqueArray(fc.nat(240), { maxLength: 30 }),
      batchRows: fc.integer({ min: 1, max: 40 }),
      inFlight: fc.integer({ min: 1, max: 4 }),
      failures: fc.infiniteStream(fc.integer({ min: 0, max: 9 })),
      redelivered: fc.infiniteStream(fc.boolean()),
      restarts: fc.integer({ min: 0, max: 3 })
    })
    /** @type {unknown[]} */
    const unhandled = []
    const onUnhandled = (/** @type {unknown} */ error) => { unhandled.push(error) }
    process.on('unhandledRejection', onUnhandled)
    try {
      await fc.assert(fc.asyncProperty(scenarios, async ({ sizes, poison, batchRows, inFlight, failures, redelivered, restarts }) => {
        const folder = join(root, String(run++))
        const sink = Object.assign(new FakeSink(), { isPoison: (/** @type {number} */ row) => poison.includes(row) })
        const failNow = () => {
          if (failures.next().value === 0) throw new TransientError('connection lost')
        }
        sink.onStep = async () => {
          await new Promise(resolve => setImmediate(resolve))
          failNow()
        }
        sink.afterCommit = failNow
        let value = 0
        let open = sizes.map((size, seq) => batchOf(Array.from({ length: size }, () => value++), seq))

        for (let left = restarts; open.length > 0; left--) {
          const { writer } = await openWriter(folder, { sink, clock: impatientClock, options: { batchRows, inFlight, maxAgeMs: 1 } })
          const again = open.filter(() => redelivered.next().value)
          const results = [...open, ...again].map(batch => writer.write(batch).then(() => batch, error => error.code))
          if (left > 0) await new Promise(resolve => setTimeout(resolve, 1))
          else await writer.flush()
          await writer.close({ deadlineMs: 0 })
          const settled = new Set(await Promise.all(results))
          open = open.filter(batch => !settled.delete(batch))
          expect([...settled]).to.deep.equal(open.length > 0 ? ['SLUICE_WRITER_RELEASED'] : [])
        }

        const letters = await openDeadLetterQueue(folder, { readOnly: true })
        const dead = (await letters.list({ limit: 1000 })).map(({ values }) => Number(values[0]))
        await letters.close()
        expect([...sink.stored, ...dead].sort((a, b) => a - b)).to.deep.equal(Array.from({ length: value }, (_, i) => i))
        expect(dead.sort((a, b) => a - b)).to.deep.equal(poison.filter(row => row < value).sort((a, b) => a - b))
        expect(sink.commits.size).to.equal(sizes.length)
      }), { numRuns: 200 })
    } finally {
      process.off('unhandledRejection', onUnhandled)
      await rm(root, { recursive: true, force: true })
    }
    expect(unhandled).to.deep.equal([])
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch } from '../../../gateway/batch/batch.js'
import { openDeadLetterQueue } from '../../../gateway/dead-letters/queue.js'
import { createWriter } from '../../../gateway/writer/writer.js'
import { batchOf, EPOCH, failureOf, identity, rangesOf, rowOf, T0 } from './batches.js'

/**
 * What a sink and the writer do together, shown against a real database.
 *
 * @typedef {import('../../../gateway/databases/sink.js').Sink} Sink
 *
 * @typedef {object} WriterHarness  one empty database a test
 * @property {(options?: object) => Promise<Sink>} open  a sink, closed after the test
 * @property {(error: unknown) => boolean} isTransient
 * @property {(table: string) => Promise<Record<string, unknown>[]>} rows  in the order of time
 * @property {(batches: Batch[], isPoison: (row: number) => boolean) => Promise<Batch[]>} [poison]  prepares the database so that it refuses
 *   these rows (counted over all batches), and returns the batches with them; rows keep the value of the field `force`
 * @property {{stop: () => Promise<void>, start: () => Promise<void>}} [server]
 * @property {{what: string, options: object, tells: RegExp}[]} [wrong]  options with which it cannot work, and what its error matches
 */

/** @param {WriterHarness} harness */
export function writerContract (harness) {
  const { open, isTransient, rows, poison, server, wrong = [] } = harness
  /** @type {string} */
  let folder
  /** @type {Awaited<ReturnType<typeof openDeadLetterQueue>>[]} */
  let opened

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-letters-'))
    opened = []
  })
  afterEach(async () => {
    for (const letters of opened) await letters.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** @param {Sink} sink @param {object} [options] */
  const writerOn = async (sink, options = {}) => {
    const deadLetters = await openDeadLetterQueue(join(folder, String(opened.length)))
    opened.push(deadLetters)
    const log = { info () {}, warn () {}, error () {} }
    return { deadLetters, writer: createWriter({ sink, isTransient, deadLetters, log, options: { maxAgeMs: 20, ...options } }) }
  }

  /** Identified batches of `size` rows each with ascending values. @param {number} count @param {number} size */
  const batchesOf = (count, size) => Array.from({ length: count }, (_, seq) => {
    const values = Array.from({ length: size }, (_row, i) => seq * size + i)
    return batchOf(values, { time: BigInt64Array.from(values, value => T0 + BigInt(value) * 1000n), identity: identity(seq) })
  })

  const forces = async () => (await rows('press')).map(({ force }) => force)

  describe('with a writer', () => {
    it('stores texts and names of any kind, or keeps their rows as dead letters: it tries none without end', async () => {
      const sink = await open()
      const { writer, deadLetters } = await writerOn(sink)
      const texts = batchOf([1, 2, 3]).withIdentity(identity(0))
      const written = await Promise.all([
        writer.write(new Batch({
          ...texts,
          fields: [...texts.fields, { name: 'text', type: 'string' }],
          columns: [...texts.columns, ['a', 'b\0c', 'ünï']],
          validity: [...texts.validity, null]
        })),
        writer.write(rowOf({ 'x"y': ['float64', 1] }, { source: 'lathe', identity: { ...identity(1), source: 'lathe' } }))
      ])
      expect(written.map(({ outcome }) => outcome)).to.deep.equal(['stored', 'stored'])
      expect((await rows('press')).length + deadLetters.count).to.equal(3 + written[1].deadRows)
      expect(deadLetters.keys.every(key => /press.*\/1$|lathe.*\/0$/.test(key))).to.equal(true)
    })

    it('stores each row once, in the order of time, when all is delivered twice', async () => {
      const sink = await open()
      const { writer } = await writerOn(sink, { batchRows: 500, inFlight: 2 })
      const batches = batchesOf(40, 50)
      const outcomes = await Promise.all([...batches, ...batches].map(batch => writer.write(batch)))
      expect(outcomes.filter(({ outcome }) => outcome === 'stored')).to.have.length(40)
      expect(await forces()).to.deep.equal(Array.from({ length: 2000 }, (_, i) => i))
      expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 39]] }])
      await writer.close()
    })

    it('stores what is pending when it closes', async () => {
      const { writer } = await writerOn(await open(), { maxAgeMs: 60_000 })
      const results = batchesOf(4, 10).map(batch => writer.write(batch))
      await writer.close()
      expect((await Promise.all(results)).map(({ outcome }) => outcome)).to.deep.equal(Array(4).fill('stored'))
      expect(await forces()).to.have.length(40)
    })

    if (poison) {
      it('finds the rows that the database refuses among 10,000, and stores the others', async () => {
        const bad = new Set([0, 1, 4999, 7777, 9999])
        const batches = await poison(batchesOf(4, 2500), row => bad.has(row))
        const sink = await open()
        const { writer, deadLetters } = await writerOn(sink, { batchRows: 10_000, maxAgeMs: 1000 })
        const results = await Promise.all(batches.map(batch => writer.write(batch)))
        expect(results.map(({ deadRows }) => deadRows)).to.deep.equal([2, 1, 0, 2])
        expect(deadLetters.keys).to.have.members([...bad].map(row => `gw/press/1-a/${Math.floor(row / 2500)}/${row % 2500}`))
        expect(await rows('press')).to.have.length(9995)
        expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 3]] }])
        await writer.close()
      })
    }

    if (server) {
      it('continues when the server comes back, with nothing lost or doubled', async () => {
        const sink = await open()
        const { writer } = await writerOn(sink, { batchRows: 100 })
        const batches = batchesOf(60, 20)
        const results = []
        let started = Promise.resolve()
        for (const [i, batch] of batches.entries()) {
          results.push(writer.write(batch))
          if (i === 20) {
            await results[0] // FerretDB does not survive a stop while it makes a collection: CREATE TABLE then fails for ever
            await server.stop()
          }
          if (i === 40) started = sleep(300).then(() => server.start())
          await sleep(5)
        }
        const outcomes = await Promise.all(results)
        await started
        expect(outcomes.every(({ outcome }) => outcome === 'stored' || outcome === 'duplicate')).to.equal(true)
        expect(await forces()).to.deep.equal(Array.from({ length: 1200 }, (_, i) => i))
        expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 59]] }])
        await writer.close()
      })

      it('releases what it cannot store within the deadline', async () => {
        const sink = await open()
        const { writer } = await writerOn(sink)
        await writer.write(batchesOf(1, 1)[0])
        await server.stop()
        try {
          const [, waiting] = batchesOf(2, 1)
          const result = writer.write(waiting).catch(error => error)
          await sleep(200)
          await writer.close({ deadlineMs: 300 })
          expect(await result).to.have.property('code', 'SLUICE_WRITER_RELEASED')
        } finally {
          await server.start()
        }
      })
    }

    for (const { what, options, tells } of wrong) {
      it(`waits, and reports why, with ${what}`, async () => {
        const sink = await open(options)
        const error = await failureOf(async () => {
          await sink.prepare([batchOf([1])])
          await sink.write([batchOf([1])])
        })
        expect(error.message).to.match(tells)
        expect(isTransient(error), error.message).to.equal(true)
        expect(error.message).not.to.include('password of nobody')
      })
    }
  })
}

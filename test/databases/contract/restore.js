import { execFileSync } from 'node:child_process'
import { rename, rm } from 'node:fs/promises'
import { expect } from 'chai'
import { at, batchOf, EPOCH, identity, rangesOf } from './batches.js'

/**
 * A server whose data folder is replaced by an earlier copy, as when a backup is restored.
 *
 * @param {object} harness
 * @param {() => Promise<import('../../../gateway/databases/sink.js').Sink>} harness.openSink
 * @param {(error: unknown) => boolean} harness.isTransient
 * @param {(table: string) => Promise<Record<string, unknown>[]>} harness.rows
 * @param {{server: {data: string, stop: () => Promise<void>, start: () => Promise<void>}, reconnect: () => Promise<void>}} harness.database
 */
export function restoreTest ({ openSink, isTransient, rows, database }) {
  it('stores again what is missing after its server was set back to an earlier copy', async () => {
    const sink = await openSink()
    const batches = [0, 1, 2, 3, 4, 5].map(seq => batchOf([seq], { time: at(seq), identity: { ...identity(seq), hash: seq } }))
    const { server } = database
    const copy = `${server.data}-copy`

    /** As the writer does, but for what is looked for here. @param {import('../../../gateway/batch/batch.js').Batch[]} some */
    const write = async some => {
      for (;;) {
        try {
          return await sink.write(some)
        } catch (error) {
          if (/** @type {any} */ (error).code === 'SLUICE_SINK_SET_BACK') return error
          expect(isTransient(error), String(error)).to.equal(true)
        }
      }
    }

    await write(batches.slice(0, 2))
    await server.stop()
    execFileSync('cp', ['-a', server.data, copy])
    await server.start()
    await write(batches.slice(2, 4))
    await write(batches.slice(4, 5))

    await server.stop()
    await rm(server.data, { recursive: true })
    await rename(copy, server.data)
    await server.start()
    const error = await write(batches.slice(5))
    expect(error).to.have.property('code', 'SLUICE_SINK_SET_BACK')
    expect(isTransient(error)).to.equal(true)
    expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 1]] }])
    expect(await write(batches)).to.deep.equal({ duplicates: batches.slice(0, 2), clashes: [] })
    await database.reconnect()
    expect((await rows('press')).map(({ force }) => force)).to.have.members([0, 1, 2, 3, 4, 5])
  })
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** @typedef {import('../../gateway/databases/reader.js').Reader} Reader */

const ALL = { from: 0n, to: 2n ** 63n - 1n }

/**
 * A database file for each test of a suite, stored into by its sink and read by its reader. Call it in `describe`.
 * @param {string} name  of the file
 * @param {(options: any) => Promise<import('../../gateway/databases/sink.js').Sink>} openSink
 * @param {(options: any) => Promise<Reader>} open
 */
export function fileRig (name, openSink, open) {
  const rig = {
    folder: '',
    file: '',

    /** @param {object} options @param {import('../../gateway/batch/batch.js').Batch[]} batches */
    async store (options, ...batches) {
      const sink = await openSink({ file: rig.file, ...options })
      await sink.prepare(batches)
      await sink.write(batches)
      await sink.close()
    },

    /** @template T @param {object} options @param {(reader: Reader) => Promise<T>} work */
    async reading (options, work) {
      const reader = await open({ file: rig.file, table: 'press', ...options })
      try {
        return await work(reader)
      } finally {
        await reader.close()
      }
    },

    /** @param {object} options */
    values: (options, sensor = 'force') => rig.reading(options, async reader => {
      const found = []
      for await (const page of reader.samples({ sensors: [sensor], ...ALL })) found.push(...page.map(({ value }) => value))
      return found
    }),

    harness: /** @type {import('./contract.js').Harness} */ ({
      layouts: ['wide', 'narrow', 'document'],
      store: (layout, batches) => rig.store({ layout }, ...batches),
      open: layout => open({ file: rig.file, table: 'press', layout })
    })
  }

  beforeEach(async () => {
    rig.folder = await mkdtemp(join(tmpdir(), 'sluice-reader-'))
    rig.file = join(rig.folder, name)
  })

  afterEach(() => rm(rig.folder, { recursive: true }))

  return rig
}

import { open } from '../../databases/null/sink.js'

/** What calling a sink costs, and the memory of which batches it was given. @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'Null, which stores nothing',
  missing: () => null,
  async start () {
    let rows = 0
    return {
      version: 'no server',
      async open () {
        const sink = await open()
        const counting = {
          .../** @type {import('../../databases/sink.js').Sink} */ (sink),
          prepare: sink.prepare.bind(sink),
          async write (/** @type {import('../../batch/batch.js').Batch[]} */ batches) {
            for (const batch of batches) rows += batch.rows
            return sink.write(batches)
          }
        }
        return { sink: counting, close: () => sink.close() }
      },
      async clear () { rows = 0 },
      count: async () => rows,
      loader: null,
      naive: null,
      async remove () {}
    }
  }
}

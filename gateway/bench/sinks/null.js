/** What calling a sink costs, and the memory of which batches it was given. @type {import('./sink-bench.js').SinkBench} */
export const bench = {
  title: 'Null, which stores nothing',
  missing: () => null,
  start: async () => ({
    version: 'no server',
    address: { type: 'null', options: {} },
    async clear () {},
    count: async () => null,
    loader: null,
    naive: null,
    async remove () {}
  })
}

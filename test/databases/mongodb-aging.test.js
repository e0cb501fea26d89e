import { expect } from 'chai'
import { AgingDocuments } from '../../gateway/databases/mongodb/aging.js'

const DAY_SECONDS = 86_400

/** What a server is told of a time-series collection, which FerretDB has none of. */
describe('MongoDB time-series collections that age', () => {
  for (const [expireAfterSeconds, told] of /** @type {const} */ ([
    [DAY_SECONDS, [{ collMod: 'press', expireAfterSeconds: 3 * DAY_SECONDS }]], [3 * DAY_SECONDS, []], [9 * DAY_SECONDS, []], [undefined, []]
  ])) {
    it(`are kept for three days at least, where they were kept for ${expireAfterSeconds ?? 'no limited'} seconds`, async () => {
      /** @type {object[]} */
      const commands = []
      const documents = [{ time: new Date(0) }]
      const found = { project: () => found, sort: () => found, limit: () => found, toArray: async () => documents }
      const db = /** @type {any} */ ({
        collection: () => ({ find: () => found }),
        listCollections: () => ({ toArray: async () => [{ name: 'press', options: { timeseries: {}, expireAfterSeconds } }] }),
        command: async (/** @type {object} */ command) => { commands.push(command) }
      })
      const names = /** @type {any} */ ({ of: (/** @type {string} */ source) => source, perSource: true })
      const aging = new AgingDocuments(names, { layout: 'timeseries', keepDays: 3 })
      aging.note([{ source: 'press' }])
      await aging.span(db)
      expect(commands).to.deep.equal(told)
    })
  }
})

import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { RowInserter } from '../../gateway/databases/sqlite/rows.js'

/** @param {number} rows */
const batchOf = rows => new Batch({
  source: 'press',
  time: new BigInt64Array(rows),
  fields: [{ name: 'value', type: 'float64' }],
  columns: [new Float64Array(rows)]
})

describe('the rows of an SQLite table', () => {
  it('take no statement for hundreds of rows where a source never sends so many at once: a thousand of them took 60 MB', () => {
    /** @type {string[]} */
    const prepared = []
    const database = /** @type {any} */ ({ prepare: (/** @type {string} */ sql) => prepared.push(sql) && { run () {} } })
    const inserter = new RowInserter(database, {
      table: 'press',
      columns: [
        { name: 'time', type: 'time', origin: 'time', kind: 'INTEGER' },
        { name: 'value', type: 'float64', origin: 'field', field: 0, kind: 'REAL' }
      ]
    })
    for (let i = 0; i < 3; i++) inserter.insert(batchOf(2))
    expect(prepared).to.have.length(1)
    for (let i = 0; i < 3; i++) inserter.insert(batchOf(1000))
    expect(prepared).to.have.length(2)
  })
})

import { createRequire } from 'node:module'
import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'

const { util } = createRequire(import.meta.url)('@node-red/util')

describe('a batch in the debug sidebar', () => {
  const batch = new Batch({
    source: 'tank',
    time: BigInt64Array.from({ length: 1000 }, (_, i) => BigInt(i)),
    fields: [{ name: 'level', type: 'float64', unit: 'm' }],
    columns: [Float64Array.from({ length: 1000 }, (_, i) => i / 10)]
  })

  it('is a line that can be expanded, to an object with its first rows', () => {
    const { format, msg } = util.encodeObject({ msg: batch })
    expect(format).to.equal('Object')
    const [[line, shown], ...others] = Object.entries(JSON.parse(msg))
    expect([line, others]).to.deep.equal(['level = 0 m @ 00:00:00.000 (+999 rows)', []])
    expect(shown).to.deep.include({ source: 'tank', rows: 1000 })
    expect(shown.first.slice(0, 2)).to.deep.equal([{ time: '0', level: 0 }, { time: '1', level: 0.1 }])
  })

  it('is not copied for each wire', () => {
    expect(util.cloneMessage({ payload: batch }).payload).to.equal(batch)
  })
})

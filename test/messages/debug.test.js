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

  it('is an expandable object with its first rows', () => {
    const { format, msg } = util.encodeObject({ msg: batch })
    expect(format).to.equal('Object')
    expect(JSON.parse(msg)).to.deep.include({ source: 'tank', rows: 1000 })
    expect(JSON.parse(msg).first.slice(0, 2)).to.deep.equal([{ time: '0', level: 0 }, { time: '1', level: 0.1 }])
  })

  it('is not copied for each wire', () => {
    expect(util.cloneMessage({ payload: batch }).payload).to.equal(batch)
  })
})

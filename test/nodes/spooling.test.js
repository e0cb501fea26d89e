import { expect } from 'chai'
import { SluiceError } from '../../gateway/base/errors.js'
import { Batch } from '../../gateway/batch/batch.js'
import { admitted } from '../../nodes/staging/spooling.js'

const [a, bad, worse, b] = ['a', 'bad', 'worse', 'b'].map(source => new Batch({ source, time: BigInt64Array.of(1n) }))
const message = Buffer.from('the message')
const admit = (/** @type {string} */ source) => {
  if (source === 'bad' || source === 'worse') throw new SluiceError('SLUICE_SOURCE_COUNT', `No place for ${source}.`)
}

describe('The batches of a third-party message', () => {
  it('whose sources have no place are refused, as one value, and the others are spooled', () => {
    const { batches, refused } = admitted({ batches: [a, bad, worse, b], refused: [] }, null, admit, message)
    expect(batches).to.deep.equal([{ batch: a, part: 0 }, { batch: b, part: 3 }])
    expect(refused).to.deep.equal([{ index: -1, reason: 'SLUICE_SOURCE_COUNT: No place for bad.', value: message, count: 2 }])
  })

  it('that are in the spool already do not go there again', () => {
    const { batches } = admitted({ batches: [a, b], refused: [] }, new Set([0]), admit, message)
    expect(batches).to.deep.equal([{ batch: b, part: 1 }])
  })
})

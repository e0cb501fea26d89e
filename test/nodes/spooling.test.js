import { expect } from 'chai'
import { SluiceError } from '../../gateway/base/errors.js'
import { Batch } from '../../gateway/batch/batch.js'
import { spoolAll } from '../../nodes/staging/spooling.js'

const batch = (/** @type {string} */ source) => new Batch({ source, time: BigInt64Array.of(1n) })
const message = Buffer.from('the message')

describe('The batches of a third-party message', () => {
  it('that cannot be encoded are refused for good, as one value, and the others are spooled', async () => {
    const content = { batches: ['a', 'bad', 'worse', 'b'].map(batch), refused: [] }
    /** @type {string[]} */
    const spooled = []
    await spoolAll(content, async ({ source }) => {
      if (source === 'bad') throw new SluiceError('SLUICE_CODEC_ARROW', 'Arrow stream: the batch takes 3 GiB.')
      if (source === 'worse') throw new RangeError('Array buffer allocation failed')
      spooled.push(source)
    }, message)
    expect(spooled).to.deep.equal(['a', 'b'])
    const reason = 'SLUICE_CODEC_ARROW: Arrow stream: the batch takes 3 GiB.'
    expect(content).to.deep.equal({ batches: [], refused: [{ index: -1, reason, value: message, count: 2, isOfSpool: true }] })
  })

  it('are tried again where the spool has no room now, from the one that had none', async () => {
    const content = { batches: ['a', 'b'].map(batch), refused: [] }
    /** @type {string[]} */
    const spooled = []
    let isFull = true
    const append = async (/** @type {Batch} */ { source }) => {
      if (source === 'b' && isFull) throw new SluiceError('SLUICE_SPOOL_FULL', 'full')
      spooled.push(source)
    }
    const failed = await spoolAll(content, append, message).catch(error => error)
    expect(failed).to.have.property('code', 'SLUICE_SPOOL_FULL')
    isFull = false
    await spoolAll(content, append, message)
    expect([spooled, content]).to.deep.equal([['a', 'b'], { batches: [], refused: [] }])
  })
})

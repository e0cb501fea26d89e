import { expect } from 'chai'
import { SluiceError } from '../../gateway/base/errors.js'
import { Batch } from '../../gateway/batch/batch.js'
import { Keeping } from '../../broker/in/keeping.js'
import { until } from './waiting.js'

/** @param {any} guest @returns {number} */
const valueOf = ({ value }) => value

describe('keeping third-party messages', () => {
  /** What the receipts, the spool and the messages were told, in order. @type {unknown[]} */
  let told
  /** @type {string[]} */
  let logged
  beforeEach(() => {
    told = []
    logged = []
  })

  /** @param {Partial<import('../../broker/in/keeping.js').KeepingOptions>} [options] */
  const keepingOf = options => new Keeping(/** @type {import('../../broker/in/keeping.js').KeepingOptions} */ ({
    receipts: {
      write: async groups => { told.push(['written', groups.map(({ parts }) => parts.length)]) },
      arrived: async groups => { if (!groups.every(({ isIn }) => isIn)) told.push(['not all', groups.map(({ isIn }) => isIn)]) }
    },
    append: async batch => { told.push(['spooled', ...batch.columns[0]]) },
    onKept: ({ guests }) => { for (const guest of guests) told.push(`kept ${valueOf(guest)}`) },
    onRefused: async (guest, batch, error) => {
      told.push([`refused ${valueOf(guest)}`, ...batch.columns[0], /** @type {Error} */ (error).message])
    },
    log: { info () {}, warn () {}, error: text => logged.push(text) },
    ...options
  }))

  /** @param {number[]} values  of a message each */
  function gathered (...values) {
    const guests = values.map(value => /** @type {any} */ ({ value }))
    const batch = new Batch({
      source: 'hall',
      time: new BigInt64Array(values.length),
      fields: [{ name: 'value', type: 'float64' }],
      columns: [Float64Array.from(values)]
    })
    return { batch, guests, rows: values.map(() => 1) }
  }

  it('writes the receipts of all that waits before it gives them to the spool, and then tells whose they are', async () => {
    const keeping = keepingOf()
    keeping.store(gathered(1, 2))
    keeping.store(gathered(3))
    await keeping.settled()
    expect(told).to.deep.equal([['written', [2, 1]], ['spooled', 1, 2], ['spooled', 3], 'kept 1', 'kept 2', 'kept 3'])
  })

  it('tries again what the spool has no room for now', async () => {
    let failures = 2
    const keeping = keepingOf({
      async append () { if (failures-- > 0) throw new SluiceError('SLUICE_SPOOL_FULL', 'full') }
    })
    keeping.store(gathered(1))
    await keeping.settled()
    expect(told).to.deep.equal([['written', [1]], ['not all', [false]], ['written', [1]], ['not all', [false]], ['written', [1]], 'kept 1'])
    expect(logged[0]).to.match(/^1 third-party messages cannot be kept, and stay with the broker: SLUICE_SPOOL_FULL/)
  })

  it('tries again where the receipts cannot be written, and says so until they can', async () => {
    let failures = 1
    const keeping = keepingOf({
      receipts: { write: async () => { if (failures-- > 0) throw new Error('the disk is full') }, arrived: async () => {} },
      blocked: () => null
    })
    expect(keeping.blocked).to.equal(null)
    keeping.store(gathered(1))
    await until(() => keeping.blocked === 'the disk is full')
    await keeping.settled()
    expect([told, logged.length, keeping.blocked]).to.deep.equal([[['spooled', 1], 'kept 1'], 1, null])
  })

  it('says why the spool waits', () => {
    expect(keepingOf({ blocked: () => 'cannot write' }).blocked).to.equal('cannot write')
  })

  it('has no message refused because the spool does not accept another', async () => {
    const keeping = keepingOf({
      async append ({ columns: [values] }) {
        if ([...values].includes(13)) throw new RangeError('not 13')
        told.push(['spooled', ...values])
      }
    })
    keeping.store(gathered(12, 13, 14))
    await keeping.settled()
    expect(told.filter(each => !String(each).startsWith('written'))).to.deep.equal([
      ['not all', [false]],
      ['spooled', 12], ['spooled', 14], ['not all', [true, false, true]], 'kept 12', 'kept 14', ['refused 13', 13, 'not 13']
    ])
  })

  it('tries nothing again once it is closed', async () => {
    let attempts = 0
    const keeping = keepingOf({
      async append () {
        attempts++
        keeping.close()
        throw new SluiceError('SLUICE_SPOOL_CLOSED', 'closed')
      }
    })
    keeping.store(gathered(1))
    await until(() => attempts === 1)
    await new Promise(resolve => setImmediate(resolve))
    expect([attempts, logged]).to.deep.equal([1, []])
  })
})

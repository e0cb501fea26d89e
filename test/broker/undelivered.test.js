import { expect } from 'chai'
import { EventEmitter } from 'node:events'
import { Alarms } from '../../broker/out/alarms.js'
import { TooBig } from '../../broker/out/too-big.js'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { batchOf } from './stage-rig.js'

const silent = { info () {}, warn () {}, error () {} }

describe('a batch that never arrives at a reader', () => {
  /** @type {number[]} seqs */
  let halved
  /** @type {TooBig} */
  let tooBig
  const alarms = new Alarms(silent)
  /** Rows of the batch of each seq. */
  const rows = [1, 100, 100, 1000]
  const nameOf = (/** @type {number} */ seq) => ({ source: 'press', epoch: '1-a', seq, topic: 'topic' })
  const payloadOf = (/** @type {number} */ seq) => {
    const identity = { gateway: 'gw', before: 0, rows: rows[seq], hash: 0, ...nameOf(seq) }
    return Buffer.from(encode(batchOf(0, 'press', rows[seq]).withIdentity(identity)))
  }

  beforeEach(() => {
    halved = []
    const client = Object.assign(new EventEmitter(), { connected: true, serverProperties: {} })
    const spool = { read: async (/** @type {{seq: number}} */ { seq }) => ({ payload: payloadOf(seq), hash: 0 }) }
    const restage = async (/** @type {{seq: number}[]} */ [{ seq }]) => {
      if (rows[seq] < 2) return 0
      halved.push(seq)
      return 2
    }
    tooBig = new TooBig(/** @type {any} */ ({ client, spool, alarms, restaging: { restage }, log: silent }))
  })
  afterEach(() => tooBig.close())

  /** @param {number} seq */
  function acknowledge (seq) {
    const message = payloadOf(seq)
    tooBig.sent(message, nameOf(seq))
    tooBig.answered(message)
  }

  it('is still sent when it is a single row: it need not be too big, the broker may be under load', async () => {
    await tooBig.undelivered('other', nameOf(0))
    expect(tooBig.mayPass('topic', payloadOf(0), nameOf(0))).to.equal(true)
    expect(alarms.counts.tooBig).to.equal(0)
  })

  it('is left whole where one as large has arrived there, and halved where none has', async () => {
    acknowledge(1)
    await tooBig.undelivered('other', nameOf(1))
    expect(halved, 'the broker has it, and that says nothing').to.deep.equal([1])
    tooBig.delivered.stored('other', { press: { '1-a': [[0, 1, 5]] } })
    await tooBig.undelivered('other', nameOf(2))
    expect(halved).to.deep.equal([1])
    await tooBig.undelivered('third', nameOf(2))
    await tooBig.undelivered('other', nameOf(3))
    expect(halved).to.deep.equal([1, 2, 3])
  })
})

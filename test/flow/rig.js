import { mock } from 'node:test'
import { Batch } from '../../gateway/batch/batch.js'
import { Deliveries } from '../../gateway/flow/deliveries.js'

/** @typedef {import('../../gateway/flow/attempt.js').Piece} Piece */

const QUIET_MS = 2000
export const identity = { gateway: 'gw', source: 'press', epoch: '1-aaaaaaaa', seq: 7 }
const batch = new Batch({
  source: 'press',
  time: new BigInt64Array([1n]),
  fields: [{ name: 'value', type: 'float64' }],
  columns: [new Float64Array([42])],
  identity
})

/** The batch as it was staged. */
export const asStaged = { identified: true, part: null }
/** Something a flow made of it. */
export const changed = { identified: false, part: null }
/** @param {number} index @param {string} [id]  of the split */
export const part = (index, id = 'split') => ({ identified: false, part: { id, index, count: 3 } })

/** Deliveries of one batch, whose flow and sinks are a test, on a clock of its own. */
export class Rig {
  deliveries = new Deliveries()
  /** @type {string[]} sinks */
  finished = []
  /** @type {[sink: string, record: Batch][]} */
  marked = []
  /** How often all that came was stored. */
  stored = 0
  /** How often it was to go into the flow again. */
  opened = 0
  /** Holds commit records back; false: they are not left. @type {Promise<any>} */
  marking = Promise.resolve()

  constructor () {
    mock.timers.enable({ apis: ['setTimeout'] })
  }

  close () {
    mock.timers.reset()
  }

  /** @param {string[]} [sinks] @param {import('../../gateway/flow/delivery.js').FlowOptions} [options] */
  deliver (sinks = ['db'], options) {
    const delivery = this.deliveries.open({
      id: 'in:7',
      batch,
      sinks,
      mark: async (sink, record) => {
        this.marked.push([sink, record])
        return this.marking
      },
      onStored: () => { this.stored++ },
      onOpened: () => { this.opened++ },
      onFinished: sink => {
        this.finished.push(sink)
        if (delivery.finished) this.deliveries.close('in:7')
      },
      ...options
    })
    return Object.assign(delivery, { emit: () => this.#emit(delivery) })
  }

  /** What comes of one attempt. @param {import('../../gateway/flow/delivery.js').Delivery} delivery */
  #emit (delivery) {
    delivery.begin()
    const { deliveries } = this
    const { attemptId } = delivery
    return {
      accept: (/** @type {Piece} */ piece, sink = 'db') => deliveries.accept(attemptId, sink, piece),
      settle: (/** @type {Piece} */ piece, sink = 'db') => deliveries.settle(attemptId, sink, piece),
      release: (/** @type {Piece} */ piece, sink = 'db') => deliveries.release(attemptId, sink, piece),
      drop: (/** @type {Piece['part']} */ dropped = null) => deliveries.drop(attemptId, dropped),
      /** @param {Piece} piece @returns {boolean} whether there was something to store */
      store (piece, sink = 'db') {
        const isNew = deliveries.accept(attemptId, sink, piece)
        if (isNew) deliveries.settle(attemptId, sink, piece)
        return isNew
      }
    }
  }

  /** The time in which nothing more comes, less so many milliseconds. */
  async quiet (lessMs = 0) {
    mock.timers.tick(QUIET_MS - lessMs)
    await this.settled()
  }

  settled () {
    return new Promise(resolve => setImmediate(resolve))
  }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { DeadLetterDesk } from '../../gateway/dead-letters/desk.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { refused } from '../cli/refused.js'

describe('Dead letter desk', () => {
  /** @type {string} */
  let folder
  /** @type {[string, import('../../gateway/dead-letters/queue.js').DeadLetterQueue][]} */
  let queues
  /** @type {import('../../gateway/batch/batch.js').Batch[]} */
  let handedOver
  /** @type {DeadLetterDesk} */
  let desk

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-desk-'))
    queues = []
    for (const sink of ['sqlite', 'postgresql']) queues.push([sink, await openDeadLetterQueue(join(folder, sink))])
    await queues[0][1].append(refused(0, [1, 2, 3]))
    await queues[1][1].append(refused(7, [70, 80]))
    handedOver = []
    desk = new DeadLetterDesk(() => queues, async batch => { handedOver.push(batch) })
  })

  afterEach(async () => {
    for (const [, queue] of queues) await queue.close()
    await rm(folder, { recursive: true })
  })

  const listed = async (/** @type {object} */ page = {}) => (await desk.list(page)).deadLetters.map(({ sink, values }) => [sink, values[0]])

  it('lists sink by sink, in pages', async () => {
    expect(desk.count).to.equal(5)
    expect(await listed()).to.deep.equal([['sqlite', 1], ['sqlite', 2], ['sqlite', 3], ['postgresql', 70], ['postgresql', 80]])
    expect(await listed({ offset: 2, limit: 2 })).to.deep.equal([['sqlite', 3], ['postgresql', 70]])
    expect(await listed({ offset: 4 })).to.deep.equal([['postgresql', 80]])
    expect(await desk.list({ sink: 'postgresql', limit: 1 })).to.have.property('count', 2)
  })

  it('shows one', async () => {
    expect(await desk.show({ key: 'gw/machine/1-a/7/1' })).to.deep.include({ sink: 'postgresql', values: [80] })
  })

  it('replays all, each batch under an identity of its own, and removes them', async () => {
    expect(await desk.replay()).to.deep.equal({ replayed: 5 })
    expect(handedOver.map(({ columns }) => [...columns[0]])).to.deep.equal([[1, 2, 3], [70, 80]])
    const [one, other] = handedOver.map(({ identity }) => identity)
    expect(one).to.deep.include({ gateway: 'dead-letters', source: 'machine', seq: 0 })
    expect(other?.epoch).not.to.equal(one?.epoch)
    expect(desk.count).to.equal(0)
    expect(await desk.replay()).to.deep.equal({ replayed: 0 })
  })

  it('replays chosen ones', async () => {
    await desk.replay({ keys: ['gw/machine/1-a/0/1', 'gw/machine/1-a/7/0'] })
    expect(handedOver.map(({ columns }) => [...columns[0]])).to.deep.equal([[2], [70]])
    expect(await listed()).to.deep.equal([['sqlite', 1], ['sqlite', 3], ['postgresql', 80]])
  })

  it('keeps what could not be replayed', async () => {
    const failing = new DeadLetterDesk(() => queues, async batch => {
      if (batch.columns[0][0] === 70) throw new Error('the spool is closed')
    })
    const failure = await failing.replay().catch(error => error)
    expect(failure.message).to.equal('the spool is closed')
    expect(await listed()).to.deep.equal([['postgresql', 70], ['postgresql', 80]])
    expect(await desk.replay()).to.deep.equal({ replayed: 2 })
  })

  it('replays what it can, though one of the sinks is away', async () => {
    const failing = new DeadLetterDesk(() => queues, async (_batch, sink) => {
      if (sink === 'sqlite') throw new Error('no such sink')
    })
    const failure = await failing.replay().catch(error => error)
    expect(failure.message).to.equal('no such sink')
    expect(await listed()).to.deep.equal([['sqlite', 1], ['sqlite', 2], ['sqlite', 3]])
  })

  it('replays again what may have arrived, together and under the same identity, whatever is chosen', async () => {
    const dying = new DeadLetterDesk(() => queues, async batch => {
      handedOver.push(batch)
      throw new Error('killed')
    })
    const keys = ['gw/machine/1-a/0/0', 'gw/machine/1-a/0/1']
    await dying.replay({ keys }).catch(() => {})
    await queues[0][1].close()
    queues[0][1] = await openDeadLetterQueue(join(folder, 'sqlite'))
    expect(await desk.replay({ keys: keys.slice(1) })).to.deep.equal({ replayed: 2 })
    const [first, again, ...others] = handedOver
    expect([...again.columns[0]]).to.deep.equal([1, 2]).and.to.deep.equal([...first.columns[0]])
    expect(again.identity).to.deep.equal(first.identity)
    expect(await desk.replay({ sink: 'sqlite' })).to.deep.equal({ replayed: 1 })
    expect(others).to.deep.equal([])
    expect(handedOver[2].identity).not.to.deep.equal(first.identity)
    expect(queues[0][1].replays).to.deep.equal([])
  })

  it('does not replay twice what is on its way', async () => {
    let finish = () => {}
    const slow = new DeadLetterDesk(() => queues, () => new Promise(resolve => { finish = () => resolve(undefined) }))
    const first = slow.replay({ sink: 'sqlite' })
    const second = await desk.replay({ sink: 'sqlite' }).catch(error => error)
    expect(second.code).to.equal('SLUICE_REPLAY_RUNNING')
    while (desk.count === 5) {
      finish()
      await new Promise(resolve => setImmediate(resolve))
    }
    expect(await first).to.deep.equal({ replayed: 3 })
    expect(handedOver).to.deep.equal([])
  })

  it('refuses keys and sinks it does not know, before anything is replayed', async () => {
    for (const [attempt, code] of /** @type {[() => Promise<unknown>, string][]} */ ([
      [() => desk.show({ key: 'gone' }), 'SLUICE_DEAD_LETTER_UNKNOWN'],
      [() => desk.replay({ keys: ['gw/machine/1-a/0/1', 'gone'] }), 'SLUICE_DEAD_LETTER_UNKNOWN'],
      [() => desk.list({ sink: 'mysql' }), 'SLUICE_DEAD_LETTER_SINK']
    ])) expect(await attempt().then(() => null, ({ code: thrown }) => thrown)).to.equal(code)
    expect(handedOver).to.deep.equal([])
  })
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { deadLetter } from '../../gateway/dead-letters/dead-letter.js'
import { DeadLetterDesk } from '../../gateway/dead-letters/desk.js'
import { openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { keepRefused, offerRefused } from '../../gateway/dead-letters/refused-values.js'
import { batchOf } from '../writer/fake-sink.js'

const MAX_BYTES = 1_000_000

describe('Refused values among the dead letters', () => {
  /** @type {string} */
  let folder
  /** @type {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} */
  let queue

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-refused-'))
    queue = await openDeadLetterQueue(folder, { maxBytes: MAX_BYTES })
  })

  afterEach(async () => {
    await queue.close()
    await rm(folder, { recursive: true })
  })

  const refused = (/** @type {unknown} */ value, /** @type {number} */ times = 1) => Array.from({ length: times }, () => ({
    index: -1, reason: 'it is garbage', value
  }))
  const garbage = 'x'.repeat(10_000)

  it('of one source take no more than a quarter, and are counted beyond', async () => {
    expect(await offerRefused(queue, 'flood', refused(garbage, 100))).to.be.within(70, 80)
    expect(queue.bytes).to.be.within(MAX_BYTES / 4, MAX_BYTES / 4 + 11_000)
    expect(await offerRefused(queue, 'flood', refused(garbage))).to.equal(1)
    expect(await offerRefused(queue, 'quiet', refused(garbage))).to.equal(0)
    await queue.close()
    queue = await openDeadLetterQueue(folder, { maxBytes: MAX_BYTES })
    expect(await offerRefused(queue, 'flood', refused(garbage))).to.equal(1)
  })

  it('of all sources leave room for rows that must be kept', async () => {
    for (let i = 0; i < 200; i++) await offerRefused(queue, `invented ${i}`, refused(garbage))
    expect(queue.bytes).to.be.below(MAX_BYTES / 2 + 11_000)
    expect(await offerRefused(queue, 'another', [{ ...refused(garbage)[0], count: 7 }])).to.equal(7)
    await queue.append([deadLetter(batchOf([1]), 0, new Error('not allowed'))])
    await keepRefused(queue, 'identified', refused(garbage))
    expect((await queue.list({ limit: 1000 })).map(({ source }) => source).slice(-2)).to.deep.equal(['press', 'identified'])
  })

  it('of a source that were replayed count no more', async () => {
    await offerRefused(queue, 'flood', refused(garbage, 100))
    await queue.replayed(queue.keys)
    expect(await offerRefused(queue, 'flood', refused(garbage))).to.equal(0)
  })

  it('are kept by their beginning where they are long, and are not replayed then', async () => {
    for (const value of ['y'.repeat(1_000_000), Buffer.alloc(1_000_000, 'y')]) {
      expect(await offerRefused(queue, 'long', refused(value))).to.equal(0)
    }
    await offerRefused(queue, 'short', refused('1'))
    expect(queue.bytes).to.be.below(140_000)
    const [text, bytes] = await queue.list()
    for (const letter of [text, bytes]) {
      expect(letter.truncatedFrom).to.equal(1_000_000)
      expect(letter.reason.text).to.equal('it is garbage (kept: the first 65536 of 1000000 characters, which cannot be replayed)')
      expect(letter.values).to.deep.equal(['y'.repeat(65_536)])
    }
    /** @type {string[]} */
    const replayed = []
    const desk = new DeadLetterDesk(() => [['sink', queue]], async ({ source }) => { replayed.push(source) })
    const failed = await desk.replay().catch(error => error)
    expect(failed).to.have.property('code', 'SLUICE_DEAD_LETTER_TRUNCATED')
    expect(failed.message).to.include('beginning of a value of 1000000 characters, and cannot be replayed, and 1 more')
    expect(replayed).to.deep.equal(['short'])
    expect(queue.count).to.equal(2)
  })

  it('are kept whole where they came with an identity', async () => {
    await keepRefused(queue, 'identified', refused('y'.repeat(100_000)))
    expect((await queue.list())[0]).to.deep.include({ values: ['y'.repeat(100_000)] }).and.not.have.property('truncatedFrom')
  })

  it('are kept whatever they are', async () => {
    /** @type {any} */
    let deep = []
    for (let i = 0; i < 100_000; i++) deep = [deep]
    /** @type {any} */
    const circular = {}
    circular.self = circular
    expect(await offerRefused(queue, 'odd', [deep, circular, undefined, 1n, NaN, () => {}].flatMap(value => refused(value)))).to.equal(0)
    expect(queue.count).to.equal(6)
  })
})

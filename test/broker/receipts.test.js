import { expect } from 'chai'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Receipts } from '../../broker/in/receipts.js'

/** @typedef {import('../../broker/in/receipts.js').Packet} Packet */

const held = { ack () {} }

describe('receipts of third-party messages', () => {
  /** @type {string} */
  let folder
  /** @type {Receipts[]} */
  let opened
  /** Rows that the spool has accepted. @type {Map<string, number>} */
  let spooled

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-receipts-'))
    spooled = new Map()
    opened = []
  })
  afterEach(async () => {
    for (const receipts of opened) await receipts.close()
    await rm(folder, { recursive: true })
  })

  /** As after a kill: an earlier one is not closed before. */
  const open = async () => {
    const receipts = await Receipts.open(join(folder, 'receipts'), spooled)
    opened.push(receipts)
    return receipts
  }

  /** @param {number} messageId @param {string} content @param {Partial<Packet>} [more] @returns {Packet} */
  const packet = (messageId, content, more = {}) => ({ topic: 'plant/hall', payload: Buffer.from(content), qos: 1, messageId, ...more })
  const again = (/** @type {number} */ messageId, /** @type {string} */ content) => packet(messageId, content, { dup: true })
  const retained = (/** @type {number} */ messageId, /** @type {string} */ content) => packet(messageId, content, { retain: true })

  /**
   * A message is written; of its batches so many get into the spool.
   * @param {Receipts} receipts @param {Packet} message
   */
  async function keep (receipts, message, sources = ['hall'], arrived = sources.length) {
    const noted = receipts.note(message, sources.length, held)
    const groups = sources.map((source, part) => ({ source, parts: [{ message: noted, part, rows: 1 }] }))
    await receipts.write(groups)
    for (const source of sources.slice(0, arrived)) spooled.set(source, (spooled.get(source) ?? 0) + 1)
    if (arrived < sources.length) return groups // and the process is killed
    await receipts.arrived(groups.map(group => ({ ...group, isIn: true })))
    receipts.kept(noted)
    return groups
  }

  /** What is known to be in the spool of a message: its batches, or all. @param {Receipts} receipts @param {Packet} message */
  function known (receipts, message) {
    const receipt = receipts.of(message)
    return receipt && (receipt.has ? [...receipt.has] : 'all')
  }

  it('know a message that comes again in its session, after a kill between spool and acknowledgement', async () => {
    await keep(await open(), packet(7, '21'))
    const receipts = await open()
    expect(known(receipts, again(7, '21'))).to.equal('all')
  })

  /** 40,000 alike, which are in the spool. */
  async function keepMany () {
    const first = await open()
    const groups = []
    for (let id = 1; id <= 40_000; id++) {
      const message = first.note(packet(id, 'open'), 1, held)
      groups.push({ source: 'hall', parts: [{ message, part: 0, rows: 1 }] })
    }
    await first.write(groups)
    spooled.set('hall', 40_000)
    await first.arrived(groups.map(group => ({ ...group, isIn: true })))
    for (const { parts: [{ message }] } of groups) first.kept(message)
    return first
  }

  it('do not take another message for one of long ago that had the same id, topic and content', async () => {
    const first = await keepMany()
    // In the order in which they went out: what had the id 40,001 before has not come.
    const of = (/** @type {Receipts} */ receipts) => [40_001, 1, 7000, 8000, 40_000].map(id => known(receipts, again(id, 'open')))
    expect(of(first)).to.deep.equal([undefined, undefined, undefined, 'all', 'all'])
    expect(of(await open()), 'nor after a kill').to.deep.equal([undefined, undefined, undefined, 'all', 'all'])
    expect(of(await open()), 'nor when it has been written anew').to.deep.equal([undefined, undefined, undefined, 'all', 'all'])
  })

  it('know all that come again where the broker has not read 40,000 acknowledgements before the connection was gone', async () => {
    const first = await keepMany()
    const of = (/** @type {Receipts} */ receipts) => [1, 2, 7000, 40_000].map(id => known(receipts, again(id, 'open')))
    expect(of(first)).to.deep.equal(['all', 'all', 'all', 'all'])
    expect(of(await open()), 'also after a kill').to.deep.equal(['all', 'all', 'all', 'all'])
    const anew = await open()
    expect(of(anew), 'also when it has been written anew').to.deep.equal(['all', 'all', 'all', 'all'])
    expect(known(anew, again(40_001, 'open'))).to.equal(undefined)
    expect(known(anew, packet(9, 'x'))).to.equal(undefined)
    expect(of(anew), 'and at the next connection').to.deep.equal(['all', 'all', 'all', 'all'])
  })

  it('know that a message has not come as far as the spool, after a kill before', async () => {
    const first = await open()
    await keep(first, packet(7, '21'))
    await keep(first, packet(8, '22'), ['hall'], 0)
    const receipts = await open()
    expect([7, 8].map((id, i) => known(receipts, again(id, String(21 + i))))).to.deep.equal(['all', undefined])
  })

  it('know which batches of a message are in the spool', async () => {
    await keep(await open(), packet(7, '{}'), ['hall', 'tank', 'hall'], 2)
    expect(known(await open(), again(7, '{}'))).to.deep.equal([0, 1])
    expect(known(await open(), again(7, '{}')), 'also when it has been written anew since').to.deep.equal([0, 1])
  })

  it('do not take for arrived what was missing after a kill, though others have come since', async () => {
    await keep(await open(), packet(7, '21'), ['hall'], 0)
    const second = await open()
    await keep(second, packet(8, '22'))
    await keep(second, packet(9, '23'))
    expect(known(await open(), again(7, '21'))).to.equal(undefined)
  })

  it('do not take for arrived what the spool has refused, though others have come since', async () => {
    const first = await open()
    const refused = await keep(first, packet(7, '21'), ['hall'], 0)
    await first.arrived(refused.map(group => ({ ...group, isIn: false })))
    await keep(first, packet(8, '22', { topic: 'plant/tank' }))
    await keep(first, packet(9, '23', { topic: 'plant/tank' }))
    const receipts = await open()
    expect(known(receipts, again(7, '21'))).to.equal(undefined)
    expect(known(receipts, packet(9, '23', { topic: 'plant/tank', dup: true }))).to.equal('all')
  })

  it('know what has arrived beside others that the spool has refused', async () => {
    const first = await open()
    const message = (/** @type {number} */ id) => ({ message: first.note(packet(id, String(id)), 1, held), part: 0, rows: 5 })
    const groups = [{ source: 'hall', parts: [message(7)] }, { source: 'hall', parts: [message(8)] }]
    await first.write(groups)
    spooled.set('hall', 5)
    await first.arrived(groups.map((group, i) => ({ ...group, isIn: i === 1 })))
    const receipts = await open()
    expect([7, 8].map(id => known(receipts, again(id, String(id))))).to.deep.equal([undefined, 'all'])
  })

  it('know a message that is on its way, and since when it is not', async () => {
    const receipts = await open()
    const message = receipts.note(packet(7, '21'), 1, held)
    const receipt = receipts.of(again(7, '21'))
    expect(receipt?.isPending()).to.equal(true)
    receipts.kept(message)
    expect(receipt?.isPending()).to.equal(false)
  })

  it('know no message under an id that means another by now', async () => {
    const first = await open()
    await keep(first, packet(7, '21'))
    expect(first.of(packet(7, '21')), 'not sent again').to.equal(undefined)
    expect(first.of(again(7, '22')), 'other content').to.equal(undefined)
    expect(first.of({ ...again(7, '21'), topic: 'plant/tank' }), 'another topic').to.equal(undefined)
    await keep(first, packet(7, '23'))
    expect((await open()).of(again(7, '21'))).to.equal(undefined)
  })

  it('know no message of an earlier session, also when they have been written anew since', async () => {
    const first = await open()
    await keep(first, packet(7, '21'))
    await first.newSession()
    await open()
    expect((await open()).of(again(7, '21'))).to.equal(undefined)
  })

  it('know what is retained by topic and content, in any session', async () => {
    const first = await open()
    await keep(first, retained(7, '21'))
    await first.newSession()
    const receipts = await open()
    expect(known(receipts, retained(1, '21'))).to.equal('all')
    expect(receipts.of(retained(1, '22'))).to.equal(undefined)
    expect(receipts.of({ ...retained(1, '21'), topic: 'plant/tank' })).to.equal(undefined)
  })

  it('know what is retained by now from when it was published', async () => {
    const receipts = await open()
    await keep(receipts, retained(1, '20'))
    await keep(receipts, packet(2, '21'))
    expect(receipts.of(retained(3, '21'))).to.not.equal(undefined)
    expect(receipts.of(retained(3, '20'))).to.equal(undefined)
  })

  it('know what is retained also when its acknowledgement was lost, and it is sent again under its new id', async () => {
    const receipts = await open()
    await keep(receipts, retained(1, '21'))
    expect(receipts.of({ ...retained(2, '21'), dup: true })).to.not.equal(undefined)
  })

  it('go on after a line that was torn', async () => {
    await keep(await open(), packet(7, '21'))
    await appendFile(join(folder, 'receipts'), '[8,12')
    await keep(await open(), packet(9, '22'))
    const receipts = await open()
    expect([receipts.of(again(7, '21')), receipts.of(again(9, '22'))]).to.not.include(undefined)
  })

  it('are bounded: of 10,000 topics, and not more bytes than some of each', async () => {
    const receipts = await open()
    for (let round = 0; round < 30; round++) {
      const parts = Array.from({ length: 11_000 }, (_, i) => {
        return { message: receipts.note(packet(0, String(round), { topic: `plant/${i}`, qos: 0 }), 1, held), part: 0, rows: 0 }
      })
      await receipts.write([{ source: 'hall', parts }])
      for (const { message } of parts) receipts.kept(message)
    }
    const { length } = await readFile(join(folder, 'receipts'))
    expect(length).to.be.below(10e6)
    const later = await open()
    expect(later.of(packet(0, '29', { topic: 'plant/500', retain: true }))).to.equal(undefined)
    expect(later.of(packet(0, '29', { topic: 'plant/10500', retain: true }))).to.not.equal(undefined)
  })
})

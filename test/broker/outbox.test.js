import { expect } from 'chai'
import fc from 'fast-check'
import { Outbox, messageOf } from '../../broker/embedded/outbox.js'

const message = (/** @type {number} */ n, bytes = 4) => {
  const payload = Buffer.alloc(bytes)
  payload.writeUInt32BE(n)
  return { topic: 't', payload, retain: false }
}

/** Opens an outbox to a client that only listens. @param {Outbox} outbox */
function connect (outbox) {
  /** @type {{n: number, id: number, dup: boolean}[]} */
  const sent = []
  /** @type {import('../../broker/embedded/outbox.js').Send} */
  const send = ({ payload }, id, dup) => {
    sent.push({ n: payload.readUInt32BE(), id, dup })
  }
  outbox.open(send)
  return { sent, leave: () => outbox.suspend(send) }
}

describe('outbox', () => {
  it('sends a window of messages, and the next for each that is acknowledged', () => {
    const outbox = new Outbox(2 ** 26)
    const { sent } = connect(outbox)
    for (let n = 0; n < 1500; n++) outbox.add(message(n))
    expect(sent).to.have.length(1000)
    outbox.acknowledge(sent[0].id)
    outbox.acknowledge(sent[0].id)
    expect(sent).to.have.length(1001)
    expect(sent.at(-1)?.n).to.equal(1000)
    expect(outbox.messages).to.equal(1499)
  })

  it('limits the window by bytes, but sends a message that is larger than that', () => {
    const outbox = new Outbox(2 ** 26)
    const { sent } = connect(outbox)
    for (let n = 0; n < 3; n++) outbox.add(message(n, 10 * 2 ** 20))
    expect(sent.map(({ n }) => n)).to.deep.equal([0])
    outbox.acknowledge(sent[0].id)
    expect(sent.map(({ n }) => n)).to.deep.equal([0, 1])
  })

  it('refuses what does not fit', () => {
    const outbox = new Outbox(1000)
    expect(outbox.add(message(0, 600))).to.equal(true)
    expect(outbox.add(message(1, 600))).to.equal(false)
    expect(outbox.messages).to.equal(1)
  })

  it('sends again what a connection left unacknowledged, first and marked as duplicate', () => {
    const outbox = new Outbox(1e6)
    const first = connect(outbox)
    for (let n = 0; n < 3; n++) outbox.add(message(n))
    outbox.acknowledge(first.sent[1].id)
    first.leave()
    outbox.add(message(3))
    expect(first.sent).to.have.length(3)
    const { sent } = connect(outbox)
    expect(sent.map(({ n, dup }) => [n, dup])).to.deep.equal([[0, true], [2, true], [3, false]])
    expect(first.leave(), 'a connection that was replaced has no say').to.equal(false)
  })

  it('delivers everything in order and forgets it, whatever happens to connections', () => {
    const steps = fc.array(fc.oneof(fc.constant('add'), fc.constant('acknowledge'), fc.constant('reconnect')), { maxLength: 300 })
    fc.assert(fc.property(steps, actions => {
      const outbox = new Outbox(1e9)
      let connection = connect(outbox)
      let added = 0
      let acknowledged = 0
      /** @type {number[]} */
      const delivered = []
      const acknowledge = () => {
        const next = connection.sent[acknowledged]
        if (!next) return
        acknowledged++
        delivered.push(next.n)
        outbox.acknowledge(next.id)
      }
      for (const action of actions) {
        if (action === 'add') outbox.add(message(added++))
        else if (action === 'acknowledge') acknowledge()
        else {
          connection.leave()
          connection = connect(outbox)
          acknowledged = 0
        }
      }
      while (acknowledged < connection.sent.length) acknowledge()
      expect(delivered).to.deep.equal(Array.from({ length: added }, (_, n) => n))
      expect([outbox.messages, outbox.bytes]).to.deep.equal([0, 0])
    }), { numRuns: 500 })
  })

  it('does not keep all that was read from a socket for a small piece of it', () => {
    const chunk = Buffer.alloc(65_536, 7)
    const { payload } = messageOf({ topic: 't', payload: chunk.subarray(100, 150), retain: false })
    expect(payload).to.deep.equal(Buffer.alloc(50, 7))
    expect(payload.buffer.byteLength).to.equal(50)
    expect(messageOf({ topic: 't', payload: chunk, retain: false }).payload).to.equal(chunk)
  })
})

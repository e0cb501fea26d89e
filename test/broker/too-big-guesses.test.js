import { expect } from 'chai'
import { EventEmitter } from 'node:events'
import { Alarms } from '../../broker/out/alarms.js'
import { TooBig } from '../../broker/out/too-big.js'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { batchOf } from './stage-rig.js'

const silent = { info () {}, warn () {}, error () {} }
const MINUTE_MS = 60_000

/** Of the batches a seq each: their names differ in length, and so do those of one row. */
const BATCHES = [{ source: 'a', rows: 1 }, { source: 'a longer name', rows: 1 }, { source: 'a', rows: 1000 }]

describe('that a message is too big, when it is only guessed', () => {
  let now = 0
  let due = 0
  /** @type {string[]} */
  let halved
  /** @type {TooBig} */
  let tooBig
  /** @type {any} */
  let client
  /** @type {Map<number, Buffer>} under way, by message id */
  let store

  const payloads = BATCHES.map(({ source, rows }, seq) => {
    const identity = { gateway: 'gw', source, epoch: '1-a', seq, before: 0, rows, hash: 0 }
    return Buffer.from(encode(batchOf(0, source, rows).withIdentity(identity)))
  })
  const parcels = BATCHES.map(({ source }, seq) => ({ source, epoch: '1-a', seq, topic: 'topic' }))
  const mayPass = (/** @type {number} */ seq) => tooBig.mayPass('topic', payloads[seq], parcels[seq])

  beforeEach(() => {
    now = due = 0
    halved = []
    store = new Map()
    client = Object.assign(new EventEmitter(), {
      connected: false,
      serverProperties: {},
      removeOutgoingMessage (/** @type {number} */ id) {
        const message = /** @type {Buffer} */ (store.get(id))
        store.delete(id)
        tooBig.answered(message, new Error('Message removed'))
      }
    })
    const spool = { read: async (/** @type {{seq: number}} */ { seq }) => ({ payload: payloads[seq], hash: 0 }) }
    const restage = async (/** @type {{seq: number}[]} */ [{ seq }]) => {
      if (BATCHES[seq].rows < 2) return 0
      halved.push(BATCHES[seq].source)
      return 2
    }
    const onDue = () => { due++ }
    const options = { client, spool, alarms: new Alarms(silent), restaging: { restage }, log: silent, onDue, nowMs: () => now }
    tooBig = new TooBig(/** @type {any} */ (options))
  })
  afterEach(() => tooBig.close())

  /** @param {number} seq */
  function send (seq) {
    expect(mayPass(seq)).to.equal(true)
    const message = Buffer.from(payloads[seq])
    tooBig.sent(message, parcels[seq])
    store.set(seq + 1, message)
    client.emit('packetsend', { cmd: 'publish', qos: 1, messageId: seq + 1, payload: message })
  }

  /** @param {number} seq */
  function acknowledge (seq) {
    tooBig.answered(/** @type {Buffer} */ (store.get(seq + 1)))
    store.delete(seq + 1)
  }

  const connect = () => client.emit('packetreceive', { cmd: 'connack' })
  const somethingPasses = () => client.emit('packetreceive', { cmd: 'puback' })

  /** With a message under way, which MQTT.js sends again over the next one. */
  async function breakConnection () {
    client.emit('close')
    await new Promise(resolve => setImmediate(resolve))
  }

  /** Until the message is set aside. @param {number} seq */
  async function breakThrice (seq) {
    connect()
    send(seq)
    await breakConnection()
    for (let i = 0; i < 2; i++) {
      connect()
      client.emit('packetsend', { cmd: 'publish', qos: 1, messageId: seq + 1, payload: Buffer.from(payloads[seq]) })
      await breakConnection()
    }
    expect(store.size).to.equal(0)
  }

  /** Once others pass, it is tried again, and the connection breaks. @param {number} seq */
  async function tryInVain (seq) {
    connect()
    somethingPasses()
    expect(tooBig.next()).to.equal(parcels[seq])
    send(seq)
    await breakConnection()
  }

  it('blames nobody before others have passed over a new connection', async () => {
    await breakThrice(0)
    await breakThrice(2)
    connect()
    expect([mayPass(0), mayPass(1), tooBig.next(), tooBig.guessed, halved]).to.deep.equal([false, true, undefined, 0, []])
    somethingPasses()
    expect([due, tooBig.next(), tooBig.next()]).to.deep.equal([1, parcels[0], parcels[2]])
  })

  it('holds a single row up no longer than until it passes, and then no other as large', async () => {
    await breakThrice(0)
    await tryInVain(0)
    expect([tooBig.guessed, mayPass(0)]).to.deep.equal([1, false])
    expect(mayPass(1), 'a larger one').to.equal(false)
    await breakConnection()
    expect(tooBig.guessed).to.equal(2)
    connect()
    somethingPasses()
    expect(tooBig.next(), 'it costs all others their connection').to.equal(undefined)
    now = MINUTE_MS
    expect([tooBig.next(), tooBig.next()], 'one at a time').to.deep.equal([parcels[0], undefined])
    send(0)
    acknowledge(0)
    expect([tooBig.guessed, tooBig.next()]).to.deep.equal([1, parcels[1]])
    send(1)
    acknowledge(1)
    expect([tooBig.guessed, mayPass(0), mayPass(1), mayPass(2)]).to.deep.equal([0, true, true, true])
  })

  it('blames no message for which as large a one has passed, unless that is long ago', async () => {
    connect()
    send(2)
    acknowledge(2)
    await breakThrice(1)
    await tryInVain(1)
    expect([tooBig.guessed, mayPass(1), mayPass(2)]).to.deep.equal([0, false, true])
    now = 10 * MINUTE_MS
    await tryInVain(1)
    expect(tooBig.guessed).to.equal(1)
    expect(mayPass(2)).to.equal(false)
  })

  it('halves what is larger for ten minutes, and then tries one', async () => {
    await breakThrice(1)
    await tryInVain(1)
    expect(mayPass(2)).to.equal(false)
    await breakConnection()
    expect(halved).to.deep.equal(['a'])
    now = 10 * MINUTE_MS
    expect(mayPass(2)).to.equal(true)
  })
})

import { expect } from 'chai'
import { Alarms } from '../../broker/out/alarms.js'
import { headMessage } from '../../broker/out/head-message.js'
import { Heads } from '../../broker/out/heads.js'
import { readHead } from '../../broker/in/head.js'
import { until } from './waiting.js'

const silent = { info () {}, warn () {}, error () {} }

describe('heads', () => {
  /** @type {string[]} */
  let published
  /** @type {Heads} */
  let heads
  let rows = 0
  let asked = 0
  const alarms = new Alarms(silent)

  /** @param {{intervalMs: number, maximumPacketSize?: number}} options */
  function open ({ intervalMs, maximumPacketSize }) {
    published = []
    rows = asked = 0
    const publish = (/** @type {string} */ _topic, /** @type {string} */ text) => published.push(text)
    const client = { serverProperties: { maximumPacketSize }, publish }
    const head = () => {
      asked++
      return JSON.stringify({ rows })
    }
    heads = new Heads({ client: /** @type {any} */ (client), topic: 'head', head, intervalMs, alarms, log: silent })
  }
  afterEach(() => heads?.close())

  it('are published on connecting, and then when they change: a quiet spool costs nothing', async () => {
    open({ intervalMs: 5 })
    heads.start()
    heads.changed() // it may have, and has not
    await until(() => asked === 2)
    expect(published).to.deep.equal(['{"rows":0}'])
    rows = 1
    heads.changed()
    await until(() => published.length === 2)
    heads.stop()
    heads.start()
    expect(published).to.deep.equal(['{"rows":0}', '{"rows":1}', '{"rows":1}'])
  })

  it('are published at once when something is in doubt', async () => {
    open({ intervalMs: 3_600_000 })
    heads.start()
    rows = 1
    heads.ask()
    await until(() => published.length === 2)
  })

  it('that no broker takes are not sent, but reported', () => {
    open({ intervalMs: 3_600_000, maximumPacketSize: 10 })
    heads.start()
    expect(published).to.deep.equal([])
    expect(alarms.counts.tooBig).to.equal(1)
  })

  it('keep their bounds: of many epochs the oldest and the newest, of many exceptions the first', () => {
    const epochs = Array.from({ length: 200 }, (_, i) => ({
      epoch: `${i + 1}-a`, first: 5, last: i === 199 ? -1 : 9, before: 0, rows: 10,
      lost: Array.from({ length: 2000 }, (_each, n) => /** @type {[number, number, number]} */ ([2 * n, 2 * n, 1]))
    }))
    const message = headMessage({ sources: [{ source: 'press', rows: 10, lost: 0, dropped: 0, replaced: 0, epochs }] })
    const { sources: [{ epochs: read }] } = readHead(Buffer.from(message))
    expect(read).to.have.length(64)
    expect(read.map(({ epoch }) => epoch).slice(-2)).to.deep.equal(['63-a', '200-a'])
    expect(read[0].lost).to.have.length(1000)
    expect(read[63]).to.include({ first: 5, last: 4 })
    expect(JSON.parse(message).more).to.equal(true)
  })

  describe('that do not fit into a message', () => {
    /** @param {string} source @param {number} [ranges] */
    const sourceOf = (source, ranges = 0) => ({
      source,
      rows: 10,
      lost: 0,
      dropped: 0,
      replaced: 0,
      epochs: [{
        epoch: '1-a', first: 0, last: 9999, before: 0, rows: 10,
        lost: Array.from({ length: ranges }, (_each, n) => /** @type {[number, number, number]} */ ([2 * n, 2 * n, 1]))
      }]
    })
    const namesOf = (/** @type {string} */ message) => readHead(Buffer.from(message)).sources.map(({ source }) => source)

    it('say what is held by the sources that come first, and that there is more', () => {
      const sources = Array.from({ length: 50 }, (_, i) => sourceOf(`größe ${i}`))
      expect(JSON.parse(headMessage({ sources })).more).to.equal(undefined)
      const message = headMessage({ sources }, 2000)
      expect(Buffer.byteLength(message)).to.be.within(1700, 2000)
      expect(namesOf(message)).to.deep.equal(sources.slice(0, namesOf(message).length).map(({ source }) => source))
      expect(JSON.parse(message)).to.include({ more: true, rows: 500 })
    })

    it('say less of a source that fills them alone, and pass over it while it is not the first', () => {
      const [big, small] = [sourceOf('big', 900), sourceOf('small')]
      expect(namesOf(headMessage({ sources: [big, small] }, 2000))).to.deep.equal(['big', 'small'])
      const message = headMessage({ sources: [small, big] }, 2000)
      expect(namesOf(message)).to.deep.equal(['small'])
      expect(JSON.parse(message).more).to.equal(true)
    })

    it('have at most 1000 sources', () => {
      const message = headMessage({ sources: Array.from({ length: 1001 }, (_, i) => sourceOf(`s${i}`)) })
      expect(namesOf(message)).to.have.length(1000)
      expect(JSON.parse(message).more).to.equal(true)
    })
  })
})

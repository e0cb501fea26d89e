import { expect } from 'chai'
import { setTimeout as sleep } from 'node:timers/promises'
import { encode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { Places } from '../../broker/in/places.js'
import { Streams } from '../../broker/in/streams.js'
import { observed } from './observed.js'
import { spoolMark } from '../../broker/spool-mark.js'
import { batchOf, FakeDatabase, until, wired } from './pipeline.js'

const silent = { info () {}, warn () {}, error () {} }

describe('a reader', () => {
  const rig = observed()

  /** @param {...string} ids */
  const databases = (...ids) => ids.map(id => {
    const database = new FakeDatabase(id)
    rig.pipeline.addSink(database)
    return database
  })

  /** Makes a spool keep everything, as long as the test lasts. */
  async function keepAll () {
    databases('other')
    await rig.pipeline.openConsumer(['other'], { reader: 'in-other', consumer: 'away', flow: () => {} })
  }

  describe('whose wiring changes', () => {
    it('gives a sink that is added what the spool holds and what comes, without a stall for the others', async () => {
      const [one, two] = databases('one', 'two')
      await keepAll()
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer(['one'])
      await rig.pipeline.produce(stage, 20)
      await until(() => one.rows.length === 20)
      consumer.wire(wired('one', 'two'))
      await rig.pipeline.produce(stage, 20)
      await until(() => one.rows.length === 40 && two.rows.length === 40)
      expect(one.duplicates + two.duplicates).to.equal(0)
      expect(stage.state.requiredSinks).to.include.members(['reading/one', 'reading/two'])
    })

    it('waits no more for a sink that is removed, and neither does the spool', async () => {
      const [one, stuck] = databases('one', 'stuck')
      stuck.busy = new Promise(() => {})
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer(['one', 'stuck'])
      await rig.pipeline.produce(stage, 10)
      await until(() => one.rows.length === 10 && consumer.state.held === 10)
      consumer.wire(wired('one'))
      expect(consumer.state.held).to.equal(0)
      await until(() => stage.spool.next() === null && stage.state.requiredSinks.join() === 'reading/one')
      await rig.pipeline.produce(stage, 10)
      await until(() => one.rows.length === 20)
    })

    it('does not wait for a sink that is disabled, though the spool does; enabled again it gets what it lacks', async () => {
      const [one, two] = databases('one', 'two')
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer([], {
        sinks: [...wired('one'), { ...wired('two')[0], isDisabled: true }]
      })
      await rig.pipeline.produce(stage, 20)
      await until(() => one.rows.length === 20 && consumer.state.held === 0)
      await until(() => stage.state.requiredSinks.includes('reading/two'))
      await sleep(500)
      expect([two.rows.length, stage.spool.next()?.seq]).to.deep.equal([0, 0])
      consumer.wire(wired('one', 'two'))
      await until(() => two.rows.length === 20 && stage.spool.next() === null)
      expect(one.duplicates).to.equal(0)
    })

    it('knows a sink by its id: another name changes nothing but the label, and two may have one name', async () => {
      const [one, two] = databases('one', 'two')
      const { it: stage } = await rig.pipeline.openStage()
      const lists = await rig.listen('sluice/v2/reading/sinks/in')
      const { it: consumer } = await rig.pipeline.openConsumer(['one', 'two'])
      await rig.pipeline.produce(stage, 5)
      await until(() => one.rows.length === 5 && two.rows.length === 5)
      consumer.wire(wired('one', 'two').map(sink => ({ ...sink, label: 'history' })))
      await rig.pipeline.produce(stage, 5)
      await until(() => one.rows.length === 10 && two.rows.length === 10 && stage.spool.next() === null)
      expect(JSON.parse(String(lists.at(-1)?.payload))).to.deep.equal({
        gateway: '+',
        source: '+',
        sinks: [{ sink: 'one', label: 'history', committed: true }, { sink: 'two', label: 'history', committed: true }]
      })
    })

    it('tries again what is parked', async () => {
      const [one] = databases('one')
      let isLeaking = true
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer(['one'], {
        overdueMs: 50, attempts: 2, flow: delivery => { if (!isLeaking) rig.pipeline.store(delivery, 'one') }
      })
      await rig.pipeline.produce(stage, 1)
      await until(() => consumer.state.parked === 1 && consumer.balances[0]?.parked === 1)
      isLeaking = false
      consumer.wire(wired('one'))
      await until(() => one.rows.length === 1)
    })

    it('lets go of a source that a sink can store nothing of for now: others go on beyond any window, and it comes again', async () => {
      const [one, two] = databases('one', 'two')
      let isFull = true
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer(['one', 'two'], {
        window: 2,
        flow: delivery => {
          rig.pipeline.store(delivery, 'two')
          const isLetGo = isFull && delivery.batch.source === 'press' && rig.pipeline.deliveries.postpone(delivery.attemptId, 'one')
          if (!isLetGo) rig.pipeline.store(delivery, 'one')
        }
      })
      await rig.pipeline.produce(stage, 10)
      await until(() => two.rows.length === 10 && consumer.state.held === 0)
      await Promise.all(Array.from({ length: 10 }, (_, i) => stage.append(batchOf(100 + i, 'lathe'))))
      await until(() => one.rows.length === 10 && two.rows.length === 20)
      expect(stage.spool.next()).to.include({ source: 'press', seq: 0 })
      isFull = false
      await until(() => one.rows.length === 20 && stage.spool.next() === null)
      expect(consumer.state.parked).to.equal(0)
    })

    it('without any sink acknowledges what comes, so that the broker has nothing to keep: the spool has it', async () => {
      await keepAll()
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer([])
      await rig.pipeline.produce(stage, 5)
      await until(() => consumer.state.overflow === 5)
      const [late] = databases('late')
      consumer.wire(wired('late'))
      await until(() => late.rows.length === 5)
    })
  })

  it('announces its sinks retained, and that it is gone once it is removed for good', async () => {
    databases('one')
    const { it: consumer } = await rig.pipeline.openConsumer(['one'])
    await until(() => consumer.state.connected)
    await sleep(100)
    const lists = await rig.listen('sluice/v2/reading/sinks/in')
    await until(() => lists.length === 1)
    expect(JSON.parse(String(lists[0].payload)).sinks).to.deep.equal([{ sink: 'one', label: 'one', committed: false }])
    consumer.close({ removed: true })
    await until(() => lists.length === 2)
    expect(lists[1].payload).to.have.length(0)
  })

  it('says so of another that was deleted while it could not, and of none that is there', async () => {
    databases('one')
    for (const reader of ['deleted', 'disabled']) await rig.tell(`sluice/v2/reading/sinks/${reader}`, { sinks: [] }, true)
    const heard = await rig.listen('sluice/v2/+/sinks/+')
    await rig.pipeline.openConsumer(['one'], { isGone: reader => reader === 'deleted' })
    await until(() => heard.some(({ payload }) => payload.length === 0))
    await sleep(200)
    expect(heard.filter(({ payload }) => payload.length === 0).map(({ topic }) => topic)).to.deep.equal(['sluice/v2/reading/sinks/deleted'])
  })

  it('hands commits for the own spools over in process, and says nothing of them under its own name', async () => {
    const [one] = databases('one')
    /** @type {any[]} */
    const local = []
    const heard = await rig.listen('sluice/v2/+/commit/#')
    const { it: stage } = await rig.pipeline.openStage()
    await rig.pipeline.openConsumer(['one'], { consumer: 'gw', own: 'gw', publishLocally: message => { local.push(message) } })
    await rig.pipeline.produce(stage, 5)
    await until(() => one.rows.length === 5)
    await until(() => Object.values(local.at(-1)?.commit.sources.press ?? {})[0]?.[0]?.[1] === 4)
    expect(local.at(-1)).to.deep.include({ consumer: 'gw', sink: 'one', gateway: 'gw' })
    expect(Object.values(local.at(-1).commit.sources.press)).to.have.nested.property('[0][0][1]', 4)
    expect(local.at(-1).outcomes).to.deep.equal({ press: { [spoolMark('out')]: [0, 0, 0] } })
    expect(heard).to.deep.equal([])
  })

  describe('that others write to', () => {
    const identity = { gateway: 'gw', source: 'press', epoch: '1-aaaaaaaa', seq: 0 }
    const forged = (source = 'press') => encode(batchOf(7, source).withIdentity({ ...identity, source }))
    /** @param {string} topic @param {Buffer} payload */
    const publish = (topic, payload) => rig.observer.client.publishAsync(topic, payload, { qos: 1 })

    for (const [what, topic, source] of /** @type {[string, string, string?][]} */ ([
      ['a gateway other than that of the topic', 'sluice/v2/other/data/press'],
      ['a source other than that of the topic', 'sluice/v2/gw/data/oven'],
      ['another gateway among what was resent', 'sluice/v2/other/resent/reading/in'],
      ['a source that is not read, among what was resent', 'sluice/v2/gw/resent/reading/in', 'oven'],
      ['a source that a database would refuse in a commit record', 'sluice/v2/gw/data/a%00b', 'a\0b']
    ])) {
      it(`refuses a batch that says it is of ${what}`, async () => {
        const [one] = databases('one')
        /** @type {string[]} */
        const refused = []
        const { it: consumer } = await rig.pipeline.openConsumer(['one'], {
          source: topic.includes('resent') ? 'press' : '+',
          onRefused: async (packet, reason) => { refused.push(`${packet.topic}: ${reason}`) }
        })
        await until(() => consumer.state.connected)
        await publish(topic, forged(source))
        await until(() => refused.length === 1)
        await publish('sluice/v2/gw/data/press', forged())
        await until(() => one.rows.length === 1)
        expect(consumer.state.refused).to.equal(1)
        expect(refused[0]).to.include('identity')
      })
    }

    it('raises an alarm where a batch comes whose identity is stored with other bytes, and acknowledges it', async () => {
      const [one] = databases('one')
      /** @type {string[]} */
      const alarms = []
      const { it: consumer } = await rig.pipeline.openConsumer(['one'], { log: { ...silent, error: text => { alarms.push(text) } } })
      await until(() => consumer.state.connected)
      await publish('sluice/v2/gw/data/press', forged())
      await until(() => one.rows.length === 1 && consumer.state.held === 0)
      await publish('sluice/v2/gw/data/press', forged())
      await until(() => consumer.state.duplicates === 1)
      await publish('sluice/v2/gw/data/press', encode(batchOf(8).withIdentity(identity)))
      await until(() => consumer.state.clashes === 1)
      expect(alarms.join()).to.match(/SLUICE_CLASH: Sink "one" has another batch than the one that came as gw\/press\/1-aaaaaaaa\/0/)
      expect(one.rows).to.deep.equal([7])
    })

    it('does not have a batch sent again that is broken: it is kept once', async () => {
      databases('one')
      let refused = 0
      const { it: stage } = await rig.pipeline.openStage()
      const { it: consumer } = await rig.pipeline.openConsumer(['one'], {
        decode: () => { throw new Error('nonsense') },
        onRefused: async () => { refused++ }
      })
      await rig.pipeline.produce(stage, 1)
      await until(() => refused === 1)
      await sleep(1500)
      expect([refused, consumer.state.received]).to.deep.equal([1, 1])
    })

    it('keeps what it knew of a source that a head had no room for, and forgets one that a whole head no longer names', () => {
      const streams = new Streams()
      const head = (/** @type {string[]} */ names, isAll = true) => {
        streams.setHead('gw', 'out', names.map(source => ({ source, rows: 0, replacedRows: 0, epochs: [] })), isAll)
        return streams.of('gw').filter(({ headKnown }) => headKnown).map(({ source }) => source)
      }
      expect(head(['press', 'lathe'])).to.deep.equal(['press', 'lathe'])
      expect(head(['press'], false)).to.deep.equal(['press', 'lathe'])
      expect(head(['press'])).to.deep.equal(['press'])
    })

    it('counts no gateway of which another member has all sources, nor one that has gone to another member', () => {
      const streams = new Streams()
      const sources = [{ source: 'press', rows: 0, replacedRows: 0, epochs: [] }]
      for (let i = 0; i < 2000; i++) streams.setHead(`others-${i}`, 'out', [])
      for (let turn = 0; turn < 3; turn++) {
        for (let i = 0; i < 1000; i++) streams.setHead(`g${turn}-${i}`, 'out', sources)
        streams.keep(() => false)
      }
      expect(streams.gateways).to.deep.equal([])
    })

    it('knows no more than 1000 gateways, whoever invents them, and goes on with those it knows', () => {
      const streams = new Streams()
      /** @type {import('../../broker/in/head.js').HeadSource[]} */
      const sources = [{ source: 'press', rows: 0, replacedRows: 0, epochs: [] }]
      for (let i = 0; i < 1000; i++) streams.setHead(`g${i}`, 'out', sources)
      expect(() => streams.setHead('g1000', 'out', sources)).to.throw('More than 1000 gateways').with.property('code', 'SLUICE_PROTOCOL')
      streams.setHead('g7', 'out', sources)
      expect(streams.gateways).to.have.length(1000)
      for (let i = 0; i < 99; i++) streams.setHead('g7', `spool ${i}`, sources)
      expect(() => streams.setHead('g7', 'one more', sources)).to.throw('more than 100 spools')
    })

    describe('gives no gateway the places of others, whatever that names:', () => {
      const numbers = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i)
      /** A head of a thousand sources. @param {string} prefix @param {number} epochs  of each @param {number} [ranges]  of each */
      const thousand = (prefix, epochs, ranges = 0) => numbers(1000).map(i => ({
        source: `${prefix}${i}`,
        rows: 1000,
        replacedRows: 0,
        epochs: numbers(epochs).map(e => ({
          epoch: `${e + 1}-aaaa0000`,
          first: 0,
          last: 999,
          before: 0,
          rows: 1000,
          lost: numbers(ranges).map(range => /** @type {[number, number, number]} */ ([2 * range, 2 * range, 1])),
          replaced: [],
          doubt: []
        }))
      }))
      const known = (/** @type {Streams} */ streams, gateway = 'evil') => streams.heads().filter(head => head.gateway === gateway)

      it('epochs', () => {
        const streams = new Streams()
        const lacks = numbers(5).map(i => streams.setHead('evil', `spool ${i}`, thousand(`x${i}-`, 22)).lack)
        expect(lacks.map(lack => lack?.code)).to.deep.equal([undefined, ...numbers(4).map(() => 'SLUICE_PROTOCOL')])
        expect(known(streams).length).to.be.within(32_000, 32_768)
        expect(streams.setHead('gw', 'out', thousand('s', 22)).lack).to.equal(null)
        expect(known(streams, 'gw')).to.have.length(22_000)
      })

      it('sources', () => {
        const streams = new Streams()
        const lacks = numbers(12).map(i => streams.setHead('evil', `spool ${i}`, thousand(`x${i}-`, 1)).lack)
        expect(lacks.findIndex(lack => lack)).to.equal(10)
        expect(streams.of('evil')).to.have.length(10_000)
        expect(() => streams.check('evil', 'one more')).to.throw('more than 10000 sources').with.property('code', 'SLUICE_PROTOCOL')
        streams.check('evil', 'x0-0')
        streams.check('gw', 'press')
        expect(streams.setHead('gw', 'out', thousand('s', 1)).lack).to.equal(null)
      })

      it('ranges', () => {
        const streams = new Streams()
        expect(streams.setHead('evil', 'out', thousand('x', 1, 100)).lack?.message).to.include('more than 65536 ranges')
        expect(known(streams)).to.have.length(655)
        expect(streams.setHead('gw', 'out', thousand('s', 1, 20)).lack).to.equal(null)
      })

      it('and all of them together no more memory than that of eight', () => {
        const places = new Places()
        for (let i = 0; i < 8; i++) places.add(`g${i}`, { epochs: 2 ** 15 })
        expect(places.lack('gw', { epochs: 1 })?.message).to.include('all gateways more than 262144')
        expect(places.lack('gw', { epochs: -1, ranges: 1, sources: 1 })).to.equal(null)
        places.add('g3', { epochs: -1 })
        expect(places.lack('gw', { epochs: 1 })).to.equal(null)
      })

      it('what has left a spool makes room; until then a source beyond it stays as it was', () => {
        const streams = new Streams()
        streams.setHead('gw', 'one', thousand('a', 22))
        streams.setHead('gw', 'two', thousand('b', 5))
        expect(streams.setHead('gw', 'two', thousand('b', 22)).lack).to.not.equal(null)
        const epochs = new Set(streams.of('gw').map(stream => stream.headOf('two')?.epochs.length))
        expect(epochs).to.deep.equal(new Set([undefined, 22, 5]))
        for (let i = 0; i < 2; i++) expect(streams.setHead('gw', 'one', thousand('a', 2)).lack).to.equal(null)
        expect(streams.setHead('gw', 'two', thousand('b', 22)).lack).to.equal(null)
        expect(known(streams, 'gw')).to.have.length(24_000)
        streams.setHead('gw', 'two', [])
        expect(streams.setHead('gw', 'three', thousand('b', 29)).lack).to.equal(null)
      })
    })

    it('says of which heads it knows a part only, and counts them', async () => {
      databases('one')
      /** @type {string[]} */
      const warnings = []
      const { it: consumer } = await rig.pipeline.openConsumer(['one'], { log: { ...silent, warn: text => { warnings.push(text) } } })
      for (let i = 0; i < 3; i++) {
        const epochs = Array.from({ length: 20 }, (_, e) => [`${e + 1}-aaaa0000`, 0, 9, 0, 10])
        const sources = Array.from({ length: 1000 }, (_, s) => ({ source: `x${i}-${s}`, rows: 10, epochs }))
        consumer.receive({ topic: `sluice/v2/evil/head/s${i}`, payload: Buffer.from(JSON.stringify({ sources })) }, () => {})
      }
      expect(consumer.state.ignored).to.equal(2)
      expect(warnings).to.have.length(1)
      expect(warnings[0]).to.match(/^Ignored a head on sluice\/v2\/evil\/head\/s1: SLUICE_PROTOCOL: It has more than 32768 epochs/)
    })
  })
})

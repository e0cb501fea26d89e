import { expect } from 'chai'
import { HeldOffsets } from '../../../broker/kafka/held-offsets.js'
import { Retained } from '../../../broker/kafka/retained.js'
import { Share } from '../../../broker/kafka/share.js'
import { gatewayOf, partitionOf, stagePartitionOf, stageTopicOf, stageTopicsFor } from '../../../broker/kafka/topics.js'
import { consumerTopics, filters, gatewayTopics } from '../../../broker/topics.js'

const packet = { topic: 'any', payload: Buffer.from('x') }

describe('held offsets', () => {
  /** @param {bigint} first */
  const open = first => {
    let acknowledged = 0
    const held = new HeldOffsets(first, () => { acknowledged++ })
    return { held, get acknowledged () { return acknowledged } }
  }

  it('are committed up to the first that is not acknowledged, in whatever order they are', () => {
    const { held } = open(7n)
    const [a, b, c] = [7n, 8n, 10n].map(offset => held.hold(offset, packet))
    held.acknowledge(b)
    expect(held.position).to.equal(7n)
    held.acknowledge(a)
    expect(held.position).to.equal(10n)
    held.acknowledge(c)
    expect(held.position).to.equal(11n)
    held.advance(20n) // the marker of a transaction, or what was compacted away
    expect(held.position).to.equal(20n)
  })

  it('are counted once each, and let go of what is acknowledged', () => {
    const tracker = open(0n)
    const [a, b] = [0n, 1n].map(offset => tracker.held.hold(offset, packet))
    tracker.held.acknowledge(b)
    tracker.held.acknowledge(b)
    expect([tracker.held.count, tracker.held.length, tracker.acknowledged]).to.deep.equal([1, 2, 1])
    expect(tracker.held.unacknowledged).to.deep.equal([a])
    expect(b.packet).to.equal(null)
  })

  it('go on where nothing has come yet', () => {
    expect(open(5n).held.position).to.equal(5n)
  })
})

describe('the topics of staging in Kafka', () => {
  it('have each kind of message in one of them, and a subscription for it there', () => {
    const { data, head, echo, resent } = gatewayTopics('gw')
    const { sinks, commit, resend } = consumerTopics('group:plant')
    expect(stageTopicOf(data('press'))).to.equal('data')
    expect(stageTopicOf(head('out'))).to.equal('heads')
    expect(stageTopicOf(sinks('in'))).to.equal('sinks')
    for (const topic of [echo('out'), commit('db', 'gw'), resend('in', 'gw')]) expect(stageTopicOf(topic)).to.equal('control')
    expect(stageTopicOf(resent('group:plant', 'in'))).to.equal('resent')
    expect(stageTopicsFor(filters.data('+', '+'))).to.deep.equal(['data'])
    expect(stageTopicsFor(filters.resent('+', 'group:plant', 'in'))).to.deep.equal(['resent'])
    expect(stageTopicsFor('sluice/v2/#')).to.have.length(5)
  })

  it('have all that is about a gateway in one partition, which a subscription for it names; and its batches by their sources', () => {
    const { data, head, echo } = gatewayTopics('a+b')
    const { commit, resend } = consumerTopics('group:plant')
    expect(gatewayOf(filters.heads('a+b'))).to.equal('a+b')
    expect(gatewayOf(filters.commits('a+b'))).to.equal('a+b')
    for (const filter of [filters.heads('+'), filters.sinks, 'sluice/v2/#']) expect(gatewayOf(filter)).to.equal(null)
    const its = partitionOf('a+b', 60)
    expect(stagePartitionOf('heads', head('out'), 60)).to.equal(its)
    for (const topic of [echo('out'), commit('db', 'a+b'), resend('in', 'a+b')]) {
      expect(stagePartitionOf('control', topic, 60)).to.equal(its)
    }
    expect(stagePartitionOf('data', data('press'), 12)).to.equal(partitionOf(data('press'), 12))
  })

  it('have the partitions that Kafka\'s own clients choose', () => {
    expect(partitionOf('press/a', 5)).to.equal(3) // by org.apache.kafka.common.utils.Utils.murmur2
  })
})

describe('a share', () => {
  const sinksOf = (/** @type {string[]} */ ...names) => {
    return { gateway: '+', source: '+', member: undefined, sinks: names.map(sink => ({ sink, label: sink, committed: true })) }
  }

  it('has the sources whose partitions are assigned, and none before; whoever listens is told of each change', () => {
    const [one, other] = [new Share(), new Share()]
    let told = 0
    one.onMoved(() => { told++ })
    expect(one.has('gw', 'press')).to.equal(false)
    one.assigned([0, 1, 2], 6)
    other.assigned([3, 4, 5], 6)
    const sources = Array.from({ length: 100 }, (_, i) => `machine-${i}`)
    expect(sources.every(source => one.has('gw', source) !== other.has('gw', source))).to.equal(true)
    expect(sources.filter(source => one.has('gw', source)).length).to.be.within(30, 70)
    expect(one.has('gw')).to.equal(true) // some source of it may be
    expect(told).to.equal(1)
  })

  it('says which sink another member lacks', () => {
    const share = new Share()
    share.heard('other', /** @type {any} */ (sinksOf('history')))
    expect(share.flawOf(['history'], '+', '+')).to.equal('')
    expect(share.flawOf(['history', 'archive'], '+', '+')).to.equal('a member has no sink "archive"')
    expect(share.flawOf(['archive'], 'gw', '+')).to.equal('') // who reads another gateway is none
    share.heard('other', null)
    expect(share.flawOf(['history', 'archive'], '+', '+')).to.equal('')
  })
})

describe('what is retained', () => {
  const { head, data } = gatewayTopics('gw')

  it('is the newest of each topic, and nothing that is none of the protocol, or too large', () => {
    const retained = new Retained()
    expect(retained.set(head('out'), Buffer.from('{}'))).to.equal(true)
    expect(retained.set(head('out'), Buffer.from('{"a":1}'))).to.equal(true)
    expect(retained.set(data('press'), Buffer.from('x'))).to.equal(false)
    expect(retained.set('somebody/else', Buffer.from('x'))).to.equal(false)
    expect(retained.set(head('large'), Buffer.alloc(2 ** 20 + 1))).to.equal(false)
    expect([...retained].map(([topic, payload]) => [topic, String(payload)])).to.deep.equal([[head('out'), '{"a":1}']])
    retained.set(head('out'), Buffer.alloc(0))
    expect([...retained]).to.deep.equal([])
  })
})

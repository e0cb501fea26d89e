import { expect } from 'chai'
import { consumerTopics, filters, gatewayTopics, isForTopic, parseTopic } from '../../broker/topics.js'

const names = ['press', 'hall 3/press', '+', '#', '50%', '%2F', '..', 'Öl', 'a\u0000b', '\ufdd0\u{1fffe}', 'group:a/b', 'constructor']

describe('topics', () => {
  it('carry any name as one level', () => {
    for (const name of names) {
      const gateway = gatewayTopics(name)
      const consumer = consumerTopics(name)
      for (const [topic, parts] of /** @type {[string, object][]} */ ([
        [gateway.data(name), { kind: 'data', gateway: name, source: name }],
        [gateway.head(name), { kind: 'head', gateway: name, spool: name }],
        [gateway.echo(name), { kind: 'echo', gateway: name, spool: name }],
        [gateway.resent(name, 'in'), { kind: 'resent', gateway: name, consumer: name, reader: 'in' }],
        [consumer.sinks(name), { kind: 'sinks', consumer: name, reader: name }],
        [consumer.commit(name, 'gw'), { kind: 'commit', consumer: name, sink: name, gateway: 'gw' }],
        [consumer.resend('in', name), { kind: 'resend', consumer: name, reader: 'in', gateway: name }]
      ])) {
        expect(topic).to.not.match(/[+#\0\p{Noncharacter_Code_Point}]/u)
        expect(parseTopic(topic)).to.deep.equal(parts)
      }
    }
  })

  it('are what the filters of the two ends include, and no others', () => {
    const { data, head, resent } = gatewayTopics('gw')
    const { sinks, commit, resend } = consumerTopics('hall/3')
    for (const [filter, topic] of [
      [filters.data('gw', '+'), data('press')], [filters.data('+', 'press'), data('press')], [filters.heads('+'), head('out')],
      [filters.resent('gw', 'hall/3', 'in'), resent('hall/3', 'in')], [filters.sinks, sinks('in')],
      [filters.commits('gw'), commit('db', 'gw')], [filters.resends('gw'), resend('in', 'gw')]
    ]) {
      const all = [data('press'), head('out'), resent('hall/3', 'in'), sinks('in'), commit('db', 'gw'), resend('in', 'gw')]
      expect(all.filter(each => isForTopic(filter, each)), filter).to.deep.equal([topic])
    }
    expect(isForTopic(filters.commits('gw'), commit('db', 'other'))).to.equal(false)
  })

  it('of third parties, and of other versions, are not mistaken for our own', () => {
    for (const topic of [
      'plant/press/data', 'sluice/v1/gw/press/data', 'sluice/v2/gw/data', 'sluice/v2/gw/data/press/more', 'sluice/v2/gw/data/',
      'sluice/v2//data/press', 'sluice/v2/gw/commit/db', 'sluice/v2/gw/constructor/x', 'sluice/v2/gw/preflight/x'
    ]) {
      expect(parseTopic(topic), topic).to.equal(null)
    }
  })

  for (const [filter, meant, other] of [
    ['plant/press', ['plant/press'], ['plant', 'plant/press/1']],
    ['plant/+/temperature', ['plant/press/temperature'], ['plant/temperature', 'plant/press/pressure']],
    ['plant/#', ['plant', 'plant/press', 'plant/press/temperature'], ['plants/press']],
    ['#', ['plant', 'plant/press'], ['$SYS/broker/version']],
    ['$SYS/#', ['$SYS/broker/version'], ['plant']],
    ['$share/group/plant/+', ['plant/press'], ['group/plant', 'plant/press/1']]
  ]) {
    it(`${filter} includes what MQTT says it does`, () => {
      for (const topic of meant) expect(isForTopic(String(filter), topic), topic).to.equal(true)
      for (const topic of other) expect(isForTopic(String(filter), topic), topic).to.equal(false)
    })
  }
})

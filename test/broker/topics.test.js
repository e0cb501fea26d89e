import { expect } from 'chai'
import { isForTopic, parseTopic, topicsOf } from '../../broker/topics.js'

describe('topics', () => {
  it('carry any name as one level', () => {
    for (const name of ['press', 'hall 3/press', '+', '#', '50%', '%2F', '..', 'Öl', 'a\u0000b']) {
      const { data, head, commit, replay, replayData } = topicsOf('gw', name)
      expect(data.split('/')).to.have.length(5)
      expect(data).to.not.match(/[+#\0]/)
      expect(parseTopic(data)).to.deep.equal({ gateway: 'gw', source: name, kind: 'data' })
      expect(parseTopic(head)).to.deep.equal({ gateway: 'gw', source: name, kind: 'head' })
      expect(parseTopic(commit(name))).to.deep.equal({ gateway: 'gw', source: name, kind: 'commit', sink: name })
      expect(parseTopic(replay(name))).to.deep.equal({ gateway: 'gw', source: name, kind: 'replay', sink: name })
      expect(parseTopic(replayData(name))).to.deep.equal({ gateway: 'gw', source: name, kind: 'replayData', sink: name })
    }
  })

  it('of third parties are not mistaken for our own', () => {
    const topics = [
      'plant/press/data', 'sluice/v2/gw/press/data', 'sluice/v1/gw/press', 'sluice/v1/gw/press/data/more', 'sluice/v1/gw/press/commit',
      'sluice/v1/gw/press/replay/db/other'
    ]
    for (const topic of topics) {
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

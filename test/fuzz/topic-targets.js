import { consumerTopics, gatewayTopics, isForTopic, level, parseTopic } from '../../broker/topics.js'
import { parseTopic as parseSparkplugTopic } from '../../gateway/sparkplug/topic.js'

/** @typedef {import('./run.js').Target} Target */

const WORDS = [
  'sluice', 'v1', 'v2', 'gw', 'press', 'data', 'head', 'commit', 'resend', 'resent', 'sinks', 'spBv1.0', 'NDATA', 'DBIRTH', 'STATE', '', '+', '#', '%2F', '%'
]
const { data: dataOf, head, resent } = gatewayTopics('gw 1')
const { commit, resend } = consumerTopics('group:hall')
const data = dataOf('hall/press')

/** The names of topics, which anybody who publishes can choose. @type {Target[]} */
export const topicTargets = [{
  name: 'topics',
  samples: [
    data, head('out'), resent('gw 1', '%'), commit('sink/1', 'gw 1'), resend('in', '#'), 'spBv1.0/plant/DDATA/cell/press'
  ].map(topic => Buffer.from(topic)),
  invent: random => Buffer.from(Array.from({ length: random.below(9) }, () => random.pick(WORDS)).join('/')),
  read (bytes) {
    const topic = bytes.toString()
    const about = parseTopic(topic)
    parseSparkplugTopic(topic)
    isForTopic('sluice/+/#', topic)
    isForTopic(topic, data)
    if (about) level(Object.values(about).join('/'))
    return 1
  }
}]

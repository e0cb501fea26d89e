import { consumerTopics, gatewayTopics, isForTopic, level, parseTopic } from '../../broker/topics.js'
import { parseTopic as parseSparkplugTopic } from '../../gateway/sparkplug/topic.js'

/** @typedef {import('./run.js').Target} Target */

const WORDS = [
  'sluice', 'v1', 'v2', 'gw', 'press', 'data', 'head', 'commit', 'resend', 'resent',
  'sinks', 'spBv1.0', 'NDATA', 'DBIRTH', 'STATE', '', '+', '#', '%2F', '%'
]
const { data, head, resent } = gatewayTopics('gw 1')
const { sinks, commit, resend } = consumerTopics('group:hall/1')
const SAMPLES = [
  data('hall/press'), head('spool'), resent('gw', 'a%'), sinks('reader'), commit('sink/1', 'gw 1'),
  resend('reader', 'gw 1'),
  'spBv1.0/plant/DDATA/cell/press'
]

/** The names of topics, which anybody who publishes can choose. @type {Target[]} */
export const topicTargets = [{
  name: 'topics',
  samples: SAMPLES.map(topic => Buffer.from(topic)),
  invent: random => Buffer.from(Array.from({ length: random.below(9) }, () => random.pick(WORDS)).join('/')),
  read (bytes) {
    const topic = bytes.toString()
    const about = parseTopic(topic)
    parseSparkplugTopic(topic)
    isForTopic('sluice/+/#', topic)
    isForTopic(topic, SAMPLES[0])
    for (const name of Object.values(about ?? {})) level(name)
    return 1
  }
}]

import { KafkaClient } from '../../gateway/kafka/client.js'
import { Member } from './member.js'

// A member in a process of its own, to be killed: PORT GROUP TOPIC PATH.

const [port, group, topic, path] = process.argv.slice(2)
const cluster = { client: () => new KafkaClient({ host: '127.0.0.1', port: Number(port), login: 'none', user: '', password: '' }) }
const member = new Member({ cluster, group, topics: [topic], sinks: ['sink'] })
await member.addSink('sink', path)

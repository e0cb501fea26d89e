import { KafkaClient } from '../../gateway/kafka/client.js'
import { Member } from './member.js'

// A member in a process of its own, to be killed: PORT GROUP TOPIC PATH, and the gateway that it is of.

const [port, group, topic, path, own] = process.argv.slice(2)
const server = /** @type {const} */ ({ host: '127.0.0.1', login: 'none', user: '', password: '' })
const cluster = { client: (/** @type {string|undefined} */ name) => new KafkaClient({ ...server, port: Number(port) }, undefined, name) }
const member = new Member({ cluster, group, topics: [topic], sinks: ['sink'], more: { own } })
await member.addSink('sink', path)

// Run by the bench as a process of its own. Arguments: host, port, the load as JSON. Prints "ready" when all is encoded and connected,
// publishes on SIGUSR2, as fast as the broker acknowledges, prints "published" when it has acknowledged all, and ends.
import { once } from 'node:events'
import { messageAt } from './messages.js'
import { encodePublish, RawPublisher } from './raw-publisher.js'

const CONNECTIONS = 4
const WINDOW = 500

const [host, port, json] = process.argv.slice(2)
/** @type {import('./messages.js').Load} */
const load = JSON.parse(json)
/** @type {Buffer[][]} */
const packets = Array.from({ length: CONNECTIONS }, () => [])
for (let i = 0; i < load.messages; i++) {
  const own = packets[i % CONNECTIONS]
  own.push(encodePublish(messageAt(load, i), own.length))
}
const publishers = packets.filter(own => own.length > 0).map((own, i) => new RawPublisher({
  host, port: Number(port), clientId: `bench-publisher-${process.pid}-${i}`, packets: own, window: WINDOW
}))
await Promise.all(publishers.map(publisher => publisher.connected()))
console.log('ready')
await once(process, 'SIGUSR2')
await Promise.all(publishers.map(publisher => publisher.publish()))
console.log('published')

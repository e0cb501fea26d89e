// Run by the bench as a process of its own: MQTT.js, which acknowledges and forgets. Arguments: broker url, messages, how many of the first
// are not counted. Prints "subscribed", and at the end the seconds and the processor time that the others took, as JSON.
import { connectAsync } from 'mqtt'
import { TOPICS } from './messages.js'

const [url, messages, warmUp] = process.argv.slice(2)
let received = 0
let before = { cpu: process.cpuUsage(), ms: performance.now() }
const client = await connectAsync(url, { protocolVersion: 5, properties: { receiveMaximum: 1000 } })
client.on('message', () => {
  received++
  if (received === Number(warmUp)) before = { cpu: process.cpuUsage(), ms: performance.now() }
  if (received === Number(messages)) finish()
})
await client.subscribeAsync(TOPICS, { qos: 1 })
console.log('subscribed')

function finish () {
  const { user, system } = process.cpuUsage(before.cpu)
  console.log(JSON.stringify({ seconds: (performance.now() - before.ms) / 1000, cpuSeconds: (user + system) / 1e6 }))
  client.end()
}

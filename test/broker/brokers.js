import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'

/**
 * The brokers everything about staging is tried with.
 * @type {{name: string, protocolVersion: '5'|'3.1.1', require: (context: Mocha.Context) => void,
 *   start: () => Promise<{url: string, stop: () => Promise<void>}>}[]}
 */
export const brokers = [
  { name: 'Mosquitto over MQTT 5', protocolVersion: '5', require: requireMosquitto, start: startMosquitto },
  { name: 'Mosquitto over MQTT 3.1.1', protocolVersion: '3.1.1', require: requireMosquitto, start: startMosquitto },
  { name: 'the embedded broker', protocolVersion: '3.1.1', require: () => {}, start: startEmbedded }
]

async function startEmbedded () {
  const { port, close } = await startEmbeddedBroker({ port: 0 })
  return { url: `mqtt://127.0.0.1:${port}`, stop: close }
}

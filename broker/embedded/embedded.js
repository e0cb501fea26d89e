import { createServer } from 'node:net'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { Aedes } from 'aedes'
import { SluiceError, describe } from '../../gateway/base/errors.js'
import { Outboxes } from './outboxes.js'

/** @typedef {import('../../gateway/base/log.js').Log} Log */

export const schema = {
  type: 'object',
  title: 'Embedded broker',
  description: 'An MQTT 3.1.1 broker inside the gateway. It keeps everything in memory: after a restart the spools send again what ' +
    'the sinks lack.',
  additionalProperties: false,
  properties: {
    port: {
      type: 'integer',
      title: 'Port',
      description: 'The TCP port to listen on; 0 picks a free one.',
      minimum: 0,
      maximum: 65_535,
      default: 1883
    },
    host: {
      type: 'string',
      title: 'Listen on',
      description: '127.0.0.1 is reached from this machine only. The embedded broker asks no client for a password: other machines ' +
        'belong on a Mosquitto.',
      default: '127.0.0.1',
      'x-advanced': true
    },
    maxQueuedBytes: {
      type: 'integer',
      title: 'Queue per client',
      description: 'What is kept in memory for a client that is away or slow. More is dropped and counted; the sinks ask the spool for it.',
      'x-unit': 'bytes',
      minimum: 65_536,
      default: 64 * 2 ** 20
    }
  }
}

/**
 * Aedes with its outboxes bounded. Aedes on its own waits for the slowest subscriber before it reads on from a publisher, sends without
 * awaiting acknowledgements, and queues without end for a session that is away. Here each client has an outbox of its own.
 * @param {{port?: number, host?: string, maxQueuedBytes?: number}} [options]  see `schema`
 * @param {{log?: Log}} [context]
 * @throws {SluiceError} SLUICE_BROKER_PORT when it cannot listen there
 */
export async function startEmbeddedBroker (options = {}, { log } = {}) {
  const { port, host, maxQueuedBytes } = schema.properties
  const address = { port: options.port ?? port.default, host: options.host ?? host.default }
  const broker = await Aedes.createBroker({ concurrency: 0 })
  reportErrors(broker, log)
  const outboxes = new Outboxes(broker, options.maxQueuedBytes ?? maxQueuedBytes.default, log)
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const server = createServer({ noDelay: true }, socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    outboxes.adopt(broker.handle(socket))
  })

  try {
    server.listen(address)
    await once(server, 'listening')
  } catch (error) {
    await promisify(broker.close).call(broker)
    throw cannotListen(error, address.host, address.port)
  }
  await announce(broker)
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,

    /** Clients connected and messages queued for clients now, and what was dropped since the start. */
    stats: () => ({ clients: broker.connectedClients, ...outboxes.stats() }),

    /** Disconnects everybody and forgets everything. */
    async close () {
      const closed = once(server, 'close')
      server.close()
      await promisify(broker.close).call(broker)
      for (const socket of sockets) socket.destroy()
      await closed
    }
  }
}

/**
 * Each client's first error: those that follow are the messages that were on their way to it.
 * @param {Aedes} broker
 * @param {Log|undefined} log
 */
function reportErrors (broker, log) {
  const reported = new WeakSet()
  const emitter = /** @type {import('node:events').EventEmitter} */ (broker)
  emitter.on('error', error => log?.error(`Embedded broker: ${describe(error)}`))
  emitter.on('clientError', (client, error) => {
    if (reported.has(client)) return
    reported.add(client)
    log?.info(`Embedded broker: client ${client.id} was disconnected: ${describe(error)}`)
  })
}

/** Tells clients what this is, where Mosquitto does too. @param {any} broker */
async function announce (broker) {
  const payload = Buffer.from(`aedes version ${broker.version}`)
  await promisify(broker.publish).call(broker, { cmd: 'publish', topic: '$SYS/broker/version', payload, qos: 0, retain: true, dup: false })
}

/** @param {any} error @param {string} host @param {number} port */
function cannotListen (error, host, port) {
  const taken = error.code === 'EADDRINUSE'
  return new SluiceError('SLUICE_BROKER_PORT', `The embedded broker cannot listen on ${host}:${port} (${error.code}).`, {
    cause: error,
    fix: taken
      ? 'Another program, perhaps a broker of its own, has that port: stop it, use it instead, or give the embedded broker another port.'
      : 'Choose a port above 1023 and an address of this machine.'
  })
}

import { createServer } from 'node:net'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { Aedes } from 'aedes'
import { withDefaults } from '../../gateway/base/defaults.js'
import { SluiceError, describe } from '../../gateway/base/errors.js'
import { isLoopback } from '../../gateway/web/hosts.js'
import { WaitingRoom } from '../../gateway/web/waiting-room.js'
import { limitPackets, tooManyClients } from './limits.js'
import { Outboxes } from './outboxes.js'
import { Retained } from './retained.js'
import { nameIn, Users } from './users.js'

/** @typedef {import('../../gateway/base/log.js').Log} Log */

/** How long a client may take to log in, and how many may be about to, beside as many as there may be. */
const LOGIN_PATIENCE_MS = 5000
const LOGIN_PLACES = 100

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
      description: '127.0.0.1 is reached from this machine only; anything else, such as 0.0.0.0, from other machines too, and then there ' +
        'must be users. Data and passwords cross the network in the clear: where it is not yours alone, use a Mosquitto with TLS.',
      pattern: '^[A-Za-z0-9._:%-]+$',
      default: '127.0.0.1',
      'x-advanced': true
    },
    users: {
      type: 'array',
      items: { type: 'string', title: 'User' },
      title: 'Users',
      description: 'Who may connect, NAME:ROLE:PASSWORD a line; nobody else then. A gateway (NAME is its id) stages, and stores its ' +
        'own; a consumer is a gateway that stores what others stage, too, consumer/GROUP also for that group; a reader reads along; ' +
        'other has only the other topics. Empty: everybody who reaches it may do everything.',
      default: [],
      'x-secret': true,
      'x-advanced': true
    },
    grants: {
      type: 'array',
      items: { type: 'string', title: 'Grant' },
      title: 'Other topics',
      description: 'What users may do outside of sluice/v2, NAME read|write|readwrite TOPIC a line, as in: telegraf write telegraf/#.',
      default: [],
      'x-advanced': true
    },
    maxClients: {
      type: 'integer',
      title: 'Clients',
      description: 'How many clients there may be, those included that are away and have left a session.',
      minimum: 1,
      maximum: 100_000,
      default: 200,
      'x-advanced': true
    },
    maxPacketBytes: {
      type: 'integer',
      title: 'Largest message',
      description: 'A client that sends a larger one is disconnected.',
      'x-unit': 'bytes',
      minimum: 2 ** 20,
      maximum: 2 ** 28,
      default: 32 * 2 ** 20,
      'x-advanced': true
    },
    maxQueuedBytes: {
      type: 'integer',
      title: 'Queue per client',
      description: 'What is kept in memory for a client that is away or slow. More is dropped and counted; the sinks ask the spool for ' +
        'it. Each user may have as much retained.',
      'x-unit': 'bytes',
      minimum: 65_536,
      default: 64 * 2 ** 20
    }
  }
}

/**
 * Aedes with its outboxes bounded. Aedes on its own waits for the slowest subscriber before it reads on from a publisher, sends without
 * awaiting acknowledgements, and queues without end for a session that is away. Here each client has an outbox of its own.
 * @param {{port?: number, host?: string, users?: string[], grants?: string[], maxClients?: number, maxPacketBytes?: number,
 *   maxQueuedBytes?: number}} [options]  see `schema`
 * @param {{log?: Log}} [context]
 * @throws {SluiceError} SLUICE_BROKER_PORT when it cannot listen there, SLUICE_BROKER_OPEN, SLUICE_BROKER_ACCOUNT
 */
export async function startEmbeddedBroker (options = {}, { log } = {}) {
  const { port, host, users: lines, grants, maxClients, maxPacketBytes, maxQueuedBytes } = withDefaults(schema, options)
  const users = lines.length > 0 ? new Users(lines, grants) : null
  if (!users && !isLoopback(host)) throw isOpen(host)
  const broker = await Aedes.createBroker({
    concurrency: 0,
    ...users?.handlers,
    authenticate (/** @type {any} */ client, name, password, done) {
      const refusal = users?.refusal(name ?? '', password ?? Buffer.alloc(0), client.conn.remoteAddress)
      const reason = refusal ?? (outboxes.count >= maxClients && !outboxes.has(client.id) ? tooManyClients() : null)
      done(/** @type {any} */ (reason), reason === null)
    }
  })
  reportErrors(broker, log)
  const outboxes = new Outboxes(broker, { maxQueuedBytes, mayRead: users && ((id, topic) => users.mayRead(id, topic)), log })
  new Retained(broker, { maxBytes: maxQueuedBytes, ownerOf: users ? nameIn : () => '', log })
  const room = new WaitingRoom({ places: maxClients + LOGIN_PLACES, patienceMs: LOGIN_PATIENCE_MS })
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const server = createServer({ noDelay: true }, socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    const leave = room.enter(socket.remoteAddress ?? '', () => socket.destroy())
    socket.once('close', leave)
    const client = broker.handle(socket)
    client.once('connected', leave)
    limitPackets(client, maxPacketBytes)
    outboxes.adopt(client)
  })

  try {
    server.listen({ port, host })
    await once(server, 'listening')
  } catch (error) {
    await promisify(broker.close).call(broker)
    throw cannotListen(error, host, port)
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

/** @param {string} host */
function isOpen (host) {
  return new SluiceError('SLUICE_BROKER_OPEN', `On ${host} other machines reach the embedded broker, and it has no users.`, {
    fix: 'Enter users, or listen on 127.0.0.1.'
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

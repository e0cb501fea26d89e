import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { SluiceError } from '../../base/errors.js'
import { serial } from '../../modbus/wire/transport.js'

/**
 * Where masters connect. It can be opened again after it is closed.
 *
 * @typedef {object} Port
 * @property {() => Promise<string>} open  its address in words. Throws SLUICE_MODBUS_LISTEN, SLUICE_MODBUS_SERIALPORT
 * @property {() => Promise<void>} close  and all its connections
 * @property {number} [number]  of a TCP port, once it has been open
 *
 * @typedef {(stream: import('node:stream').Duplex) => void} Accept
 */

const MAX_CONNECTIONS = 256
const LOOK_MS = 1000

/** @param {{host: string, port: number}} options @param {Accept} accept @returns {Port} */
export function networkPort ({ host, port }, accept) {
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  /** @type {import('node:net').Server|null} */
  let server = null
  const opened = {
    number: port,
    async open () {
      const opening = createServer({ noDelay: true }, socket => {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        accept(socket)
      })
      opening.maxConnections = MAX_CONNECTIONS
      try {
        opening.listen(opened.number, host)
        await once(opening, 'listening')
      } catch (error) {
        throw cannotListen(error, host, opened.number)
      }
      server = opening
      opened.number = /** @type {import('node:net').AddressInfo} */ (opening.address()).port
      return `${host.includes(':') ? `[${host}]` : host}:${opened.number}`
    },
    async close () {
      if (!server) return
      const closed = once(server, 'close')
      server.close()
      server = null
      for (const socket of sockets) socket.destroy()
      await closed
    }
  }
  return opened
}

/** @param {import('../../modbus/wire/transport.js').SerialSettings} settings @param {Accept} accept @returns {Port} */
export function serialPort (settings, accept) {
  /** @type {import('../../modbus/wire/transport.js').Connection|null} */
  let connection = null
  return {
    async open () {
      const opened = await fileAt(settings.path) // before it is opened: afterwards it may be gone already
      try {
        connection = await serial(settings).open(new AbortController().signal)
      } catch (error) {
        throw error instanceof SluiceError ? error : cannotOpen(error, settings.path)
      }
      accept(connection.stream)
      endWhenGone(connection, settings.path, opened)
      return settings.path
    },
    async close () {
      const closing = connection
      connection = null
      await closing?.end()
    }
  }
}

/**
 * A pulled-out adapter is an error only when something is written, and a device writes only when it is asked: so the path is watched.
 * @param {import('../../modbus/wire/transport.js').Connection} connection
 * @param {string} path
 * @param {string} opened  the file it was
 */
function endWhenGone ({ stream, end }, path, opened) {
  const timer = setInterval(async () => { if (await fileAt(path) !== opened) end().catch(() => {}) }, LOOK_MS)
  stream.once('close', () => clearInterval(timer))
}

/** Which file a path leads to; empty when it does not exist. @param {string} path */
function fileAt (path) {
  return stat(path).then(({ dev, ino }) => `${dev} ${ino}`, () => '')
}

/** @param {any} error @param {string} host @param {number} port */
function cannotListen (error, host, port) {
  return new SluiceError('SLUICE_MODBUS_LISTEN', `The simulator cannot listen on ${host}:${port} (${error.code}).`, {
    cause: error,
    fix: error.code === 'EADDRINUSE'
      ? 'Another program has that port: stop it, or choose another port.'
      : 'Choose a port above 1023 and an address of this machine.'
  })
}

/** @param {unknown} error @param {string} path */
function cannotOpen (error, path) {
  return new SluiceError('SLUICE_MODBUS_LISTEN', `The simulator cannot open ${path}: ${error instanceof Error ? error.message : error}.`, {
    cause: error,
    fix: 'Choose a serial port of this machine that no other program uses.'
  })
}

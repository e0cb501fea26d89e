import { SluiceError } from '../../gateway/base/errors.js'

/** The databases that are servers, as the bench knows them. */
export const SERVERS = ['postgresql', 'mysql', 'mongodb', 'influxdb', 'clickhouse']

/** The option with a database's server. @param {string} type */
export const serverOption = type => `${type}Server`

/**
 * The servers that a node names, for the environment of the bench: not for its arguments, which other users of the machine see.
 * @param {import('../node.js').RED} RED
 * @param {Record<string, any>} options  of the node
 * @returns {Record<string, string>}
 * @throws {SluiceError} SLUICE_BENCH_SERVER
 */
export function serverEnvironment (RED, options) {
  const named = SERVERS.filter(type => options[serverOption(type)])
  return Object.fromEntries(named.map(type => {
    const node = RED.nodes.getNode(options[serverOption(type)])
    if (!node?.options) throw refusal(type, 'is missing or not set up', 'Choose another in the form, and deploy.')
    return [`SLUICE_BENCH_${type.toUpperCase()}`, urlOf(type, node.options)]
  }))
}

/** @param {string} type @param {Record<string, any>} options  of the server's node */
function urlOf (type, { host = '', port, url, database, user = '', password = '', tls = 'off', version = '1' }) {
  if (tls !== 'off' && tls !== 'auto') throw refusal(type, 'is reached by TLS, and the bench uses none', 'Name one without TLS.')
  if (host.startsWith('/')) throw refusal(type, 'is reached by a Unix socket, and the bench uses TCP', 'Name its address and port.')
  if (version !== '1') throw refusal(type, `is version ${version}, and the bench measures version 1`, 'Name a server of version 1.')
  const scheme = type === 'postgresql' || type === 'mysql' ? type : 'http'
  const address = URL.parse(url ?? `${scheme}://${bracketed(host)}:${port}`)
  if (!address || address.protocol.includes('+')) throw refusal(type, 'is a cluster', 'Name one server, by its host and port.')
  address.username = encodeURIComponent(user)
  address.password = encodeURIComponent(password)
  address.pathname = `/${encodeURIComponent(database)}`
  return String(address)
}

/** @param {string} host */
function bracketed (host) {
  return host.includes(':') ? `[${host}]` : host
}

/** @param {string} type @param {string} reason @param {string} fix */
function refusal (type, reason, fix) {
  return new SluiceError('SLUICE_BENCH_SERVER', `The ${type} server of this node ${reason}.`, { fix })
}

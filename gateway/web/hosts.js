import { isIP } from 'node:net'
import { hostname } from 'node:os'

/**
 * Whether a `Host` header names this machine: by an address, as `localhost`, by the machine's own name (also in `.local`), or by a name
 * that was allowed. Any other is a name that somebody else may have pointed at this machine's address, so that a page of theirs counts as
 * one of the gateway's ("DNS rebinding").
 * @param {string|undefined} host
 * @param {readonly string[]} allowHosts
 */
export function isKnownHost (host, allowHosts) {
  const name = parse(host)?.hostname.replace(/^\[|\]$|\.$/g, '')
  if (!name) return false
  return isIP(name) > 0 || name === 'localhost' || ownNames().includes(name) || allowHosts.some(each => parse(each)?.hostname === name)
}

/**
 * Whether a page's `Origin` is one of these hosts, or an allowed one: name and port.
 * @param {string} origin
 * @param {readonly string[]} hosts
 */
export function isOriginOf (origin, hosts) {
  const own = URL.canParse(origin) ? new URL(origin).host : ''
  return own !== '' && hosts.some(host => parse(host)?.host === own)
}

/** Whether what listens there is heard by this machine alone. @param {string} host */
export function isLoopback (host) {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** The name of this machine, in the ways in which it is written. */
export function ownNames () {
  const full = hostname().toLowerCase()
  const [short] = full.split('.')
  return [full, short, `${short}.local`]
}

/** Null for what is not a host with or without a port. @param {string|undefined} host */
function parse (host) {
  const url = `http://${host}`
  if (!host || /[/?#@\\\s]/.test(host) || !URL.canParse(url)) return null
  return new URL(url)
}

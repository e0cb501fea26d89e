import { readFileSync } from 'node:fs'
import { SluiceError } from '../../gateway/base/errors.js'

/** Of a broker. @param {string} url @returns {{place: string, target: import('mqtt').IClientOptions}} */
export function addressOf (url) {
  const parsed = URL.canParse(url) ? new URL(url) : null
  const protocol = parsed?.protocol.slice(0, -1)
  if (!parsed?.hostname || (protocol !== 'mqtt' && protocol !== 'mqtts' && protocol !== 'ws' && protocol !== 'wss')) {
    const shown = parsed ? `${parsed.protocol}//${parsed.host}` : 'given'
    throw new SluiceError('SLUICE_BROKER_OPTIONS', `The broker's address ${shown} cannot be used.`, { fix: 'Write it as mqtt://host:port or mqtts://host:port.' })
  }
  const place = `${parsed.protocol}//${parsed.host}`
  if (parsed.username || parsed.password) {
    const text = `The broker's address ${place} carries a user or password, which would show in flows and logs.`
    throw new SluiceError('SLUICE_BROKER_OPTIONS', text, { fix: 'Give them in their own fields.' })
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '')
  const path = protocol.startsWith('ws') ? parsed.pathname + parsed.search : undefined
  return { place, target: { protocol, host, port: parsed.port ? Number(parsed.port) : undefined, path } }
}

/**
 * By what it is known, and this client to it.
 * @param {import('./connection.js').BrokerOptions} options
 */
export function security ({ ca, verify, cert, key }) {
  return {
    ca: pem(ca, 'authority'),
    cert: pem(cert, 'client certificate'),
    key: pem(key, 'client key'),
    rejectUnauthorized: verify ?? true
  }
}

/** @param {string|undefined} textOrPath @param {string} what */
function pem (textOrPath, what) {
  if (!textOrPath) return undefined
  if (textOrPath.includes('-----BEGIN')) return textOrPath
  try {
    return readFileSync(textOrPath, 'utf8')
  } catch (error) {
    throw new SluiceError('SLUICE_BROKER_OPTIONS', `The ${what} of the broker cannot be read from the file ${textOrPath}.`, {
      cause: error, fix: 'Give the path of a PEM file, or its text.'
    })
  }
}

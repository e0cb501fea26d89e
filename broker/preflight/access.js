import { SluiceError, describe } from '../../gateway/base/errors.js'
import { said } from '../../gateway/stats/phrases.js'
import { filters } from '../topics.js'
import { finding } from './finding.js'
import { arrival, open, within } from './probing.js'

/** @typedef {import('./preflight.js').Probe} Probe */

/** A busy machine takes so long for a message; a broker that keeps it back takes as much of who tries. */
const ECHO_MS = 3000

/**
 * Whether a gateway may do what it needs to, tried below its own name only.
 * @param {Probe} probe
 */
export async function checkAccess ({ client, gateway, topic, findings }) {
  const denied = (/** @type {'subscribe'|'publish'} */ what, /** @type {string} */ where, /** @type {string} */ reason) => {
    findings.push(finding('error', `${what}-denied`,
      said`This user may not ${what} to ${where}, as the gateway ${gateway} has to (${reason}).`,
      said`Give it an account in the name ${gateway} (Mosquitto: sluice broker-acl writes what each may do).`))
  }
  const needed = [filters.sinks, filters.commits(gateway), filters.resends(gateway), filters.heads('+'), filters.data('+', '+')]
  const own = `${topic}/echo`
  for (const filter of [...needed, own]) {
    try {
      // Only the right to: what they bring is not wanted, least of all what is retained (rh 2, MQTT 5).
      await within(client.subscribeAsync(filter, { qos: 1, rh: 2 }))
      if (filter !== own) await within(client.unsubscribeAsync(filter))
    } catch (error) {
      return denied('subscribe', filter, describe(error))
    }
  }
  const echo = arrival(client, own, ECHO_MS)
  try {
    await within(client.publishAsync(own, 'x', { qos: 1 }))
  } catch (error) {
    return denied('publish', own, describe(error))
  }
  if (!await echo) denied('publish', own, 'a message was acknowledged, but did not come back')
}

/**
 * Whether anybody may write in the name of this gateway.
 * @param {Probe} probe
 */
export async function checkOpenness (probe) {
  const { options, findings } = probe
  const isKnown = Boolean(options.user || options.cert)
  if (isKnown && !await mayWriteUnknown(probe)) return
  findings.push(finding(isNear(options.url) ? 'info' : 'warning', 'open-broker',
    said`The broker lets in whoever reaches it, without a password: anybody there can read all data, store rows in the name of this
      gateway, and have the spools send everything again and again.`,
    said`Unless only this machine reaches it, give each gateway a user of its own and an access list (for Mosquitto, sluice broker-acl
      writes both).`))
}

/**
 * Whether others on the way can read along.
 * @param {Probe} probe
 */
export function checkEncryption ({ options, findings }) {
  if (isNear(options.url) || /^(mqtts|wss):/.test(options.url ?? '')) return
  const password = options.password ? said`, the password included` : ''
  findings.push(finding('warning', 'no-tls',
    said`The broker is on another machine, and the connection is not encrypted: whoever is on the way can read and change all that is
      sent${password}.`,
    said`Have the broker listen with TLS (Mosquitto: certfile, keyfile), and write its address with mqtts://.`))
}

/** @param {Probe} probe */
async function mayWriteUnknown ({ options, client, id, topic }) {
  let unknown
  try {
    unknown = await open({ ...options, user: '', password: '', cert: '', key: '' }, { clientId: `sluice-preflight-${id}-unknown` })
  } catch (error) {
    if (error instanceof SluiceError) return false
    throw error
  }
  try {
    await within(client.subscribeAsync(`${topic}/unknown`, { qos: 1 }))
    const message = arrival(client, `${topic}/unknown`)
    const isRefused = await within(unknown.client.publishAsync(`${topic}/unknown`, 'x', { qos: 1 })).then(() => false, () => true)
    return !isRefused && await message !== null
  } finally {
    await unknown.close({ patienceMs: 0 })
  }
}

/** Whether only this machine can reach the broker. @param {string} [url] */
function isNear (url = 'mqtt://127.0.0.1') {
  return /^(localhost|127\.[\d.]+|\[::1\])$/.test(new URL(url).hostname)
}

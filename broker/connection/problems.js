import { SluiceError } from '../../gateway/base/errors.js'

/**
 * @typedef {{code: `SLUICE_BROKER_${string}`, what: (place: string, error: any) => string, fix: string}} Problem
 */

/** @type {Record<string, Problem>} */
const PROBLEMS = {
  auth: {
    code: 'SLUICE_BROKER_AUTH',
    what: place => `The broker at ${place} does not let this client in.`,
    fix: 'Check user and password, and that the broker\'s access rules allow this client id.'
  },
  refused: {
    code: 'SLUICE_BROKER_REFUSED',
    what: place => `Nothing listens at ${place}.`,
    fix: 'Start the broker, or correct host and port.'
  },
  unreachable: {
    code: 'SLUICE_BROKER_UNREACHABLE',
    what: (place, { code, message }) => `The broker at ${place} cannot be reached (${code ?? message}).`,
    fix: 'Check the host name, the network and the firewall.'
  },
  untrusted: {
    code: 'SLUICE_BROKER_TLS',
    what: (place, { code }) => `The certificate of the broker at ${place} is not trusted (${code}).`,
    fix: 'Give the certificate of the authority (CA) that signed it, and use the host name it was issued for.'
  },
  tls: {
    code: 'SLUICE_BROKER_TLS',
    what: (place, { code }) => `The encrypted connection to ${place} failed (${code}).`,
    fix: 'Check that this port speaks TLS (8883 usually does, 1883 does not), and whether the broker asks for a client certificate.'
  },
  protocol: {
    code: 'SLUICE_BROKER_PROTOCOL',
    what: place => `The broker at ${place} does not speak the MQTT version asked for.`,
    fix: 'Set the protocol version to "auto".'
  },
  clientId: {
    code: 'SLUICE_BROKER_CLIENT_ID',
    what: place => `The broker at ${place} does not accept this client id.`,
    fix: 'Check the broker\'s rules for client ids.'
  },
  busy: {
    code: 'SLUICE_BROKER_BUSY',
    what: (place, { code }) => `The broker at ${place} takes no connections now (reason code ${code}).`,
    fix: 'It is tried again without end.'
  },
  takenOver: {
    code: 'SLUICE_BROKER_TAKEN_OVER',
    what: place => `Another client took over this session on the broker at ${place}.`,
    fix: 'Two gateways with one gateway id, or two sinks of one name, push each other out: give each its own.'
  },
  silent: {
    code: 'SLUICE_BROKER_SILENT',
    what: place => `What listens at ${place} ended the connection without an answer to CONNECT.`,
    fix: 'Check that it is an MQTT broker, that mqtts:// is used where it requires TLS, and try protocol version 3.1.1.'
  },
  lost: {
    code: 'SLUICE_BROKER_LOST',
    what: place => `The connection to the broker at ${place} was lost.`,
    fix: 'It is made again without end. If this repeats at once, another client may use the same client id.'
  },
  other: {
    code: 'SLUICE_BROKER_CONNECTION',
    what: (place, { code, message }) => `The connection to the broker at ${place} failed: ${code ? `${message} (${code})` : message}.`,
    fix: 'It is tried again without end.'
  }
}

/**
 * By the code of a CONNACK (MQTT 3.1.1 and 5), of a DISCONNECT, of a socket or of TLS.
 * @type {[kind: string, codes: (string|number)[]][]}
 */
const KINDS = [
  ['protocol', [1, 132]],
  ['clientId', [2, 133]],
  ['busy', [3, 136, 137, 151, 159]],
  ['auth', [4, 5, 134, 135, 138, 140]],
  ['takenOver', [142]],
  ['refused', ['ECONNREFUSED']],
  ['unreachable', ['ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL']],
  ['untrusted', ['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID', 'CERT_UNTRUSTED', 'ERR_TLS_CERT_ALTNAME_INVALID']]
]

const kindOfCode = new Map(KINDS.flatMap(([kind, codes]) => codes.map(code => [code, kind])))

/**
 * What keeps a client from its broker, in clear words and without secrets.
 * @param {keyof PROBLEMS} kind
 * @param {string} place  the broker's address without user and password
 * @param {any} [error]
 */
export function problem (kind, place, error = {}) {
  const { code, what, fix } = PROBLEMS[kind]
  return new SluiceError(code, what(place, error), { fix, cause: error, details: { reason: error.code } })
}

/**
 * @param {any} error  as MQTT.js emits it, or a DISCONNECT as `{code}`
 * @param {string} place
 */
export function problemOf (error, place) {
  return problem(kindOfError(error), place, error)
}

/** @param {any} error @returns {keyof PROBLEMS} */
function kindOfError ({ code, message, errors }) {
  if (code === undefined && errors?.length > 0) return kindOfError(errors[0])
  if (message === 'connack timeout' || message === 'Keepalive timeout') return 'unreachable'
  return kindOfCode.get(code) ?? (/^(ERR_SSL|ERR_TLS|EPROTO)/.test(code) ? 'tls' : 'other')
}

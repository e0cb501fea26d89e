import { SluiceError } from '../base/errors.js'
import { isKnownHost, isOriginOf } from './hosts.js'
import { refuse } from './refuse.js'

/**
 * @typedef {import('node:http').IncomingMessage} IncomingMessage
 * @typedef {import('node:http').ServerResponse} ServerResponse
 * @typedef {(request: IncomingMessage, response: ServerResponse, next: () => void) => void} Middleware
 */

/** No page of another origin may show one of ours inside itself, and have its viewer click there. */
export const FRAME_HEADERS = { 'Content-Security-Policy': 'frame-ancestors \'self\'', 'X-Frame-Options': 'SAMEORIGIN' }

/** The editor and the live page. */
const OWN_PAGES = /^\/(sluice\/?)?(\?|$)/

const ALLOW = 'Allow it with --allow-host NAME, or in a Node-RED of your own with sluice: { allowHosts: ["NAME"] } in its settings.js.'

/**
 * Why a request is refused that a browser may have sent for a page of somebody else; null when it is not. A link from elsewhere may lead
 * here; nothing else may come from elsewhere. What is not a browser sends neither an origin nor where it comes from. Nor does a browser
 * over plain http to an address of another machine, but mostly the page it is for; of links it then follows those to the pages of ours.
 * @param {Pick<IncomingMessage, 'method'|'headers'|'url'>} request
 * @param {readonly string[]} [allowHosts]  names, with a port where it is not the usual one, besides those of this machine
 */
export function refusal ({ method = '', headers, url = '' }, allowHosts = []) {
  const forwarded = String(headers['x-forwarded-host'] ?? '').split(',').map(host => host.trim()).filter(Boolean)
  const hosts = [headers.host ?? '', ...forwarded]
  const unknown = hosts.find(host => !isKnownHost(host, allowHosts))
  if (unknown !== undefined) {
    return new SluiceError('SLUICE_WEB_HOST', `The gateway is not known as "${unknown}".`, { fix: ALLOW })
  }
  if (isLink(method, headers, url) || !isFromElsewhere(headers, [...hosts, ...allowHosts])) return null
  const origin = headers.origin ?? headers.referer
  const from = origin === undefined ? 'another site' : `a page of ${origin}`
  return new SluiceError('SLUICE_WEB_ORIGIN', `This request comes from ${from}, which may not use the gateway.`, {
    fix: `If that is the gateway's own name: ${ALLOW}`
  })
}

/**
 * A page opened in a tab of its own, whoever links to it; where a browser does not say so, one that runs no flow.
 * @param {string} method
 * @param {IncomingMessage['headers']} headers
 * @param {string} url
 */
function isLink (method, { origin, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination }, url) {
  if (method !== 'GET' && method !== 'HEAD') return false
  return origin === undefined && mode === undefined ? OWN_PAGES.test(url) : mode === 'navigate' && destination === 'document'
}

/** @param {IncomingMessage['headers']} headers @param {string[]} hosts  the gateway's own */
function isFromElsewhere ({ origin, referer, 'sec-fetch-site': site, 'user-agent': agent = '' }, hosts) {
  if (origin !== undefined) return !isOriginOf(origin, hosts)
  if (site !== undefined) return site === 'cross-site' || site === 'same-site' // the same site is any port of this machine
  return agent.startsWith('Mozilla/') && referer !== undefined && !isOriginOf(referer, hosts)
}

/** Refuses such requests, and keeps all pages out of the frames of others. @param {readonly string[]} [allowHosts] @returns {Middleware} */
export function guarded (allowHosts) {
  return (request, response, next) => {
    for (const [name, value] of Object.entries(FRAME_HEADERS)) response.setHeader(name, value)
    const refused = refusal(request, allowHosts)
    if (refused) refuse(response, refused)
    else next()
  }
}

/** Takes only what a form of another page cannot send. @type {Middleware} */
export function jsonOnly ({ headers }, response, next) {
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return next()
  refuse(response, new SluiceError('SLUICE_WEB_JSON', 'This is taken as JSON only.', {
    fix: 'Send it with the header Content-Type: application/json.'
  }))
}

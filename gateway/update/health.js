import { request as ask } from 'node:http'
import { request as askEncrypted } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * @typedef {object} Health
 * @property {string} version
 * @property {number} trouble  how many nodes could not start, or do not reach what they are to reach; 1 where the gateway says so much
 *   only to those who log in
 */

const ASK_MS = 5000
const LOOK_EVERY_MS = 250
const MAX_ANSWER_BYTES = 2 ** 20
/** So does a gateway answer that speaks https: see web/tls.js. */
const SENT_ON = 308
/** For so long, at a stretch, has the gateway to be healthy: one that falls again and again is not. Of a short wait it is a share. */
const STEADY_MS = 10_000
const STEADY_SHARE = 1 / 12

/** What is in trouble where nobody knows: it may be as much as there is. */
export const UNKNOWN_TROUBLE = Number.MAX_SAFE_INTEGER

/**
 * How the gateway is; null where it does not answer, or its flows do not run.
 * @param {string} url  of its pages
 * @returns {Promise<Health|null>}
 */
export async function healthOf (url) {
  const health = await get(new URL('sluice/health', url)).catch(() => null)
  if (health?.status !== 200) return null
  const ready = await get(new URL('sluice/health/ready', url)).catch(() => null) // an older gateway does not have it
  return { version: String(health.body.version), trouble: ready?.status === 503 ? ready.body.missing?.length ?? 1 : 0 }
}

/**
 * Waits until the gateway is healthy for a while.
 * @param {string} url
 * @param {object} wanted
 * @param {string} [wanted.version]
 * @param {number} [wanted.trouble]  at most
 * @param {number} wanted.waitSeconds  for as long
 * @param {() => Promise<boolean>} [isWanted]  false ends the waiting
 * @returns {Promise<string>} why it is not; empty where it is
 */
export async function waitForHealth (url, { version, trouble = UNKNOWN_TROUBLE, waitSeconds }, isWanted = async () => true) {
  const steadyMs = Math.min(STEADY_MS, waitSeconds * 1000 * STEADY_SHARE)
  const endMs = performance.now() + waitSeconds * 1000
  let sinceMs = Infinity
  let problem = 'nobody waited for it'
  while (await isWanted()) {
    problem = problemOf(await healthOf(url), url, version, trouble)
    sinceMs = problem === '' ? Math.min(sinceMs, performance.now()) : Infinity
    if (performance.now() - sinceMs >= steadyMs) return ''
    if (performance.now() > endMs && sinceMs === Infinity) break
    await sleep(LOOK_EVERY_MS)
  }
  return problem
}

/** @param {Health|null} health @param {string} url @param {string|undefined} version @param {number} trouble */
function problemOf (health, url, version, trouble) {
  if (health === null) return `the gateway did not answer at ${url}, or its flows did not run`
  if (version !== undefined && health.version !== version) return 'another version answered'
  if (health.trouble > trouble) return 'more nodes could not start, or reached nothing, than before'
  return ''
}

/**
 * @param {URL} url
 * @returns {Promise<{status: number, body: any}>}
 */
async function get (url) {
  // A gateway shows a certificate that it has made itself, and what is asked is no secret.
  const options = { signal: AbortSignal.timeout(ASK_MS), rejectUnauthorized: false }
  const { promise, resolve, reject } = Promise.withResolvers()
  const request = (url.protocol === 'https:' ? askEncrypted : ask)(url, options, resolve)
  request.on('error', reject).end()
  /** @type {import('node:http').IncomingMessage} */
  const response = await promise
  if (response.statusCode === SENT_ON && url.protocol === 'http:') {
    response.destroy()
    return get(new URL(url.href.replace('http:', 'https:')))
  }
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > MAX_ANSWER_BYTES) throw new Error(`${url} answers with more than ${MAX_ANSWER_BYTES} bytes`)
  }
  return { status: response.statusCode ?? 0, body: JSON.parse(text) ?? {} }
}

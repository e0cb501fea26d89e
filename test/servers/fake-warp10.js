import { once } from 'node:events'
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'

/**
 * A fake of Warp 10, which has no package: it stores points in memory, and answers as the documentation of /api/v0 and a real server of
 * version 3.5.0 do. What is stored stays over `stop` and `start`. test/engines/warp10.test.js has the same tests with the real one.
 *
 * @typedef {{name: string, labels: Map<string, string>, points: Map<bigint, string>}} Series  the values as text
 * @typedef {{readToken: string, writeToken: string, series: Map<string, Series>}} Owner
 */

const TICKS = { ms: 1000, us: 1_000_000, ns: 1_000_000_000 }
const MAX_VALUE = 1_048_576
const MAX_CLASS = 1024
const MAX_LABELS = 2048

class Refusal extends Error {
  /** @param {number} status @param {string} message */
  constructor (status, message) {
    super(message)
    this.status = status
  }
}

/** @param {{unit?: 'ms'|'us'|'ns', oldest?: bigint}} [options]  `oldest`: it drops what is older, without a word */
export async function startFakeWarp10 ({ unit = 'us', oldest } = {}) {
  /** @type {Owner[]} */
  const owners = Array.from({ length: 200 }, (_, name) => ({ readToken: `read.${name}`, writeToken: `write.${name}`, series: new Map() }))
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { pathname, searchParams } = new URL(String(request.url), 'http://fake')
    const token = String(request.headers['x-warp10-token'] ?? '')
    if (pathname.endsWith('/fetch')) response.setHeader('x-warp10-timeunit', TICKS[unit])
    try {
      if (token.includes(' ')) throw new Refusal(500, 'java.lang.IllegalStateException: Invalid OPB64 character \' \' at offset 5.')
      response.end(answer(owners, { path: pathname, query: searchParams, token, headers: request.headers, body, oldest }))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const text = error.message.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('\'', '&apos;')
      response.writeHead(error.status)
      response.end(`<html><body><h2>HTTP ERROR</h2><table><tr><th>MESSAGE:</th><td>${text}</td></tr></table></body></html>`)
    }
  })
  const listen = async (/** @type {number} */ port) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  await listen(0)
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const stop = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  return {
    port, tokens: owners.map(({ readToken, writeToken }) => ({ readToken, writeToken })), pid: undefined,
    start: () => listen(port), stop, kill: stop, remove: stop
  }
}

/**
 * @param {Owner[]} owners
 * @param {{path: string, query: URLSearchParams, token: string, headers: import('node:http').IncomingHttpHeaders, body: Buffer,
 *   oldest?: bigint}} asked
 */
function answer (owners, { path, query, token, headers, body, oldest }) {
  const reader = owners.find(each => each.readToken === token)
  const writer = owners.find(each => each.writeToken === token)
  const parameter = (/** @type {string} */ name) => query.get(name) ?? ''
  switch (path) {
    case '/api/v0/update':
      if (!writer) throw new Refusal(403, `Error when updating data: ${token === '' ? 'Write token missing.' : 'Invalid token.'}`)
      if (headers['content-encoding']) throw new Refusal(400, 'Error when updating data: Parse error at index 0')
      update(writer, (headers['content-type'] === 'application/gzip' ? gunzipSync(body) : body).toString(), oldest)
      return ''
    case '/api/v0/fetch': {
      if (!reader) throw new Refusal(403, 'Invalid token.')
      const count = query.has('count') ? Number(parameter('count')) : Infinity
      return fetched(chosen(reader, parameter('selector')), BigInt(parameter('start')), BigInt(parameter('stop')), count)
    }
    case '/api/v0/find':
      if (!reader) throw new Refusal(403, 'Invalid token.')
      return chosen(reader, parameter('selector')).map(series => `${headOf(series)}\n`).join('')
    case '/api/v0/delete': {
      if (!writer) throw new Refusal(500, 'Invalid token.')
      const [start, end] = [BigInt(parameter('start')), BigInt(parameter('end'))]
      for (const { points } of chosen(writer, parameter('selector'))) {
        for (const tick of points.keys()) if (tick >= start && tick <= end) points.delete(tick)
      }
      return ''
    }
    case '/api/v0/exec':
      if (body.toString() === 'REV') return '["3.5.0"]'
      throw new Refusal(500, 'a fake runs no WarpScript')
    default: throw new Refusal(404, 'Not Found')
  }
}

/** Lines of one series are kept together until the next one, or the end; what comes before a line at fault in other series is stored. */
function update (/** @type {Owner} */ owner, /** @type {string} */ text, /** @type {bigint|undefined} */ oldest) {
  /** @type {Series|null} */
  let series = null
  /** @type {[bigint, string][]} */
  let waiting = []
  const store = () => {
    if (!series) return
    const key = headOf(series)
    const its = owner.series.get(key) ?? series
    owner.series.set(key, its)
    for (const [tick, value] of waiting) if (oldest === undefined || tick >= oldest) its.points.set(tick, value)
    waiting = []
  }
  for (const line of text.split('\n').map(each => each.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const fail = (/** @type {number} */ at) => {
      throw new Refusal(400, `Error when updating data: Parse error at index ${at} in '${line.slice(0, 200)}'`)
    }
    const [, continues, tick, head, value] = /^(=?)(-?\d+)\/[^/]*\/\S* (?:([^ {]+\{[^}]*\}) )?(.+)$/.exec(line) ?? fail(0)
    if (!continues || !series) {
      if (!head) fail(0)
      store()
      series = seriesOf(head)
      if (series.name.length > MAX_CLASS || [...series.labels].join('').length > MAX_LABELS) fail(0)
    }
    waiting.push([BigInt.asIntN(64, BigInt(tick)), checked(value) ?? fail(line.length - value.length)])
  }
  store()
}

/** As the server prints it, null where it takes no such value. @param {string} value */
function checked (value) {
  if (value.length > MAX_VALUE) return null
  if (/^\[/.test(value)) return `b64:${Buffer.from(value).toString('base64url')}`
  if (/^-?\d+$/.test(value)) return BigInt.asIntN(64, BigInt(value)) === BigInt(value) ? String(BigInt(value)) : null
  if (value === '-0.0') return '0.0'
  return /^([TF]|'[^ ']*'|b64:[\w-]*|NaN|-?Infinity|[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)$/i.test(value) ? value : null
}

/** @param {string} head @returns {Series} */
function seriesOf (head) {
  const at = head.indexOf('{')
  return { name: decodeURIComponent(head.slice(0, at)), labels: labelsIn(head.slice(at + 1, -1)), points: new Map() }
}

/** @param {string} text */
function labelsIn (text) {
  const labels = text === '' ? [] : text.split(',')
  return new Map(labels.map(label => {
    const [name, value] = label.split('=').map(decodeURIComponent)
    return [name, value]
  }))
}

/** @param {Series} series */
function headOf ({ name, labels }) {
  const all = [...labels, ['.app', 'sluice']].map(pair => pair.map(encodeURIComponent).join('=')).sort()
  return `${encodeURIComponent(name)}{${all.join(',')}}`
}

/** @param {Owner} owner @param {string} selectors */
function chosen (owner, selectors) {
  return [...new Set(selectors.split(' ').flatMap(selector => {
    const [, kind, name, labels] = /^([=~])([^{]+)\{(.*)\}$/.exec(selector) ?? []
    if (!kind) throw new Refusal(400, 'Bad Request')
    const wanted = labelsIn(labels)
    const isNamed = kind === '=' ? decodeURIComponent(name) : new RegExp(`^(?:${decodeURIComponent(name)})$`, 's')
    return [...owner.series.values()].filter(series => {
      return (typeof isNamed === 'string' ? series.name === isNamed : isNamed.test(series.name)) &&
        [...wanted].every(([label, value]) => (series.labels.get(label) ?? '') === value)
    })
  }))]
}

/** Newest first; a series is named once. @param {Series[]} all @param {bigint} start @param {bigint} stop @param {number} count */
function fetched (all, start, stop, count) {
  return all.map(series => {
    const points = [...series.points].filter(([tick]) => tick >= start && tick <= stop).sort(([a], [b]) => a < b ? 1 : -1)
    return points.slice(0, count)
      .map(([tick, value], i) => i === 0 ? `${tick}// ${headOf(series)} ${value}\n` : `=${tick}// ${value}\n`)
      .join('')
  }).join('')
}

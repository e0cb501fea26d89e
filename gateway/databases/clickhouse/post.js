import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'

/**
 * @typedef {object} Post
 * @property {boolean} isSecure
 * @property {string} host
 * @property {number} port
 * @property {string} path
 * @property {Record<string, string>} headers
 * @property {import('node:http').Agent} agent
 * @property {Buffer[]} body
 * @property {number} timeoutMs  without a byte either way
 * @property {AbortSignal} [signal]
 */

/**
 * Sends a request whose body is in memory. The body goes to the socket as it is: the client's streams would copy it in pieces.
 * @param {Post} post
 * @returns {Promise<{status: number, text: string}>}
 */
export function post ({ isSecure, host, port, path, headers, agent, body, timeoutMs, signal }) {
  return new Promise((resolve, reject) => {
    const length = body.reduce((sum, { length: bytes }) => sum + bytes, 0)
    const send = isSecure ? httpsRequest : httpRequest
    const request = send({ host, port, path, method: 'POST', agent, signal, headers: { ...headers, 'content-length': String(length) } }, response => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', piece => { text += piece })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.setTimeout(timeoutMs, () => request.destroy(Object.assign(new Error(`no answer within ${timeoutMs / 1000} s`), { code: 'ETIMEDOUT' })))
    request.cork()
    for (const piece of body) request.write(piece)
    request.end()
  })
}

/** Node has zstd from 22.15. */
const zstdCompress = /** @type {typeof zlib.zstdCompress|undefined} */ (zlib.zstdCompress)
const zstd = zstdCompress && promisify(zstdCompress)
const gzip = promisify(zlib.gzip)

/**
 * What makes a body smaller, and the name of how.
 * @param {'none'|'gzip'|'zstd'} wanted
 * @param {boolean} isOld  the server knows gzip only
 * @returns {{encoding: string|null, compress: (body: Buffer[]) => Promise<Buffer[]>}}
 */
export function compressor (wanted, isOld) {
  if (wanted === 'none') return { encoding: null, compress: async body => body }
  if (wanted === 'zstd' && zstd && !isOld) {
    return { encoding: 'zstd', compress: async body => [await zstd(Buffer.concat(body), { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } })] }
  }
  return { encoding: 'gzip', compress: async body => [await gzip(Buffer.concat(body), { level: 1 })] }
}

import { createServer } from 'node:http'
import { once } from 'node:events'

/**
 * A fake of InfluxDB, for versions that no machine of ours can run: it takes down what it is asked, and gives answers that it is told. It
 * stores nothing.
 *
 * @typedef {{method: string, path: string, query: Record<string, string>, login: string|undefined, body: string}} Asked
 * @typedef {{status?: number, headers?: Record<string, string>, body?: object}} Answer
 */

/**
 * @param {(asked: Asked) => Answer} answer
 * @returns {Promise<{port: number, asked: Asked[], close: () => Promise<void>}>}
 */
export async function fakeInfluxdb (answer) {
  /** @type {Asked[]} */
  const asked = []
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(String(request.url), 'http://fake')
    const body = Buffer.concat(await request.toArray()).toString()
    const one = {
      method: String(request.method),
      path: pathname,
      query: Object.fromEntries(searchParams),
      login: request.headers.authorization,
      body
    }
    asked.push(one)
    const { status = 200, headers = {}, body: answered } = answer(one)
    response.writeHead(status, headers).end(answered && JSON.stringify(answered))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: /** @type {import('node:net').AddressInfo} */ (server.address()).port,
    asked,
    async close () {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

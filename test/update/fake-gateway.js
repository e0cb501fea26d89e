// A gateway for tests of updates: answers for its health as the real one does, and behaves as the file `kind` beside it says.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const { version } = JSON.parse(readFileSync(new URL('../release.json', import.meta.url), 'utf8'))
const kind = readFileSync(new URL('kind', import.meta.url), 'utf8')
if (kind === 'crashes') process.exit(1)

createServer((request, response) => {
  const missing = kind === 'trouble' ? [{ name: 'sink a', problem: 'refused' }] : []
  const isReady = missing.length === 0
  if (request.url === '/sluice/health') answer(200, { status: 'running', version: kind === 'liar' ? '0.0.1' : version })
  else if (request.url === '/sluice/health/ready') answer(isReady ? 200 : 503, { status: isReady ? 'ready' : 'not ready', missing })
  else answer(404, {})

  /** @param {number} status @param {object} body */
  function answer (status, body) {
    response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' }).end(JSON.stringify(body))
  }
}).listen(Number(process.env.FAKE_PORT), process.env.FAKE_HOST)

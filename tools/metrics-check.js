import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../gateway/bench/free-port.js'
import { ROWS } from './dashboard.js'

/**
 * `npm run metrics-check`: has a real Prometheus scrape a gateway with the default flow and a login, asks it every query of the dashboard,
 * and has promtool check and test the alerts. Needs the package prometheus of Debian.
 */

const root = fileURLToPath(new URL('..', import.meta.url))
const packaging = join(root, 'packaging/prometheus')
const TOKEN = 'metrics-check'
const SCRAPES = 12
const PATIENCE_MS = 120_000

/** @type {(() => Promise<void>|void)[]} */
const endings = []
let failures = 0

/** @param {boolean} isGood @param {string} text */
function report (isGood, text) {
  if (!isGood) failures++
  console.log(`${isGood ? 'ok    ' : 'FAILED'} ${text}`)
}

try {
  await main()
} finally {
  for (const end of endings.reverse()) await end()
}
process.exitCode = failures > 0 ? 1 : 0

async function main () {
  if (spawnSync('promtool', ['--version']).error) throw new Error('promtool is missing: apt-get install prometheus')
  promtool(['check', 'rules', 'sluice-alerts.yml'])
  promtool(['test', 'rules', 'sluice-alerts.test.yml'])
  promtool(['check', 'config', 'prometheus.yml'])
  const folder = await mkdtemp(join(tmpdir(), 'sluice-metrics-'))
  endings.push(() => rm(folder, { recursive: true }))
  const gateway = await startGateway(folder)
  const refused = await fetch(`http://${gateway}/sluice/metrics`)
  report(refused.status === 401, 'metrics are refused to those without the token')
  await sleep(5000) // rows have been stored: promtool sees all families
  const scraped = await fetch(`http://${gateway}/sluice/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  promtool(['check', 'metrics'], await scraped.text())
  const prometheus = await startPrometheus(folder, gateway)
  await until(async () => (await query(prometheus, `min(count_over_time(up{job="sluice"}[5m])) >= ${SCRAPES}`)).length > 0, 'scrapes')
  report((await query(prometheus, 'up{job="sluice"} == 1')).length === 1, `Prometheus has scraped ${gateway} with credentials_file`)
  await checkDashboard(prometheus)
  await checkRules(prometheus)
}

/** @param {string[]} args @param {string} [input] */
function promtool (args, input) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: packaging, input, encoding: 'utf8' })
  report(status === 0, `promtool ${args.join(' ')}`)
  if (status !== 0) console.log(`${stdout}${stderr}`)
}

/** The default flow, with its broker on a free port. @param {string} folder @returns {Promise<string>} its address */
async function startGateway (folder) {
  const flow = await readFile(join(root, 'flows/flows.json'), 'utf8')
  const files = { flow: join(folder, 'flow.json'), users: join(folder, 'users'), token: join(folder, 'token') }
  await writeFile(files.flow, flow.replaceAll('1883', String(await freePort())))
  await writeFile(files.users, 'wallboard:view:metrics-check\n')
  await writeFile(files.token, `${TOKEN}\n`)
  const args = ['start', '--user-dir', join(folder, 'user'), '--flows', files.flow, '--port', '0', '--login-file', files.users]
  const gateway = start(process.execPath, [join(root, 'gateway/cli/sluice.js'), ...args, '--metrics-token-file', files.token], root)
  const [, address] = await gateway.says(/Editor +http:\/\/([^/]+)\//)
  await until(async () => (await fetch(`http://${address}/sluice/health`)).ok, 'the gateway')
  return address
}

/** With the example of its settings. @param {string} folder @param {string} gateway @returns {Promise<string>} its address */
async function startPrometheus (folder, gateway) {
  const settings = (await readFile(join(packaging, 'prometheus.yml'), 'utf8'))
    .replaceAll('15s', '1s')
    .replace('- sluice-alerts.yml', `- ${join(packaging, 'sluice-alerts.yml')}`)
    .replace('# authorization:', 'authorization:')
    .replace('#   credentials_file: /etc/prometheus/sluice-token', `  credentials_file: ${join(folder, 'token')}`)
    .replace('127.0.0.1:1880', gateway)
  await writeFile(join(folder, 'prometheus.yml'), settings)
  const address = `127.0.0.1:${await freePort()}`
  const options = {
    'config.file': join(folder, 'prometheus.yml'),
    'storage.tsdb.path': join(folder, 'prometheus'),
    'web.listen-address': address,
    'log.level': 'warn'
  }
  start('prometheus', Object.entries(options).map(([name, value]) => `--${name}=${value}`), folder)
  await until(async () => (await fetch(`http://${address}/-/ready`)).ok, 'Prometheus')
  return address
}

/** @param {string} prometheus */
async function checkDashboard (prometheus) {
  const { panels } = JSON.parse(await readFile(join(root, 'packaging/grafana/sluice.json'), 'utf8'))
  const mayBeEmpty = new Map(Object.values(ROWS).flat().map(({ title, mayBeEmpty: reason }) => [title, reason]))
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) {
      const found = await query(prometheus, expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '10s'))
      const reason = mayBeEmpty.get(title)
      const isNumber = found.every(({ value: [, value] }) => value !== 'NaN')
      const none = reason ? `no data: ${reason}` : 'no data'
      const told = found.length > 0 ? `${found.length} series${isNumber ? '' : ' that are no numbers'}` : none
      report((found.length > 0 || reason !== undefined) && isNumber, `${title}: ${told}`)
    }
  }
}

/** @param {string} prometheus */
async function checkRules (prometheus) {
  const { data } = await (await fetch(`http://${prometheus}/api/v1/rules`)).json()
  for (const { name, health, state, lastError = '' } of data.groups.flatMap((/** @type {any} */ group) => group.rules)) {
    report(health === 'ok' && state !== 'firing', `alert ${name}: ${state} ${lastError}`)
  }
}

/** @param {string} prometheus @param {string} expression @returns {Promise<{value: [number, string]}[]>} */
async function query (prometheus, expression) {
  const response = await fetch(`http://${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`)
  const { status, error, data } = await response.json()
  if (status !== 'success') throw new Error(`${expression}: ${error}`)
  return data.result
}

/** @param {string} program @param {string[]} args @param {string} cwd */
function start (program, args, cwd) {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  endings.push(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', text => { output += text })
  return {
    /** @param {RegExp} pattern */
    async says (pattern) {
      await until(async () => child.exitCode !== null || pattern.test(output), String(pattern))
      return /** @type {RegExpExecArray} */ (pattern.exec(output))
    }
  }
}

/** @param {() => Promise<boolean>} condition @param {string} what */
async function until (condition, what) {
  for (const startMs = performance.now(); !await condition().catch(() => false); await sleep(100)) {
    if (performance.now() - startMs > PATIENCE_MS) throw new Error(`Waited in vain for ${what}.`)
  }
}

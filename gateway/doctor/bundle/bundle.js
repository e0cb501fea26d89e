import { readFile } from 'node:fs/promises'
import { arch, cpus, release, totalmem, uptime } from 'node:os'
import { savedIn } from '../../../broker/out/required-sinks-file.js'
import { spoolsIn } from '../../../broker/spool/folders.js'
import { describe } from '../../base/errors.js'
import { ledger } from '../../stats/ledger.js'
import { stats } from '../../stats/stats.js'
import { asJson, asText } from '../report.js'
import { hideSecrets, knownSecrets } from './known-secrets.js'
import { gatewayLog, kernelLog } from './logs.js'
import { outlineOf } from './outline.js'
import { tarball } from './tar.js'

/**
 * @typedef {import('../subject.js').Subject} Subject
 * @typedef {import('../report.js').Report} Report
 */

/** Variables whose values are no secrets: the options of sluice start, which name files of secrets, and those that Node looks at. */
const SHOWN = new Set([
  'FLOWS', 'USER_DIR', 'PORT', 'HOST', 'LOGIN_FILE', 'ALLOW_HOST', 'METRICS_TOKEN_FILE', 'FIRST_FLOW', 'SECRETS', 'TLS_CERT', 'TLS_KEY',
  'CLOCK', 'GATEWAY_ID'
].map(name => `SLUICE_${name}`).concat('NODE_OPTIONS', 'TZ', 'LANG'))

const README = `What sluice doctor has found about a gateway, for whoever helps.

doctor.txt, doctor.json  the findings
versions.json            of Sluice, Node, Node-RED, the system and the packages
settings.json            options of Sluice in the environment; of other variables called SLUICE_… only that they are there
flow.json                the nodes: of Sluice's the options but the secret ones, of others only what they are and how they are wired
spools.json              names and sizes of the spools' files, and the sinks they wait for: no samples
stats.json               counters of the gateway, where they could be asked
gateway.log, kernel.log  what the system has kept, of the kernel what concerns disks, power, memory, CAN and serial adapters

Removed: passwords and tokens that this machine keeps (of flows, users, settings and the environment), wherever they occurred; what is
assigned to a name like password, secret, token or key; passwords in addresses; private keys. Where one was is "…".
Not recognised: a secret of less than 5 characters; one that only somebody else keeps, and that stands in a log line without a name
before it; what somebody has entered as the name of a node, a topic or a file. Names of hosts, addresses and users are kept.
So look through the files before you pass them on.
`

/**
 * @param {Subject} subject
 * @param {Report} report
 * @returns {Promise<Buffer>} a .tar.gz
 */
export async function bundleOf (subject, report) {
  /** @type {Record<string, () => unknown>} */
  const contents = {
    'doctor.txt': () => asText(report),
    'doctor.json': () => JSON.parse(asJson(report)),
    'versions.json': () => versionsOf(subject, report),
    'settings.json': () => settingsOf(subject),
    'flow.json': async () => outlineOf((await subject.flow)?.all ?? [], subject.place.schemaOf),
    'spools.json': async () => ({ spools: await spoolsIn(subject.userDir), sinks: await savedIn(subject.userDir) }),
    'stats.json': () => statsOf(subject),
    'gateway.log': () => gatewayLog(subject),
    'kernel.log': () => kernelLog(subject)
  }
  const secrets = await knownSecrets(subject)
  const texts = await Promise.all(Object.entries(contents).map(async ([name, read]) => {
    const content = await Promise.resolve().then(read).catch(error => `This could not be read: ${describe(error)}\n`)
    return [name, hideSecrets(content, secrets)]
  }))
  const time = new Date(report.time)
  const name = `sluice-${report.gateway.id ?? 'gateway'}-${report.time.slice(0, 19).replace(/[:]/g, '')}`
  return tarball({ 'README.txt': README, ...Object.fromEntries(texts) }, name, time)
}

/** @param {Subject} subject @param {Report} report */
async function versionsOf ({ files, place: { nodeRed } }, { sluice }) {
  const { dependencies } = JSON.parse(await readFile(new URL('../../../package.json', import.meta.url), 'utf8'))
  const packages = await Promise.all(Object.keys(dependencies).map(async name => [name, await versionOf(name)]))
  return {
    sluice,
    node: process.version,
    nodeRed,
    system: /^PRETTY_NAME="?([^"\n]+)/m.exec(files.text('/etc/os-release') ?? '')?.[1],
    kernel: release(),
    machine: files.text('/proc/device-tree/model')?.replace(/\0/g, '') ?? cpus()[0]?.model,
    architecture: arch(),
    cores: cpus().length,
    memoryBytes: totalmem(),
    upSeconds: Math.round(uptime()),
    packages: Object.fromEntries(packages)
  }
}

/** @param {string} name */
async function versionOf (name) {
  const folder = new URL(`../../../node_modules/${name}/package.json`, import.meta.url)
  return readFile(folder, 'utf8').then(text => JSON.parse(text).version, () => 'elsewhere')
}

/** Of others that are Sluice's by name, only that: somebody's flow may keep a secret there. @param {Subject} subject */
function settingsOf ({ environment, userDir, port }) {
  const shown = Object.entries(environment).filter(([name]) => SHOWN.has(name) || name.startsWith('SLUICE_'))
  return { userDir, port, environment: Object.fromEntries(shown.map(([name, value]) => [name, SHOWN.has(name) ? value : '…'])) }
}

/** Of this process, where it is the gateway, or of the one that runs, where that takes no login. @param {Subject} subject */
async function statsOf ({ isHere, state, port }) {
  if (isHere) {
    const meters = stats.meters.map(({ stage, name, totals }) => ({ stage, name, ...totals }))
    return { meters, gauges: stats.readGauges(), ledger: ledger(stats), host: await stats.host?.refresh() }
  }
  if (state === 'stopped') return 'The gateway does not run.\n'
  const answer = await fetch(`http://127.0.0.1:${port}/sluice/metrics`, {
    headers: { accept: 'application/json' }, signal: AbortSignal.timeout(5000)
  })
  return answer.ok ? answer.text() : `They need a login: make the bundle on the page sluice/doctor/ instead (${answer.status}).\n`
}

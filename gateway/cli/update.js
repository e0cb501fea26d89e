import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import { describe, SluiceError } from '../base/errors.js'
import { healthOf, waitForHealth } from '../update/health.js'
import { Installation } from '../update/installation.js'
import { keysIn } from '../update/signature.js'
import { decide, takeBack } from '../update/trial.js'
import { goBack, install } from '../update/update.js'
import { withEnvironment } from './environment.js'

const USAGE = `Usage: sluice update FILE|DIR [--key FILE]… [--allow-downgrade] [--one-way] [--restart COMMAND] [--url URL] [--wait SECONDS]
       sluice update --back [--one-way] [--restart COMMAND] [--url URL] [--wait SECONDS]
       sluice update --status [--json]

Unpacks a release beside the present one, has the gateway start it, and keeps it if it is healthy; otherwise the present one runs again.
Whatever ends this program or the machine meanwhile, one of the two runs. Nothing is asked of any network.

  FILE|DIR         sluice-VERSION-linux-ARCH.tar.gz, with its .sha256 and .sha256.sig beside it; or a folder: the newest in it
  --key FILE       who may have signed it, besides those whose keys the present release has, and /etc/sluice/update-keys/*.pub;
                   may be repeated
  --allow-downgrade
                   also an older release
  --one-way        also where the present release would not read what the new one writes
  --back           to the release before, which is kept; one that is still on trial is given up
  --status         what runs, and how the last update went; with --json as update.json has it
  --root DIR       where the releases are (default /opt/sluice)
  --restart COMMAND
                   restarts the gateway, by sh (default: systemctl restart --no-block sluice.service)
  --url URL        of the gateway (default: on this machine, where SLUICE_HOST and SLUICE_PORT in /etc/sluice/sluice.env say;
                   otherwise port 1880)
  --wait SECONDS   in which it has to be healthy (default 120)
  --decide         waits for the release on trial, and keeps it or gives it up: what the service calls after a start
`
const SETTINGS = '/etc/sluice/sluice.env'
const KEYS = '/etc/sluice/update-keys'
const SYSTEMD = '/run/systemd/system'
/** Addresses on which a gateway listens to all, and one of this machine. @type {Record<string, string>} */
const EVERYWHERE = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** @typedef {import('../update/installation.js').State} State */

/** @type {import('./sluice.js').Command} */
export async function update (args, { stdout, stderr }) {
  try {
    const options = readArgs(args)
    if (options.help) {
      stdout.write(USAGE)
      return 0
    }
    const installation = new Installation(resolve(options.root))
    const say = (/** @type {string} */ text) => stdout.write(`${text}\n`)
    if (options.status) return await tellStatus(installation, options.json, say)
    if (options.decide) return await decideForService(installation, stderr)
    process.umask(0o022) // the gateway, which is another user, has to read it
    const trial = options.back ? await installation.undecided() : null
    return trial ? await giveUp(installation, trial, options, say) : await carryOut(installation, options, say)
  } catch (error) {
    stderr.write(`sluice update: ${describe(error)}\n`)
    const { code } = /** @type {NodeJS.ErrnoException} */ (error)
    return code === 'SLUICE_USAGE' || code?.startsWith('ERR_PARSE_ARGS') ? 2 : 1
  }
}

/** @param {string[]} args */
function readArgs (args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      key: { type: 'string', multiple: true, default: [] },
      'allow-downgrade': { type: 'boolean' },
      'one-way': { type: 'boolean' },
      back: { type: 'boolean', default: false },
      status: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      decide: { type: 'boolean', default: false },
      root: { type: 'string', default: '/opt/sluice' },
      restart: { type: 'string' },
      url: { type: 'string' },
      wait: { type: 'string', default: '120' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  const { back, status, decide: isToDecide, url, wait, help } = values
  const [path] = positionals
  const wanted = positionals.length + [back, status, isToDecide].filter(Boolean).length
  if (!help && wanted !== 1) throw usage('Give one file or folder, or one of --back and --status.')
  if (!/^[1-9]\d*$/.test(wait)) throw usage(`--wait must be a whole number of seconds; it is "${wait}".`)
  if (url !== undefined && !URL.canParse(url)) throw usage(`--url must be an address such as http://127.0.0.1:1880/; it is "${url}".`)
  return { ...values, allowDowngrade: values['allow-downgrade'], oneWay: values['one-way'], path, waitSeconds: Number(wait) }
}

/** @typedef {ReturnType<typeof readArgs>} Options */

/** @param {string} text */
function usage (text) {
  return new SluiceError('SLUICE_USAGE', text, { fix: 'See sluice update --help.' })
}

/**
 * Switches, restarts, and waits for the outcome.
 * @param {Installation} installation
 * @param {Options} options
 * @param {(text: string) => void} say
 * @returns {Promise<number>} exit code
 */
async function carryOut (installation, options, say) {
  await installation.check() // where there is nothing to update, that is what has to be said
  const restart = restarter(options)
  const url = options.url ?? await usualUrl(options.root)
  if (await healthOf(url) === null) say(`No gateway runs at ${url}; if it is to be elsewhere, say so with --url.`)
  const keyFiles = [...options.key, ...await keysIn([KEYS])]
  const wishes = { ...options, keyFiles, url }
  const { from, to } = options.back ? await goBack(installation, wishes) : await install(installation, options.path, wishes)
  if (from === to) {
    say(`Sluice ${to} is installed already.`)
    return 0
  }
  say(`Sluice ${to} is unpacked, and the gateway restarts with it; ${from} is kept.`)
  await restart()
  const decided = await decide(installation)
  if (decided?.state === 'returned') await restart()
  const state = /** @type {State} */ (decided ?? await installation.state())
  if (state.state === 'confirmed') {
    say(`Sluice ${to} runs.`)
    return 0
  }
  throw await returned(state)
}

/** @param {Installation} installation @param {State} trial @param {Options} options @param {(text: string) => void} say */
async function giveUp (installation, trial, options, say) {
  const restart = restarter(options)
  const unlock = installation.lock()
  try {
    await takeBack(installation, trial, 'it was given up by hand')
  } finally {
    unlock()
  }
  await restart()
  const { from, to, url, waitSeconds } = trial
  const problem = await waitForHealth(url, { waitSeconds })
  say(`Sluice ${to} is given up. ${problem ? `${from} is started again, but ${problem}` : `${from} runs again`}.`)
  return problem ? 1 : 0
}

/**
 * A service whose gateway is given up has to be told that its start has failed, whoever gave it up. Where nothing can be decided, as on a
 * disk that takes no more writes, the gateway goes on.
 * @param {Installation} installation
 * @param {import('./sluice.js').Streams['stderr']} stderr
 */
async function decideForService (installation, stderr) {
  const begun = await installation.undecided()
  await decide(installation).catch(error => stderr.write(`sluice update: ${describe(error)}\n`))
  const { state, since } = await installation.state() ?? {}
  return begun?.since === since && (state === 'returning' || state === 'returned') ? 1 : 0
}

/** @param {State} state */
async function returned ({ from, to, url, waitSeconds, reason }) {
  const problem = await waitForHealth(url, { waitSeconds })
  const text = `Sluice ${to} is given up: ${reason}. ${problem ? `${from} is started again, but ${problem}` : `${from} runs again`}.`
  return new SluiceError('SLUICE_UPDATE_RETURNED', text, { fix: 'See the log of the gateway at that time: journalctl -u sluice.' })
}

/** @param {Options} options @returns {() => Promise<void>} */
function restarter ({ restart }) {
  if (restart === undefined && !existsSync(SYSTEMD)) throw usage('Without systemd it needs --restart: how the gateway is restarted.')
  const command = restart ?? 'systemctl restart --no-block sluice.service' // a start that hangs is waited for here
  return async () => {
    const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'inherit', 'inherit'] })
    await once(child, 'close') // whether it could is seen by how the gateway is
  }
}

/**
 * Where the gateway is reached from this machine, by the settings that its service reads.
 * @param {string} root
 */
async function usualUrl (root) {
  const files = [join(root, 'first-boot', 'sluice.env'), SETTINGS] // in this order
  const texts = await Promise.all(files.map(file => readFile(file, 'utf8').catch(() => '')))
  const environment = Object.assign({}, ...texts.map(text => parseEnv(text)), process.env)
  const { host, port } = parseArgs({
    args: [],
    options: withEnvironment({ host: { type: 'string', default: '127.0.0.1' }, port: { type: 'string', default: '1880' } }, environment)
  }).values
  const reached = EVERYWHERE[host] ?? host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}/`
}

/** @param {Installation} installation @param {boolean} isJson @param {(text: string) => void} say @returns {Promise<number>} */
async function tellStatus (installation, isJson, say) {
  const current = await installation.current()
  const state = await installation.state()
  if (isJson) say(JSON.stringify({ current, ...state }))
  else say([`Sluice ${current} is what starts.`, ...state ? [told(state, current)] : []].join('\n'))
  return 0
}

/** @param {State} state @param {string} current */
function told ({ state, from, to, since, reason }, current) {
  const begun = `The update from ${from} to ${to}, ${since}`
  if (state === 'confirmed') return `${begun}, was kept: it was healthy. ${from} is kept, too.`
  if (state !== 'trial') return `${begun}, was given up: ${reason}.`
  return current === to ? `${begun}, is on trial.` : `${begun}, was interrupted before the gateway was restarted.`
}

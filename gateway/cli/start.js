import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describe, SluiceError } from '../base/errors.js'
import { schemaOf } from '../../nodes/schemas.js'
import { Service } from '../run/service.js'
import { startGateway } from '../run/start.js'
import { withEnvironment } from './environment.js'
import { askForUser, needsUsers, setUsers } from './login.js'

const USAGE = `Usage: sluice start [--flows FILE] [--user-dir DIR] [--port N] [--host ADDRESS] [--login] [--login-file FILE]
                    [--allow-host NAME]… [--metrics-token-file FILE] [--first-flow FILE] [--secrets DIR]
                    [--tls-cert FILE --tls-key FILE]

Runs Node-RED with the Sluice nodes on this machine, until Ctrl-C.

  --flows FILE     the flow to run and edit, instead of the user folder's own
  --user-dir DIR   where flows, spools, databases and credentials are kept (default .sluice)
  --port N         of the editor and the live page (default 1880; 0 takes any that is free)
  --host ADDRESS   where to listen (default 127.0.0.1: this machine only; 0.0.0.0 is everywhere). Beyond this machine
                   users have to log in
  --login          first asks for a user, who is added or changed, or deleted by an empty password
  --login-file FILE
                   who may log in, instead of those there are: a line NAME:ROLE:PASSWORD for each, where the role is
                   view or change. SLUICE_LOGIN in the environment holds the same lines
  --allow-host NAME
                   another name under which the gateway is reached, as behind a proxy; may be repeated
  --metrics-token-file FILE
                   whoever sends what is in this file as bearer token may read /sluice/metrics
  --first-flow FILE
                   what a user folder without a flow begins with, instead of the default flow; only copied, never written
  --secrets DIR    whose files are settings in the environment, each under its name, such as the password in
                   DIR/DATABASE_PASSWORD, which the flow's nodes have as \${DATABASE_PASSWORD}
  --tls-cert FILE, --tls-key FILE
                   everything is https, with this certificate and its key (PEM); who comes by http is sent on

What the command line does not say, the environment may: SLUICE_PORT for --port, SLUICE_ALLOW_HOST for --allow-host (several
with spaces between them), and so on for every option with a value. Started by systemd, it tells when it is ready, what it
does and that it lives (Type=notify, WatchdogSec).
`

/** @type {import('./sluice.js').Command} */
export async function start (args, { stdin, stdout, stderr }) {
  const options = readArgs(args)
  if (typeof options === 'string') {
    stderr.write(`sluice start: ${options}\n\n${USAGE}`)
    return 2
  }
  if (options.help) {
    stdout.write(USAGE)
    return 0
  }
  // Its log may be on the disk that is full: what cannot be written is lost, and everything else goes on.
  for (const output of [stdout, stderr]) output.on('error', () => {})
  try {
    if (options.secrets) addSecrets(options.secrets)
    await login(options, { stdin, stdout, stderr })
  } catch (error) {
    stderr.write(`sluice start: ${describe(error)}\n`)
    return 1
  }
  const log = (/** @type {string} */ line) => stderr.write(`${line}\n`)
  const service = new Service(process.env, log)
  const interrupted = firstSignal(() => log('Stopping: what is on its way is being stored. Ctrl-C again to stop at once.'))
  let gateway
  try {
    const metricsToken = options.metricsTokenFile ? tokenIn(options.metricsTokenFile) : undefined
    gateway = await startGateway({ ...options, metricsToken, tls: tlsOf(options), schemaOf, log, onFlow: state => service.ready(state) })
  } catch (error) {
    stderr.write(`sluice start: ${describe(error)}\n`)
    return 1
  }
  const places = `  Editor     ${gateway.editorUrl}\n  Live page  ${gateway.liveUrl}\n  Data       ${options.userDir}\n`
  stdout.write(`Sluice is running.\n${places}Ctrl-C stops it.\n`)
  await interrupted
  const [drained] = await Promise.all([gateway.stop(), service.stopping()])
  const rest = ' Not everything could be stored in 15 s; the rest is in the spool and goes on at the next start.'
  stderr.write(`Stopped.${drained ? '' : rest}\n`)
  return 0
}

/**
 * Sees to it that there are the users that are asked for.
 * @param {Options} options
 * @param {import('./sluice.js').Streams} streams
 */
async function login (options, { stdin, stderr }) {
  const { userDir, host, loginFile } = options
  const lines = loginFile ? textOf(loginFile) : process.env.SLUICE_LOGIN || undefined
  delete process.env.SLUICE_LOGIN // the flows would see it
  if (lines !== undefined) await setUsers(userDir, lines)
  const isMissing = /** @type {{isTTY?: boolean}} */ (stdin).isTTY && needsUsers(userDir, host)
  if (isMissing) stderr.write(`On ${host} others reach the gateway. Who may log in?\n`)
  if (options.login || isMissing) await askForUser(userDir, stdin, stderr)
}

/**
 * Puts what the files of a folder hold into the environment, where the flow finds it.
 * @param {string} folder  as Docker, Kubernetes and systemd's credentials make them
 */
function addSecrets (folder) {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const { name } = entry
      if (entry.isDirectory() || !/^[A-Z_]\w*$/i.test(name)) continue
      process.env[name] = readFileSync(join(folder, name), 'utf8').replace(/\r?\n$/, '')
    }
  } catch (cause) {
    throw new SluiceError('SLUICE_SECRETS', `The secrets in ${folder} cannot be read: ${describe(cause)}.`, {
      fix: 'Check the path of --secrets, and that the gateway\'s user may read the files.',
      cause
    })
  }
}

/** @param {Options} options */
function tlsOf ({ tlsCert, tlsKey }) {
  return tlsCert && tlsKey ? { cert: textOf(tlsCert, 'SLUICE_TLS_FILE'), key: textOf(tlsKey, 'SLUICE_TLS_FILE') } : undefined
}

/** @param {string} file */
function tokenIn (file) {
  const token = textOf(file).trim()
  if (token) return token
  throw new SluiceError('SLUICE_LOGIN_FILE', `${file} has no token.`, { fix: 'Write one into it, such as: openssl rand -hex 32.' })
}

/** @param {string} file @param {'SLUICE_TLS_FILE'|'SLUICE_LOGIN_FILE'} [code] */
function textOf (file, code = 'SLUICE_LOGIN_FILE') {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new SluiceError(code, `${file} cannot be read.`, { fix: 'Check its path and its permissions.', cause })
  }
}

/**
 * @typedef {object} Options
 * @property {boolean} [help]
 * @property {string} userDir
 * @property {number} port
 * @property {string} host
 * @property {string} [flowFile]
 * @property {boolean} [login]
 * @property {string} [loginFile]
 * @property {string[]} [allowHosts]
 * @property {string} [metricsTokenFile]
 * @property {string} [firstFlow]
 * @property {string} [secrets]
 * @property {string} [tlsCert]
 * @property {string} [tlsKey]
 */

/** @param {string[]} args @returns {Options|string} a string says what is wrong */
function readArgs (args) {
  try {
    const { values } = parseArgs({
      args,
      options: withEnvironment({
        flows: { type: 'string' },
        'user-dir': { type: 'string', default: '.sluice' },
        port: { type: 'string', default: '1880' },
        host: { type: 'string', default: '127.0.0.1' },
        login: { type: 'boolean' },
        'login-file': { type: 'string' },
        'allow-host': { type: 'string', multiple: true },
        'metrics-token-file': { type: 'string' },
        'first-flow': { type: 'string' },
        secrets: { type: 'string' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        help: { type: 'boolean', short: 'h' }
      })
    })
    const port = Number(values.port)
    if (!/^\d+$/.test(values.port) || port > 65535) return `--port must be a number from 0 to 65535; it is "${values.port}".`
    if (!values['tls-cert'] !== !values['tls-key']) return '--tls-cert and --tls-key belong together.'
    return {
      help: values.help,
      userDir: values['user-dir'],
      port,
      host: values.host,
      flowFile: values.flows,
      login: values.login,
      loginFile: values['login-file'],
      allowHosts: values['allow-host'],
      metricsTokenFile: values['metrics-token-file'],
      firstFlow: values['first-flow'],
      secrets: values.secrets,
      tlsCert: values['tls-cert'],
      tlsKey: values['tls-key']
    }
  } catch (error) {
    return /** @type {Error} */ (error).message
  }
}

/** Resolves at the first Ctrl-C or SIGTERM; the second ends the process. @param {() => void} onFirst */
function firstSignal (onFirst) {
  return new Promise(resolve => {
    let count = 0
    const stop = () => {
      if (++count > 1) process.exit(130)
      onFirst()
      resolve(undefined)
    }
    process.on('SIGINT', stop)
    process.on('SIGTERM', stop)
  })
}

import { parseArgs } from 'node:util'
import { preflight as check } from '../../broker/preflight/preflight.js'
import { SluiceError, describe } from '../base/errors.js'

const USAGE = `Usage: sluice preflight BROKER_URL [options]

Tells what about an MQTT broker would break the promise that no sample is lost: it tries, on topics and sessions of its own.

  --user NAME            who to connect as
  --password-env NAME    the environment variable that holds the password
  --gateway ID           the gateway that will use it (the file gateway-id of its data folder), where access is by name
  --ca FILE              certificate of the authority that signed the broker's (PEM)
  --protocol VERSION     auto (the default), 5 or 3.1.1
  --json                 print the report as JSON

Exit code: 0 nothing breaks the promise, 1 something does, 2 the broker could not be reached or the command was wrong.
`

const OPTIONS = /** @type {const} */ ({
  user: { type: 'string' },
  'password-env': { type: 'string' },
  gateway: { type: 'string' },
  ca: { type: 'string' },
  protocol: { type: 'string', default: 'auto' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false }
})

const LABELS = { error: 'ERROR  ', warning: 'warning', info: 'note   ' }

/** @type {import('./sluice.js').Command} */
export async function preflight (args, { stdout, stderr }) {
  let json, report
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
    if (values.help) {
      stdout.write(USAGE)
      return 0
    }
    json = values.json
    report = await check(brokerOptions(values, positionals), { gateway: values.gateway })
  } catch (error) {
    stderr.write(`sluice preflight: ${describe(error)}\n`)
    return 2
  }
  stdout.write(json ? `${JSON.stringify(report, null, 2)}\n` : asText(report))
  if (report.broker === null) return 2
  return report.ok ? 0 : 1
}

/** @param {{user?: string, 'password-env'?: string, ca?: string, protocol: string}} values @param {string[]} positionals */
function brokerOptions ({ user, 'password-env': passwordVariable, ca, protocol }, positionals) {
  if (positionals.length !== 1) throw usageError('It needs the address of one broker, as mqtt://host:port.')
  if (protocol !== 'auto' && protocol !== '5' && protocol !== '3.1.1') throw usageError('--protocol must be auto, 5 or 3.1.1.')
  const password = passwordVariable === undefined ? undefined : process.env[passwordVariable]
  if (passwordVariable !== undefined && password === undefined) {
    throw usageError(`The environment variable ${passwordVariable} of --password-env is not set.`)
  }
  return { url: positionals[0], user, password, ca, protocolVersion: /** @type {'auto'|'5'|'3.1.1'} */ (protocol) }
}

/** @param {string} what */
function usageError (what) {
  return new SluiceError('SLUICE_USAGE', what, { fix: 'See sluice preflight --help.' })
}

/** @param {import('../../broker/preflight/preflight.js').Report} report */
function asText ({ ok, broker, findings }) {
  const lines = findings.flatMap(({ level, text, fix }) => [`${LABELS[level]}  ${text}`, ...(fix ? [`         ${fix}`] : [])])
  if (broker === null) return `${lines.join('\n')}\n`
  const name = `${broker.name} ${broker.version}`.trim()
  return [
    `Broker: ${name}, MQTT ${broker.protocol}`,
    ...lines,
    ok ? 'Nothing was found that breaks the promise.' : 'This broker breaks the promise.',
    ''
  ].join('\n')
}

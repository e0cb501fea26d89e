import { parseArgs } from 'node:util'
import { preflight as checkKafka } from '../../broker/kafka/preflight.js'
import { titleOf } from '../../broker/preflight/finding.js'
import { preflight as checkMqtt } from '../../broker/preflight/preflight.js'
import { schema } from '../databases/kafka/connection.schema.js'
import { SluiceError, describe } from '../base/errors.js'

/** @typedef {import('../../broker/preflight/finding.js').Report} Report */

const LOGINS = /** @type {string[]} */ (/** @type {any} */ (schema.properties.login).enum).filter(login => login !== 'none')

const USAGE = `Usage: sluice preflight BROKER_URL [options]
       sluice preflight kafka://HOST:PORT[,HOST:PORT…] [options]

Tells what about an MQTT broker, or a Kafka cluster, would break the promise that no sample is lost. Of an MQTT broker it tries that, on
topics and sessions of its own; in Kafka it creates and writes nothing. kafkas:// is Kafka with TLS.

  --user NAME            who to connect as
  --password-env NAME    the environment variable that holds the password
  --login KIND           of Kafka: ${LOGINS.join(', ')} (default ${LOGINS[0]} where there is a user)
  --gateway ID           the gateway that will use it (the file gateway-id of its data folder), where access is by name
  --ca FILE              certificate of the authority that signed the broker's (PEM)
  --protocol VERSION     of MQTT: auto (the default), 5 or 3.1.1
  --json                 print the report as JSON

Exit code: 0 nothing breaks the promise, 1 something does, 2 the broker could not be reached or the command was wrong.
`

const OPTIONS = /** @type {const} */ ({
  user: { type: 'string' },
  'password-env': { type: 'string' },
  login: { type: 'string' },
  gateway: { type: 'string' },
  ca: { type: 'string' },
  protocol: { type: 'string', default: 'auto' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false }
})

/** @typedef {{user?: string, 'password-env'?: string, login?: string, gateway?: string, ca?: string, protocol: string}} Values */

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
    report = await reportOf(positionals, values)
  } catch (error) {
    stderr.write(`sluice preflight: ${describe(error)}\n`)
    return 2
  }
  stdout.write(json ? asJson(report) : asText(report))
  if (report.broker === null) return 2
  return report.ok ? 0 : 1
}

/** @param {string[]} addresses @param {Values} values @returns {Promise<Report>} */
async function reportOf (addresses, values) {
  if (addresses.length !== 1) throw usageError('It needs the address of one broker, as mqtt://host:port, or of a cluster, as kafka://host:port.')
  const { gateway } = values
  const kafka = /^kafka(s?):\/\/([^/]+)\/?$/.exec(addresses[0])
  if (kafka) return checkKafka(kafkaOptions(kafka[2], kafka[1] === 's', values), { gateway })
  return checkMqtt(mqttOptions(addresses[0], values), { gateway })
}

/** @param {string} url @param {Values} values */
function mqttOptions (url, { protocol, login, user, ca, ...values }) {
  if (login !== undefined) throw usageError('--login is for Kafka.')
  if (protocol !== 'auto' && protocol !== '5' && protocol !== '3.1.1') throw usageError('--protocol must be auto, 5 or 3.1.1.')
  return { url, user, password: passwordOf(values), ca, protocolVersion: /** @type {'auto'|'5'|'3.1.1'} */ (protocol) }
}

/** @param {string} host @param {boolean} isEncrypted @param {Values} values */
function kafkaOptions (host, isEncrypted, { protocol, login, user, ca, ...values }) {
  if (protocol !== 'auto') throw usageError('--protocol is for MQTT.')
  if (login !== undefined && !LOGINS.includes(login)) throw usageError(`--login must be one of ${LOGINS.join(', ')}.`)
  if (user === undefined && login !== undefined) throw usageError('--login needs --user.')
  return {
    host,
    ...user !== undefined && { login: login ?? LOGINS[0], user, password: passwordOf(values) ?? '' },
    ...isEncrypted && { tls: 'verify', ca: ca ?? '' }
  }
}

/** @param {{'password-env'?: string}} values */
function passwordOf ({ 'password-env': variable }) {
  const password = variable === undefined ? undefined : process.env[variable]
  if (variable === undefined || password !== undefined) return password
  throw usageError(`The environment variable ${variable} of --password-env is not set.`)
}

/** @param {string} what */
function usageError (what) {
  return new SluiceError('SLUICE_USAGE', what, { fix: 'See sluice preflight --help.' })
}

/** @param {Report} report */
function asJson ({ findings, ...report }) {
  const told = findings.map(({ level, code, text, fix }) => ({ level, code, text, fix }))
  return `${JSON.stringify({ ...report, findings: told }, null, 2)}\n`
}

/** @param {Report} report */
function asText ({ ok, broker, findings }) {
  const lines = findings.flatMap(({ level, text, fix }) => [`${LABELS[level]}  ${text}`, ...(fix ? [`         ${fix}`] : [])])
  if (broker === null) return `${lines.join('\n')}\n`
  return [
    `Broker: ${titleOf(broker)}`,
    ...lines,
    ok ? 'Nothing was found that breaks the promise.' : 'This broker breaks the promise.',
    ''
  ].join('\n')
}

import { join } from 'node:path'
import { gatewayId } from '../../broker/gateway-id.js'
import { SluiceError } from '../base/errors.js'
import { PRIVATE_FILE } from '../base/files.js'
import { LOCAL_URL, readFlow, setFlow } from './flow.js'
import { STATE } from './host.js'
import { localAccount, setMosquitto } from './mosquitto.js'

/**
 * What the gateway runs, and which broker it goes through.
 *
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 */

const APPLIED = `${STATE}/applied.json`

/**
 * @param {Host} host
 * @param {import('./owner.js').UserDir} userDir
 * @param {Record<string, Part[]>} parts
 * @param {{key: string, certificate: string}|undefined} tls
 */
export async function setGateway (host, userDir, parts, tls) {
  const { root, boot, step, done, wrong } = host
  const account = await localAccount(host, await userDir.change(() => gatewayId(join(userDir.path, 'sluice'))))
  await step(() => setMosquitto(host, account, parts.device.filter(isRight), parts.mosquitto[0]?.values.listen ?? 'local', tls))
  const applied = JSON.parse(await root.readIfThere(APPLIED) ?? '{}')
  const [elsewhere] = parts.broker
  const broker = await step(async () => elsewhere
    ? isRight(elsewhere) ? await remoteBroker(boot, elsewhere) : null
    : { url: LOCAL_URL, user: account.name, password: account.password, ca: '', verify: true })
  const [flow] = parts.flow
  const imported = await step(async () => flow && isRight(flow) ? flowOn(boot, flow.values.file) : null)
  const next = await userDir.change(() => setFlow(userDir.path, { imported: imported ?? null, broker: broker ?? null }, applied))
  await root.write(APPLIED, `${JSON.stringify(next.applied)}\n`, PRIVATE_FILE)
  if (imported) done(`Flow: ${flow.values.file}`)
  if (broker) done(`Broker: ${broker.url}`)
  if (elsewhere && next.connected?.length === 0) {
    const before = applied.url ?? LOCAL_URL
    wrong(new SluiceError('SLUICE_FIRST_BOOT', `No MQTT broker node of the flow has the address ${before}, to get that of [broker].`, {
      fix: 'Enter it in the editor.'
    }))
  }
}

/** @param {Part} part */
const isRight = ({ wrong }) => wrong.size === 0

/** @param {Host['boot']} boot @param {Part} part @returns {Promise<import('./flow.js').Broker>} */
async function remoteBroker (boot, { values: { url, user, password, ca, verify } }) {
  if (!URL.canParse(url)) {
    throw new SluiceError('SLUICE_TOML_VALUE', `[broker] ${url} is no address of a broker.`, { fix: 'Write mqtts://HOST:PORT.' })
  }
  return { url, user, password, ca: ca === undefined ? '' : await textOn(boot, ca), verify }
}

/** @param {Host['boot']} boot @param {string} file */
async function flowOn (boot, file) {
  const text = await textOn(boot, file)
  readFlow(text)
  return text
}

/** @param {Host['boot']} boot @param {string} file */
async function textOn (boot, file) {
  const text = await boot.readIfThere(file)
  if (text !== null) return text
  throw new SluiceError('SLUICE_FIRST_BOOT', `There is no ${file} on the boot partition.`, { fix: 'Copy it beside sluice.toml.' })
}

import { readFile } from 'node:fs/promises'
import { writeAccounts } from '../../broker/access/files.js'
import { makePassword } from '../../broker/access/mosquitto.js'
import { readAccount, readGrant } from '../../broker/access/accounts.js'
import { PRIVATE_FILE } from '../base/files.js'
import { NOTICE, STATE } from './host.js'

/**
 * The Mosquitto of the machine: accounts of the gateway and of devices, and who reaches it.
 *
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 * @typedef {{name: string, password: string}} Account
 */

const FOLDER = `${STATE}/mosquitto`
const SETTINGS = new URL('../../broker/mosquitto.conf', import.meta.url)
/** In the settings that are shipped: what is said here instead, and what Debian's main file says already. */
const OPEN = /^listener 1883 127\.0\.0\.1\nallow_anonymous true\n/m
const LOCATION = /^persistence_location .*\n/m

/**
 * The gateway's own account there, whose password is made once.
 * @param {Host} host
 * @param {string} gateway  its id
 * @returns {Promise<Account>}
 */
export async function localAccount ({ root }, gateway) {
  const path = `${FOLDER}/gateway.json`
  const kept = await root.readIfThere(path)
  const account = kept ? JSON.parse(kept) : { name: gateway, password: makePassword() }
  await root.write(path, `${JSON.stringify(account)}\n`, PRIVATE_FILE)
  return account
}

/**
 * @param {Host} host
 * @param {Account} gateway
 * @param {Part[]} parts  the devices
 * @param {'local'|'tls'|'plain'} wanted
 * @param {{key: string, certificate: string}|undefined} tls  PEM; without it the network is kept out
 */
export async function setMosquitto ({ root, run, done }, gateway, parts, wanted, tls) {
  const listen = tls ? wanted : 'local'
  const devices = parts.map(({ values }) => /** @type {Account & {topics: string[]}} */ (values))
  const accounts = [readAccount(`${gateway.name}:gateway`), ...devices.map(({ name }) => readAccount(`${name}:other`))]
  const grants = devices.flatMap(({ name, topics }) => topics.flatMap(topic => [
    readGrant(`${name} write ${topic}`, accounts), readGrant(`${gateway.name} read ${topic}`, accounts)
  ]))
  const passwords = new Map([gateway, ...devices].map(({ name, password }) => [name, password]))
  const folder = root.at(FOLDER)
  const { paths, isOther } = await writeAccounts(folder, accounts, grants, passwords)
  let isToOwn = isOther || root.isUnfinished
  if (tls && listen !== 'local') {
    await root.write(`${FOLDER}/tls.crt`, tls.certificate)
    isToOwn = await root.write(`${FOLDER}/tls.key`, tls.key, PRIVATE_FILE) || isToOwn
    paths.push(root.at(`${FOLDER}/tls.key`))
  }
  if (isToOwn) await run('chown', 'mosquitto:mosquitto', ...paths)
  await root.write('/etc/mosquitto/conf.d/sluice.conf', await settings(listen))
  done(`Mosquitto: ${REACH[listen]}; accounts: ${accounts.map(({ name }) => name).join(', ')}`)
}

const REACH = {
  local: 'reached by this machine only',
  tls: 'reached by the network on port 8883 (TLS)',
  plain: 'reached by the network on ports 8883 (TLS) and 1883 (clear text)'
}

/** @param {'local'|'tls'|'plain'} listen */
async function settings (listen) {
  const text = await readFile(SETTINGS, 'utf8')
  const access = [
    listen === 'plain' ? 'listener 1883' : 'listener 1883 127.0.0.1',
    ...listen === 'local' ? [] : ['listener 8883', `certfile ${FOLDER}/tls.crt`, `keyfile ${FOLDER}/tls.key`],
    'allow_anonymous false',
    `password_file ${FOLDER}/sluice.passwords`,
    `acl_file ${FOLDER}/sluice.acl`,
    ''
  ]
  return `${NOTICE}\n\n${text.replace(LOCATION, '').replace(OPEN, access.join('\n'))}`
}

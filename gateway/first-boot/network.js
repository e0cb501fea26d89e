import { pbkdf2Sync } from 'node:crypto'
import { isIP } from 'node:net'
import { SluiceError } from '../base/errors.js'
import { PRIVATE_FILE } from '../base/files.js'
import { NOTICE } from './host.js'

/**
 * Cable and Wi-Fi, for systemd-networkd and wpa_supplicant.
 *
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 */

/** Where systemd-networkd looks for what the administrator says. */
export const NETWORK = '/etc/systemd/network'
const ADAPTER = 'wlan0'
/** IEEE 802.11 */
const SSID_BYTES = 32
const SUPPLICANT = `/etc/wpa_supplicant/wpa_supplicant-${ADAPTER}.conf`

/** @param {Host} host @param {Part|undefined} part */
export async function setEthernet ({ root, done }, part) {
  const text = part ? network(['Type=ether', 'Kind=!*'], 'ethernet', part.values) : null
  await root.write(`${NETWORK}/50-sluice-ethernet.network`, text)
  if (part) done(`Ethernet: ${part.values.address}`)
}

/** @param {Host} host @param {Part|undefined} part */
export async function setWifi ({ root, run, done }, part) {
  const login = part ? supplicantFile(part.values) : null
  await root.write(`${NETWORK}/50-sluice-wifi.network`, part ? network([`Name=${ADAPTER}`], 'wifi', part.values) : null)
  if (await root.write(SUPPLICANT, login, PRIVATE_FILE)) {
    await run('systemctl', part ? 'enable' : 'disable', '--now', '--no-block', `wpa_supplicant@${ADAPTER}.service`)
  }
  if (part) done(`Wi-Fi: ${part.values.ssid}, ${part.values.address ?? 'address by DHCP'}`)
}

/** @param {string[]} match @param {string} table @param {Record<string, any>} values @returns {string} */
function network (match, table, { address, gateway, dns = [] }) {
  const [ip = '', prefix = 0] = address?.split('/') ?? []
  const wrong = [...address ? [ip] : [], ...gateway ? [gateway] : [], ...dns].find(each => isIP(each) === 0)
  if (wrong !== undefined || Number(prefix) > (isIP(ip) === 4 ? 32 : 128)) {
    throw new SluiceError('SLUICE_TOML_VALUE', `[${table}] ${wrong ?? address} is no address of a network.`, {
      fix: 'Write the address as 192.168.1.50/24, gateway and dns without the length of the prefix.'
    })
  }
  const fixed = [`Address=${address}`, ...gateway ? [`Gateway=${gateway}`] : [], ...dns.map((/** @type {string} */ each) => `DNS=${each}`)]
  return [NOTICE, '[Match]', ...match, '', '[Network]', ...address ? fixed : ['DHCP=yes'], ''].join('\n')
}

/** The name in hexadecimal, the password hashed: neither has to be quoted. @param {Record<string, any>} values */
function supplicantFile ({ ssid, password, country }) {
  const name = Buffer.from(ssid)
  if (name.length > SSID_BYTES) {
    throw new SluiceError('SLUICE_TOML_VALUE', `[wifi] ssid has ${name.length} bytes; a network has a name of up to ${SSID_BYTES}.`, {
      fix: 'Letters beyond A to Z take two and more. Copy the name from the access point.'
    })
  }
  const login = password === undefined
    ? ['  key_mgmt=NONE']
    : ['  key_mgmt=WPA-PSK', `  psk=${pbkdf2Sync(password, name, 4096, 32, 'sha1').toString('hex')}`]
  return [
    NOTICE,
    'ctrl_interface=DIR=/run/wpa_supplicant GROUP=netdev',
    `country=${country}`,
    'network={',
    `  ssid=${name.toString('hex')}`,
    ...login,
    '}',
    ''
  ].join('\n')
}

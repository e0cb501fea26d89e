import { readdir } from 'node:fs/promises'
import { NOTICE } from './host.js'
import { NETWORK } from './network.js'

/**
 * CAN interfaces, which systemd-networkd sets up.
 *
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 */

const OWN_FILE = /^50-sluice-can-.*\.(network|netdev|link)$/

/** Where one of them is wrong, none is removed: it may be that one. @param {Host} host @param {Part[]} parts */
export async function setCan ({ root, run, done }, parts) {
  const right = parts.filter(({ wrong }) => wrong.size === 0)
  const files = new Map(right.flatMap(({ values }) => Object.entries(filesOf(values))))
  const there = await readdir(root.at(NETWORK)).catch(() => [])
  for (const name of right.length < parts.length ? [] : there) {
    if (OWN_FILE.test(name) && !files.has(name)) await root.write(`${NETWORK}/${name}`, null)
  }
  let isLinkOther = false
  for (const [name, text] of files) {
    const isOther = await root.write(`${NETWORK}/${name}`, text)
    isLinkOther ||= isOther && name.endsWith('.link')
  }
  if (isLinkOther) {
    // The kernel may have found the interface before this was written.
    await run('udevadm', 'control', '--reload')
    await run('udevadm', 'trigger', '--action=add', '--subsystem-match=net')
  }
  for (const { values } of right) done(`CAN: ${values.name}, ${rates(values)}`)
}

/** @param {Record<string, any>} values @returns {Record<string, string>} text by name */
function filesOf (values) {
  const { name, virtual, queue_length: length } = values
  const own = `50-sluice-can-${name}`
  const bus = virtual ? [] : ['', '[CAN]', ...busLines(values)]
  return {
    [`${own}.network`]: lines('[Match]', `Name=${name}`, '', '[Link]', 'RequiredForOnline=no', ...bus),
    ...virtual
      ? { [`${own}.netdev`]: lines('[NetDev]', `Name=${name}`, 'Kind=vcan') }
      : { [`${own}.link`]: lines('[Match]', `OriginalName=${name}`, '', '[Link]', `TransmitQueueLength=${length}`) }
  }
}

/** @param {Record<string, any>} values */
function busLines ({ bit_rate: rate, data_bit_rate: dataRate, restart_ms: restartMs, listen_only: listens, loopback }) {
  return [
    `BitRate=${rate}`,
    ...dataRate === undefined ? [] : [`DataBitRate=${dataRate}`, 'FDMode=yes'],
    `RestartSec=${restartMs}ms`,
    `ListenOnly=${yes(listens)}`,
    `Loopback=${yes(loopback)}`
  ]
}

/** @param {Record<string, any>} values */
function rates ({ virtual, bit_rate: rate, data_bit_rate: dataRate }) {
  if (virtual) return 'virtual'
  return `${rate / 1000} kbit/s${dataRate === undefined ? '' : `, data ${dataRate / 1000} kbit/s`}`
}

/** @param {boolean} value */
const yes = value => value ? 'yes' : 'no'

/** @param {string[]} text */
const lines = (...text) => [NOTICE, ...text, ''].join('\n')

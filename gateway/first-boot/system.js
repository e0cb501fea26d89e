import { existsSync } from 'node:fs'
import { readdir, symlink, readlink, rename, rm } from 'node:fs/promises'
import { SluiceError } from '../base/errors.js'
import { NOTICE } from './host.js'

/**
 * @typedef {import('./host.js').Host} Host
 * @typedef {import('./toml.js').Part} Part
 */

const SSH_KEYS = '/etc/ssh/sluice-keys'
const SSH_SETTINGS = `AuthorizedKeysFile .ssh/authorized_keys ${SSH_KEYS}\n`
const ZONES = '/usr/share/zoneinfo'
const READ_ONLY_ROOT = '/etc/sluice/read-only-root'
/** Keeps such a root writable: what is in that file can be changed on any computer. */
const WRITABLE = 'sluice.writable'

/** @param {Host} host @param {Part} part */
export async function setHostName ({ root, run, done }, { values: { host_name: name } }) {
  if (name === undefined) return
  const [short] = name.split('.')
  const hosts = (await root.read('/etc/hosts')).split('\n').filter(line => line && !/^127\.0\.1\.1\s/.test(line))
  await root.write('/etc/hosts', `${[...hosts, `127.0.1.1\t${name}${short === name ? '' : ` ${short}`}`].join('\n')}\n`)
  if (await root.write('/etc/hostname', `${name}\n`)) await run('hostname', name)
  done(`Host name: ${name}`)
}

/** @param {Host} host @param {Part} part */
export async function setTimeZone ({ root, done }, { values: { time_zone: zone } }) {
  if (zone === undefined) return
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch (cause) {
    throw new SluiceError('SLUICE_TOML_VALUE', `[system] There is no time zone "${zone}".`, {
      fix: 'Write one such as Europe/Berlin.', cause
    })
  }
  const [path, target] = [root.at('/etc/localtime'), `${ZONES}/${zone}`]
  if (existsSync(root.at(ZONES)) && !existsSync(root.at(target))) { // an old name, or one in small letters: JavaScript knows those
    throw new SluiceError('SLUICE_TOML_VALUE', `[system] This machine has no time zone "${zone}".`, {
      fix: 'Write one such as Europe/Berlin, with these capital letters.'
    })
  }
  if (await readlink(path).catch(() => null) !== target) {
    await root.write('/etc/timezone', `${zone}\n`)
    await rm(`${path}.new`, { force: true })
    await symlink(target, `${path}.new`)
    await rename(`${path}.new`, path)
  }
  done(`Time zone: ${zone}`)
}

/** @param {Host} host @param {Part} part */
export async function setTimeServers ({ root, done }, { values: { ntp_servers: servers = [] } }) {
  const text = servers.length > 0 ? `${NOTICE}\n[Time]\nNTP=${servers.join(' ')}\n` : null
  await root.write('/etc/systemd/timesyncd.conf.d/sluice.conf', text)
  if (text) done(`Time servers: ${servers.join(', ')}`)
}

/** Keys entered by hand are in ~/.ssh/authorized_keys, which stays as it is. @param {Host} host @param {Part} part */
export async function setSshKeys ({ root, done }, { values: { keys = [] } }) {
  const isWanted = keys.length > 0
  await root.write(SSH_KEYS, isWanted ? [NOTICE, ...keys, ''].join('\n') : null)
  await root.write('/etc/ssh/sshd_config.d/sluice.conf', isWanted ? `${NOTICE}\n${SSH_SETTINGS}` : null)
  if (isWanted) done(`SSH keys: ${keys.length}; log in as root`)
}

/**
 * The switch is a file on the root, which the initial RAM disk looks for. Once it is there, it cannot be removed before the machine has
 * started with a writable root again.
 * @param {Host} host
 * @param {Part} part
 */
export async function setReadOnlyRoot ({ root, boot, needsRestart, done }, { values: { read_only_root: isWanted }, given }) {
  if (!given.has('read_only_root')) return
  const isOverlaid = await root.readIfThere(`/run/root/card${READ_ONLY_ROOT}`) !== null
  if (isWanted) {
    // What only the first start makes would be made anew at each, as these keys.
    const isComplete = (await readdir(root.at('/etc/ssh')).catch(() => [])).some(name => /^ssh_host_.*_key$/.test(name))
    if (isComplete) await root.write(READ_ONLY_ROOT, '')
    return done(`The root is read-only${isOverlaid ? '' : ` from the ${isComplete ? 'next start' : 'start after the next'} on`}`)
  }
  if (!isOverlaid) await root.write(READ_ONLY_ROOT, null)
  const words = (await boot.read('cmdline.txt')).trim().split(/\s+/).filter(word => word !== WRITABLE)
  const line = `${[...words, ...isOverlaid ? [WRITABLE] : []].join(' ')}\n`
  if (await boot.write('cmdline.txt', line) && isOverlaid) needsRestart()
}

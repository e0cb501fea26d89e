import {
  chmodSync, chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { unpack } from './base.js'
import { run } from '../run.js'
import { addOverlays } from './overlays.js'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const SYSTEM = join(REPOSITORY, 'packaging/image/system')
const SETTINGS = join(REPOSITORY, 'packaging/image/sluice.toml')

const SOURCES = `Types: deb
URIs: http://deb.debian.org/debian
Suites: trixie trixie-updates
Components: main non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://deb.debian.org/debian-security
Suites: trixie-security
Components: main non-free-firmware
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`

/** The packages have enabled theirs. */
const UNITS = ['systemd-networkd.service', 'sluice-grow-data.service', 'sluice-first-boot.service', 'sluice.service']

/** A start waits for no network: samples come from field buses. */
const UNITS_OFF = ['systemd-networkd-wait-online.service', 'wpa_supplicant.service']

/**
 * What is on each partition of the card, as folders.
 * @typedef {{boot: string, root: string, data: string}} Tree
 */

/**
 * @param {string} folder  empty
 * @param {{base: string, payload: string}} archives
 * @returns {Tree}
 */
export function makeTree (folder, { base, payload }) {
  const tree = { boot: join(folder, 'boot'), root: join(folder, 'root'), data: join(folder, 'data') }
  for (const path of Object.values(tree)) mkdirSync(path)
  unpack(base, tree.root)
  cpSync(SYSTEM, tree.root, { recursive: true, verbatimSymlinks: true })
  cpSync(join(REPOSITORY, 'packaging/systemd/sysusers.conf'), join(tree.root, 'usr/lib/sysusers.d/sluice.conf'))
  run('systemd-sysusers', [`--root=${tree.root}`])
  addData(tree)
  addPayload(tree, payload)
  run('systemctl', [`--root=${tree.root}`, '--quiet', 'enable', ...UNITS])
  run('systemctl', [`--root=${tree.root}`, '--quiet', 'disable', ...UNITS_OFF])
  clean(tree.root)
  takeBoot(tree)
  return tree
}

/** Folders that are mounted over those of the root. @param {Tree} tree */
function addData ({ root, data }) {
  const users = idsOf(root)
  const folders = { sluice: 'sluice', opt: 'root', mosquitto: 'mosquitto', timesync: 'systemd-timesync' }
  for (const [name, user] of Object.entries(folders)) {
    const path = join(data, name)
    mkdirSync(path, { mode: name === 'sluice' ? 0o700 : 0o755 })
    chownSync(path, ...users(user))
  }
  for (const path of ['data', 'var/lib/sluice', 'opt/sluice', 'var/lib/mosquitto', 'var/lib/systemd/timesync', 'etc/sluice']) {
    mkdirSync(join(root, path), { recursive: true })
  }
  // Keys outlive a start with a read-only root.
  mkdirSync(join(data, 'opt/update-keys'))
  symlinkSync('/opt/sluice/update-keys', join(root, 'etc/sluice/update-keys'))
}

/** @param {string} root @returns {(user: string) => [number, number]} */
function idsOf (root) {
  const ids = new Map(readFileSync(join(root, 'etc/passwd'), 'utf8').trim().split('\n').map(line => line.split(':'))
    .map(([name, , user, group]) => [name, /** @type {[number, number]} */ ([Number(user), Number(group)])]))
  return user => {
    const found = ids.get(user)
    if (!found) throw new Error(`The base has no user ${user}.`)
    return found
  }
}

/** As `sluice update` will find it. @param {Tree} tree @param {string} payload */
function addPayload ({ root, data }, payload) {
  const releases = join(data, 'opt/releases')
  const unpacked = join(releases, 'unpacked')
  mkdirSync(unpacked, { recursive: true })
  run('tar', ['--extract', '--no-same-owner', '--strip-components=1', '--file', payload, '--directory', unpacked])
  const { version, arch } = JSON.parse(readFileSync(join(unpacked, 'release.json'), 'utf8'))
  if (arch !== 'arm64') throw new Error(`${payload} is a release for ${arch}: make one with npm run release -- --arch arm64.`)
  renameSync(unpacked, join(releases, version))
  symlinkSync(`releases/${version}`, join(data, 'opt/current'))
  cpSync(join(releases, version, 'share/update/sluice-boot'), join(data, 'opt/sluice-boot'))
  cpSync(join(releases, version, 'share/systemd/sluice.service'), join(root, 'usr/lib/systemd/system/sluice.service'))
  symlinkSync('/opt/sluice/current/bin/sluice', join(root, 'usr/bin/sluice'))
}

/** Nothing that two cards must not have in common, and nothing of the machine that built it. @param {string} root */
function clean (root) {
  const gone = [
    ...readdirSync(join(root, 'etc/ssh')).filter(name => name.startsWith('ssh_host_')).map(name => `etc/ssh/${name}`),
    'etc/apt/sources.list', 'etc/apt/apt.conf.d/99mmdebstrap', 'var/lib/dbus/machine-id', 'var/lib/systemd/random-seed', 'etc/resolv.conf'
  ]
  for (const path of gone) rmSync(join(root, path), { force: true })
  writeFileSync(join(root, 'etc/apt/sources.list.d/debian.sources'), SOURCES)
  writeFileSync(join(root, 'etc/machine-id'), '')
  chmodSync(join(root, 'etc/machine-id'), 0o444)
  writeFileSync(join(root, 'etc/hostname'), 'sluice\n')
  writeFileSync(join(root, 'etc/hosts'), '127.0.0.1 localhost\n127.0.1.1 sluice\n::1 localhost ip6-localhost ip6-loopback\n')
  symlinkSync('../run/systemd/resolve/stub-resolv.conf', join(root, 'etc/resolv.conf'))
}

/** The FAT partition knows no links, no owners and no modes. @param {Tree} tree */
function takeBoot ({ root, boot }) {
  const firmware = join(root, 'boot/firmware')
  if (!existsSync(join(firmware, 'config.txt'))) throw new Error('raspi-firmware has written no config.txt.')
  for (const name of readdirSync(firmware)) {
    cpSync(join(firmware, name), join(boot, name), { recursive: true, dereference: true })
    rmSync(join(firmware, name), { recursive: true })
  }
  addOverlays(boot)
  cpSync(SETTINGS, join(boot, 'sluice.toml'))
}

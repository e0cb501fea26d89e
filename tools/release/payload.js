import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { buildSocketcan } from './addon.js'
import { checkOut } from './commit.js'
import { pack, writeSums } from './pack.js'
import { CPUS, forgetPackages, installPackages, PROJECT, prunePackages, strip } from './packages.js'
import { bomOf } from './sbom.js'

/**
 * @typedef {object} Wanted
 * @property {string} root  of the repository
 * @property {import('./commit.js').Commit} commit
 * @property {import('./packages.js').Arch} arch
 * @property {string} [publicKey]  PEM, with which the releases after this one are checked
 * @property {boolean} [hasSocketcan]
 */

/** What of the project a release has outside of its package: folders of the repository, and where they are in `share/`. */
const SHARED = Object.freeze({
  'packaging/systemd': 'systemd',
  'packaging/update': 'update',
  'packaging/grafana': 'grafana',
  'packaging/prometheus': 'prometheus',
  'broker/mosquitto.conf': 'mosquitto/mosquitto.conf'
})

/** @param {Wanted} wanted @returns {string} the name of its tarball */
export function tarballName ({ commit, arch }) {
  return `sluice-${commit.version}-linux-${arch}.tar.gz`
}

/**
 * Makes the tarball of a release, and its list of packages beside it: the same bytes from the same commit.
 * @param {Wanted} wanted
 * @param {string} out  a folder
 * @returns {Promise<string>} its path
 */
export async function makePayload (wanted, out) {
  const work = mkdtempSync(join(tmpdir(), 'sluice-release-'))
  try {
    const source = join(work, 'source')
    const folder = join(work, `sluice-${wanted.commit.version}`)
    checkOut(wanted.root, wanted.commit, source)
    mkdirSync(folder)
    await fill(folder, source, wanted)
    mkdirSync(out, { recursive: true })
    const tarball = join(out, tarballName(wanted))
    pack(folder, tarball, wanted.commit.seconds)
    cpSync(join(folder, 'sbom.cdx.json'), tarball.replace(/\.tar\.gz$/, '.cdx.json'))
    return tarball
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** @param {string} folder @param {string} source @param {Wanted} wanted */
async function fill (folder, source, { commit, arch, publicKey, hasSocketcan = true }) {
  const app = join(folder, 'app')
  installPackages(source, app, arch)
  if (hasSocketcan) buildSocketcan(app, arch)
  else forgetPackages(app, ['socketcan'])
  prunePackages(app, arch, commit.version)
  writeFileSync(join(folder, 'sbom.cdx.json'), bomOf(app))
  const node = takeNode(app, folder, arch)
  strip(app, arch)
  writeLauncher(folder)
  share(source, folder)
  if (publicKey) writeFileSync(join(folder, 'share', 'sluice-release.pub'), publicKey)
  const { FORMATS } = await import(pathToFileURL(join(app, PROJECT, 'broker', 'formats.js')).href)
  const omitted = hasSocketcan ? [] : ['socketcan']
  const release = { name: 'sluice', version: commit.version, commit: commit.hash, arch, node, formats: FORMATS, omitted }
  writeFileSync(join(folder, 'release.json'), `${JSON.stringify(release, null, 2)}\n`)
  writeSums(folder)
}

/**
 * Node comes as a package, of which only the program is used.
 * @param {string} app
 * @param {string} folder
 * @param {import('./packages.js').Arch} arch
 * @returns {string} its version
 */
function takeNode (app, folder, arch) {
  const from = join(app, 'node_modules', `node-linux-${CPUS[arch]}`)
  const { version } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
  mkdirSync(join(folder, 'bin'))
  renameSync(join(from, 'bin', 'node'), join(folder, 'bin', 'node'))
  mkdirSync(join(folder, 'share'))
  renameSync(join(from, 'LICENSE'), join(folder, 'share', 'LICENSE.node'))
  rmSync(from, { recursive: true })
  return version
}

/** With the options of Node that are in the first line of the command. @param {string} folder */
function writeLauncher (folder) {
  const command = `${PROJECT}/gateway/cli/sluice.js`
  const [, flags] = /^#!.* node (.*)$/m.exec(readFileSync(join(folder, 'app', command), 'utf8')) ?? []
  const path = join(folder, 'bin', 'sluice')
  writeFileSync(path, `#!/bin/sh
self=$(readlink -f "$0")
root=\${self%/bin/*}
exec "$root/bin/node" ${flags} "$root/app/${command}" "$@"
`)
  chmodSync(path, 0o755)
}

/** @param {string} source @param {string} folder */
function share (source, folder) {
  for (const [from, to] of Object.entries(SHARED)) {
    cpSync(join(source, from), join(folder, 'share', to), { recursive: true })
  }
}

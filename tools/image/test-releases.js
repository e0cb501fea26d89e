import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pack, writeChecksum, writeSums } from '../release/pack.js'
import { writeSignature } from '../release/sign.js'
import { run } from '../run.js'

/** @typedef {{version: string, tarball: string}} Release */

const COMMAND = 'app/node_modules/@sluice/node-red/gateway/cli/sluice.js'

/**
 * A copy of a release, signed by a key that the card is told.
 * @param {string} payload @param {string} folder @param {string} keyFile @returns {Release}
 */
export function signedRelease (payload, folder, keyFile) {
  const [, version] = /^sluice-(.+)-linux-arm64\.tar\.gz$/.exec(basename(payload)) ?? []
  if (!version) throw new Error(`${payload} is no release for arm64.`)
  const tarball = join(folder, basename(payload))
  copyFileSync(payload, tarball)
  return signed({ version, tarball }, keyFile)
}

/**
 * A release after another one, whose gateway ends as soon as it is started.
 * @param {Release} healthy @param {string} folder @param {string} keyFile @returns {Release}
 */
export function sickRelease (healthy, folder, keyFile) {
  const version = `${healthy.version}${healthy.version.includes('+') ? '.' : '+'}sick`
  const [unpacked, top] = [join(folder, 'unpacked'), join(folder, `sluice-${version}`)]
  mkdirSync(unpacked)
  run('tar', ['--extract', '--strip-components=1', '--file', healthy.tarball, '--directory', unpacked])
  renameSync(unpacked, top)
  const description = JSON.parse(readFileSync(join(top, 'release.json'), 'utf8'))
  writeFileSync(join(top, 'release.json'), JSON.stringify({ ...description, version }))
  writeFileSync(join(top, COMMAND), 'console.error("This release is sick.")\nprocess.exitCode = 1\n')
  writeSums(top)
  const tarball = join(folder, `sluice-${version}-linux-arm64.tar.gz`)
  pack(top, tarball, 0)
  return signed({ version, tarball }, keyFile)
}

/** @param {Release} release @param {string} keyFile */
function signed (release, keyFile) {
  writeSignature(writeChecksum(release.tarball), keyFile)
  return release
}

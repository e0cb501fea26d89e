import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './run.js'

/** The names of an architecture: Debian's, and Node's. */
export const CPUS = Object.freeze({ amd64: 'x64', arm64: 'arm64' })

/** @typedef {keyof typeof CPUS} Arch */

/** Where the project is in `app/`. */
export const PROJECT = join('node_modules', '@sluice', 'node-red')

/**
 * Installs what runs a gateway on another machine, as the lockfile of `release/` has it. No script runs: nothing is to be of this machine.
 * @param {string} source  the project
 * @param {string} app  the folder to make
 * @param {Arch} arch
 * @param {string} version  of the release
 */
export function installPackages (source, app, arch, version) {
  mkdirSync(app)
  packProject(source, app)
  const description = JSON.parse(readFileSync(join(source, 'release', 'package.json'), 'utf8'))
  writeFileSync(join(app, 'package.json'), `${JSON.stringify({ ...description, version }, null, 2)}\n`)
  copyFileSync(join(source, 'release', 'package-lock.json'), join(app, 'package-lock.json'))
  const platform = ['--os=linux', `--cpu=${CPUS[arch]}`, '--libc=glibc']
  run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', ...platform], { cwd: app })
}

/** @param {string} source @param {string} folder  gets sluice.tgz */
export function packProject (source, folder) {
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: source }))
  renameSync(join(folder, filename), join(folder, 'sluice.tgz'))
}

/**
 * Removes what no gateway reads: npm's notes and links to programs, binaries of other platforms, source maps, and types but those that the
 * editor offers for function nodes.
 * @param {string} app
 * @param {Arch} arch
 */
export function strip (app, arch) {
  for (const name of ['sluice.tgz', 'package-lock.json', 'node_modules/.package-lock.json']) rmSync(join(app, name))
  /** @param {string} folder */
  const stripFolder = folder => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name)
      if (isNeedless(path, arch)) rmSync(path, { recursive: true })
      else if (entry.isDirectory()) stripFolder(path)
    }
  }
  stripFolder(join(app, 'node_modules'))
}

/** @param {string} path @param {Arch} arch */
function isNeedless (path, arch) {
  if (path.endsWith('/node_modules/.bin') || path.endsWith('.map')) return true
  if (/\.d\.[cm]?ts$/.test(path)) return !path.includes('/@node-red/editor-client/')
  const [, platform] = /\/prebuilds\/([^/]+)$/.exec(path) ?? []
  return platform !== undefined && platform !== `linux-${CPUS[arch]}`
}

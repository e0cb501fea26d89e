import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.js'

/** The names of an architecture: Debian's, and Node's. */
export const CPUS = Object.freeze({ amd64: 'x64', arm64: 'arm64' })

/** @typedef {keyof typeof CPUS} Arch */

/** Where the project is in `app/`. */
export const PROJECT = join('node_modules', '@sluice', 'node-red')

/** What npm does, it does for another machine, and without asking anybody. @param {Arch} arch */
const optionsFor = arch =>
  ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--os=linux', `--cpu=${CPUS[arch]}`, '--libc=glibc']

/**
 * Installs what runs a gateway on another machine, as the lockfile of `release/` has it. No script runs: nothing may be of this machine.
 * @param {string} source  the project
 * @param {string} app  the folder to make
 * @param {Arch} arch
 */
export function installPackages (source, app, arch) {
  mkdirSync(app)
  packProject(source, app)
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(source, 'release', name), join(app, name))
  run('npm', ['ci', ...optionsFor(arch)], { cwd: app })
}

/** @param {string} folder  of a package @param {string[]} names  of packages that it needs no more */
export function forgetPackages (folder, names) {
  editDescription(folder, description => {
    for (const name of names) delete description.dependencies[name]
  })
}

/**
 * Removes the packages that nothing needs any more, and says which release they are.
 * @param {string} app
 * @param {Arch} arch
 * @param {string} version
 */
export function prunePackages (app, arch, version) {
  editDescription(app, description => {
    description.version = version
    description.dependencies['@sluice/node-red'] = version
  })
  for (const name of ['sluice.tgz', 'package-lock.json']) rmSync(join(app, name))
  run('npm', ['prune', '--offline', '--no-package-lock', ...optionsFor(arch)], { cwd: app })
}

/** @param {string} folder @param {(description: any) => void} edit */
function editDescription (folder, edit) {
  const path = join(folder, 'package.json')
  const description = JSON.parse(readFileSync(path, 'utf8'))
  edit(description)
  writeFileSync(path, `${JSON.stringify(description, null, 2)}\n`)
}

/** @param {string} source @param {string} folder  gets sluice.tgz */
export function packProject (source, folder) {
  const [{ filename }] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: source }))
  renameSync(join(folder, filename), join(folder, 'sluice.tgz'))
}

/**
 * Removes what no gateway reads: npm's notes and links to programs, binaries of other platforms, source maps, and types but those that the
 * editor offers for function nodes. The npm that Node-RED brings stays: on a machine that has nothing but the release there is no other
 * one to add nodes with.
 * @param {string} app
 * @param {Arch} arch
 */
export function strip (app, arch) {
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
  if (/\/node_modules\/\.(bin|package-lock\.json)$/.test(path) || path.endsWith('.map')) return true
  if (/\.d\.[cm]?ts$/.test(path)) return !path.includes('/@node-red/editor-client/')
  const [, platform] = /\/prebuilds\/([^/]+)$/.exec(path) ?? []
  return platform !== undefined && platform !== `linux-${CPUS[arch]}`
}

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { aptOptions, mirrors } from '../debian.js'
import { run } from '../run.js'
import { withArmPrograms } from './emulated.js'

const PACKAGING = fileURLToPath(new URL('../../packaging/image/', import.meta.url))
const BASE = join(PACKAGING, 'base')
const SUITE = 'trixie'
const COMPONENTS = 'main non-free-firmware'

/** Nobody reads a manual on the card. */
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/lintian/*']

const RECIPE = [
  '--architectures=arm64',
  '--variant=minbase',
  `--include=${packageNames(readFileSync(join(PACKAGING, 'packages.txt'), 'utf8')).join(',')}`,
  ...LEFT_OUT.map(path => `--dpkgopt=path-exclude=${path}`),
  '--dpkgopt=path-include=/usr/share/doc/*/copyright'
]

/**
 * Debian as it is on every card: packages, settings of what starts it, and the initramfs that is made of both. Programs of arm64 are
 * emulated for it, which takes long: what comes out is kept in the user's cache, under the hash of what went in.
 * @param {(line: string) => void} log
 * @returns {string} a tar
 */
export function baseArchive (log) {
  const recipe = hashOf(JSON.stringify([RECIPE, SUITE, COMPONENTS]))
  const packages = cached(`packages-${recipe}`, file => {
    log('Building Debian for arm64, which takes a quarter of an hour; it is kept for the next time.')
    const args = [...RECIPE, ...aptOptions(), SUITE, file, ...mirrors(SUITE, { components: COMPONENTS, hasSecurity: true })]
    // The initramfs is built once, below, and not by each package that would like to.
    withArmPrograms(() => run('mmdebstrap', args, { env: { ...process.env, INITRD: 'No' }, isShown: true }))
  })
  return cached(`base-${hashOf(recipe, ...filesBelow(BASE))}`, file => {
    log('Building its initramfs, which takes a few minutes; it is kept, too.')
    addInitramfs(packages, file)
  })
}

/** With /proc, by which hooks of raspi-firmware see that nothing is mounted here. The mount ends with the program. */
const UPDATE = 'mount -t proc proc "$1/proc" && exec chroot "$1" update-initramfs -c -k all'

/** @param {string} packages  a tar @param {string} file  another one */
function addInitramfs (packages, file) {
  const folder = mkdtempSync(join(cacheFolder(), 'unpacked-'))
  try {
    unpack(packages, folder)
    run('cp', ['--recursive', '--no-target-directory', '--no-preserve=ownership', BASE, folder])
    withArmPrograms(() => run('unshare', ['--mount', 'sh', '-c', UPDATE, 'sh', folder], { isShown: true }))
    run('tar', ['--create', '--zstd', ...AS_IT_IS, '--file', file, '--directory', folder, '.'])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const AS_IT_IS = ['--numeric-owner', '--xattrs', '--xattrs-include=*']

/** @param {string} archive  compressed by zstd @param {string} folder */
export function unpack (archive, folder) {
  run('tar', ['--extract', '--zstd', ...AS_IT_IS, '--file', archive, '--directory', folder])
}

/** One a line; a # begins a comment. @param {string} text */
export function packageNames (text) {
  return text.split('\n').map(line => line.replace(/#.*/, '').trim()).filter(Boolean)
}

/** @param {string} name @param {(file: string) => void} make  writes the file @returns {string} its path */
function cached (name, make) {
  const file = join(cacheFolder(), `${name}.tar.zst`)
  if (existsSync(file)) return file
  const unfinished = join(cacheFolder(), `unfinished-${process.pid}.tar.zst`)
  try {
    make(unfinished)
    renameSync(unfinished, file)
  } finally {
    rmSync(unfinished, { force: true })
  }
  return file
}

function cacheFolder () {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'image')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** @param {string} folder @returns {string[]} paths and contents */
function filesBelow (folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const files = entries.map(entry => join(entry.parentPath, entry.name)).sort()
  return files.flatMap(file => [relative(folder, file), readFileSync(file, 'latin1')])
}

/** @param {...string} parts */
function hashOf (...parts) {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
}

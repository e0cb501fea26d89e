import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withArmPrograms } from './emulated.js'
import { run } from './run.js'

const PACKAGING = fileURLToPath(new URL('../../packaging/image/', import.meta.url))
const BASE = join(PACKAGING, 'base')
const SUITE = 'trixie'
const COMPONENTS = 'main non-free-firmware'

/** Nobody reads a manual on the card. */
const LEFT_OUT = ['/usr/share/doc/*', '/usr/share/man/*', '/usr/share/info/*', '/usr/share/locale/*', '/usr/share/lintian/*']

/** The initramfs is built once, at the end, and not by each package that would like to. */
const RECIPE = [
  '--architectures=arm64',
  '--variant=minbase',
  `--include=${packageNames(readFileSync(join(PACKAGING, 'packages.txt'), 'utf8')).join(',')}`,
  ...LEFT_OUT.map(path => `--dpkgopt=path-exclude=${path}`),
  '--dpkgopt=path-include=/usr/share/doc/*/copyright',
  '--customize-hook=cp -rT --no-preserve=ownership "$BASE" "$1"',
  '--customize-hook=env --unset=INITRD chroot "$1" update-initramfs -c -k all'
]

/**
 * Debian as it is on every card: packages, the initramfs, and what that depends on. It takes long to build, so it is kept in the user's
 * cache under the hash of everything it is made of.
 * @param {(line: string) => void} log
 * @returns {string} a tar
 */
export function baseArchive (log) {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice', 'image')
  const file = join(folder, `base-${recipeHash()}.tar.zst`)
  if (existsSync(file)) return file
  log('Building Debian for arm64, which takes a quarter of an hour; it is kept for the next time.')
  mkdirSync(folder, { recursive: true })
  const unfinished = join(folder, `unfinished-${process.pid}.tar.zst`)
  try {
    const args = [...RECIPE, ...aptOptions().map(option => `--aptopt=${option}`), SUITE, unfinished, ...mirrors()]
    withArmPrograms(() => run('mmdebstrap', args, { env: { ...process.env, INITRD: 'No', BASE }, isShown: true }))
    renameSync(unfinished, file)
  } finally {
    rmSync(unfinished, { force: true })
  }
  return file
}

/** One a line; a # begins a comment. @param {string} text */
export function packageNames (text) {
  return text.split('\n').map(line => line.replace(/#.*/, '').trim()).filter(Boolean)
}

/** How this machine fetches packages: the image has Debian's own addresses. */
function mirrors () {
  const uris = new Map(run('apt-get', ['indextargets', '--format', '$(LABEL) $(REPO_URI)', 'Identifier: Packages', 'Origin: Debian'])
    .trim().split('\n').map(line => /** @type {[string, string]} */ (line.split(' '))))
  const debian = uris.get('Debian') ?? 'http://deb.debian.org/debian'
  const security = uris.get('Debian-Security') ?? 'http://deb.debian.org/debian-security'
  return [
    `deb ${debian} ${SUITE} ${COMPONENTS}`,
    `deb ${debian} ${SUITE}-updates ${COMPONENTS}`,
    `deb ${security} ${SUITE}-security ${COMPONENTS}`
  ]
}

function aptOptions () {
  return run('apt-config', ['dump', '--no-empty', 'Acquire']).split('\n').filter(line => /^Acquire::(Check-|https?::Proxy)/.test(line))
}

function recipeHash () {
  const hash = createHash('sha256').update(JSON.stringify([RECIPE, SUITE, COMPONENTS]))
  const entries = readdirSync(BASE, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  for (const file of entries.map(entry => join(entry.parentPath, entry.name)).sort()) {
    hash.update(`${relative(BASE, file)}\0`).update(readFileSync(file)).update('\0')
  }
  return hash.digest('hex').slice(0, 16)
}

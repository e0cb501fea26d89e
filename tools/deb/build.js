import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync, chmodSync, copyFileSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { changelog, controlFile, debianVersion, manualPage } from './control.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const PACKAGING = join(root, 'packaging')
const SCRIPTS = ['postinst', 'prerm', 'postrm']

/**
 * Makes a release into a package of Debian: the same release gives the same bytes.
 * @param {object} options
 * @param {string} options.payload  the release's tarball
 * @param {string} options.folder  where the package goes
 * @param {string} [options.version]  instead of the release's: tests need an older one
 * @param {string} [options.settings]  at the end of the file of settings: likewise
 * @returns {string} path of the package
 */
export function buildPackage ({ payload, folder, version: otherVersion, settings = '' }) {
  const tree = mkdtempSync(join(tmpdir(), 'sluice-deb-'))
  try {
    const lib = join(tree, 'usr/lib/sluice')
    mkdirSync(lib, { recursive: true })
    execFileSync('tar', ['-xzf', payload, '-C', lib, '--strip-components=1', '--no-same-owner'])
    const release = JSON.parse(readFileSync(join(lib, 'release.json'), 'utf8'))
    const version = debianVersion(otherVersion ?? release.version)
    const date = lstatSync(join(lib, 'release.json')).mtime // that of the release's commit
    addOurs(tree, version, date)
    appendFileSync(join(tree, 'etc/sluice/sluice.env'), settings)
    addControl(tree, version, release.arch)
    const path = join(folder, `sluice_${version}_${release.arch}.deb`)
    mkdirSync(folder, { recursive: true })
    execFileSync('dpkg-deb', ['--build', '--root-owner-group', '-Zxz', '--threads-max=1', tree, path], {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(date.getTime() / 1000) },
      stdio: ['ignore', 'ignore', 'inherit']
    })
    return path
  } finally {
    rmSync(tree, { recursive: true })
  }
}

/**
 * What Debian has beside the release.
 * @param {string} tree
 * @param {string} version
 * @param {Date} date
 */
function addOurs (tree, version, date) {
  const help = execFileSync(process.execPath, [join(root, 'gateway/cli/sluice.js'), '--help'], { encoding: 'utf8' })
  const documents = 'usr/share/doc/sluice'
  put('usr/lib/systemd/system/sluice.service', readFileSync(join(PACKAGING, 'systemd/sluice.service')))
  put('usr/lib/sysusers.d/sluice.conf', readFileSync(join(PACKAGING, 'systemd/sysusers.conf')))
  put('etc/sluice/sluice.env', readFileSync(join(PACKAGING, 'deb/sluice.env')))
  put(`${documents}/copyright`, readFileSync(join(PACKAGING, 'deb/copyright')))
  put(`${documents}/README.Debian`, readFileSync(join(PACKAGING, 'deb/README.Debian')))
  put(`${documents}/changelog.gz`, gzipSync(changelog(version, date), { level: 9 }))
  put('usr/share/man/man1/sluice.1.gz', gzipSync(manualPage(help, version, date), { level: 9 }))
  put('usr/share/lintian/overrides/sluice', readFileSync(join(PACKAGING, 'deb/lintian-overrides')))
  mkdirSync(join(tree, 'usr/bin'))
  symlinkSync('../lib/sluice/bin/sluice', join(tree, 'usr/bin/sluice'))

  /** @param {string} path @param {string|Buffer} content */
  function put (path, content) {
    mkdirSync(dirname(join(tree, path)), { recursive: true })
    writeFileSync(join(tree, path), content)
  }
}

/** @param {string} tree @param {string} version @param {string} arch */
function addControl (tree, version, arch) {
  const files = filesOf(tree)
  const kibibytes = files.map(path => Math.ceil(lstatSync(join(tree, path)).size / 1024)).reduce((sum, size) => sum + size, 0)
  const control = join(tree, 'DEBIAN')
  mkdirSync(control)
  writeFileSync(join(control, 'control'), controlFile({ version, arch, installedKiB: kibibytes }))
  writeFileSync(join(control, 'conffiles'), '/etc/sluice/sluice.env\n')
  writeFileSync(join(control, 'md5sums'), files.filter(path => lstatSync(join(tree, path)).isFile())
    .map(path => `${createHash('md5').update(readFileSync(join(tree, path))).digest('hex')}  ${path}\n`).join(''))
  for (const name of SCRIPTS) copyFileSync(join(PACKAGING, 'deb', name), join(control, name))
  setModes(tree, new Set(SCRIPTS.map(name => join(control, name))))
}

/** Regular files and links below a folder, in the order of their names. @param {string} folder */
function filesOf (folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(path => !lstatSync(join(folder, path)).isDirectory()).sort()
}

/**
 * Whatever umask there was: everybody may read, root may write; programs stay programs.
 * @param {string} folder
 * @param {Set<string>} programs  besides those that are
 */
function setModes (folder, programs) {
  chmodSync(folder, 0o755)
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stats = lstatSync(path)
    if (stats.isDirectory()) setModes(path, programs)
    else if (stats.isFile()) chmodSync(path, programs.has(path) || (stats.mode & 0o100) !== 0 ? 0o755 : 0o644)
  }
}

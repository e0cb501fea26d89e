import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

// Packages from npm that only the tests run, pinned by a package.json and its lock in a folder here and installed outside the project's
// own dependencies. All are built for Linux on x64. This runs on any Node from 18, before anything else is installed.

const here = dirname(fileURLToPath(import.meta.url))
const LOCK = 'package-lock.json'

/** Where the packages that `<name>/package-lock.json` pins are installed. @param {string} name */
export const pinnedFolder = name => join(here, '..', '..', 'node_modules', '.cache', 'sluice', name)

/**
 * Installs them, prints one line and sets the exit code: 1 when it cannot.
 * @param {string} name  of the folder
 * @param {string} what  to print
 */
export function installPinned (name, what) {
  const pinned = join(here, name)
  const folder = pinnedFolder(name)
  const done = join(folder, 'installed.json') // written last: the installation is complete
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return fail(`${what}: for Linux on x64 only, not ${process.platform} on ${process.arch}.`)
  }
  if (existsSync(done) && readFileSync(done, 'utf8') === readFileSync(join(pinned, LOCK), 'utf8')) return console.log(`${what}: installed.`)
  mkdirSync(folder, { recursive: true })
  rmSync(done, { force: true })
  for (const file of ['package.json', LOCK]) copyFileSync(join(pinned, file), join(folder, file))
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], { cwd: folder, encoding: 'utf8' })
  if (npm.error || npm.status !== 0) return fail(`${what} cannot be installed: ${npm.error?.message ?? npm.stderr.trim().split('\n')[0]}`)
  copyFileSync(join(pinned, LOCK), done)
  console.log(`${what}: installed now.`)
}

/** @param {string} line */
function fail (line) {
  console.error(line)
  process.exitCode = 1
}

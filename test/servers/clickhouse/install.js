// Installs the modern ClickHouse that the tests start: a library from npm, pinned in this folder, in a folder that git ignores.
// Runs on any Node from 18, before anything is installed. Prints one line; ends with 1 when it cannot.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const pinned = dirname(fileURLToPath(import.meta.url))
const folder = join(pinned, '..', '..', '..', 'node_modules', '.cache', 'sluice', 'clickhouse')
const LOCK = 'package-lock.json'
/** Written last, so that it tells of a complete installation. */
const done = join(folder, 'installed.json')

if (process.platform !== 'linux' || process.arch !== 'x64') {
  end(`The modern ClickHouse of the tests is made for Linux on x64 only, not for ${process.platform} on ${process.arch}.`, 1)
}
if (existsSync(done) && readFileSync(done, 'utf8') === readFileSync(join(pinned, LOCK), 'utf8')) {
  end('The modern ClickHouse of the tests is installed.', 0)
}

mkdirSync(folder, { recursive: true })
rmSync(done, { force: true })
for (const name of ['package.json', LOCK]) copyFileSync(join(pinned, name), join(folder, name))
const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], { cwd: folder, encoding: 'utf8' })
if (npm.error || npm.status !== 0) {
  const reason = npm.error ? npm.error.message : npm.stderr.trim().split('\n')[0]
  end(`The modern ClickHouse of the tests (170 MB from npm) could not be installed: ${reason}`, 1)
}
copyFileSync(join(pinned, LOCK), done)
end('Installed the modern ClickHouse of the tests (170 MB from npm).', 0)

/** @param {string} line @param {number} code @returns {never} */
function end (line, code) {
  console[code === 0 ? 'log' : 'error'](line)
  process.exit(code)
}

// Installs, from PyPI, the independent programs that tests compare with: pymodbus, cantools, pysparkplug; and, apart, as they are not built
// for every machine, pyarrow, polars and duckdb.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const cache = join(here, '..', '..', '..', 'node_modules', '.cache', 'sluice')
const PIP = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore']

/** @param {string} list  of packages @param {string} name  of their folder @param {{size: string, skipped: string}} texts */
function install (list, name, { size, skipped }) {
  const folder = join(cache, name)
  const stamp = join(folder, 'installed.txt')
  const wanted = readFileSync(join(here, list), 'utf8')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const pip = spawnSync('python3', [...PIP, '--target', folder, '-r', join(here, list)], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (pip.status === 0) {
    writeFileSync(stamp, wanted)
    console.log(`Installed Python packages of the tests (${size} from PyPI).`)
  } else {
    rmSync(folder, { recursive: true, force: true })
    console.log(`Python packages cannot be installed (python3 with pip is needed); skipped without them: ${skipped}.`)
  }
}

install('requirements.txt', 'python', { size: '13 MB', skipped: 'Modbus, DBC and Sparkplug against independent programs' })
install('requirements-arrow.txt', 'python-arrow', { size: '125 MB', skipped: 'Arrow streams of and for pyarrow, polars and duckdb' })
if (process.argv.includes('--engines')) {
  install('../../../engines/spark/requirements.txt', 'python-spark', { size: '600 MB', skipped: 'the tests of engines/spark' })
}

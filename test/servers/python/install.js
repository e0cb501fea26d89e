// Installs, from PyPI, the independent programs that tests compare with: pymodbus, cantools, pysparkplug.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const requirements = join(here, 'requirements.txt')
const folder = join(here, '..', '..', '..', 'node_modules', '.cache', 'sluice', 'python')
const stamp = join(folder, 'installed.txt')
const wanted = readFileSync(requirements, 'utf8')
const PIP = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action', 'ignore']

if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const pip = spawnSync('python3', [...PIP, '--target', folder, '-r', requirements], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (pip.status === 0) {
    writeFileSync(stamp, wanted)
    console.log('Installed the Python peers of the tests (13 MB from PyPI).')
  } else {
    rmSync(folder, { recursive: true, force: true })
    console.log('The Python peers cannot be installed (python3 with pip is needed); ' +
      'skipped without them: Modbus, DBC and Sparkplug against independent programs.')
  }
}

import { execFile } from 'node:child_process'
import { readFile, statfs } from 'node:fs/promises'
import { cpus, loadavg, release, totalmem } from 'node:os'
import { promisify } from 'node:util'
import { diskKind } from './disk-kind.js'

const run = promisify(execFile)
const ROOT = new URL('../../..', import.meta.url)

/**
 * The machine and the versions that figures are of, by what a reader calls them. What cannot be found out is absent.
 * @param {string} folder  where the databases write
 * @returns {Promise<Record<string, string>>}
 */
export async function environmentOf (folder) {
  const found = {
    Processor: processor(),
    'Processor governor': await governor().catch(() => null),
    Memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    Disk: await disk(folder).catch(() => null),
    System: await system().catch(() => null),
    Kernel: release(),
    'Node.js': process.version,
    Sluice: await version(),
    'Load at the start': loadAtStart()
  }
  return Object.fromEntries(Object.entries(found).flatMap(([name, text]) => text === null ? [] : [[name, text]]))
}

function processor () {
  const all = cpus()
  const model = all[0]?.model.trim() || process.arch
  return `${model}, ${all.length} ${all.length === 1 ? 'core' : 'cores'}`
}

/** @param {string} folder */
async function disk (folder) {
  const { stdout } = await run('findmnt', ['--noheadings', '--output', 'FSTYPE,MAJ:MIN', '--target', folder])
  const [type, numbers] = stdout.trim().split(/ +/)
  const kind = diskKind(numbers)
  const { bavail, bsize } = await statfs(folder)
  return `${kind ? `${kind}, ` : ''}${type}, ${(bavail * bsize / 2 ** 30).toFixed(0)} GiB free`
}

/** Of all cores. */
async function governor () {
  const texts = await Promise.all(cpus().map((_, i) => readFile(`/sys/devices/system/cpu/cpu${i}/cpufreq/scaling_governor`, 'utf8')))
  return [...new Set(texts.map(text => text.trim()))].join(', ')
}

/** Whether something else ran on the machine: the average number of threads that ran or waited to. */
function loadAtStart () {
  if (process.platform === 'win32') return null
  const [one, five, fifteen] = loadavg().map(load => load.toFixed(2))
  return `${one} in the last minute, ${five} in five, ${fifteen} in fifteen`
}

async function system () {
  const text = await readFile('/etc/os-release', 'utf8')
  return /^PRETTY_NAME="?([^"\n]+)/m.exec(text)?.[1] ?? null
}

/** With the commit where it runs from a clone. */
async function version () {
  const { version: own } = JSON.parse(await readFile(new URL('package.json', ROOT), 'utf8'))
  const git = (/** @type {string[]} */ ...args) => run('git', args, { cwd: ROOT }).then(({ stdout }) => stdout.trim())
  const commit = await git('rev-parse', '--short', 'HEAD').catch(() => null)
  if (commit === null) return own
  const isChanged = await git('status', '--porcelain', '--untracked-files=no').then(text => text !== '', () => false)
  return `${own}, commit ${commit}${isChanged ? ' with changes' : ''}`
}

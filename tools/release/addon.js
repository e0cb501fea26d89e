import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CPUS, forgetPackages } from './packages.js'
import { isInstalled, run } from '../run.js'

/** What the names of a cross compiler's programs begin with, and Debian's package of it. */
const CROSS = Object.freeze({
  amd64: { prefix: 'x86_64-linux-gnu-', package: 'g++-x86-64-linux-gnu' },
  arm64: { prefix: 'aarch64-linux-gnu-', package: 'g++-aarch64-linux-gnu' }
})

/**
 * Compiles the addon of socketcan for an architecture.
 * @param {string} app
 * @param {import('./packages.js').Arch} arch
 */
export function buildSocketcan (app, arch) {
  const cpu = CPUS[arch]
  const { prefix, package: name } = cpu === process.arch ? { prefix: '', package: 'g++' } : CROSS[arch]
  const missing = [`${prefix}g++`, 'make', 'python3'].filter(program => !isInstalled(program))
  if (missing.length > 0) {
    throw new Error(`SocketCAN's addon for ${arch} needs ${missing.join(', ')} (Debian: ${name} make python3). ` +
      '--without-socketcan makes a release that cannot use SocketCAN.')
  }
  const compiler = { CC: `${prefix}gcc`, CXX: `${prefix}g++`, LINK: `${prefix}g++`, AR: `${prefix}ar` }
  const flags = `-ffile-prefix-map=${app}=.` // no path of this machine in what is compiled
  const packages = join(app, 'node_modules')
  const folder = join(packages, 'socketcan')
  const nodeGyp = join(packages, 'node-gyp', 'bin', 'node-gyp.js')
  const nodedir = join(packages, `node-linux-${cpu}`)
  run(process.execPath, [nodeGyp, 'rebuild', `--arch=${cpu}`, `--nodedir=${nodedir}`],
    { cwd: folder, env: { ...compiler, CFLAGS: flags, CXXFLAGS: flags } })
  const built = join(folder, 'build')
  tidy(built)
  for (const addon of readdirSync(join(built, 'Release'))) run(`${prefix}strip`, ['--strip-unneeded', join(built, 'Release', addon)])
  forgetPackages(folder, ['node-gyp', 'node-addon-api'])
}

/** Only the addons stay. @param {string} built  the folder `build` */
function tidy (built) {
  const release = join(built, 'Release')
  const names = readdirSync(release).filter(name => name.endsWith('.node'))
  const addons = names.map(name => ({ name, bytes: readFileSync(join(release, name)) }))
  rmSync(built, { recursive: true })
  mkdirSync(release, { recursive: true })
  for (const { name, bytes } of addons) writeFileSync(join(release, name), bytes)
}

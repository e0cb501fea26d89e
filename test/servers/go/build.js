// Builds what tests need and no package registry has, where Go is installed. `tools/setup.js` runs it. It runs on the machine's own Node
// (18 or newer), so it imports nothing but Node's own modules and where the programs belong.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { compose, ferretdb } from './programs.js'

/** FerretDB speaks the MongoDB protocol over PostgreSQL. */
const built = [
  build(ferretdb, 'MongoDB sink and kill tests'),
  build(compose, 'compose files, as Docker reads them')
]
process.exitCode = built.includes(false) ? 1 : 0

/** @param {{name: string, sources: string, program: string}} wanted @param {string} skipped  without it */
function build ({ name, sources, program }, skipped) {
  if (existsSync(program)) return say(true, `${name} is built.`)
  const failed = (/** @type {string} */ why) => say(false, `${name} cannot be built: ${why}; skipped without it: ${skipped}.`)
  if (spawnSync('go', ['version']).status !== 0) return failed('Go is missing (https://go.dev/dl)')
  mkdirSync(dirname(program), { recursive: true })
  const unfinished = `${program}.${process.pid}`
  const { status, stderr } = spawnSync('go', ['build', '-trimpath', '-mod=readonly', '-o', unfinished, '.'],
    { cwd: sources, encoding: 'utf8', env: { ...process.env, CGO_ENABLED: '0' } })
  if (status !== 0) return failed(String(stderr).trim().split('\n').pop() ?? '')
  renameSync(unfinished, program)
  return say(true, `${name} has been built.`)
}

/** @param {boolean} isBuilt @param {string} line */
function say (isBuilt, line) {
  console.log(line)
  return isBuilt
}

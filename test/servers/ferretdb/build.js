// Builds the server that the tests of the MongoDB sink talk to, where Go is installed: FerretDB, which speaks the MongoDB protocol over
// PostgreSQL; no package registry has mongod itself. `tools/setup.js` runs it. It runs on the machine's own Node (18 or newer), so it
// imports nothing but Node's own modules and where the program belongs.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import { ferretdbProgram, ferretdbSources } from './program.js'

const SKIPPED = 'skipped without it: MongoDB sink and kill tests'

process.exitCode = build()

function build () {
  if (existsSync(ferretdbProgram)) return say(0, 'FerretDB is built.')
  if (spawnSync('go', ['version']).status !== 0) return say(1, `FerretDB cannot be built, as Go is missing (https://go.dev/dl); ${SKIPPED}.`)
  mkdirSync(dirname(ferretdbProgram), { recursive: true })
  const unfinished = `${ferretdbProgram}.${process.pid}`
  const { status, stderr } = spawnSync('go', ['build', '-trimpath', '-mod=readonly', '-o', unfinished, '.'],
    { cwd: ferretdbSources, encoding: 'utf8', env: { ...process.env, CGO_ENABLED: '0' } })
  if (status !== 0) return say(1, `FerretDB cannot be built; ${SKIPPED}. Go reports: ${String(stderr).trim().split('\n').pop()}`)
  renameSync(unfinished, ferretdbProgram)
  return say(0, 'FerretDB has been built.')
}

/** @param {number} status @param {string} line */
function say (status, line) {
  console.log(line)
  return status
}

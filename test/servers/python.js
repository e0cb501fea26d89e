import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { findProgram, requireServer } from './programs.js'

/** Where test/servers/python/install.js puts them. */
const folder = fileURLToPath(new URL('../../node_modules/.cache/sluice/python', import.meta.url))
const program = findProgram('python3')
const arrowFolder = `${folder}-arrow`
const isInstalled = program !== null && existsSync(`${folder}/installed.txt`)
const isArrowInstalled = program !== null && existsSync(`${arrowFolder}/installed.txt`)

/** A test that fails before it stops its peer leaves none running. @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
process.on('exit', () => running.forEach(child => child.kill('SIGKILL')))

/** Skips the suite where pymodbus, cantools and pysparkplug are not installed. @param {Mocha.Context} context */
export function requirePython (context) {
  requireServer(
    context,
    'python-peers',
    isInstalled ? null : 'the Python peers are not installed (npm test installs them where python3 has pip)'
  )
}

/** Skips the test where pyarrow, polars and duckdb are not installed. @param {Mocha.Context} context */
export function requireArrow (context) {
  requireServer(
    context,
    'python-peers',
    isArrowInstalled ? null : 'pyarrow, polars and duckdb are not installed (npm test installs them where python3 has pip)'
  )
}

/**
 * Runs a script of this folder, with the peers to import.
 * @param {string} script  its name below `test/servers/python`
 * @param {string[]} [args]
 */
export function startPython (script, args = []) {
  const child = spawn(program ?? 'python3', ['-u', fileURLToPath(new URL(`./python/${script}`, import.meta.url)), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, PYTHONPATH: `${folder}:${arrowFolder}`, PYTHONDONTWRITEBYTECODE: '1' }
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  return child
}

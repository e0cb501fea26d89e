import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url))
const FOLDER = '/data/suite'
const MODULES = '/opt/sluice/current/app/node_modules'
const TESTS = 'test/can/bus/*.test.js'
const SOURCES = ['package.json', 'broker', 'gateway', 'resources', 'test/can', 'test/servers', 'test/sources', 'data']
const LIMIT_MS = 600_000

/**
 * Runs the tests of CAN buses in the guest, whose kernel has the SocketCAN that they skip elsewhere.
 * @param {import('./guest.js').Guest} guest
 * @returns {Promise<string>} a line to tell
 */
export async function runSuite (guest) {
  const modules = withDependencies(['mocha', 'chai', 'fast-check'])
  const args = ['--create', '--gzip', '--directory', REPOSITORY, ...SOURCES, ...modules]
  const { stdout } = spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await guest.run(`mkdir -p ${FOLDER} && tar --extract --gzip --no-same-owner --directory ${FOLDER}`, { input: stdout })
  // What the release has too, the addon of SocketCAN above all, is used from there.
  await guest.run(`cd ${FOLDER}/node_modules && for each in ${MODULES}/*; do [ -e "\${each##*/}" ] || ln -s "$each" .; done`)
  const mocha = `/opt/sluice/current/bin/node node_modules/mocha/bin/mocha.js --timeout 60000 ${TESTS}`
  const output = await guest.run(`cd ${FOLDER} && SLUICE_REQUIRE=vcan ${mocha}`, { limitMs: LIMIT_MS })
  const [, passing] = /(\d+) passing/.exec(output) ?? []
  if (!passing || /\d+ (failing|pending)/.test(output)) throw new Error(output)
  return `SocketCAN: ${passing} tests passed against the guest's kernel`
}

/** Folders in node_modules, as npm has laid them flat. @param {string[]} names */
function withDependencies (names) {
  const found = new Set(/** @type {string[]} */ ([]))
  const add = (/** @type {string} */ name) => {
    const folder = join('node_modules', name)
    if (found.has(folder) || !existsSync(join(REPOSITORY, folder))) return
    found.add(folder)
    const { dependencies = {} } = JSON.parse(readFileSync(join(REPOSITORY, folder, 'package.json'), 'utf8'))
    for (const dependency of Object.keys(dependencies)) add(dependency)
  }
  for (const name of names) add(name)
  return [...found]
}

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stderr, stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const USAGE = `Usage: npm run mutants -- [NAME …]

Each file test/mutants/*.patch takes back one protection of the protocol; its line "Caught by: …" is the command that must fail in a copy
of the last commit with the patch, and pass in one without. Without names, all. The result is one line of JSON on the standard output.

Exit status: 0 when each was caught, 1 when one was not.
`

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'test/mutants')

const names = process.argv.slice(2)
if (names.includes('--help')) {
  stdout.write(USAGE)
} else {
  const all = (await readdir(folder)).filter(name => name.endsWith('.patch')).map(name => name.replace('.patch', '')).sort()
  const wanted = names.length > 0 ? all.filter(name => names.includes(name)) : all
  const escaped = []
  for (const name of wanted) {
    const isCaught = await tryMutant(name)
    stderr.write(`${name}: ${isCaught ? 'caught' : 'NOT CAUGHT'}\n`)
    if (!isCaught) escaped.push(name)
  }
  stdout.write(`${JSON.stringify({ mutants: wanted.length, caught: wanted.length - escaped.length, escaped })}\n`)
  process.exitCode = escaped.length > 0 || wanted.length === 0 ? 1 : 0
}

/** @param {string} name @returns {Promise<boolean>} whether the command, which passes without the patch, fails with it */
async function tryMutant (name) {
  const patch = join(folder, `${name}.patch`)
  const command = /^Caught by: (.+)$/m.exec(await readFile(patch, 'utf8'))?.[1]
  if (!command) throw new Error(`${patch} has no line "Caught by: …".`)
  if (await exitCode(command, null) !== 0) throw new Error(`${name}: "${command}" fails without the patch, too.`)
  const code = await exitCode(command, patch)
  if (code === 126 || code === 127) throw new Error(`${name}: "${command}" cannot be run.`)
  return code !== 0
}

/** Of a command in a copy of the last commit. @param {string} command @param {string|null} patch */
async function exitCode (command, patch) {
  const copy = await mkdtemp(join(tmpdir(), 'sluice-mutant-'))
  try {
    await chmod(copy, 0o711) // a server may run as another user, who must get through
    await run('git', ['clone', '--quiet', '--shared', root, copy])
    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))
    if (patch) await run('git', ['apply', patch], { cwd: copy })
    const env = { ...process.env, TMPDIR: copy, PATH: `${join(root, 'node_modules/.bin')}:${process.env.PATH}` }
    const child = spawn(command, { cwd: copy, shell: true, stdio: 'ignore', env })
    const [code] = await once(child, 'exit')
    return code
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

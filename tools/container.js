import { existsSync, mkdtempSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describe } from '../gateway/base/errors.js'
import { importBase } from './container/base.js'
import { buildImage, ENGINES, findEngine, saveImage } from './container/engine.js'
import { tryImage } from './container/trial.js'
import { readCommit } from './release/commit.js'
import { CPUS } from './release/packages.js'
import { makePayload, tarballName } from './release/payload.js'
import { run } from './run.js'

const USAGE = `Usage: npm run container -- [--arch amd64|arm64] [--payload FILE] [--base IMAGE|FILE] [--engine NAME] [--save] [--test]

Builds the container image of a release, by docker/Dockerfile.

  --arch ARCH     amd64 or arm64 (default: that of this machine)
  --payload FILE  the release (default: that of the commit in dist/, which is made first where it is missing)
  --base BASE     a Debian: an image (default that of the Dockerfile), or a tar of its root folder, FILE.tar, which is made
                  by mmdebstrap where it is missing
  --engine NAME   docker, podman or buildah (default: the first that is there)
  --save          writes the image beside the release as well
  --test          runs it as root: without capabilities, read-only, as another user; stops and starts it, and counts rows
`

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

/** @typedef {import('./release/packages.js').Arch} Arch */

/** @param {string[]} args */
async function main (args) {
  const { values } = parseArgs({
    args,
    options: {
      arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
      payload: { type: 'string' },
      base: { type: 'string' },
      engine: { type: 'string' },
      save: { type: 'boolean' },
      test: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  if (values.help) return console.log(USAGE)
  if (!Object.hasOwn(CPUS, values.arch)) throw new Error(`There is no architecture "${values.arch}"; choose amd64 or arm64.`)
  const engine = ENGINES.find(name => name === values.engine) ?? findEngine()
  const payload = resolve(values.payload ?? await payloadOf(/** @type {Arch} */ (values.arch)))
  const fromTop = ['--wildcards', '--no-wildcards-match-slash', '*/release.json']
  const { version, commit, arch } = JSON.parse(run('tar', ['-xzOf', payload, ...fromTop]))
  const seconds = Number(run('git', ['log', '-1', '--format=%ct', commit], { cwd: ROOT }))
  const base = values.base?.endsWith('.tar') ? importBase(engine, values.base, arch, seconds) : values.base
  const tag = `sluice:${version.replace('+', '-')}-${arch}` // no + in tags
  const given = { VERSION: version, REVISION: commit, ...base ? { BASE: base } : {} }
  const context = dirname(payload)
  buildImage(engine, { tag, file: join(ROOT, 'docker', 'Dockerfile'), context, arch, args: given, seconds })
  console.log(tag)
  if (values.save) {
    const file = join(context, `${tag.replace(':', '-')}.container.tar`)
    saveImage(engine, tag, file)
    console.log(`${file}: ${Math.round(statSync(file).size / 1e6)} MB`)
  }
  if (values.test) await tryImage(engine, tag, mkdtempSync(join(context, 'trial-')), line => console.log(line))
}

/** The release of the commit that is checked out. @param {Arch} arch */
async function payloadOf (arch) {
  const out = join(ROOT, 'dist')
  const wanted = { root: ROOT, commit: readCommit(ROOT), arch }
  const made = join(out, tarballName(wanted))
  return existsSync(made) ? made : makePayload(wanted, out)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`container: ${describe(error)}`)
  process.exitCode = 1
}

import { existsSync, mkdirSync, mkdtempSync, statSync } from 'node:fs'
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

const USAGE = `Usage: npm run container -- [--arch amd64|arm64] [--out DIR] [--base IMAGE|FILE] [--engine NAME] [--save] [--test]

Builds the container image of a release: docker/Dockerfile with the tarball in DIR, which is made first where it is missing.

  --arch ARCH    amd64 or arm64 (default: that of this machine)
  --out DIR      where the tarball is (default dist)
  --base BASE    a Debian: an image (default that of the Dockerfile), or a tar of its root folder, FILE.tar, which is made
                 by mmdebstrap where it is missing
  --engine NAME  docker, podman or buildah (default: the first that is there)
  --save         writes the image into DIR as well
  --test         runs it as root: without capabilities, read-only, as another user; stops and starts it, and counts rows
`

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

/** @param {string[]} args */
async function main (args) {
  const { values } = parseArgs({
    args,
    options: {
      arch: { type: 'string', default: process.arch === 'arm64' ? 'arm64' : 'amd64' },
      out: { type: 'string', default: 'dist' },
      base: { type: 'string' },
      engine: { type: 'string' },
      save: { type: 'boolean' },
      test: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  if (values.help) return console.log(USAGE)
  if (!Object.hasOwn(CPUS, values.arch)) throw new Error(`There is no architecture "${values.arch}"; choose amd64 or arm64.`)
  const arch = /** @type {import('./release/packages.js').Arch} */ (values.arch)
  const engine = ENGINES.find(name => name === values.engine) ?? findEngine()
  const out = resolve(values.out)
  mkdirSync(out, { recursive: true })

  const commit = readCommit(ROOT)
  const wanted = { root: ROOT, commit, arch }
  if (!existsSync(join(out, tarballName(wanted)))) await makePayload(wanted, out)
  const base = values.base?.endsWith('.tar') ? importBase(engine, values.base, arch, commit.seconds) : values.base
  const tag = `sluice:${commit.version.replace('+', '-')}-${arch}` // no + in tags
  const given = { VERSION: commit.version, REVISION: commit.hash, ...base ? { BASE: base } : {} }
  buildImage(engine, { tag, file: join(ROOT, 'docker', 'Dockerfile'), context: out, arch, args: given, seconds: commit.seconds })
  console.log(tag)
  if (values.save) {
    const file = join(out, `${tag.replace(':', '-')}.container.tar`)
    saveImage(engine, tag, file)
    console.log(`${file}: ${Math.round(statSync(file).size / 1e6)} MB`)
  }
  if (values.test) await tryImage(engine, tag, mkdtempSync(join(out, 'trial-')), line => console.log(line))
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`container: ${describe(error)}`)
  process.exitCode = 1
}

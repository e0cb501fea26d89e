import { rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describe } from '../gateway/base/errors.js'
import { buildPackage } from './deb/build.js'
import { testPackage } from './deb/test.js'
import { readCommit } from './release/commit.js'
import { makePayload } from './release/payload.js'

const USAGE = `Usage: npm run deb -- [--arch amd64|arm64] [--payload FILE] [--out DIR]
       npm run deb -- --test [--suite trixie|bookworm] [--payload FILE]

Makes the package of Debian from a release: the same bytes from the same release. It needs dpkg-deb.

  --arch ARCH     amd64 or arm64 (default: that of this machine)
  --payload FILE  the tarball of the release, instead of one made from the commit that is checked out (npm run release)
  --out DIR       where the package goes (default dist)
  --test          instead boots a new Debian of its own, installs, starts, upgrades, removes and purges the package there, and
                  says what is left. It needs root, Linux with cgroup 2, mmdebstrap and a mirror of Debian; some minutes
  --suite SUITE   which Debian is booted (default trixie)
`

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const OWN_ARCH = process.arch === 'arm64' ? 'arm64' : 'amd64'

/** @param {string[]} args */
async function main (args) {
  const { values } = parseArgs({
    args,
    options: {
      arch: { type: 'string', default: OWN_ARCH },
      payload: { type: 'string' },
      out: { type: 'string', default: 'dist' },
      test: { type: 'boolean' },
      suite: { type: 'string', default: 'trixie' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  if (values.help) return console.log(USAGE)
  const { arch, suite } = values
  if (arch !== 'amd64' && arch !== 'arm64') throw new Error(`There is no architecture "${arch}"; choose amd64 or arm64.`)
  if (values.test && arch !== OWN_ARCH) throw new Error(`A package for ${arch} cannot be tested on this machine.`)
  const folder = values.test ? mkdtempSync(join(tmpdir(), 'sluice-deb-')) : resolve(values.out)
  try {
    const payload = values.payload ?? await makePayload({ root: ROOT, commit: readCommit(ROOT), arch }, folder)
    if (values.test) await testPackage({ payload, suite, folder })
    else console.log(buildPackage({ payload, folder }))
  } finally {
    if (values.test) rmSync(folder, { recursive: true })
  }
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`deb: ${describe(error)}`)
  process.exitCode = 1
}

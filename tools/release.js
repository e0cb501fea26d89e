import { readFileSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describe } from '../gateway/base/errors.js'
import { readCommit, uncommitted } from './release/commit.js'
import { writeLock } from './release/lock.js'
import { sha256Of, writeChecksum } from './release/pack.js'
import { CPUS } from './release/packages.js'
import { makePayload } from './release/payload.js'
import { makeKeys, publicKeyOf, writeSignature } from './release/sign.js'

const USAGE = `Usage: npm run release -- [--arch amd64|arm64]… [--out DIR] [--key FILE] [--public-key FILE] [--without-socketcan] [--verify]
       npm run release -- --new-key DIR
       npm run release -- --lock

Makes the tarball of a release from the commit that is checked out: the same bytes from the same commit.

  --arch ARCH          amd64 or arm64; may be repeated (default: that of this machine)
  --out DIR            where the tarball goes, its list of packages (CycloneDX) and its checksum (default dist)
  --key FILE           signs the checksum with this secret key: Ed25519, PEM
  --public-key FILE    ships this key, with which later releases are checked (default: that of --key)
  --without-socketcan  leaves out what needs a compiler
  --verify             makes it twice, elsewhere and under another umask, and compares
  --new-key DIR        makes a pair of keys instead
  --lock               writes release/package-lock.json anew instead, from the versions in package-lock.json
`

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

/** @typedef {import('./release/packages.js').Arch} Arch */

/** @param {string[]} args */
async function main (args) {
  const { values } = parseArgs({
    args,
    options: {
      arch: { type: 'string', multiple: true, default: [process.arch === 'arm64' ? 'arm64' : 'amd64'] },
      out: { type: 'string', default: 'dist' },
      key: { type: 'string' },
      'public-key': { type: 'string' },
      'without-socketcan': { type: 'boolean' },
      verify: { type: 'boolean' },
      'new-key': { type: 'string' },
      lock: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' }
    }
  })
  if (values.help) return console.log(USAGE)
  if (values.lock) return writeLock(ROOT)
  if (values['new-key']) return reportKeys(values['new-key'])
  for (const arch of values.arch) {
    if (!Object.hasOwn(CPUS, arch)) throw new Error(`There is no architecture "${arch}"; choose amd64 or arm64.`)
  }
  const commit = readCommit(ROOT)
  const left = uncommitted(ROOT)
  if (left.length > 0) console.error(`Not in this release, as it is in no commit: ${left.join(', ')}`)
  const { key, 'public-key': publicFile } = values
  const publicKey = publicFile ? readFileSync(publicFile, 'utf8') : key && publicKeyOf(key)
  const hasSocketcan = !values['without-socketcan']
  for (const arch of /** @type {Arch[]} */ (values.arch)) {
    const wanted = { root: ROOT, commit, arch, publicKey, hasSocketcan }
    const tarball = await makePayload(wanted, resolve(values.out))
    const checksum = writeChecksum(tarball)
    console.log(tarball)
    rmSync(`${checksum}.sig`, { force: true })
    if (key) writeSignature(checksum, key)
    else console.error('It is not signed: sluice update takes it only where a signature is not asked for. --key FILE signs it.')
    if (values.verify) await verify(wanted, tarball)
  }
}

/** @param {import('./release/payload.js').Wanted} wanted @param {string} tarball */
async function verify (wanted, tarball) {
  const elsewhere = join(dirname(tarball), 'again')
  const before = process.umask(0o077)
  try {
    const again = await makePayload(wanted, elsewhere)
    if (sha256Of(again) !== sha256Of(tarball)) throw new Error(`${again} differs from ${tarball}.`)
    rmSync(elsewhere, { recursive: true })
    console.log('Made twice, the same bytes.')
  } finally {
    process.umask(before)
  }
}

/** @param {string} folder */
function reportKeys (folder) {
  const { secret, open } = makeKeys(folder)
  console.log(`${secret}  signs releases (--key): keep it from everybody else.\n${open}  checks them (--public-key).`)
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  console.error(`release: ${describe(error)}`)
  process.exitCode = 1
}

import { createHash, randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { expect } from 'chai'
import { create } from 'tar'
import { unpack } from '../../gateway/update/unpack.js'

const sha256 = (/** @type {Buffer} */ bytes) => createHash('sha256').update(bytes).digest('hex')

describe('Unpacking a release', () => {
  /** @type {string} */
  let folder
  const { PATH } = process.env

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-unpack-')) })
  afterEach(async () => {
    process.env.PATH = PATH
    await rm(folder, { recursive: true })
  })

  /** Tells instead what is to be flushed. @returns {Promise<() => Promise<string[]>>} what it was told */
  async function fakeSync () {
    const told = join(folder, 'told')
    await writeFile(join(folder, 'sync'), `#!/bin/sh\necho "$@" >> '${told}'\n`)
    await chmod(join(folder, 'sync'), 0o755)
    process.env.PATH = `${folder}${delimiter}${PATH}`
    return async () => (await readFile(told, 'utf8')).trimEnd().split('\n')
  }

  it('flushes piece by piece: a gateway that runs meanwhile never waits for all of it', async () => {
    const flushed = await fakeSync()
    const release = join(folder, 'release')
    await mkdir(release)
    const sums = []
    for (const name of ['a', 'b', 'c']) {
      const bytes = randomBytes(3 * 2 ** 20)
      await writeFile(join(release, name), bytes)
      sums.push(`${sha256(bytes)}  ${name}\n`)
    }
    await writeFile(join(release, 'SHA256SUMS'), sums.join(''))
    const tarball = join(folder, 'release.tar.gz')
    await create({ gzip: true, file: tarball, cwd: folder }, ['release'])
    const unpacked = join(folder, 'unpacked')
    await unpack(tarball, sha256(await readFile(tarball)), unpacked)
    expect(await flushed()).to.deep.equal(Array(3).fill(`--file-system ${unpacked}`))
    expect(await readFile(join(unpacked, 'c'))).to.deep.equal(await readFile(join(release, 'c')))
  })
})

import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, verify } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { FORMATS } from '../../broker/formats.js'
import { KEY_BYTES, preambleOf, readPreamble } from '../../broker/spool/record.js'
import { versionOf } from '../../tools/release/commit.js'
import { readLock } from '../../tools/release/lock.js'
import { pack, sha256Of, writeChecksum, writeSums } from '../../tools/release/pack.js'
import { strip } from '../../tools/release/packages.js'
import { normalized } from '../../tools/release/sbom.js'
import { makeKeys, publicKeyOf, writeSignature } from '../../tools/release/sign.js'

const SECONDS = 1_763_885_662

describe('A release', () => {
  /** @type {string} */
  let folder

  beforeEach(() => { folder = mkdtempSync(join(tmpdir(), 'sluice-release-test-')) })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** @param {string} top @param {Record<string, string>} files  by path, written in this order @param {number} [umask] */
  function tree (top, files, umask = 0o022) {
    const before = process.umask(umask)
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, top, path)), { recursive: true })
      writeFileSync(join(folder, top, path), text)
      utimesSync(join(folder, top, path), Math.random() * SECONDS, Math.random() * SECONDS)
    }
    process.umask(before)
    return join(folder, top)
  }

  it('is the same bytes wherever, whenever and by whomever it is packed', () => {
    const first = tree('here/sluice-1', { 'bin/node': 'x', 'app/a.js': 'a', 'app/B.js': 'b' })
    const second = tree('there/sluice-1', { 'app/B.js': 'b', 'app/a.js': 'a', 'bin/node': 'x' }, 0o077)
    for (const top of [first, second]) {
      chmodSync(join(top, 'bin/node'), 0o755)
      writeSums(top)
      pack(top, `${top}.tar.gz`, SECONDS)
    }
    expect(sha256Of(`${first}.tar.gz`)).to.equal(sha256Of(`${second}.tar.gz`))
    const listed = execFileSync('tar', ['-tvzf', `${first}.tar.gz`, '--numeric-owner', '--utc'], { encoding: 'utf8' }).trimEnd().split('\n')
    expect(listed.map(line => line.replace(/ +\d+ 2/, ' 2'))).to.deep.equal([
      'drwxr-xr-x 0/0 2025-11-23 08:14 sluice-1/',
      '-rw-r--r-- 0/0 2025-11-23 08:14 sluice-1/SHA256SUMS',
      'drwxr-xr-x 0/0 2025-11-23 08:14 sluice-1/app/',
      '-rw-r--r-- 0/0 2025-11-23 08:14 sluice-1/app/B.js',
      '-rw-r--r-- 0/0 2025-11-23 08:14 sluice-1/app/a.js',
      'drwxr-xr-x 0/0 2025-11-23 08:14 sluice-1/bin/',
      '-rwxr-xr-x 0/0 2025-11-23 08:14 sluice-1/bin/node'
    ])
  })

  it('lists its files so that sha256sum checks them, and the tarball', () => {
    const top = tree('sluice-1', { 'bin/node': 'x', 'app/a.js': 'a' })
    writeSums(top)
    expect(execFileSync('sha256sum', ['-c', 'SHA256SUMS'], { cwd: top, encoding: 'utf8' })).to.equal('app/a.js: OK\nbin/node: OK\n')
    pack(top, join(folder, 'sluice-1.tar.gz'), SECONDS)
    const checksum = writeChecksum(join(folder, 'sluice-1.tar.gz'))
    expect(checksum).to.equal(join(folder, 'sluice-1.tar.gz.sha256'))
    expect(execFileSync('sha256sum', ['-c', checksum], { cwd: folder, encoding: 'utf8' })).to.equal('sluice-1.tar.gz: OK\n')
  })

  it('is signed with a key of its own, which only its owner reads and nothing overwrites', () => {
    const { secret, open } = makeKeys(join(folder, 'keys'))
    expect(statSync(secret).mode & 0o777).to.equal(0o600)
    expect(publicKeyOf(secret)).to.equal(readFileSync(open, 'utf8'))
    expect(() => makeKeys(join(folder, 'keys'))).to.throw('EEXIST')
    const path = join(folder, 'x.tar.gz.sha256')
    writeFileSync(path, 'of a tarball')
    writeSignature(path, secret)
    const signature = Buffer.from(readFileSync(`${path}.sig`, 'utf8'), 'base64')
    expect(verify(null, Buffer.from('of a tarball'), readFileSync(open), signature)).to.equal(true)
    expect(verify(null, Buffer.from('of another one'), readFileSync(open), signature)).to.equal(false)
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(secret, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    expect(() => writeSignature(path, secret)).to.throw('not Ed25519')
  })

  it('has the version of its commit: a name that no other one has, unless the changelog says that it is released', () => {
    const commit = { hash: '091c363fa', seconds: SECONDS }
    expect(versionOf(commit, '0.2.0', '# Changelog\n\n## Unreleased\n\n## 0.2.0\n')).to.equal('0.2.0+20251123081422.091c363')
    expect(versionOf(commit, '0.2.0', '# Changelog\n\n## 0.2.0 (2026-12-01)\n\n## 0.1.0\n')).to.equal('0.2.0')
  })

  it('leaves out what no gateway reads, and keeps the types that the editor shows', () => {
    const editor = 'node_modules/@node-red/editor-client/public/types/node/fs.d.ts'
    const files = {
      'package.json': '', 'node_modules/.package-lock.json': '', 'node_modules/.bin/mqtt': '', 'node_modules/a/node_modules/.bin/b': '',
      'node_modules/a/index.js': '', 'node_modules/a/index.js.map': '', 'node_modules/a/index.d.ts': '', 'node_modules/a/index.d.mts': '',
      'node_modules/b/prebuilds/linux-arm64/b.node': '', 'node_modules/b/prebuilds/linux-x64/b.node': '',
      'node_modules/b/prebuilds/darwin-x64+arm64/b.node': '', [editor]: ''
    }
    const top = tree('app', files)
    strip(top, 'arm64')
    const left = execFileSync('find', ['.', '-type', 'f', '-printf', '%P\\n'], { cwd: top, encoding: 'utf8' }).trimEnd().split('\n').sort()
    expect(left).to.deep.equal([editor, 'node_modules/a/index.js', 'node_modules/b/prebuilds/linux-arm64/b.node', 'package.json'])
  })

  it('lists its packages in the same words each time', () => {
    const [a, b] = ['a', 'b'].map(name => ({ 'bom-ref': `${name}@1`, name }))
    const own = { 'bom-ref': 'sluice@1', name: 'sluice' }
    /** @param {object} more */
    const bom = more => normalized(/** @type {any} */ ({
      serialNumber: `urn:uuid:${Math.random()}`,
      metadata: { timestamp: String(Math.random()), tools: [{ version: '11' }], component: own },
      ...more
    }))
    const url = `file:${folder}/sluice.tgz`
    const first = bom({
      components: [{ ...b, externalReferences: [{ type: 'distribution', url }, { type: 'vcs', url: 'https://b' }] }, a],
      dependencies: [{ ref: 'sluice@1', dependsOn: ['b@1', 'a@1'] }, { ref: 'b@1' }]
    })
    expect(first).to.deep.equal(bom({
      components: [
        { ...a, externalReferences: [{ type: 'distribution', url: 'file:sluice.tgz' }] },
        { ...b, externalReferences: [{ type: 'vcs', url: 'https://b' }] }
      ],
      dependencies: [{ ref: 'b@1', dependsOn: [] }, { ref: 'sluice@1', dependsOn: ['a@1', 'b@1'] }]
    }))
    expect(first.components.map(({ name }) => name)).to.deep.equal(['a', 'b'])
  })

  it('says the version of what it writes', () => {
    expect(readPreamble(preambleOf(Buffer.alloc(KEY_BYTES), 0))?.version).to.equal(FORMATS.spool.writes)
    for (const { writes, reads } of Object.values(FORMATS)) expect(reads).to.include(writes)
  })
})

describe('The lockfile of a release', () => {
  const { packages } = readLock('release/package-lock.json')

  it('names no registry but the public one', () => {
    const places = Object.values(packages).flatMap(({ resolved }) => resolved ?? [])
    expect(places.filter(place => place !== 'file:sluice.tgz' && !place.startsWith('https://registry.npmjs.org/'))).to.deep.equal([])
  })

  it('has what the project needs now, in the versions that the tests run with: npm run release -- --lock', () => {
    const project = JSON.parse(readFileSync('package.json', 'utf8'))
    const locked = packages['node_modules/@sluice/node-red']
    for (const field of ['dependencies', 'optionalDependencies', 'peerDependencies']) expect(locked[field]).to.deep.equal(project[field])
    const tested = readLock('package-lock.json').packages
    /** @param {string} path */
    const isOther = path => path !== '' && path in tested && packages[path].integrity !== tested[path].integrity
    expect(Object.keys(packages).filter(isOther)).to.deep.equal([])
    const node = tested['node_modules/node'].version
    for (const cpu of ['x64', 'arm64']) expect(packages[`node_modules/node-linux-${cpu}`].version).to.equal(node)
  })
})

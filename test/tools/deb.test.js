import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { changelog, controlFile, debianVersion, manualPage } from '../../tools/deb/control.js'

const SCRIPTS = ['postinst', 'prerm', 'postrm']

describe('The package of Debian', () => {
  it('has versions that Debian orders as they follow each other', () => {
    expect(debianVersion('1.2.0')).to.equal('1.2.0')
    expect(debianVersion('1.2.0-rc.1')).to.equal('1.2.0~rc.1')
    expect(debianVersion('0.1.0+20261123081422.091c363')).to.equal('0.1.0+20261123081422.091c363')
  })

  it('has the fields that dpkg needs, and depends on what the programs in it need', () => {
    const text = controlFile({ version: '1.2.0', arch: 'arm64', installedKiB: 200_000 })
    const fields = Object.fromEntries([...text.matchAll(/^([A-Z][A-Za-z-]*): (.*)$/gm)].map(([, name, value]) => [name, value]))
    expect(fields).to.include({ Package: 'sluice', Version: '1.2.0', Architecture: 'arm64', 'Installed-Size': '200000' })
    expect(fields.Maintainer).to.match(/^[^<>]+ <[^<>@]+@[^<>]+>$/)
    const depends = fields.Depends.split(', ').map(dependency => dependency.split(' ')[0])
    expect(depends).to.include.members(['libc6', 'libstdc++6', 'libatomic1', 'systemd'])
    expect(text.split('\n').filter(line => line.length > 0 && !/^( |[A-Z])/.test(line))).to.deep.equal([])
    expect(text.endsWith('\n')).to.equal(true)
  })

  it('dates its changelog as Debian wants it', () => {
    const text = changelog('1.2.0', new Date('2026-11-03T08:05:09Z'))
    expect(text).to.match(/^sluice \(1\.2\.0\) stable; urgency=medium\n\n {2}\* /)
    expect(text).to.match(/\n -- [^<]+ <[^>]+> {2}Tue, 03 Nov 2026 08:05:09 \+0000\n$/)
  })

  it('has a manual page that says what --help says', () => {
    const page = manualPage('Usage: sluice <command>\n\n  start   run\n.dot\n', '1.2.0', new Date(0))
    expect(page).to.match(/^\.TH SLUICE 1 "1970-01-01" "Sluice 1\.2\.0"\n/)
    expect(page).to.include('Usage: sluice <command>')
    expect(page).to.include('\n\\&.dot\n')
  })

  for (const name of SCRIPTS) {
    it(`has a ${name} that a shell can read and that ends at the first failure`, () => {
      const path = `packaging/deb/${name}`
      execFileSync('sh', ['-n', path])
      expect(readFileSync(path, 'utf8')).to.match(/^#!\/bin\/sh\nset -e\n/)
    })
  }

  it('deletes data only on purge', () => {
    const text = readFileSync('packaging/deb/postrm', 'utf8')
    const [, purge] = /if \[ "\$1" = purge \]; then\n([^]*)\nfi/.exec(text) ?? []
    expect(purge).to.include('/var/lib/sluice')
    for (const script of [text.replace(purge, ''), ...['postinst', 'prerm'].map(name => readFileSync(`packaging/deb/${name}`, 'utf8'))]) {
      expect(script).to.not.match(/\brm\b|userdel/)
    }
  })
})

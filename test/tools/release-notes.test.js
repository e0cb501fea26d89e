import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { releaseNotes } from '../../tools/release-notes.js'

const CHANGELOG = `# Changelog

## Unreleased

Not yet.

## 0.2.0, 2026-12-01

- More.

### Spool

- Less.

## 0.1.0

- First.
`

describe('Release notes', () => {
  it('are the section of the version, with its own headings', () => {
    expect(releaseNotes(CHANGELOG, '0.2.0')).to.equal('- More.\n\n### Spool\n\n- Less.\n')
    expect(releaseNotes(CHANGELOG, '0.1.0')).to.equal('- First.\n')
  })

  it('are refused of a version that the changelog does not have, with what it has', () => {
    expect(() => releaseNotes(CHANGELOG, '0.2')).to.throw('nothing of version 0.2: its headings are Unreleased; 0.2.0, 2026-12-01; 0.1.0')
  })

  it('are there for the version of the package that was last released', () => {
    const root = new URL('../../', import.meta.url)
    const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'))
    expect(releaseNotes(readFileSync(new URL('CHANGELOG.md', root), 'utf8'), version)).not.to.equal('')
  })
})

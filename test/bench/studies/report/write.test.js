import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { folderName, writeReport } from '../../../../gateway/bench/studies/report/write.js'
import { inventedResult, inventedSections } from '../invented.js'

describe('The folder of a report', () => {
  /** @type {string} */
  let parent

  beforeEach(async () => { parent = await mkdtemp(join(tmpdir(), 'sluice-report-')) })
  afterEach(() => rm(parent, { recursive: true }))

  it('is named by study, host and date', () => {
    expect(folderName(inventedResult(), 'Pi4.local')).to.equal('invented-pi4-local-2026-11-23-021735')
  })

  it('is below the one given, whatever a host calls itself', () => {
    expect(folderName(inventedResult(), '../../etc')).to.equal('invented-etc-2026-11-23-021735')
    expect(folderName({ study: 'arnst', startedMs: 0 }, '…')).to.equal('arnst-unnamed-1970-01-01-000000')
    expect(folderName(inventedResult(), 'x'.repeat(500)).length).to.be.below(100)
  })

  it('has page, Markdown and result, which are written again as the study goes on', async () => {
    const folder = join(parent, 'invented')
    await writeReport(folder, inventedResult({ isComplete: false }), [])
    await writeReport(folder, inventedResult(), inventedSections())
    expect((await readdir(folder)).sort()).to.deep.equal(['report.html', 'report.md', 'result.json'])
    const read = (/** @type {string} */ name) => readFile(join(folder, name), 'utf8')
    const [page, markdown, result] = await Promise.all(['report.html', 'report.md', 'result.json'].map(read))
    expect(page).to.match(/^<!doctype html>/).and.contain('Complete')
    expect(markdown).to.contain('**Complete**')
    expect(JSON.parse(result).cells).to.have.length(6)
    expect(page + markdown + result).not.to.contain('hunter2')
  })
})

import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { expect } from 'chai'
import { bench } from '../../../gateway/bench/bench.js'
import { readStudyArguments } from '../../../gateway/bench/studies/arguments.js'
import { runStudies } from '../../../gateway/bench/studies/command.js'
import { STUDIES } from '../../../gateway/bench/studies/index.js'
import { Remaining } from '../../../gateway/bench/studies/remaining.js'
import { writeReports } from '../../../gateway/bench/studies/reports.js'

/**
 * @typedef {import('../../../gateway/bench/studies/study.js').Study} Study
 * @typedef {import('../../../gateway/bench/studies/command.js').StudyEvent} StudyEvent
 */

describe('the command of the studies', () => {
  /** @type {string} */
  let parent
  /** Cells, in their order. @type {string[]} */
  let measured
  /** What happens in a cell. @type {(id: string) => void} */
  let inCell
  /** @type {StudyEvent[]} */
  let told
  /** @type {AbortController} */
  let stop

  beforeEach(async () => {
    parent = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    measured = []
    told = []
    inCell = () => {}
    stop = new AbortController()
    for (const study of [counting('early'), counting('late')]) STUDIES[study.id] = async () => study
  })
  afterEach(async () => {
    for (const id of ['early', 'late']) delete STUDIES[id]
    await rm(parent, { recursive: true })
  })

  /** @param {string} id @returns {Study} */
  function counting (id) {
    return {
      id,
      title: `Counting ${id}`,
      paper: 'A. Nobody: Counting. Nowhere, 2026.',
      plan: () => ({
        cells: ['one', 'two'].map(number => ({ id: number, label: `${id} ${number}`, parameters: { database: 'null' }, seconds: 10 })),
        cut: []
      }),
      missing: async cell => id === 'late' && cell.id === 'one' ? 'there is no such server' : null,
      async measure (cell, { signal }) {
        inCell(cell.label)
        signal.throwIfAborted()
        measured.push(cell.label)
        return { measures: {} }
      },
      report: ({ options }) => {
        if (options.sweep.broken === id) throw new Error('no figures')
        return []
      }
    }
  }

  /** @param {Partial<import('../../../gateway/bench/studies/command.js').StudyArguments>} [other] */
  async function run (other) {
    const options = { studies: ['early', 'late'], isFull: false, folder: parent, resume: '', config: '', sweep: {}, ...other }
    await runStudies(options, { servers: () => { throw new Error('none') }, signal: stop.signal, tell: event => { told.push(event) } })
  }
  const events = (/** @type {string} */ name) => /** @type {any[]} */ (told.filter(({ event }) => event === name))

  it('tells how far all studies are together, without what cannot be measured here', async () => {
    await run()
    const progress = events('progress')
    expect(progress.map(({ study, cell, cells }) => [study, cell, cells])).to.deep.equal([
      ['early', 1, 4], ['early', 2, 4], ['late', 4, 4]
    ])
    expect(progress[0].secondsLeft, 'as planned, before anything is known of the pace').to.be.closeTo(30, 1)
    expect(progress.at(-1).secondsLeft).to.be.within(3, 10)
    expect(events('missing')).to.deep.equal([
      { event: 'missing', study: 'late', state: 'absent', reason: 'there is no such server', labels: ['late one'] }
    ])
  })

  it('puts several studies into one folder, with a page that leads to each', async () => {
    await run()
    const [{ folder, page }] = events('overview')
    expect((await readdir(folder)).toSorted()).to.deep.equal(['early', 'index.html', 'late'])
    expect(await readdir(join(folder, 'late'))).to.include.members(['report.html', 'report.md', 'result.json'])
    const text = await readFile(page, 'utf8')
    expect(text).to.contain('<a href="early/report.html">Counting early</a>').and.contain('<span>1 of 2 measured, 1 absent</span>')
  })

  it('goes on with the last run that was stopped, if it has the same options', async () => {
    inCell = label => { if (label === 'early two') stop.abort() }
    await run()
    const [{ folder }] = events('overview')
    expect(measured).to.deep.equal(['early one'])
    expect(events('report').map(({ isComplete }) => isComplete)).to.deep.equal([false])

    stop = new AbortController()
    told = []
    inCell = () => {}
    await run({ resume: 'last', isFull: true })
    expect(events('overview')[0].folder, 'other options').not.to.equal(folder)
    measured = []
    told = []
    await run({ resume: 'last' })
    expect(measured).to.deep.equal(['early two', 'late two'])
    expect(events('overview')[0].folder).to.equal(folder)
    told = []
    measured = []
    await run({ resume: 'last' })
    expect(events('overview')[0].folder, 'it had come to its end').not.to.equal(folder)
    expect(measured).to.have.length(3)
  })

  it('goes on with the next study where a report cannot be made', async () => {
    await run({ sweep: { broken: 'early' } })
    expect(events('problem').map(({ text }) => text)).to.deep.equal(['The report of early cannot be written: no figures'])
    expect(events('report').map(({ study }) => study)).to.deep.equal(['late'])
  })

  it('refuses a database that it does not know, before it measures', async () => {
    const error = await run({ sweep: { databases: ['null', 'nul'] } }).catch(reason => reason)
    expect(error).to.have.property('code', 'SLUICE_BENCH_UNKNOWN')
    expect(await readdir(parent)).to.deep.equal([])
  })

  it('writes a report again, and several beside each other', async () => {
    await run({ studies: ['early'] })
    await run({ studies: ['early'], isFull: true, folder: join(parent, 'full') })
    const folders = events('report').map(({ folder }) => folder)
    const [{ page }] = events('report')
    await rm(page)
    const tell = (/** @type {StudyEvent} */ event) => { told.push(event) }
    await writeReports({ reports: folders.slice(0, 1), parent: '' }, { tell })
    expect(await readFile(page, 'utf8')).to.contain('Counting early')
    await writeReports({ reports: folders, parent: join(parent, 'compared') }, { tell })
    const { page: compared } = events('report').at(-1)
    expect(compared).to.match(/compared\/early-compared-.*\/report\.html$/)
    expect(await readFile(compared, 'utf8')).to.contain('Counting early: A and B compared')
  })

  it('writes the reports of all studies in a folder again, elsewhere', async () => {
    await run()
    const [{ folder }] = events('overview')
    await writeReports({ reports: [folder], parent: join(parent, 'copy') }, { tell: event => { told.push(event) } })
    const { page } = events('overview').at(-1)
    expect(await readFile(page, 'utf8')).to.equal(await readFile(join(folder, 'index.html'), 'utf8'))
  })

  it('says which folder has no result', async () => {
    const error = await writeReports({ reports: [parent], parent: '' }, { tell: () => {} }).catch(reason => reason)
    expect(error).to.have.property('code', 'SLUICE_BENCH_REPORT')
    expect(error.message).to.contain(parent)
  })

  it('begins no run where one is to go on that is not there, or is damaged', async () => {
    const missing = join(parent, 'nothing')
    const error = await run({ studies: ['early'], resume: missing }).catch(reason => reason)
    expect(error).to.have.property('code', 'SLUICE_BENCH_RESUME')
    expect(await readdir(parent)).to.deep.equal([])
    await mkdir(missing)
    await writeFile(join(missing, 'run.json'), '{"startedMs": 17')
    const damaged = await run({ studies: ['early'], resume: missing }).catch(reason => reason)
    expect(damaged).to.have.property('code', 'SLUICE_BENCH_RESUME')
    expect(damaged.message).to.contain(join(missing, 'run.json'))
    expect(measured).to.deep.equal([])
  })

  it('tells which cells have failed', async () => {
    inCell = label => { if (label === 'early two') throw new Error('the database went away') }
    await run({ studies: ['early'] })
    expect(events('missing')).to.deep.equal([
      { event: 'missing', study: 'early', state: 'failed', labels: ['early two'], reason: 'the database went away' }
    ])
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
    const exitCodeOf = (/** @type {string} */ study) => bench([study, '--folder', parent], { stdout: silent, stderr: silent })
    expect([await exitCodeOf('early'), await exitCodeOf('late')], 'what cannot be measured here is no failure').to.deep.equal([1, 0])
  })

  it('refuses numbers with which a machine would be at its end', () => {
    for (const [name, given] of [['writers', '1e9'], ['batch-sizes', '10,1e12'], ['repetitions', '1e6']]) {
      expect(() => readStudyArguments({ full: false, resume: '', config: '', [name]: given }, ['early'])).to.throw(`--${name} is at most`)
    }
  })

  it('reads what it is to measure from the command line', () => {
    const values = { full: true, folder: 'here', resume: 'last', 'batch-sizes': '1, 10', seconds: '0.5', databases: 'sqlite,file' }
    expect(readStudyArguments(values, ['early'])).to.deep.include({
      studies: ['early'], isFull: true, resume: 'last', sweep: { databases: ['sqlite', 'file'], batchSizes: [1, 10], seconds: 0.5 }
    })
  })
})

describe('the time that is left', () => {
  it('follows the pace of the machine', () => {
    let ms = 0
    const remaining = new Remaining([100, 100], () => ms)
    expect(remaining.of(0, 100)).to.equal(200)
    ms = 200_000
    expect(remaining.of(1, 100), 'half of it has taken twice as long').to.be.within(150, 200)
    expect(remaining.of(1, 0)).to.equal(0)
  })
})

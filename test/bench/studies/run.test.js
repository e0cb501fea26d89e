import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { runStudy } from '../../../gateway/bench/studies/run.js'

/**
 * @typedef {import('../../../gateway/bench/studies/study.js').Study} Study
 * @typedef {import('../../../gateway/bench/studies/run.js').Progress} Progress
 */

const OPTIONS = { isFull: false, sweep: {} }

describe('the run of a study', () => {
  /** @type {string} */
  let folder
  /** The cells that were measured. @type {string[]} */
  let measured
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-test-'))
    measured = []
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** Counts to three. @param {Partial<Study>} [study] @returns {Study} */
  const counting = study => ({
    id: 'counting',
    title: 'Counting',
    paper: 'A. Nobody: Counting. Nowhere, 2026.',
    plan: () => ({
      cells: ['one', 'two', 'three'].map((id, i) => ({
        id, label: `Count ${id}`, parameters: { database: 'null', count: i + 1 }, seconds: 10
      })),
      cut: ['The paper counts to ten.']
    }),
    missing: async () => null,
    async measure ({ id, parameters }) {
      measured.push(id)
      return { measures: { rows: Number(parameters.count) } }
    },
    report: () => [],
    ...study
  })

  /** @param {Study} study @param {Partial<import('../../../gateway/bench/studies/run.js').RunOptions>} [options] */
  const run = (study, options) => runStudy(study, {
    folder, options: OPTIONS, servers: () => { throw new Error('none') }, environment: {}, ...options
  })

  it('measures all cells in order, and says how far it is', async () => {
    /** @type {Progress[]} */
    const told = []
    const { cells, isComplete, cut } = await run(counting(), { progress: progress => told.push(progress) })
    expect(cells.map(cell => [cell.id, cell.state === 'done' && cell.measures.rows])).to.deep.equal([['one', 1], ['two', 2], ['three', 3]])
    expect({ isComplete, cut }).to.deep.equal({ isComplete: true, cut: ['The paper counts to ten.'] })
    expect(told.map(({ cell, cells: all, secondsLeft }) => [cell, all, secondsLeft])).to.deep.equal([[1, 3, 30], [2, 3, 20], [3, 3, 10]])
  })

  it('has versions and settings of the databases in its environment', async () => {
    const versions = ['One 1.0', 'One 1.0', 'Two 2.0']
    const study = counting({
      async measure ({ parameters }) {
        const version = versions[Number(parameters.count) - 1]
        return { measures: {}, version, ...version === 'One 1.0' && { settings: 'fsync on' } }
      }
    })
    const { environment } = await run(study)
    expect(environment).to.deep.equal({ Databases: 'One 1.0, Two 2.0', 'Settings of One 1.0': 'fsync on' })
  })

  it('goes on after a cell that fails or cannot be measured here, and says why', async () => {
    const study = counting({
      missing: async ({ id }) => id === 'one' ? 'there is no such server' : null,
      async measure ({ id }) {
        if (id === 'two') throw new Error('the disk is full')
        return { measures: {} }
      }
    })
    const { cells, isComplete } = await run(study)
    expect(cells.map(({ state }) => state)).to.deep.equal(['absent', 'failed', 'done'])
    const reasons = cells.map(cell => cell.state === 'done' ? null : cell.reason)
    expect(reasons).to.deep.equal(['there is no such server', 'the disk is full', null])
    expect(isComplete).to.equal(true)
  })

  it('keeps what was measured when it is stopped, and goes on there', async () => {
    const stop = new AbortController()
    const study = counting()
    const stopping = counting({
      async measure (cell, context) {
        if (cell.id !== 'two') return study.measure(cell, context)
        stop.abort()
        throw stop.signal.reason
      }
    })
    const stopped = await run(stopping, { signal: stop.signal })
    expect(stopped.cells.map(({ id }) => id)).to.deep.equal(['one'])
    expect(stopped.isComplete).to.equal(false)
    const { cells, isComplete, startedMs } = await run(study)
    expect(cells.map(({ id }) => id)).to.deep.equal(['one', 'two', 'three'])
    expect({ isComplete, startedMs }).to.deep.equal({ isComplete: true, startedMs: stopped.startedMs })
    expect(measured, 'none again').to.deep.equal(['one', 'two', 'three'])
  })

  it('measures again what a kill has cut, and what had failed', async () => {
    let isFull = true
    const study = counting({
      async measure ({ id }) {
        if (id === 'one' && isFull) throw new Error('the disk is full')
        measured.push(id)
        return { measures: {} }
      }
    })
    await run(study)
    await appendFile(join(folder, 'cells.jsonl'), '{"id": "one", "sta')
    isFull = false
    const { cells } = await run(study)
    expect(cells.map(({ state }) => state)).to.deep.equal(['done', 'done', 'done'])
    expect(measured).to.deep.equal(['two', 'three', 'one'])
    expect((await run(study)).cells, 'the cut line spoils none behind it').to.have.length(3)
    expect(measured).to.have.length(3)
  })

  it('does not mix the measurements of other options', async () => {
    await run(counting())
    const other = await run(counting(), { options: { isFull: true, sweep: {} } }).catch(error => error)
    expect(other).to.have.property('code', 'SLUICE_BENCH_RESUME')
    expect(JSON.parse(await readFile(join(folder, 'run.json'), 'utf8')).options).to.deep.equal(OPTIONS)
  })
})

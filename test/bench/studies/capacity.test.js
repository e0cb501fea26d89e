import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { serversOf } from '../../../gateway/bench/servers.js'
import { sinkTypes } from '../../../gateway/databases/index.js'
import { readStudyArguments } from '../../../gateway/bench/studies/arguments.js'
import { findKnee, whyBroken } from '../../../gateway/bench/studies/capacity/knee.js'
import { sentence } from '../../../gateway/bench/studies/capacity/sentence.js'
import { capacity } from '../../../gateway/bench/studies/capacity/study.js'
import { runStudy } from '../../../gateway/bench/studies/run.js'
import { environmentOf } from '../../../gateway/bench/studies/environment.js'

/** @typedef {import('../../../gateway/bench/studies/capacity/knee.js').Step} Step */

const BOUNDS = { p99Ms: 1000, p99Times: 4 }
const QUIET = [0, 100, 0, 100, 0, 100, 0, 100]

/** A step of ten seconds. @param {number} sensors @param {Partial<Step>} [step] @returns {Step} */
const stepOf = (sensors, step) => ({
  sensors,
  p50Ms: 100,
  p99Ms: 300,
  wantedRows: sensors * 100,
  stagedRows: sensors * 100,
  waitingRows: QUIET,
  measures: { cpuPercent: 38 },
  ...step
})

describe('the search for the knee', () => {
  const { signal } = new AbortController()

  /** Of a machine that takes so many. @param {number} capacityOf @param {Record<string, any>} [search] */
  const search = async (capacityOf, { least = 100, most = 1_000_000, hiccups = new Set(), ...more } = {}) => {
    /** @type {[sensors: number, isAnew: boolean][]} */
    const asked = []
    /** @type {number[]} */
    const left = []
    const knee = await findKnee({
      least,
      most,
      bounds: BOUNDS,
      signal,
      async measure (sensors, { isAnew }) {
        asked.push([sensors, isAnew])
        const isBad = sensors > capacityOf || hiccups.delete(asked.length)
        return stepOf(sensors, isBad ? { p99Ms: 5000 } : {})
      },
      progress: (_step, stepsLeft) => { left.push(stepsLeft) },
      ...more
    })
    return { knee, asked, left }
  }

  it('doubles until it breaks, and then goes between, within a tenth', async () => {
    const { knee, asked, left } = await search(5000)
    expect(asked.map(([sensors]) => sensors).slice(0, 8)).to.deep.equal([100, 200, 400, 800, 1600, 3200, 6400, 6400])
    expect(knee).to.deep.include({ isOver: true })
    expect(knee.last?.sensors).to.be.within(4500, 5000)
    expect(knee.first?.sensors).to.be.within(5001, Number(knee.last?.sensors) * 1.1)
    expect(left.at(-1)).to.equal(0)
    expect(left[0]).to.be.above(left[8])
    expect((await search(1)).left.every(steps => steps >= 0), 'going down, too').to.equal(true)
  })

  it('takes a new gateway at first and after what has broken one, and goes on with one that went well', async () => {
    const { asked } = await search(150)
    expect(asked.slice(0, 5)).to.deep.equal([[100, true], [200, false], [200, true], [140, true], [170, false]])
  })

  it('takes no single hiccup for the knee', async () => {
    const { knee, asked } = await search(5000, { hiccups: new Set([3]) })
    expect(asked.slice(2, 4)).to.deep.equal([[400, false], [400, true]])
    expect(knee.last?.sensors).to.be.above(4500)
  })

  it('goes down where the first step is too much, to one sensor', async () => {
    expect((await search(30)).knee.last?.sensors).to.be.within(27, 30)
    const { knee, asked } = await search(0)
    expect(knee.last).to.equal(null)
    expect(asked.at(-1)).to.deep.equal([1, true])
  })

  it('ends at the most that it may try', async () => {
    const { knee } = await search(5000, { most: 1000 })
    expect(knee).to.deep.include({ first: null, isOver: true })
    expect(knee.last?.sensors).to.equal(1000)
    expect(sentence(knee, { version: 'SQLite 3', seconds: 6 })).to.match(/^This machine takes at least 1,000 sensors at 10 Hz/)
  })

  it('tells what was found when it is stopped', async () => {
    const stop = new AbortController()
    const { knee } = await search(5000, {
      signal: stop.signal,
      measure: async (/** @type {number} */ sensors) => {
        if (sensors < 800) return stepOf(sensors)
        stop.abort()
        throw stop.signal.reason
      }
    })
    expect(knee.isOver).to.equal(false)
    expect(sentence(knee, { version: 'SQLite 3', seconds: 6 })).to.equal('This machine takes at least 400 sensors at 10 Hz (4,000 ' +
      'values/s) into SQLite 3: p99 300 ms, 38 % of a core, over 6 s. It was stopped before the knee was found.')
  })

  it('does not hide that it cannot measure', async () => {
    const error = await search(5000, { measure: async () => { throw new Error('the disk is full') } }).catch(reason => reason)
    expect(error).to.have.property('message', 'the disk is full')
  })

  it('names the knee', async () => {
    const { knee } = await search(100)
    expect(sentence(knee, { version: 'SQLite 3', seconds: 6 })).to.equal('This machine takes 100 sensors at 10 Hz (1,000 values/s) into ' +
      'SQLite 3: p99 300 ms, 38 % of a core, over 6 s. At 110, p99 is 5000 ms, above 1000 ms.')
  })
})

describe('a step of the ramp has broken', () => {
  const quiet = stepOf(100, { p99Ms: 100 })
  const why = (/** @type {Partial<Step>} */ step) => whyBroken(stepOf(1000, step), quiet, BOUNDS)

  it('where p99 is above the bound, or above so many times that of the quiet level', () => {
    expect(why({ p99Ms: 400 })).to.equal(null)
    expect(why({ p99Ms: 401 })).to.equal('p99 is 401 ms, above 4 times that of the quiet level')
    expect(whyBroken(stepOf(100, { p99Ms: 1001 }), undefined, BOUNDS)).to.equal('p99 is 1001 ms, above 1000 ms')
    expect(why({ p99Ms: NaN, stagedRows: 100_000 })).to.equal('nothing was stored')
  })

  it('where the spool grows over the whole step, and not where it goes up and down', () => {
    const growing = [0, 2000, 1000, 4000, 3000, 6000, 5000, 8000].map(rows => rows * 2)
    expect(why({ waitingRows: growing })).to.equal('the spool grew over the whole step')
    expect(why({ waitingRows: growing.map(rows => rows / 10) }), 'hardly').to.equal(null)
    expect(why({ waitingRows: growing.toReversed() })).to.equal(null)
    expect(why({ waitingRows: [0, 0, 0, 0, 0, 0, 20_000, 20_000] }), 'once').to.equal(null)
  })

  it('where samples do not reach the spool, more than are under way', () => {
    expect(why({ stagedRows: 96_000 })).to.equal(null)
    expect(why({ stagedRows: 80_000 })).to.equal('20 % of the samples did not reach the spool')
  })

  it('where the gateway has ended', () => {
    expect(why({ ended: 'the gateway ended with SIGKILL', p99Ms: NaN })).to.equal('the gateway ended with SIGKILL')
  })
})

describe('sluice bench capacity', function () {
  this.timeout(180_000)
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-test-')) })
  afterEach(() => rm(folder, { recursive: true }))

  /** A ramp that ends at once, whatever else this machine does. */
  const TINY = { sensors: [10, 20], seconds: 1, warmUpSeconds: 1, p99Ms: 100_000, p99Times: 100_000 }
  const run = async (/** @type {Partial<import('../../../gateway/bench/studies/run.js').RunOptions>} */ more) => runStudy(capacity, {
    folder, options: { isFull: false, sweep: TINY }, servers: serversOf({}, {}, {}), environment: await environmentOf('.'), ...more
  })

  it('is no study of a paper: it is by itself', () => {
    expect(readStudyArguments({ resume: '' }, ['studies']).studies).to.not.include('capacity')
    const { sweep } = readStudyArguments({ resume: '', sensors: '10,20', 'p99-ms': '500', 'p99-times': '3' }, ['capacity'])
    const { cells: [{ parameters }] } = capacity.plan({ isFull: false, sweep })
    expect(parameters).to.deep.equal({ database: 'sqlite', least: 10, most: 20, p99Ms: 500, p99Times: 3, seconds: 6, warmUpSeconds: 2 })
  })

  it('lets p99 be as much longer as sinks gather rows', async () => {
    const databases = Object.keys(sinkTypes).filter(type => type !== 'null')
    const bounds = capacity.plan({ isFull: false, sweep: { databases } }).cells.map(({ id, parameters }) => [id, parameters.p99Ms])
    expect(bounds).to.deep.equal(await Promise.all(databases.map(async type => {
      const { schema } = await import(`../../../nodes/sinks/${type}.schema.js`)
      return [type, schema.properties.maxAgeMs.default > 100 ? 2000 : 1000]
    })))
  })

  it('takes samples the whole way to the database, and reports the ramp', async () => {
    /** @type {string[]} */
    const told = []
    let outside = 0
    const result = await run({
      progress: ({ text }) => { if (text) told.push(text) },
      outside: work => {
        outside++
        return work()
      }
    })
    const [cell] = result.cells
    if (cell.state !== 'done') throw new Error(cell.reason)
    const { sensors = [], valuesPerSecond = [], p50Ms = [], p99Ms = [] } = cell.samples ?? {}
    expect(sensors[0]).to.equal(10)
    expect(valuesPerSecond.some(rate => rate > 0)).to.equal(true)
    expect(p99Ms.some((ms, i) => ms >= p50Ms[i])).to.equal(true)
    expect(outside, 'the bench looks on from outside of what limits the gateway').to.equal(sensors.length)
    expect(told.at(-1)).to.match(/^This machine .* sensors at 10 Hz .*into SQLite [\d.]+: /)
    const [{ text, blocks: [knee] }, { blocks: curves }, { blocks: [steps] }] = capacity.report(result)
    expect(text?.[0]).to.equal(told.at(-1))
    expect(knee.kind === 'table' && knee.rows[0].figures).to.have.length(8)
    expect(curves.map(block => block.kind === 'lines' && block.lines[0].x.includes(10))).to.deep.equal([true, true, true, true])
    expect(steps.kind === 'table' && steps.rows).to.have.length(sensors.length)
  })

  it('reports what it has found when it is stopped, and measures it again when it goes on', async () => {
    const stop = new AbortController()
    const stopped = await run({ signal: stop.signal, progress: ({ text }) => { if (text) stop.abort() } })
    expect(stopped.isComplete).to.equal(false)
    const [cell] = stopped.cells
    expect(cell.state === 'done' && cell.notes?.[0]).to.match(/It was stopped before the knee was found\.$/)
    expect(await readFile(join(folder, 'cells.jsonl'), 'utf8').catch(() => '')).to.equal('')
  })

  it('says of a database that is not here why', async () => {
    const { cells: [cell] } = await run({ options: { isFull: false, sweep: { ...TINY, databases: ['mysql'] } } })
    const [{ blocks: [table] }] = capacity.report({ .../** @type {any} */ ({}), cells: [cell] })
    const [row] = table.kind === 'table' ? table.rows : []
    expect(row.figures[0]).to.deep.equal({ value: null, reason: 'no server; name one with --mysql URL' })
  })
})

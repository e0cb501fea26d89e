import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { copyAll } from '../../gateway/copy/run.js'
import { OpenPlace } from '../../gateway/copy/places.js'
import { failureOf } from '../databases/contract/batches.js'
import { history, identity, SECOND, T0 } from './history.js'

const NUMBER_OF_ROWS = 1000

const log = { info () {}, warn () {}, error () {} }

/** @typedef {import('../../gateway/copy/places.js').Place} Place */

describe('sluice copy', () => {
  /** @type {string} */
  let folder
  /** @type {OpenPlace[]} */
  let opened

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'))
    opened = []
  })
  afterEach(async () => {
    for (const place of opened) await place.close()
    await rm(folder, { recursive: true })
  })

  /** @param {string} name @param {object} [options] @returns {Place} */
  const sqlite = (name, options = {}) => ({
    type: 'sqlite', name, options: { file: join(folder, `${name}.sqlite`), table: '{source}', layout: 'wide', ...options }, server: null
  })
  /** @param {Place} place @param {...import('../../gateway/batch/batch.js').Batch} batches */
  const store = async (place, ...batches) => {
    const its = new OpenPlace(place, log)
    opened.push(its)
    const { sink } = await its.sink()
    await sink.prepare(batches)
    await sink.write(batches)
    await its.close()
  }
  /** @param {Place} from @param {Place} to @param {object} [wish] */
  const copy = async (from, to, wish = {}) => {
    const all = []
    for await (const copied of copyAll({ from, to, userDir: folder, wish, observe: () => ({}), log })) all.push(copied)
    return all[0]
  }
  /** @param {Place} place @param {string} [table] */
  const rows = (place, table = 'press') => {
    const database = new DatabaseSync(place.options.file)
    const read = database.prepare(`SELECT * FROM "${table}" ORDER BY time, parts`)
    read.setReadBigInts(true)
    const found = read.all()
    database.close()
    return found.map(row => Object.fromEntries(Object.entries(row).sort()))
  }
  const late = () => history(600, NUMBER_OF_ROWS, { identity: identity(1) })

  it('copies what the target has not stored itself, each row once, and finds both the same', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    const copied = await copy(from, to)
    expect(copied).to.include({ source: 'press', rows: 600, before: 0, deadRows: 0 })
    expect(copied.plan).to.include({ since: T0 + 123n, until: T0 + 600n * SECOND + 123n })
    expect(copied.differences).to.deep.equal([])
    expect(rows(to)).to.deep.equal(rows(from))
    expect(await copy(from, to)).to.include({ rows: 0, before: 600 })
    expect(rows(to)).to.have.length(NUMBER_OF_ROWS)
  })

  it('names what differs', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    await copy(from, to)
    const database = new DatabaseSync(to.options.file)
    database.exec('DELETE FROM press WHERE parts = -7')
    database.close()
    const { differences } = await copy(from, to)
    expect(differences?.map(({ sensor }) => sensor).sort()).to.deep.equal(['force', 'ok', 'parts', 'speed', 'total'])
    expect(differences?.[0].here).to.match(/^\d+ values, sum /)
  })

  it('says what it would copy, and copies nothing', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    expect(await copy(from, to, { dryRun: true })).to.include({ rows: 0 })
    expect(rows(to)).to.have.length(400)
  })

  it('does not guess where the target begins: it has to have rows of its own, and no gaps', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    expect((await failureOf(() => copy(from, to))).code).to.equal('SLUICE_COPY_RANGE')
    await store(to, late(), history(NUMBER_OF_ROWS, NUMBER_OF_ROWS + 10, { identity: identity(3) }))
    expect((await failureOf(() => copy(from, to))).code).to.equal('SLUICE_COPY_BEHIND')
    await store(to, history(NUMBER_OF_ROWS + 10, NUMBER_OF_ROWS + 20, { identity: identity(2) }))
    expect((await copy(from, to)).rows).to.equal(600)
  })

  it('doubles nothing of what the target stores itself meanwhile', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    const live = new OpenPlace(to, log)
    opened.push(live)
    const { sink } = await live.sink()
    let isOver = false
    const copying = copy(from, to).finally(() => { isOver = true })
    let seq = 2
    for (; !isOver || seq < 10; seq++) {
      const first = NUMBER_OF_ROWS + 10 * seq
      await sink.write([history(first, first + 10, { identity: identity(seq) })])
      await nextTurn() // both are in this process
    }
    expect((await copying).differences).to.deep.equal([])
    const parts = rows(to).map(row => -Number(row.parts))
    expect(parts).to.have.length(NUMBER_OF_ROWS + 10 * (seq - 2))
    expect(new Set(parts).size).to.equal(parts.length)
  })

  it('copies a stretch that is asked for, and refuses another that overlaps it', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, NUMBER_OF_ROWS, { identity: identity(0) }))
    const at = (/** @type {number} */ row) => T0 + BigInt(row) * SECOND
    expect((await copy(from, to, { since: at(100), until: at(200) })).rows).to.equal(100)
    const error = await failureOf(() => copy(from, to, { since: at(150), until: at(300) }))
    expect(error.message).to.match(/copied already.*--since 2023.*--until 2023/)
    expect((await copy(from, to, { since: at(200), until: at(300) })).rows).to.equal(100)
    expect((await copy(from, to, { since: at(100), until: at(200) })).rows).to.equal(0)
    expect(rows(to)).to.have.length(200)
  })

  it('goes by the target\'s own rows, whatever else was copied there', async () => {
    const [first, second, to] = [sqlite('first'), sqlite('second'), sqlite('new')]
    await store(first, history(0, 100, { identity: identity(0) }), history(550, 590, { identity: identity(1) }))
    await store(second, history(600, 650, { identity: identity(0) }), history(660, 800, { identity: identity(1) }))
    const at = (/** @type {number} */ row) => T0 + BigInt(row) * SECOND
    expect((await copy(first, to, { until: at(595) })).rows).to.equal(140)
    expect((await failureOf(() => copy(second, to))).code, 'none are its own').to.equal('SLUICE_COPY_RANGE')
    await store(to, history(700, 800, { identity: identity(2) }))
    expect((await copy(second, to, { until: at(700) })).rows).to.equal(90)
    expect(new Set(rows(to).map(row => Number(row.parts))).size).to.equal(330)
  })

  it('copies between wide and narrow, to documents, and into a table of several sources', async () => {
    const wide = sqlite('wide')
    await store(wide, history(0, 100, { identity: identity(0) }))
    const wish = { until: T0 + 1000n * SECOND }
    const narrow = sqlite('narrow', { layout: 'narrow' })
    expect((await copy(wide, narrow, { ...wish, textFields: ['note'] })).differences).to.deep.equal([])
    const documents = sqlite('documents', { layout: 'document', intervalMs: 10_000 })
    expect((await copy(wide, documents, { ...wish, textFields: ['note'] })).differences).to.deep.equal([])
    const again = sqlite('again', { table: 'all' })
    expect((await copy(narrow, again, wish)).differences).to.deep.equal([])
    const expected = rows(wide).map(({ ok, parts, ...row }) => ({ ...row, ok: Number(ok), parts: Number(parts), source: 'press' }))
    const found = rows(again, 'all').map(({ ok, parts, ...row }) => ({ ...row, ok: Number(ok), parts: Number(parts) }))
    expect(found).to.deep.equal(expected.map(row => Object.fromEntries(Object.entries(row))))
  })

  it('takes the types of the target\'s columns where they hold the values', async () => {
    const [from, to] = [sqlite('old'), /** @type {Place} */ ({ ...sqlite('new'), type: 'duckdb' })]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    const copied = await copy(from, to)
    expect(copied).to.include({ rows: 600, deadRows: 0 })
    expect(copied.differences).to.deep.equal([])
  })

  it('copies a source that was quiet for a year and then came in a burst', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    const rowsInBurst = 110_000
    const year = 365n * 86_400n * SECOND
    const burst = new Batch({
      source: 'press',
      time: BigInt64Array.from({ length: rowsInBurst }, (_, row) => T0 + year + BigInt(row) * 1_000_000n),
      fields: ['a', 'b', 'c', 'd', 'e'].map(name => ({ name, type: 'float64' })),
      columns: [1, 2, 3, 4, 5].map(factor => Float64Array.from({ length: rowsInBurst }, (_, row) => row * factor)),
      identity: identity(1)
    })
    await store(from, history(0, 1, { identity: identity(0) }), burst)
    const { plan, rows: copied, differences } = await copy(from, to, { until: T0 + 2n * year, textFields: ['note'] })
    expect(Number(plan?.windowNs) / 1e9, 'a window of a day would have all').to.be.at.most(10)
    expect(copied).to.equal(rowsInBurst + 1)
    expect(differences).to.deep.equal([])
  })

  it('begins no second copy while one runs', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    const both = await Promise.allSettled([copy(from, to), copy(from, to, { since: T0 + 300n * SECOND })])
    expect(both.map(({ status }) => status).sort()).to.deep.equal(['fulfilled', 'rejected'])
    const refused = both.find(each => each.status === 'rejected')
    expect(refused?.reason.code).to.equal('SLUICE_COPY_BUSY')
    const parts = rows(to).map(row => Number(row.parts))
    expect(new Set(parts).size).to.equal(parts.length)
  })

  it('does not take rows that were copied from elsewhere for the first of the target\'s own', async () => {
    const [from, to] = [sqlite('old'), sqlite('new')]
    await store(from, history(0, 600, { identity: identity(0) }), late())
    await store(to, late())
    await copy(from, to, { until: T0 + 300n * SECOND })
    const file = { ...from, options: { file: from.options.file, table: 'press', layout: 'wide', isGiven: true } }
    const error = await failureOf(() => copy(file, to))
    expect(error.code).to.equal('SLUICE_COPY_RANGE')
    expect(error.message).to.match(/copied from another place/)
  })

  it('says so where the sink to copy from has stored nothing', async () => {
    const from = sqlite('old', { table: 'one' })
    await store(from, history(0, 10, { identity: identity(0) }))
    const error = await failureOf(() => copy({ ...from, options: { ...from.options, table: 'another' } }, sqlite('new')))
    expect(error.code).to.equal('SLUICE_COPY_PLACE')
    expect(error.message).to.match(/has stored nothing/)
  })

  it('refuses what cannot be copied, and says what can', async () => {
    const upsert = sqlite('state', { layout: 'upsert', key: ['line'] })
    const document = sqlite('documents', { layout: 'document', intervalMs: 1000 })
    const from = sqlite('old')
    await store(from, history(0, 10, { identity: identity(0) }))
    expect((await failureOf(() => copy(from, upsert))).message).to.match(/cannot be copied to.*wide, narrow and document/)
    expect((await failureOf(() => copy(document, from))).message).to.match(/cannot be copied from.*wide and narrow/)
    const other = sqlite('old', { table: 'another {source}' })
    await store(other, history(0, 10, { identity: identity(0) }))
    const database = new DatabaseSync(other.options.file)
    database.exec('DROP TABLE "another press"')
    database.close()
    expect((await failureOf(() => copy(other, sqlite('new')))).message).to.match(/There is no table "another press"/)
    expect((await failureOf(() => copy(from, from))).message).to.match(/same table|Both sinks/)
  })
})

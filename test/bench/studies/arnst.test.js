import { expect } from 'chai'
import { READERS, WRITERS } from '../../../gateway/bench/studies/arnst/published.js'
import { arnst } from '../../../gateway/bench/studies/arnst/study.js'

/**
 * @typedef {import('../../../gateway/bench/studies/study.js').StudyResult} StudyResult
 * @typedef {import('../../../gateway/bench/studies/study.js').TableBlock} TableBlock
 */

const VERSIONS = /** @type {Record<string, string>} */ ({
  mysql: 'MariaDB 10.11.14', mongodb: 'FerretDB, MongoDB protocol 7.0.42', influxdb: 'InfluxDB 1.6.7'
})

describe('the study of Arnst, Plenk and Wöltche: plan and report', () => {
  it('has five writers and seven readers, each reader after the writer of what it reads', () => {
    const { cells, cut } = arnst.plan({ isFull: true, sweep: {} })
    expect(cells.map(({ id }) => id)).to.deep.equal([
      'write-mysql-individual', 'read-mysql-individual', 'write-mysql-bulk', 'read-mysql-bulk',
      'write-mongodb-individual', 'read-mongodb-individual', 'write-mongodb-bulk', 'read-mongodb-bulk',
      'write-influxdb', 'read-influxdb-individual', 'read-influxdb-bulk', 'read-influxdb-bulk-1'
    ])
    expect(cells[0].parameters).to.include({ warmUpSeconds: 300, seconds: 900 })
    expect(cut).to.deep.equal([])
    expect(Object.keys(WRITERS)).to.have.members(variantsOf(cells, 'write'))
    expect(Object.keys(READERS)).to.have.members(variantsOf(cells, 'read'))
  })

  it('takes about six minutes where it is quick, and says what is less', () => {
    const { cells, cut } = arnst.plan({ isFull: false, sweep: {} })
    expect(cells.reduce((sum, { seconds }) => sum + seconds, 0)).to.be.within(240, 360)
    expect(cut).to.deep.equal(['5 s of warm-up and 20 s of measuring for each, instead of 5 and 15 minutes.'])
  })

  it('measures other databases and single layouts where they are chosen', () => {
    const sweep = { databases: ['sqlite', 'influxdb'], layouts: ['bulk'], seconds: 2, warmUpSeconds: 1 }
    const { cells } = arnst.plan({ isFull: false, sweep })
    expect(cells.map(({ id }) => id)).to.deep.equal(['write-sqlite-bulk', 'read-sqlite-bulk', 'read-influxdb-bulk'])
    expect(cells[2].parameters).to.include({ writer: 'influxdb', layout: 'individual', strategy: 'bulk', seconds: 2, warmUpSeconds: 1 })
  })

  it('does not measure what Sluice cannot read', async () => {
    const { cells: [cell] } = arnst.plan({ isFull: false, sweep: { databases: ['file'] } })
    expect(await arnst.missing(cell, () => { throw new Error('it needs no server') })).to.equal('Sluice does not read from it.')
  })

  it('of the paper’s own costs reports the paper’s scores, ranks and shares', () => {
    const sections = arnst.report(resultOf())
    const ranking = tableIn(sections, 'Table III')
    expect(columnOf(ranking, 0)).to.deep.equal([13.6, 56.6, 36.2, 52.4, 39.5, 39.5, 39.5])
    expect(columnOf(ranking, 1)).to.deep.equal([7, 1, 6, 2, 3, 3, 3])
    expect(columnOf(ranking, 2)).to.deep.equal([71, 82.7, 50, 60.3, 92.6, 80.2, 81.8])
    expect(columnOf(ranking, 3)).to.deep.equal([5, 2, 7, 6, 1, 4, 3])
    expect(columnOf(ranking, 4)).to.deep.equal([42.3, 69.6, 43.1, 56.4, 66, 59.8, 60.6])
    expect(columnOf(ranking, 6)).to.deep.equal([64.8, 75, 45.3, 55.7, 88, 74, 75.6])
    expect(ranking.rows.map(({ figures }) => figures[0].published)).to.deep.equal([15, 59, 35, 54, 39, 39, 39])
    expect(ranking.rows.map(({ figures }) => figures[5].published)).to.deep.equal(['6', '1', '7', '5', '2', '4', '3'])
    expect(ranking.notes).to.include('The text says 75 % where Table III says 71 %.')

    for (const [caption, paper] of Object.entries({ 'Table IV': WRITERS, 'Table V': READERS })) {
      for (const { label, figures } of tableIn(sections, caption).rows.filter(each => each.label !== 'Weight')) {
        for (const { value, published } of figures.slice(0, -1)) {
          expect(value, `${caption}, ${label}`).to.be.closeTo(Number(published), 1e-6)
        }
      }
      expect(Object.keys(paper)).to.have.length(tableIn(sections, caption).rows.length - 1)
    }
    const figure = sections.flatMap(({ blocks }) => blocks).find(({ caption }) => caption.startsWith('Figure 4'))
    if (figure?.kind !== 'bars') throw new Error('bars')
    expect(figure.series).to.have.length(5)
    expect(figure.groups).to.have.length(7)
    expect(figure.groups[6].figures.map(({ value }) => Math.round(Number(value)))).to.deep.equal([100, 36, 66, 17, 6])
  })

  it('names what was measured', () => {
    const rows = tableIn(arnst.report(resultOf()), 'Table V').rows.map(({ label }) => label)
    expect(rows).to.deep.equal([
      'MariaDB individual', 'MariaDB bulk', 'FerretDB individual (paper: MongoDB)', 'FerretDB bulk (paper: MongoDB)',
      'InfluxDB individual', 'InfluxDB bulk', 'InfluxDB bulk-1', 'Weight'
    ])
    const notes = tableIn(arnst.report(resultOf()), 'Table IV').notes?.join(' ')
    expect(notes).to.include('FerretDB is not mongod').and.to.include('over HTTP')
  })

  it('says why a variant has no figures, and which cost no score is of', () => {
    const result = resultOf()
    result.cells = result.cells.flatMap(cell => {
      const { id, label, parameters } = cell
      if (parameters.database === 'influxdb') return []
      if (parameters.database === 'mongodb') return { id, label, parameters, state: 'absent', reason: 'no server' }
      if (cell.state === 'done') delete cell.measures.serverIoBytesPerSecond
      return cell
    })
    const sections = arnst.report(result)
    const ranking = tableIn(sections, 'Table III')
    expect(ranking.rows[2].figures[0]).to.deep.equal({ value: null, published: 35, reason: 'no server' })
    expect(ranking.rows[4].figures[2]).to.deep.equal({ value: null, published: 93, reason: 'It was not chosen.' })
    expect(ranking.notes).to.include('The scores of writing are without IO, server: it could not be read of all.')
    const { rows: [first] } = tableIn(sections, 'Table IV')
    expect(first.figures[2]).to.deep.equal({ value: null, published: 1840, reason: 'It cannot be read here.' })
  })

  it('says which did not keep pace', () => {
    const result = resultOf()
    for (const cell of result.cells) {
      if (cell.state === 'done' && cell.id === 'write-mongodb-individual') {
        Object.assign(cell.measures, { samplesPerSecond: 300, missedSamples: 630_000 })
      }
      if (cell.state === 'done' && cell.id === 'read-mongodb-individual') cell.measures.cyclesPerSecond = 0.5
    }
    const sections = arnst.report(result)
    const slow = 'FerretDB individual (paper: MongoDB)'
    expect(tableIn(sections, 'Table III').notes).to.include.members([
      `Did not keep pace in writing, so that the score is of less work: ${slow}, 300 of 1000 samples a second.`,
      `Did not keep pace in reading, so that the score is of less work: ${slow}, 0.5 of 3 cycles a second.`
    ])
    expect(tableIn(sections, 'How well the readers').rows[2].figures[0]).to.deep.equal({ value: 0.5, published: '< 3' })
  })

  it('gives others their costs, without a score', () => {
    const result = resultOf()
    const [cell] = result.cells
    const parameters = { ...cell.parameters, database: 'sqlite', variant: 'sqlite-individual' }
    result.cells.push(/** @type {any} */ ({ ...cell, id: 'write-sqlite-individual', parameters, version: 'SQLite 3.50.4' }))
    const sections = arnst.report(result)
    expect(columnOf(tableIn(sections, 'Table III'), 0)).to.deep.equal([13.6, 56.6, 36.2, 52.4, 39.5, 39.5, 39.5])
    const note = 'Without a score, as the paper rates no difficulty of theirs: SQLite individual.'
    expect(tableIn(sections, 'Table III').notes).to.include(note)
    const row = tableIn(sections, 'Table IV').rows.find(({ label }) => label === 'SQLite individual')
    expect(row?.figures[0].value).to.equal(5)
    expect(row?.figures.at(-1)).to.deep.equal({ value: null, reason: 'The paper does not rate it.' })
  })
})

/** What would have been measured if all cost what it costs in the paper. @returns {StudyResult} */
function resultOf () {
  const { cells, cut } = arnst.plan({ isFull: true, sweep: {} })
  return /** @type {any} */ ({
    study: 'arnst',
    cut,
    cells: cells.map(({ id, label, parameters }) => {
      const { work, variant, database } = parameters
      const paper = /** @type {Record<string, any>} */ (work === 'write' ? WRITERS : READERS)[variant]
      const measures = {
        serverCpuPercent: paper.serverCpu,
        serverMemoryBytes: paper.serverMemory * 1_024_000,
        serverIoBytesPerSecond: paper.serverIo * 1024,
        clientCpuPercent: paper.clientCpu,
        clientMemoryBytes: paper.clientMemory * 1_024_000,
        networkBitsPerSecond: paper.network * 1000,
        ...work === 'write' && { dataBytesPerSecond: paper.disk * 2 ** 20 / 1200 },
        samplesPerSecond: 1000,
        missedSamples: 0,
        cyclesPerSecond: 3
      }
      return { id, label, parameters, state: 'done', version: VERSIONS[database], measures }
    })
  })
}

/**
 * @param {import('../../../gateway/bench/studies/study.js').Section[]} sections
 * @param {string} caption  how it begins
 * @returns {TableBlock}
 */
function tableIn (sections, caption) {
  const table = sections.flatMap(({ blocks }) => blocks).find(block => block.kind === 'table' && block.caption.startsWith(caption))
  if (table?.kind !== 'table') throw new Error(`no table ${caption}`)
  return table
}

/** @param {TableBlock} table @param {number} i */
function columnOf ({ rows }, i) {
  return rows.map(({ figures }) => Number(Number(figures[i].value).toFixed(1)))
}

/** @param {import('../../../gateway/bench/studies/study.js').Cell[]} cells @param {string} work */
function variantsOf (cells, work) {
  return cells.filter(({ parameters }) => parameters.work === work).map(({ parameters }) => parameters.variant)
}

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { open } from '../../gateway/databases/sqlite/sink.js'
import { batchOf, identity } from '../databases/contract/batches.js'
import { sluice } from './process.js'

const SHIPPED = new URL('../../packaging/grafana/sluice.json', import.meta.url)

describe('sluice grafana', () => {
  /** @type {string} */
  let folder

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-grafana-'))
    await mkdir(join(folder, 'sluice'))
    await writeFile(join(folder, 'flows.json'), JSON.stringify([
      { id: 'a1', type: 'sluice-sqlite', name: 'the plant', file: 'plant.sqlite' },
      { id: 'a2', type: 'sluice-mongodb', name: 'documents', server: 'a3' },
      { id: 'a3', type: 'sluice-mongodb-server', host: '127.0.0.1', database: 'plant' },
      { id: 'a4', type: 'sluice-modbus-read', name: 'press', tags: [{ name: 'force', unit: 'kN' }] }
    ]))
  })
  afterEach(() => rm(folder, { recursive: true }))

  /** @param {string[]} args */
  const grafana = (...args) => sluice('grafana', '--user-dir', folder, ...args).exit

  const store = async () => {
    const sink = await open({ file: join(folder, 'sluice', 'plant.sqlite') })
    const batches = ['press', 'mill'].map(source => batchOf([1, 2], { source, identity: { ...identity(1), source } }))
    await sink.prepare(batches)
    await sink.write(batches)
    await sink.close()
  }

  it('writes a dashboard of a sink\'s tables, in the model of the one that comes with a release', async () => {
    await store()
    const out = join(folder, 'plant.json')
    expect(await grafana('the plant', '--out', out)).to.include({ code: 0, stdout: '', stderr: '' })
    const made = JSON.parse(await readFile(out, 'utf8'))
    const shipped = JSON.parse(await readFile(SHIPPED, 'utf8'))
    expect(made.panels.map((/** @type {any} */ panel) => panel.title)).to.deep.equal(['mill', 'force', 'press'])
    expect(made.panels[1].fieldConfig.defaults.unit).to.equal('suffix: kN')

    const keysOf = (/** @type {any[]} */ all) => [...new Set(all.flatMap(Object.keys))]
    const drawn = (/** @type {any} */ board) => board.panels.filter((/** @type {any} */ panel) => panel.type === 'timeseries')
    expect(keysOf([shipped])).to.include.members(keysOf([made]).filter(key => key !== '__requires' && key !== 'uid'))
    expect(keysOf(shipped.panels)).to.include.members(keysOf(made.panels))
    expect(keysOf(drawn(shipped).map((/** @type {any} */ panel) => panel.options)))
      .to.include.members(keysOf(drawn(made).map((/** @type {any} */ panel) => panel.options)))
    const [variable] = made.templating.list
    expect(keysOf([shipped.templating.list[0]])).to.deep.equal(keysOf([variable]))
    expect(made.panels[1].datasource).to.deep.equal({ type: variable.query, uid: '${datasource}' })
    const ids = [...made.panels, ...made.panels.flatMap((/** @type {any} */ panel) => panel.panels ?? [])].map(({ id }) => id)
    expect(new Set(ids).size).to.equal(ids.length)
  })

  it('makes one of a source that is not staged', async () => {
    await store()
    const { code, stdout } = await grafana('a1', '--source', 'mill')
    expect(code).to.equal(0)
    expect(JSON.parse(stdout).panels[0].title).to.equal('mill')
  })

  it('says which sinks there are, that nothing is stored yet, and what Grafana cannot read', async () => {
    const unknown = await grafana('plant')
    expect(unknown.code).to.equal(1)
    expect(unknown.stderr).to.contain('SLUICE_COPY_PLACE').and.contain('the plant (a1)')
    expect((await grafana('the plant')).stderr).to.contain('"the plant" has stored nothing')
    expect(await grafana('documents')).to.include({
      code: 1,
      stderr: 'sluice grafana: SLUICE_GRAFANA_DATABASE: There is no dashboard of "documents": Grafana reads MongoDB only with a plugin ' +
        'of Grafana Enterprise. Wire a sink of PostgreSQL, MySQL, ClickHouse, InfluxDB or SQLite to the same stage in.\n'
    })
    expect((await grafana()).code).to.equal(2)
  })
})

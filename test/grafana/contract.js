import { expect } from 'chai'
import { readOptions } from '../../gateway/base/options.js'
import { OpenPlace } from '../../gateway/copy/places.js'
import { sinkTypes } from '../../gateway/databases/index.js'
import { dashboardOf } from '../../gateway/grafana/dashboard.js'
import { pluginOf } from '../../gateway/grafana/plugins.js'
import { tablesOf } from '../../gateway/grafana/tables.js'
import { batchOf } from '../databases/contract/batches.js'
import { tagOf } from '../messages/codecs/batches.js'
import { expanded } from './macros.js'

/**
 * What the dashboards of all databases show: their queries, as the data source sends them, answered by a real server.
 *
 * @typedef {object} Harness
 * @property {string} type  of the database
 * @property {string[]} layouts
 * @property {() => Record<string, any>|null} login  to its server
 * @property {() => object} [options]  of the sink
 * @property {(target: any) => string} textOf  the query of a target
 * @property {(query: string) => Promise<Answer[]>} ask
 * @typedef {{atMs: number, labels: string[], values: Record<string, any>}} Answer
 */

const T0_MS = 1_700_000_000_000
const SECONDS = 40
const SHOWN = { fromMs: T0_MS, toMs: T0_MS + SECONDS * 1000 - 1, intervalMs: 10_000, source: ['press', 'mill'] }
const log = { info () {}, warn () {}, error () {} }
const NODES = [
  { id: 'read', type: 'sluice-modbus-read', name: 'press', tags: [{ name: 'force', unit: 'N' }] },
  { id: 'simulated', type: 'sluice-simulator', channels: [{ name: 'force', unit: 'kg' }, { name: 'lift', unit: 'N' }] }
]

/** A row a second. @param {Partial<import('../../gateway/batch/batch.js').BatchInit>} [more] */
const rows = more => {
  const force = Float64Array.from({ length: SECONDS }, (_, second) => second)
  return batchOf([...force], {
    time: BigInt64Array.from(force, second => (BigInt(T0_MS) + BigInt(second) * 1000n) * 1_000_000n + 7n),
    fields: [{ name: 'force', type: 'float64' }, { name: 'parts', type: 'int64' }, { name: 'note', type: 'string' }],
    columns: [force, BigInt64Array.from(force, second => BigInt(second) * 2n), Array(SECONDS).fill('a\'b')],
    ...more
  })
}
const MEANS = [4.5, 14.5, 24.5, 34.5]
const seriesOf = (/** @type {number[]} */ means) => means.map((mean, i) => [T0_MS + i * 10_000, mean])
const SERIES = { force: seriesOf(MEANS), parts: seriesOf(MEANS.map(mean => 2 * mean)) }

/** @param {Harness} harness */
export function dashboardContract ({ type, layouts, login, options: more = () => ({}), textOf, ask }) {
  /** @type {OpenPlace} */
  let opened
  afterEach(() => opened?.close())

  /** @param {object} options  of the sink @param {import('../../gateway/batch/batch.js').Batch[]} batches @param {string[]} [by] */
  const dashboard = async (options, batches, by = []) => {
    const { schema } = await sinkTypes[type]()
    const place = { type, name: 'plant', options: readOptions(schema, { ...options, ...more() }), server: login() }
    opened = new OpenPlace(place, log)
    const { sink } = await opened.sink()
    await sink.prepare(batches)
    await sink.write(batches)
    const sources = [...new Set(batches.map(({ source }) => source))]
    const plugin = pluginOf(place)
    const tables = await tablesOf(opened, sources, { nodes: NODES, by, isNumeric: plugin.isNumeric })
    return /** @type {any} */ (dashboardOf({ title: 'plant', plugin, tables, sources }))
  }

  /** What the panels show: points by series. @param {any} board @param {Partial<import('./macros.js').Shown>} [shown] */
  const shownBy = async (board, shown) => {
    /** @type {Record<string, [number, number][]>} */
    const series = {}
    for (const { targets } of board.panels.filter((/** @type {any} */ panel) => panel.type === 'timeseries')) {
      for (const target of targets) {
        for (const { atMs, labels, values } of await ask(expanded(type, textOf(target), { ...SHOWN, ...shown }))) {
          for (const [name, value] of Object.entries(values)) {
            if (value === null) continue
            (series[[...labels, ...name === 'mean' ? [] : [name]].join(' ')] ??= []).push([atMs, Number(value)])
          }
        }
      }
    }
    return series
  }

  for (const layout of layouts) {
    it(`show the means of each interval, of the layout ${layout}`, async () => {
      const board = await dashboard({ layout }, [rows()])
      expect(await shownBy(board)).to.deep.equal(SERIES)
      const some = { fromMs: T0_MS + 10_000, toMs: T0_MS + 29_999 }
      expect((await shownBy(board, some)).force).to.deep.equal(SERIES.force.slice(1, 3))
    })
  }

  for (const layout of layouts.filter(each => each !== 'document')) {
    it(`show the sources of a table that several share, and tags, each alone, of the layout ${layout}`, async () => {
      const device = tagOf(Array.from({ length: SECONDS }, (_, i) => 'ab'[i % 2]))
      const batches = ['press', 'mill'].map(source => rows({ source, tags: { line: '7', device } }))
      const board = await dashboard({ layout, table: 'plant' }, batches, ['device'])
      const series = await shownBy(board)
      expect(Object.keys(series).sort()).to.deep.equal(
        ['mill', 'press'].flatMap(source => ['a', 'b'].flatMap(each => ['force', 'parts'].map(field => `${source} ${each} ${field}`)))
      )
      expect(series['press a force']).to.deep.equal(seriesOf([4, 14, 24, 34]))
      expect(Object.keys(await shownBy(board, { source: ['mill'] })).every(name => name.startsWith('mill'))).to.equal(true)
      expect(board.templating.list[1]).to.include({ name: 'source', query: 'press,mill' })
    })
  }

  it('draw fields of one unit together, and those of the second table when its row is opened', async () => {
    const names = ['force', 'lift', 'speed']
    const batch = rows({
      fields: names.map(name => ({ name, type: 'float64' })), columns: names.map(() => new Float64Array(SECONDS))
    })
    const { panels, templating } = await dashboard({}, [batch, rows({ source: 'mill' })])
    const drawn = panels.filter((/** @type {any} */ panel) => panel.type === 'timeseries')
    expect(drawn.map((/** @type {any} */ panel) => [panel.title, panel.fieldConfig.defaults.unit])).to.deep.equal([
      ['force, lift', 'suffix: N'], ['speed', 'short']
    ])
    const [, mill] = panels.filter((/** @type {any} */ panel) => panel.type === 'row')
    expect(mill).to.include({ title: 'mill', collapsed: true })
    expect(mill.panels).to.have.lengthOf(2)
    expect(templating.list).to.have.lengthOf(1)
  })
}

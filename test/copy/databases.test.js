import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { OpenPlace } from '../../gateway/copy/places.js'
import { copyAll } from '../../gateway/copy/run.js'
import { missingClickhouse, startClickhouse } from '../servers/clickhouse.js'
import { missingInfluxdb, startInfluxdb } from '../servers/influxdb.js'
import { missingMariadb, startMariadb } from '../servers/mariadb.js'
import { missingMongodb, startMongodb } from '../servers/mongodb.js'
import { requirePostgresql, startPostgresql } from '../servers/postgresql.js'
import { requireServer } from '../servers/programs.js'
import { history, identity, SECOND, T0 } from './history.js'

/**
 * @typedef {import('../../gateway/copy/places.js').Place} Place
 * @typedef {{start: () => Promise<any>, options: (server: any) => object, missing?: () => string|null}} Server
 */

const login = (/** @type {any} */ { port, user, password, database }) => ({ host: '127.0.0.1', port, user, password, database })

/** @type {Record<string, Server>} */
const SERVERS = {
  postgresql: { start: startPostgresql, options: login },
  mysql: { start: startMariadb, options: login, missing: missingMariadb },
  clickhouse: { start: startClickhouse, options: login, missing: missingClickhouse },
  influxdb: { start: startInfluxdb, options: server => ({ ...login(server), database: 'plant' }), missing: missingInfluxdb },
  mongodb: { start: startMongodb, options: ({ url }) => ({ url, database: 'plant' }), missing: missingMongodb }
}

const log = { info () {}, warn () {}, error () {} }

for (const [type, { start, options, missing }] of Object.entries(SERVERS)) {
  describe(`sluice copy: SQLite to ${type}${['influxdb', 'mongodb'].includes(type) ? '' : ', and back'}`, () => {
    /** @type {any} */
    let server
    /** @type {string} */
    let folder

    before(async function () {
      if (missing) requireServer(this, { mysql: 'mariadb' }[type] ?? type, missing())
      else requirePostgresql(this)
      server = await start()
      folder = await mkdtemp(join(tmpdir(), 'sluice-copy-'))
    })
    after(async () => {
      await server?.remove()
      if (folder) await rm(folder, { recursive: true })
    })

    /** @param {string} name @param {object} [more] @returns {Place} */
    const sqlite = (name, more) => ({
      type: 'sqlite', name, options: { file: join(folder, `${name}.sqlite`), table: '{source}', layout: 'wide', ...more }, server: null
    })
    /** @param {string} table @param {string} layout @returns {Place} */
    const remote = (table, layout) => ({ type, name: type, options: { table, layout, tagFields: '', key: [] }, server: options(server) })

    /** @param {Place} place @param {...import('../../gateway/batch/batch.js').Batch} batches */
    const store = async (place, ...batches) => {
      const opened = new OpenPlace(place, log)
      try {
        const { sink } = await opened.sink()
        await sink.prepare(batches)
        await sink.write(batches)
      } finally {
        await opened.close()
      }
    }
    /** @param {Place} from @param {Place} to @param {object} [wish] */
    const copy = async (from, to, wish = {}) => {
      const all = []
      for await (const copied of copyAll({ from, to, userDir: folder, wish, observe: () => ({}), log })) all.push(copied)
      return all[0]
    }
    const withoutBytes = { without: ['blob'] }

    for (const layout of ['wide', 'narrow']) {
      it(`copies to the layout ${layout} what is missing there, and finds both the same`, async () => {
        const from = sqlite(`to-${layout}`)
        const to = remote(`${layout}_{source}`, layout)
        const late = history(600, 1000, { identity: identity(1) })
        await store(from, history(0, 600, { identity: identity(0) }), late)
        await store(to, late)
        const wish = { textFields: ['note'], ...type === 'clickhouse' && withoutBytes }
        const copied = await copy(from, to, wish)
        expect(copied).to.deep.include({ rows: 600, deadRows: 0, differences: [] })
        expect(await copy(from, to, wish)).to.deep.include({ rows: 0, before: 600, differences: [] })
        if (['influxdb', 'mongodb'].includes(type)) return

        const back = sqlite(`back-${layout}`)
        const until = T0 + 2000n * SECOND
        const returned = await copy(to, back, { until, textFields: ['note'], ...type === 'clickhouse' && withoutBytes })
        expect(returned).to.deep.include({ rows: 1000, deadRows: 0, differences: [] })
      })
    }

    it('compares what is too big to be added up', async () => {
      const from = sqlite('big')
      const big = (/** @type {number} */ seq, /** @type {number} */ value) => new Batch({
        source: 'press',
        identity: identity(seq),
        time: BigInt64Array.from({ length: 300 }, (_, i) => T0 + BigInt(300 * seq + i) * SECOND),
        fields: [{ name: 'force', type: 'float64' }],
        columns: [new Float64Array(300).fill(value)]
      })
      await store(from, big(0, 1.7e308), big(1, -1.7e308))
      const wish = { until: T0 + 600n * SECOND }
      expect(await copy(from, remote('big_{source}', 'wide'), wish)).to.deep.include({ rows: 600, deadRows: 0, differences: [] })
    })
  })
}

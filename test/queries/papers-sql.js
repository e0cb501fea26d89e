import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { run } from '../../gateway/queries/run.js'

const SECOND = 1_000_000_000n
const HOUR = 3600n * SECOND
const DAY = 1_700_006_400n * SECOND // a whole number of days since 1970
const SENSORS = ['s1', 's2', 's3', 's4']
const ROWS = 240

/**
 * What Q1 … Q5 of SciTS return, beside the plain SQL that the paper prints, on the same rows.
 * @param {object} harness  one empty database a test
 * @param {(options: any, ...batches: Batch[]) => Promise<void>} harness.store  through the sink, in the table of source "press"
 * @param {(options: any) => Promise<import('../../gateway/databases/reader.js').Reader>} harness.open  of table "press"
 * @param {(sql: string) => Promise<Record<string, any>[]>} harness.select
 * @param {string} harness.time  the column of nanoseconds
 * @param {string} harness.stddev  of `value`
 */
export function papersSqlTests ({ store, open, select, time, stddev }) {
  describe('the SQL that SciTS prints', () => {
    /** @type {import('../../gateway/databases/reader.js').Reader} */
    let reader

    beforeEach(async () => {
      // Every 46.3 s, as 100,000 sensors at 2.8 · 10⁹ rows in 15 days have a value; some at the very ends of ranges.
      const step = 46_300_000_000n
      const values = (/** @type {number} */ sensor) =>
        Float64Array.from({ length: ROWS }, (_, i) => (i * 7919 * (sensor + 1) + 104_729 * sensor) % (2 ** 31 - 1))
      await store({ layout: 'narrow' }, new Batch({
        source: 'press',
        time: BigInt64Array.from({ length: ROWS }, (_, i) => i === 100 ? DAY + HOUR : DAY + BigInt(i) * step),
        fields: SENSORS.map(name => ({ name, type: 'float64' })),
        columns: SENSORS.map((_, i) => values(i))
      }))
      reader = await open({ layout: 'narrow' })
    })
    afterEach(() => reader?.close())

    /** @param {string} name @param {object} parameters @returns {Promise<any[]>} */
    const ask = async (name, parameters) => {
      /** @type {object[]} */
      const rows = []
      for await (const page of run(reader, { name, ...parameters })) rows.push(...page.rows)
      return rows
    }
    const [from, to] = [DAY + 600n * SECOND, DAY + HOUR]
    const range = { from, to }
    const within = (/** @type {string[]} */ sensors) =>
      `${time} >= ${from} AND ${time} < ${to} AND sensor IN (${sensors.map(name => `'${name}'`).join(', ')})`
    const bucket = `${time} - ${time} % ${HOUR / 4n}`
    const hours = { bucketHours: 0.25 }
    const byTime = (/** @type {any[]} */ rows) => rows
      .map(row => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, name === 'sensor' ? value : Number(value)])))
      .sort((a, b) => a.t - b.t || (String(a.sensor) < String(b.sensor) ? -1 : 1))
    const near = (/** @type {any[]} */ found, /** @type {any[]} */ expected) => {
      expect(found).to.have.length(expected.length)
      expect(expected.length).to.be.above(0)
      for (const [i, row] of expected.entries()) {
        for (const [name, value] of Object.entries(row)) {
          if (typeof value === 'number') expect(found[i][name], name).to.be.closeTo(value, Math.abs(value) * 1e-9)
          else expect(found[i][name], name).to.equal(value)
        }
      }
    }

    it('Q1: raw values, without the end of the range', async () => {
      const rows = await ask('raw', { sensors: ['s1', 's3'], ...range })
      near(byTime(rows.map(row => ({ t: row.time, sensor: row.sensor, value: row.value }))),
        byTime(await select(`SELECT ${time} AS t, sensor, value FROM press WHERE ${within(['s1', 's3'])}`)))
    })

    it('Q2: intervals out of range', async () => {
      const [lower, upper] = [2_000_000, 5_000_000]
      const rows = await ask('out-of-range', { sensors: ['s2'], ...range, ...hours, lower, upper })
      near(byTime(rows.map(({ time: t, min, max }) => ({ t, least: min, most: max }))),
        byTime(await select(`SELECT ${bucket} AS t, MAX(value) AS most, MIN(value) AS least FROM press WHERE ${within(['s2'])}
          GROUP BY ${bucket} HAVING MIN(value) < ${lower} OR MAX(value) > ${upper}`)))
    })

    it('Q3: one deviation over all sensors, and each aggregate', async () => {
      const [{ deviation, n }] = await select(`SELECT ${stddev} AS deviation, COUNT(value) AS n FROM press WHERE ${within(SENSORS)}`)
      const [row, ...others] = await ask('deviation', { sensors: SENSORS, ...range })
      expect(others).to.deep.equal([])
      near([row], [{ sensor: '', count: Number(n), stddev: Number(deviation) }])
      for (const [aggregate, sql] of Object.entries({ mean: 'AVG', min: 'MIN', max: 'MAX', sum: 'SUM', count: 'COUNT' })) {
        const [{ v }] = await select(`SELECT ${sql}(value) AS v FROM press WHERE ${within(SENSORS)}`)
        near(await ask('deviation', { sensors: SENSORS, ...range, aggregate }), [{ [aggregate]: Number(v) }])
      }
    })

    it('Q4: down-sampled by sensor', async () => {
      const rows = await ask('mean', { sensors: SENSORS, ...range, ...hours })
      near(byTime(rows.map(({ time: t, sensor, mean }) => ({ t, sensor, v: mean }))), byTime(await select(
        `SELECT ${bucket} AS t, sensor, AVG(value) AS v FROM press WHERE ${within(SENSORS)} GROUP BY ${bucket}, sensor`)))
    })

    it('Q5: the difference of two down-sampled sensors', async () => {
      const of = (/** @type {string} */ sensor) =>
        `(SELECT ${bucket} AS t, AVG(value) AS v FROM press WHERE ${within([sensor])} GROUP BY ${bucket})`
      const rows = await ask('difference', { sensors: ['s4', 's1'], ...range, ...hours })
      near(byTime(rows.map(({ time: t, difference }) => ({ t, d: difference }))),
        byTime(await select(`SELECT a.t AS t, a.v - b.v AS d FROM ${of('s4')} a INNER JOIN ${of('s1')} b ON a.t = b.t`)))
    })
  })
}

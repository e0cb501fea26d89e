import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { requireMosquitto, startMosquitto } from '../servers/mosquitto.js'
import { Gateway, node } from './gateway.js'

/** A row without a table names the database. */
const RECORDS = 'FROM sluice_commits WHERE sink_table <> \'\''

describe('A flow between staging and sinks', function () {
  /** @type {Gateway} */
  let gateway
  /** @type {Awaited<ReturnType<typeof startMosquitto>>} */
  let mosquitto

  before(async function () {
    requireMosquitto(this)
    mosquitto = await startMosquitto()
  })

  beforeEach(async () => { gateway = await Gateway.start() })
  afterEach(() => gateway.remove())
  after(() => mosquitto?.stop())

  /** From stage in on, in front of it a stage out that is fed. @param {...object} nodes */
  const flow = (...nodes) => [
    node('broker', '-broker', { url: mosquitto.url }),
    node('stage-out', '-stage-out', { broker: 'broker', gatherMs: 0 }),
    .../** @type {import('./gateway.js').FlowNode[]} */ (nodes)
  ]
  const stageIn = (/** @type {object} */ options, /** @type {string[]} */ ...next) =>
    node('stage-in', '-stage-in', { broker: 'broker', ...options }, next)
  const sqlite = (/** @type {string} */ name) => node(name, '-sqlite', { name, file: join(gateway.folder, `${name}.sqlite`), maxAgeMs: 50 })
  const deploy = (/** @type {import('./gateway.js').FlowNode[]} */ nodes) => gateway.deploy(nodes, { feeds: ['stage-out'] })

  /** @param {string} name  of the sink @param {string} table */
  const rowsOf = (name, table) => read(gateway, name, `SELECT * FROM "${table}" ORDER BY rowid`).map(({ time: _time, ...values }) => values)

  /**
   * Every batch that was staged is settled: nothing is held, every sink has a commit record of each.
   * @param {number} batches
   * @param {...string} sinks
   */
  async function settled (batches, ...sinks) {
    const recorded = () =>
      sinks.map(sink => Number(read(gateway, sink, `SELECT sum(last - seq + 1) AS count ${RECORDS}`)[0]?.count ?? 0))
    const state = async () =>
      `${batches} batches recorded: ${recorded()}; stage in: ${JSON.stringify(await gateway.gauge('stage in stage-in'))}`
    await gateway.until(
      async () => recorded().every(count => count === batches) && (await gateway.gauge('stage in stage-in')).held === 0,
      state
    )
  }

  it('may filter, where what it drops goes to a settle node', async () => {
    await deploy(
      flow(
        stageIn({}, 'which'),
        node(
          'which',
          'switch',
          { property: 'topic', rules: [{ t: 'eq', v: 'press', vt: 'str' }, { t: 'else' }], checkall: 'true' },
          'store',
          'settle'
        ),
        sqlite('store'),
        node('settle', '-settle')
      )
    )
    await gateway.feed(() => [
      { topic: 'press', payload: 1 },
      { topic: 'oven', payload: 2 },
      { topic: 'press', payload: 3 },
      { topic: 'oven', payload: 4 }
    ])
    await settled(4, 'store')
    expect(rowsOf('store', 'press')).to.deep.equal([{ value: 1 }, { value: 3 }])
    expect(rowsOf('store', 'oven')).to.deep.equal([])
    await gateway.until(() => gateway.status('settle') === 'grey dot: 2 dropped on purpose', () => gateway.status('settle'))

    await gateway.restart()
    await settled(4, 'store')
    expect(await gateway.gauge('stage in stage-in')).to.include({ lostRows: 0, parked: 0, emittedAgain: 0 })
    expect(rowsOf('store', 'press')).to.have.length(2)
  })

  it('may change batches, and what it makes of them is stored', async () => {
    await deploy(
      flow(
        stageIn({}, 'celsius'),
        node(
          'celsius',
          'function',
          {
            outputs: 1,
            func: 'msg.payload = msg.payload.toObjects().map(({ time, kelvin }) => ({ time, celsius: kelvin - 273 })); return msg'
          },
          'store'
        ),
        sqlite('store')
      )
    )
    await gateway.feed(() => [
      {
        topic: 'oven',
        payload: [
          { time: '2026-01-02T03:04:05.000000006Z', kelvin: 300 },
          { time: '2026-01-02T03:04:05.000000007Z', kelvin: 301 }
        ]
      },
      { topic: 'oven', payload: { kelvin: 302 } }
    ])
    await settled(2, 'store')
    expect(rowsOf('store', 'oven')).to.deep.equal([{ celsius: 27 }, { celsius: 28 }, { celsius: 29 }])
    expect(read(gateway, 'store', 'SELECT min(time) AS first FROM oven')[0].first).to.equal(
      BigInt(Date.UTC(2026, 0, 2, 3, 4, 5)) * 1_000_000n + 6n
    )
  })

  it('may split batches: a delivery is settled when the last part is stored', async () => {
    await deploy(
      flow(
        stageIn({}, 'rows'),
        node('rows', 'function', { outputs: 1, func: 'msg.payload = msg.payload.toObjects(); return msg' }, 'split'),
        node('split', 'split', { arraySplt: 1, arraySpltType: 'len', splt: '\\n', spltType: 'str', property: 'payload' }, 'last'),
        node(
          'last',
          'function',
          { outputs: 2, func: 'return msg.parts.index === msg.parts.count - 1 ? [null, msg] : [msg, null]' },
          'store',
          'later'
        ),
        node('later', 'delay', { pauseType: 'delay', timeout: '1', timeoutUnits: 'seconds' }, 'store'),
        sqlite('store')
      )
    )
    await gateway.feed(() => [{ topic: 'press', payload: [{ force: 1 }, { force: 2 }, { force: 3 }] }])
    await gateway.until(() => rowsOf('store', 'press').length === 2, () => `two parts: ${JSON.stringify(rowsOf('store', 'press'))}`)
    expect(await gateway.gauge('stage in stage-in')).to.include({ held: 1 })
    expect(read(gateway, 'store', `SELECT * ${RECORDS}`)).to.deep.equal([])
    await settled(1, 'store')
    expect(rowsOf('store', 'press')).to.deep.equal([{ force: 1 }, { force: 2 }, { force: 3 }])
  })

  it('may lead to two sinks, and each has all', async () => {
    await deploy(flow(stageIn({}, 'left', 'right'), sqlite('left'), sqlite('right')))
    await gateway.feed(() => Array.from({ length: 20 }, (_, force) => ({ topic: 'press', payload: { force } })))
    await settled(20, 'left', 'right')
    for (const sink of ['left', 'right']) expect(rowsOf(sink, 'press')).to.deep.equal(Array.from({ length: 20 }, (_, force) => ({ force })))
  })

  it('that drops without a settle node gets the batch again until it is parked and counted; the next deploy releases it', async () => {
    const filtering = flow(
      stageIn({ overdueMs: 300 }, 'which'),
      node('which', 'switch', { property: 'topic', rules: [{ t: 'eq', v: 'press', vt: 'str' }], checkall: 'true' }, 'store'),
      sqlite('store')
    )
    await deploy(filtering)
    await gateway.feed(() => [
      { topic: 'press', payload: 1 },
      { topic: 'oven', payload: 2 },
      { topic: 'press', payload: 3 }
    ])
    await gateway.says(/Batch \S+\/oven\/\S+ went into the flow 3 times and did not come out at store: parked/)
    await settled(2, 'store')
    expect(await gateway.gauge('stage in stage-in')).to.include({ parked: 1, emittedAgain: 2, held: 0 })
    await gateway.until(
      () => gateway.status('stage-in') === 'red dot: 0 in flight, 1 parked',
      () => gateway.status('stage-in')
    )
    expect(await gateway.meter('stage', 'stage-in (stage in)')).to.include({ parked: 1, overdue: 2 })
    expect((await gateway.gauge('spool stage-out')).spoolBatches).to.be.at.least(1)

    await deploy(flow(stageIn({ overdueMs: 300 }, 'store'), sqlite('store')))
    await settled(3, 'store')
    expect(rowsOf('store', 'oven')).to.deep.equal([{ value: 2 }])
    expect(rowsOf('store', 'press')).to.deep.equal([{ value: 1 }, { value: 3 }])
  })
})

/**
 * Rows of a sink's SQLite file, times as BigInt; none where there is no such table yet.
 * @param {Gateway} gateway
 * @param {string} name
 * @param {string} sql
 */
function read (gateway, name, sql) {
  const database = new DatabaseSync(join(gateway.folder, `${name}.sqlite`), { timeout: 10_000 })
  try {
    const statement = database.prepare(sql)
    statement.setReadBigInts(true)
    return statement
      .all()
      .map(row =>
        Object.fromEntries(
          Object.entries(row).map(([column, value]) => [
            column,
            typeof value === 'bigint' && column !== 'time' && column !== 'first' ? Number(value) : value
          ])
        )
      )
  } catch (error) {
    if (/no such table/.test(String(error))) return []
    throw error
  } finally {
    database.close()
  }
}

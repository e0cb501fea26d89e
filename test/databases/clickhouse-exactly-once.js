import { once } from 'node:events'
import { connect as connectTcp, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { sliceOf } from '../../gateway/batch/batch.js'
import { isTransient } from '../../gateway/databases/clickhouse/sink.js'
import { ALL_NEW, batchOf, EPOCH, failureOf, identity, rangesOf } from './contract/batches.js'

/** How a sink without transactions keeps its promise. @param {import('./clickhouse-database.js').ClickhouseDatabase} database */
export function exactlyOnceTests (database) {
  const { ask, openSink, rows, select } = database
  const forces = async () => (await rows('press')).map(({ force }) => force)

  /** A table whose inserts take a second. */
  const makeSlowTable = () =>
    ask('CREATE TABLE press (sluice_epoch Int64, force Float64, pause UInt8 MATERIALIZED sleep(1)) ENGINE = MergeTree ORDER BY tuple()')

  it('stores a write as one part, whatever the number of its rows', async () => {
    const sink = await openSink()
    const batches = [0, 1].map(seq => batchOf(Array.from({ length: 150_000 }, (_, i) => i), { identity: identity(seq) }))
    await sink.prepare(batches)
    await ask('SYSTEM STOP MERGES press').catch(() => ask('SYSTEM STOP MERGES'))
    await sink.write(batches)
    expect(await select('SELECT rows, active FROM system.parts WHERE database = \'sluice\' AND table = \'press\'')).to.deep.equal([{
      rows: 300_000,
      active: 1
    }])
    await ask('SYSTEM START MERGES press').catch(() => ask('SYSTEM START MERGES'))
  })

  it('keeps what it has acknowledged when the server is killed', async () => {
    const sink = await openSink()
    const batches = Array.from({ length: 12 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
    await sink.prepare(batches)
    for (const batch of batches.slice(0, 6)) await sink.write([batch])
    const unknown = Promise.allSettled(batches.slice(6).map(batch => sink.write([batch])))
    await database.server.kill()
    await unknown
    expect(isTransient(await failureOf(() => sink.committed()))).to.equal(true)
    await database.server.start()
    await sink.write(batches)
    expect((await forces()).toSorted((/** @type {any} */ a, /** @type {any} */ b) => a - b)).to.deep.equal([...batches.keys()])
    expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 11]] }])
  })

  it('checks whether an insert was stored when its response is lost', async () => {
    const proxy = await losingAnswers(database.server.port)
    const sink = await openSink({ port: proxy.port })
    const [first, second] = [0, 1].map(seq => batchOf([seq], { identity: identity(seq) }))
    await sink.write([first])
    proxy.loseAnswerTo('INSERT INTO `press`')
    const error = await failureOf(() => sink.write([second]))
    expect(isTransient(error), error.message).to.equal(true)
    expect((await sink.write([second])).duplicates).to.deep.equal([second])
    expect(await forces()).to.have.members([0, 1])
    await proxy.close()
  })

  it('waits for an aborted insert to end, and leaves out what it has stored', async () => {
    await makeSlowTable()
    const sink = await openSink()
    const batch = batchOf([1], { identity: identity(0) })
    await sink.prepare([batch])
    const abort = new AbortController()
    setTimeout(() => abort.abort(new Error('closing')), 400)
    expect((await failureOf(() => sink.write([batch], { signal: abort.signal }))).message).to.equal('closing')
    await sink.write([batch])
    expect(await forces()).to.deep.equal([1])
  })

  it('waits for the inserts of an earlier process before it reports what is committed', async () => {
    await makeSlowTable()
    const earlier = await openSink()
    const batch = batchOf([1], { identity: identity(0) })
    await earlier.prepare([batch])
    const running = earlier.write([batch])
    await sleep(400)
    const later = await openSink()
    expect(rangesOf(await later.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
    expect((await later.write([batch])).duplicates).to.deep.equal([batch])
    await running
    expect(await forces()).to.deep.equal([1])
  })

  it('never treats an equal batch as a duplicate', async () => {
    const sink = await openSink()
    const batch = batchOf([1])
    for (let i = 0; i < 3; i++) await sink.write([batch])
    expect(await forces()).to.deep.equal([1, 1, 1])
  })

  it('recognises compacted batches without their rows', async () => {
    const sink = await openSink()
    const batches = [0, 1, 2, 4, 5].map(seq => batchOf([seq], { identity: identity(seq) }))
    await sink.write(batches)
    await sink.compact([{ ...EPOCH, first: 5, last: 5 }])
    await ask('TRUNCATE TABLE press')
    const later = await openSink()
    expect(rangesOf(await later.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 2], [4, 4]] }])
    expect((await later.write(batches)).duplicates).to.deep.equal(batches.slice(0, 4))
    expect(await forces()).to.deep.equal([5])
  })

  it('stores a batch once when a refused write is repeated without the bad rows', async () => {
    await ask('CREATE TABLE oven (sluice_epoch Int64, force Float64, positive UInt8 MATERIALIZED throwIf(force < 0)) ' +
      'ENGINE = MergeTree ORDER BY tuple()')
    const sink = await openSink()
    const [good, bad] = [
      batchOf([1], { identity: identity(0) }),
      batchOf([2, -1], { source: 'oven', identity: { ...EPOCH, source: 'oven', seq: 0 } })
    ]
    await sink.prepare([good, bad])
    const error = await failureOf(() => sink.write([good, bad]))
    expect(isTransient(error), error.message).to.equal(false)
    expect((await sink.write([good, bad.slice(0, 1)])).duplicates).to.deep.equal([good])
    expect([...await rows('press'), ...await rows('oven')].map(({ force }) => force)).to.deep.equal([1, 2])
  })

  it('leaves nothing of a probe', async () => {
    await ask('CREATE TABLE press (sluice_epoch Int64, force Float64, positive UInt8 MATERIALIZED throwIf(force < 0)) ' +
      'ENGINE = MergeTree ORDER BY tuple()')
    const sink = await openSink()
    const batch = batchOf([1, -1], { identity: identity(0) })
    await sink.prepare([batch])
    expect(await sink.write([sliceOf(batch, 0, 1), sliceOf(batch, 0, 0)], { probe: true })).to.deep.equal(ALL_NEW)
    expect(isTransient(await failureOf(() => sink.write([sliceOf(batch, 1, 2)], { probe: true })))).to.equal(false)
    expect(await rows('press')).to.deep.equal([])
    expect(rangesOf(await sink.committed())).to.deep.equal([])
    expect(await database.tables()).to.deep.equal(['press'])
  })

  it('stores at least once, with a warning, in a partitioned table, and refuses an engine without atomic inserts', async () => {
    await ask('CREATE TABLE press (sluice_epoch Int64, force Float64, day Date DEFAULT toDate(1)) ' +
      'ENGINE = MergeTree PARTITION BY day ORDER BY tuple()')
    await ask('CREATE TABLE oven (sluice_epoch Int64, force Float64) ENGINE = Memory')
    const sink = await openSink()
    await sink.write([batchOf([1], { identity: identity(0) })])
    expect(database.warnings).to.have.length(1)
    expect(database.warnings[0]).to.match(/"press".*at least once.*partitions/)
    const error = await failureOf(() => sink.prepare([batchOf([1], { source: 'oven' })]))
    expect(error.message).to.match(/"oven".*engine Memory/)
    expect(isTransient(error)).to.equal(false)
  })

  it('notices within a second that its table was set back, though nothing comes twice', async () => {
    const sink = await openSink()
    const batches = Array.from({ length: 200 }, (_, seq) => batchOf([seq], { identity: identity(seq) }))
    for (const batch of batches.slice(0, 2)) await sink.write([batch])
    await database.deleteBatches('press', 1)
    let written = 2
    const error = await failureOf(async () => {
      for (const startMs = performance.now(); performance.now() - startMs < 60_000; await sleep(50)) {
        await sink.write([batches[written]])
        written++
      }
    })
    expect(error.code).to.equal('SLUICE_SINK_SET_BACK')
    expect(isTransient(error)).to.equal(true)
    expect((rangesOf(await sink.committed()))[0].ranges).to.deep.equal([[0, 0], ...written > 2 ? [[2, written - 1]] : []])
    const all = batches.slice(0, written + 1)
    expect((await sink.write(all)).duplicates).to.have.length(written - 1)
    expect(await forces()).to.have.members([...all.keys()])
  })

  it('reads what a batch has staged from any row of it, when some are deleted', async () => {
    const sink = await openSink()
    const staged = { ...identity(0), rows: 3, hash: 17, before: 40 }
    await sink.write([batchOf([1, 2, 3], { identity: staged })])
    await ask('ALTER TABLE press DELETE WHERE force = 3')
    while ((await forces()).length > 2) await sleep(20)
    expect((await sink.committed()).records[0]).to.include({ hash: 17, staged: 3, stored: 3, dead: 0, before: 40 })
    await ask('ALTER TABLE press DELETE WHERE force = 1')
    while ((await forces()).length > 1) await sleep(20)
    expect((await sink.committed()).records[0]).to.include({ hash: 0, staged: 1, stored: 1 })
  })

  it('does not take over the commit records of version 0.1', async () => {
    await ask('CREATE TABLE sluice_commits (sink_table String, number Int64, seq Int64, last Int64) ENGINE = MergeTree ORDER BY seq')
    const error = await failureOf(async () => (await openSink()).committed())
    expect(error.code).to.equal('SLUICE_SINK_RECORDS_OLD')
    expect(isTransient(error)).to.equal(true)
  })

  it('refuses a row without a value for a column without NULL, and a column of another type', async () => {
    await ask('CREATE TABLE press (sluice_epoch Int64, force Float64) ENGINE = MergeTree ORDER BY tuple()')
    await ask('CREATE TABLE oven (sluice_epoch Int64, force Int32) ENGINE = MergeTree ORDER BY tuple()')
    const sink = await openSink()
    const batch = batchOf([1, 2, 3], { validity: [Uint8Array.of(1, 0, 1)] })
    const gap = await failureOf(() => sink.write([batch]))
    expect(gap.faults.map((/** @type {any} */ { row }) => row)).to.deep.equal([1])
    expect(gap.message).to.match(/"force" accepts no NULL/)
    const misfit = await failureOf(() => sink.prepare([batchOf([1], { source: 'oven' })]))
    expect(misfit.message).to.match(/"oven".*"force" is of type Int32, and a field of type float64 needs Nullable\(Float64\)/)
    expect([gap, misfit].map(isTransient)).to.deep.equal([false, false])
  })
}

/** Between a sink and its server: passes everything on, but can break the connection off in place of an answer. @param {number} target */
async function losingAnswers (target) {
  /** @type {string|null} */
  let lost = null
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set()
  const proxy = createServer(client => {
    const server = connectTcp(target, '127.0.0.1')
    let isLost = false
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => { client.destroy(); server.destroy() })
    }
    client.on('data', data => {
      if (lost !== null && data.includes(lost)) {
        lost = null
        isLost = true
      }
      server.write(data)
    })
    server.on('data', data => isLost ? client.destroy() : client.write(data))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: /** @type {import('node:net').AddressInfo} */ (proxy.address()).port,
    /** @param {string} text */
    loseAnswerTo (text) { lost = text },
    async close () {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    }
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { marker } from '../../gateway/batch/batch.js'
import { isTransient, open } from '../../gateway/databases/influxdb/sink.js'
import { ALL_NEW, at, batchOf, EPOCH, failureOf, identity, rangesOf, T0 } from './contract/batches.js'
import { daysSince, InfluxdbDatabase } from './influxdb-database.js'

describe('InfluxDB commit records', () => {
  const database = InfluxdbDatabase.inSuite()
  const { openSink, rows, storeAll } = database

  it('report what is stored, which is then left out', async () => {
    const sink = await openSink()
    const batches = [0, 1, 2].map(seq => batchOf([seq], { time: at(seq), identity: identity(seq) }))
    expect(await sink.write(batches.slice(0, 2))).to.deep.equal(ALL_NEW)
    expect((await sink.write(batches.slice(1))).duplicates).to.deep.equal([batches[1]])
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 1, 2])
  })

  it('come after their rows, so that rows without one may be written again', async () => {
    const sink = await openSink()
    const batch = batchOf([1, 2], { identity: identity(0) })
    await sink.write([batch], { probe: true })
    expect(rangesOf(await sink.committed())).to.deep.equal([])
    await sink.write([batch])
    expect(await rows('press')).to.have.length(2)
    expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
  })

  it('are not taken for those of Sluice 0.1 where the server shows one that is only half written', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1], { identity: identity(0) })])
    const server = database.connect()
    const { query } = server
    let looks = 0
    server.query = async (...args) => {
      const series = await query.apply(server, args)
      if (!args[0].includes('sluice_commits') || looks++ > 0) return series
      const hash = series[0].columns.indexOf('hash')
      const halfOf = (/** @type {any[]} */ row) => row.with(hash, null)
      return series.map((/** @type {any} */ its) => ({ ...its, values: its.values.map(halfOf) }))
    }
    expect(rangesOf(await (await open({}, { server })).committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
    expect(looks).to.be.above(1)
  })

  it('hold any name', async () => {
    const sink = await openSink({ table: 'all' })
    const odd = ['a\nb', 'a\\', '"', 'a,b c=d', '\'', '🚀', ' ', '\\"\n,']
    const batches = odd.map(name => marker({ gateway: name, source: `${name}.`, epoch: `${name}!`, seq: 2 ** 40 }))
    await sink.write(batches)
    const stored = rangesOf(await (await openSink({ table: 'all' })).committed())
    const names = stored.map(({ gateway, source, epoch }) => [gateway, source, epoch])
    expect(names).to.have.deep.members(odd.map(name => [name, `${name}.`, `${name}!`]))
    expect(stored[0].ranges).to.deep.equal([[2 ** 40, 2 ** 40]])
  })

  it('are merged, and still recognised', async () => {
    const present = [0, 1, 2, 4, 5, 6, 7, 8]
    const batches = present.map(seq => batchOf([seq], { time: at(seq), identity: identity(seq) }))
    const old = batches.map(batch => batch.withIdentity({ ...EPOCH, epoch: '0-z', seq: Number(batch.identity?.seq) }))
    const sink = await storeAll(...batches, ...old)
    const before = rangesOf(await sink.committed())
    for (let i = 0; i < 2; i++) await sink.compact([{ ...EPOCH, first: 7, last: 8 }])
    const records = (await rows('sluice_commits')).filter(({ epoch }) => epoch !== '').map(({ epoch, time, last }) => [epoch, time, last])
    expect(records).to.have.deep.members([['0-z', 0n, 2], ['0-z', 4n, 8], ['1-a', 0n, 2], ['1-a', 4n, 6], ['1-a', 7n, 7], ['1-a', 8n, 8]])
    for (const each of [sink, await openSink()]) {
      expect(rangesOf(await each.committed())).to.deep.equal(before)
      expect((await each.write([...batches, ...old])).duplicates).to.have.length(16)
    }
    await sink.write([batchOf([3], { time: at(3), identity: identity(3) })])
    expect((rangesOf(await sink.committed()))[1].ranges).to.deep.equal([[0, 8]])
  })

  it('are looked for once a second: a measurement that was set back is noticed, though nothing comes twice', async () => {
    const sink = await openSink()
    const batches = Array.from({ length: 200 }, (_, seq) => batchOf([seq], { time: at(seq), identity: identity(seq) }))
    for (const batch of batches.slice(0, 2)) await sink.write([batch])
    await database.query('DELETE FROM "sluice_commits" WHERE time = 1')
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
    expect((await sink.write(batches.slice(0, written + 1))).duplicates).to.have.length(written - 1)
    expect((rangesOf(await sink.committed()))[0].ranges).to.deep.equal([[0, written]])
  })

  it('tell what is stored from another batch under its identity, and from rows that were staged again', async () => {
    const of = (/** @type {number} */ seq, /** @type {object} */ more) =>
      batchOf([seq, seq + 0.5], { time: at(2 * seq, 2 * seq + 1),
        identity: { ...identity(seq), hash: 100 + seq, before: 2 * seq, ...more } })
    const stored = of(0, {})
    const sink = await storeAll(stored)
    const other = of(0, { hash: 5 })
    const again = of(7, { ancestors: [{ epoch: EPOCH.epoch, seq: 0, hash: 100 }] })
    const alike = of(8, { ancestors: [{ epoch: EPOCH.epoch, seq: 0, hash: 5 }] })
    for (const each of [sink, await openSink()]) {
      expect(await each.write([other, stored])).to.deep.equal({ duplicates: [stored], clashes: [other] })
    }
    expect(await sink.write([again, alike])).to.deep.equal({ duplicates: [again], clashes: [] })
    expect((await rows('press')).map(({ force }) => force)).to.deep.equal([0, 0.5, 8, 8.5])
    expect((await sink.committed()).records.map(({ first, hash, staged, stored: its, before }) => [first, hash, staged, its, before]))
      .to.deep.equal([[0, 100, 2, 2, 0], [7, 107, 0, 0, 14], [8, 108, 2, 2, 16]])
  })

  it('of version 0.1 are not taken over', async () => {
    const { port, user: u, password: p } = database.server
    await database.server.query(`CREATE DATABASE "${database.name}"`)
    const record = 'sluice_commits,of=x last=0i,policy="autogen",sink_table="press",gateway="gw",source="press",epoch="1-a" 0'
    await fetch(`http://127.0.0.1:${port}/write?${new URLSearchParams({ db: database.name, u, p })}`, { method: 'POST', body: record })
    const error = await failureOf(async () => (await openSink()).committed())
    expect(error.code).to.equal('SLUICE_SINK_RECORDS_OLD')
    expect(isTransient(error)).to.equal(true)
  })

  it('outlive rows that expire', async () => {
    await database.server.query(`CREATE DATABASE "${database.name}" WITH DURATION ${daysSince(T0) + 1000}d NAME years`)
    const sink = await storeAll(batchOf([1], { identity: identity(0) }))
    expect(await rows('press', 'years')).to.have.length(1)
    const records = await rows('sluice_commits', 'sluice_commits')
    expect(records.map(({ policy, sink_table: table }) => [policy, table])).to.deep.equal([['years', 'press']])
    expect(rangesOf(await sink.committed())).to.deep.equal([{ ...EPOCH, ranges: [[0, 0]] }])
    expect(rangesOf(await (await openSink({ retentionPolicy: 'sluice_commits' })).committed()), 'of another policy').to.deep.equal([])
  })

  it('are kept where nothing expires when the retention policy has been changed meanwhile', async () => {
    const sink = await openSink()
    await sink.write([batchOf([1], { identity: identity(0), time: BigInt64Array.of(BigInt(Date.now()) * 1_000_000n) })])
    await database.server.query(`ALTER RETENTION POLICY autogen ON "${database.name}" DURATION 30d`)
    const next = batchOf([2], { identity: identity(1), time: BigInt64Array.of(BigInt(Date.now()) * 1_000_000n) })
    const error = await failureOf(() => sink.write([next]))
    expect(error.message).to.match(/^Commit records: .*beyond retention policy/)
    expect(isTransient(error)).to.equal(true)
    expect(rangesOf(await sink.committed()), 'the records of the first are elsewhere').to.deep.equal([])
    await sink.write([next])
    expect((rangesOf(await (await openSink()).committed()))[0].ranges).to.deep.include([1, 1])
  })

  it('need an administrator once, where that policy does not exist', async () => {
    await database.server.query(`CREATE DATABASE "${database.name}" WITH DURATION 100w NAME weeks`)
    await database.server.query('CREATE USER logger WITH PASSWORD \'secret\'')
    await database.server.query(`GRANT ALL ON "${database.name}" TO logger`)
    try {
      const sink = await openSink({ user: 'logger', password: 'secret' })
      const error = await failureOf(() => sink.prepare([batchOf([1])]))
      expect(error.message).to.match(/"logger" may not create the retention policy "sluice_commits".*as an administrator/)
      expect(isTransient(error)).to.equal(true)
      await database.server.query(`CREATE RETENTION POLICY sluice_commits ON "${database.name}" DURATION INF REPLICATION 1`)
      await sink.write([batchOf([1], { time: BigInt64Array.of(BigInt(Date.now()) * 1_000_000n) })])
      expect(await rows('press')).to.have.length(1)
    } finally {
      await database.server.query('DROP USER logger')
    }
  })

  it('keep what has been acknowledged when the server is killed', async () => {
    const sink = await openSink()
    for (let seq = 0; seq < 3; seq++) {
      await sink.write([batchOf([seq], { time: at(seq), identity: identity(seq) })])
      await database.server.kill()
      expect(isTransient(await failureOf(() => sink.committed()))).to.equal(true)
      await database.server.start()
    }
    expect((rangesOf(await sink.committed()))[0].ranges).to.deep.equal([[0, 2]])
    expect(await rows('press')).to.have.length(3)
  })

  it('start empty in a dropped database, which is created again', async () => {
    const sink = await storeAll(batchOf([1], { identity: identity(0) }))
    await database.server.query(`DROP DATABASE "${database.name}"`)
    const error = await failureOf(() => sink.write([batchOf([2], { identity: identity(1) })]))
    expect(error.message).to.match(/database not found/)
    expect(isTransient(error)).to.equal(true)
    expect(rangesOf(await sink.committed())).to.deep.equal([])
    await sink.write([batchOf([1], { identity: identity(0) })])
    expect(await rows('press')).to.have.length(1)
  })
})

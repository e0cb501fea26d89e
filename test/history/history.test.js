import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { History } from '../../gateway/history/history.js'
import { DAY_MS, HOUR_MS, MadeUpGateway, START_MS, STEP_MS } from './gateways.js'
import { busy, plant } from './plant.js'

describe('History', function () {
  this.timeout(120_000)
  /** @type {string} */
  let folder
  /** @type {MadeUpGateway} */
  let gateway
  /** @type {import('../../gateway/stats/meter.js').Meter} */
  let sink

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-history-'))
    gateway = new MadeUpGateway(folder)
    sink = gateway.stats.meter('sink', 'plant', 'c0ffee')
  })

  afterEach(async () => {
    await gateway.history.close()
    await rm(folder, { recursive: true })
  })

  const files = (path = gateway.folder) => readdir(path).then(names => names.sort())
  const row = () => { sink.rows += 10 }
  const age = (/** @type {number} */ ms) => {
    for (const { latency } of sink.intervals) latency.record(ms * 1000, 1)
  }

  it('has rates, counts, latencies and what waits, every ten seconds', async () => {
    gateway.stats.gauge('sink plant', () => ({ connected: true, pendingRows: 12 }))
    await gateway.run(2, step => {
      sink.rows += 50 * (step + 1)
      sink.deadLetters += step
      age(20)
    })
    expect(await gateway.last('sink/c0ffee/rows', 3)).to.deep.equal([null, 5, 10])
    expect(await gateway.last('sink/c0ffee/deadLetters', 2)).to.deep.equal([0, 1])
    expect(await gateway.last('sink/c0ffee/latencyP99', 1)).to.deep.equal([20])
    expect(await gateway.last('sink/c0ffee/waitingRows', 1)).to.deep.equal([12])
    expect(await gateway.last('sink/c0ffee/connected', 1)).to.deep.equal([1])
    expect((await gateway.last('process/gateway/memory', 1))[0]).to.be.above(1e6)
  })

  it('records by itself whenever ten seconds are over', async () => {
    await gateway.history.close()
    const begunMs = performance.now()
    const nowMs = () => START_MS - 30 + performance.now() - begunMs
    const history = new History({ stats: gateway.stats, folder: () => gateway.folder, nowMs })
    history.start()
    const steps = { fromMs: START_MS - STEP_MS, toMs: START_MS, points: 1 }
    while ((await history.query(steps, ['sink/c0ffee/rows'])).series['sink/c0ffee/rows'][0] === null) await sleep(5)
    await history.close()
  })

  it('has no latency where nothing passed, and no state of a time when nothing was recorded', async () => {
    gateway.stats.gauge('sink plant', () => ({ connected: true, pendingRows: 12 }))
    await gateway.run(2, row)
    gateway.pause(5)
    await gateway.run(1, row)
    expect(await gateway.last('sink/c0ffee/latencyP50', 2)).to.deep.equal([null, null])
    expect(await gateway.last('sink/c0ffee/waitingRows', 8)).to.deep.equal([12, 12, null, null, null, null, null, 12])
    expect(await gateway.last('sink/c0ffee/rows', 8)).to.deep.equal([1, 1, ...new Array(6).fill(10 / 60)].map(rounded))
  })

  it('loses nothing that was counted over a pause, however long, nor by a step that comes late', async () => {
    const fromMs = gateway.nowMs
    const counted = async () => {
      const toMs = gateway.nowMs + STEP_MS
      const points = (toMs - fromMs) / STEP_MS
      return {
        rows: STEP_MS / 1000 * sumOf((await gateway.values('sink/c0ffee/rows', fromMs, toMs, points)).map(Number)),
        letters: sumOf((await gateway.values('sink/c0ffee/deadLetters', fromMs, toMs, points)).map(Number))
      }
    }
    const work = (/** @type {number} */ rows) => () => {
      sink.rows += rows
      sink.deadLetters += 3
    }
    await gateway.run(3, work(321))
    for (const pauseSteps of [1, 5, 21, 700]) { // the last goes over the ends of two hours
      gateway.pause(pauseSteps)
      await gateway.run(1, work(1700))
      const { rows, letters } = await counted()
      expect(rows, `${pauseSteps} steps`).to.be.closeTo(sink.rows, sink.rows * 0.001)
      expect(letters).to.equal(sink.deadLetters)
    }
    gateway.pause(0.4)
    await gateway.run(1, work(1000))
    gateway.pause(-0.4)
    await gateway.run(1, work(5000))
    const { rows } = await counted()
    expect(rows).to.be.closeTo(sink.rows, sink.rows * 0.001)
    await gateway.restart()
    expect((await counted()).rows).to.equal(rows)
  })

  it('takes neither a clock that is put forward nor a machine that slept for a pause', async () => {
    await gateway.run(2, row)
    gateway.nowMs += 50 * STEP_MS
    await gateway.run(1, row)
    expect(await gateway.last('sink/c0ffee/rows', 3)).to.deep.equal([null, null, 1])
  })

  it('goes on after a restart, in the same hour and in the next', async () => {
    await gateway.run(200, row)
    await gateway.restart()
    await gateway.run(200, row)
    await gateway.restart()
    expect(await gateway.last('sink/c0ffee/rows', 400)).to.deep.equal(new Array(400).fill(1))
    expect(await files()).to.deep.equal(['2026-03-01T00.hour', '2026-03-01T01.minutes'])
    for (const name of await files()) expect((await stat(join(gateway.folder, name))).mode & 0o077, name).to.equal(0)
  })

  it('keeps ten seconds of a day, and five minutes of what is older, with the sums of counts and the greatest latencies', async () => {
    await gateway.run(27 * 360, step => {
      row()
      sink.deadLetters += step % 7
      age(step === 100 ? 900 : 5)
    })
    const firstMs = gateway.nowMs - DAY_MS
    expect(await gateway.values('sink/c0ffee/rows', firstMs, firstMs + HOUR_MS)).to.deep.equal(new Array(360).fill(1))
    expect((await files())[0]).to.equal('2026-03-01.day')
    const window = /** @type {const} */ ([START_MS, gateway.nowMs])
    const letters = await gateway.values('sink/c0ffee/deadLetters', ...window)
    expect(letters.length).to.equal(27 * 12)
    expect(sumOf(letters)).to.equal(sink.deadLetters)
    expect(Math.max(...(await gateway.values('sink/c0ffee/latencyP99', ...window)).map(Number))).to.be.closeTo(900, 0.9 + 900 * 0.016)
    expect(await gateway.values('sink/c0ffee/rows', ...window, 27)).to.deep.equal(new Array(27).fill(1))
    const few = await gateway.values('sink/c0ffee/deadLetters', ...window, 5)
    expect(sumOf(few)).to.be.closeTo(sink.deadLetters, sink.deadLetters * 0.001)
  })

  it('keeps 31 days by their count, whatever the clock says', async () => {
    for (let day = 0; day < 40; day++) {
      await gateway.run(1, row)
      gateway.nowMs += DAY_MS
    }
    await gateway.run(1, row)
    const days = (await files()).filter(name => name.endsWith('.day'))
    expect(days.length).to.equal(31)
    expect(await gateway.values('sink/c0ffee/rows', START_MS, START_MS + DAY_MS)).to.include(null).and.not.include(1)
    gateway.nowMs = Date.parse('2099-01-01T00:00:00Z')
    await gateway.run(1, row)
    expect((await files()).filter(name => days.includes(name)).length).to.equal(31 - 2) // two days more were hours until now
  })

  it('replaces what it had when the clock is put back, and keeps what it has when that was wrong', async () => {
    await gateway.run(720, row)
    gateway.nowMs -= 1.5 * HOUR_MS
    await gateway.run(60, () => { sink.rows += 70 })
    const all = await gateway.values('sink/c0ffee/rows', START_MS, START_MS + 2 * HOUR_MS)
    expect(all).to.deep.equal([...new Array(180).fill(1), ...new Array(60).fill(7), ...new Array(480).fill(1)])
    gateway.nowMs = START_MS + 2 * HOUR_MS
    await gateway.run(1, row)
    await gateway.restart()
    expect(await gateway.values('sink/c0ffee/rows', START_MS, START_MS + 2 * HOUR_MS)).to.deep.equal(all)
  })

  it('records a step once when the clock stands still', async () => {
    await gateway.run(1, row)
    row()
    await gateway.history.record()
    await gateway.run(1)
    expect(await gateway.last('sink/c0ffee/rows', 2)).to.deep.equal([1, 1])
  })

  it('knows a sink by its last name, and what is gone as well', async () => {
    gateway.stats.meter('source', 'a, b/c').rows = 5
    await gateway.run(6, row)
    gateway.stats.drop('source', 'a, b/c')
    gateway.stats.meter('sink', 'renamed', 'c0ffee')
    await gateway.run(360, row)
    await gateway.restart()
    const listed = await gateway.history.list()
    expect(listed).to.deep.include({
      key: 'sink/c0ffee/rows',
      subject: { type: 'sink', id: 'c0ffee', name: 'renamed', nodeId: 'c0ffee' },
      measure: 'rows',
      unit: 'rows/s',
      help: 'Rows stored.'
    })
    expect(await gateway.last('sink/c0ffee/rows', 366)).to.deep.equal(new Array(366).fill(1))
    const gone = listed.find(({ subject, measure }) => subject.name === 'a, b/c' && measure === 'rows')
    expect(gone?.key).to.equal('source/a%2C b%2Fc/rows')
    expect(await gateway.last('source/a%2C b%2Fc/rows', 366)).to.include(0).and.include(null)
  })

  it('sums the least active of more than there is room for', async () => {
    const sources = Array.from({ length: 600 }, (_, i) => gateway.stats.meter('source', `machine ${i}`))
    await gateway.run(1, () => { for (const [i, source] of sources.entries()) source.rows += 10 * (i + 1) })
    const listed = (await gateway.history.list()).filter(({ measure, subject }) => measure === 'rows' && subject.type === 'source')
    const names = listed.map(({ subject }) => subject.name)
    const kept = names.filter(name => name !== '(others)').map(name => Number(name.slice('machine '.length)))
    expect(listed.length).to.equal(kept.length + 1).and.below(500)
    expect(Math.min(...kept)).to.equal(600 - kept.length)
    const rest = sources.slice(0, 600 - kept.length).reduce((sum, { rows }) => sum + rows / 10, 0)
    expect((await gateway.last('source/(others)/rows', 1))[0]).to.be.closeTo(rest, rest * 0.001)
  })

  it('takes what is whole of a damaged file, sets it aside and says so once', async () => {
    await gateway.run(30, row)
    await gateway.history.close()
    const minutes = join(gateway.folder, '2026-03-01T00.minutes')
    const bytes = await readFile(minutes)
    bytes[bytes.length >> 1] ^= 0xff
    await writeFile(minutes, bytes)
    gateway.history = gateway.open()
    await gateway.run(6, row)
    const killed = gateway.history
    gateway.history = gateway.open()
    expect((await gateway.last('sink/c0ffee/rows', 36)).filter(value => value === 1).length).to.equal(30)
    await killed.close()
    await gateway.run(324, row)
    const values = await gateway.last('sink/c0ffee/rows', 360)
    expect(values.filter(value => value === null).length).to.equal(6)
    expect(gateway.said.filter(text => text.includes('SLUICE_HISTORY_DAMAGED')).length).to.equal(1)
    await gateway.run(1, row)
    await writeFile(join(gateway.folder, '2026-03-01T00.hour'), 'nonsense')
    await writeFile(join(gateway.folder, '2026-02-28.day'), '')
    await gateway.restart()
    expect(await gateway.last('sink/c0ffee/rows', 2)).to.deep.equal([null, 1])
    expect(await gateway.values('sink/c0ffee/rows', START_MS - DAY_MS, gateway.nowMs, 10)).to.include(1)
    expect((await gateway.history.list()).length).to.be.above(0)
    expect(gateway.said.length).to.equal(3)
    expect((await files()).filter(name => name.endsWith('.damaged')).length).to.equal(3)
  })

  it('sets aside a file that is larger than all of it may be, without reading it', async () => {
    await gateway.run(6, row)
    const day = join(gateway.folder, '2026-02-28.day')
    await writeFile(day, '')
    await truncate(day, 2 ** 40)
    await gateway.restart()
    expect(await gateway.values('sink/c0ffee/rows', START_MS - DAY_MS, gateway.nowMs, 10)).to.include(1)
    expect(gateway.said.join()).to.match(/SLUICE_HISTORY_DAMAGED: .* has 1099511627776 bytes/)
    expect(await files()).to.include('2026-02-28.day.damaged')
  })

  it('cuts off what a kill has left half written, and says nothing', async () => {
    await gateway.run(12, row)
    await gateway.history.close()
    const minutes = join(gateway.folder, '2026-03-01T00.minutes')
    await truncate(minutes, (await stat(minutes)).size - 5)
    gateway.history = gateway.open()
    await gateway.run(12, row)
    await gateway.restart()
    const [six, none] = [new Array(6).fill(1), new Array(6).fill(null)]
    expect(await gateway.last('sink/c0ffee/rows', 24)).to.deep.equal([...six, ...none, ...six, ...six])
    expect(gateway.said).to.deep.equal([])
  })

  it('pauses while it cannot write, says so once, and then writes what it still knows', async () => {
    await writeFile(gateway.folder, 'a file where the folder should be')
    await gateway.run(60, row)
    expect(gateway.said.length).to.equal(1)
    expect(gateway.said[0]).to.contain('SLUICE_HISTORY_PAUSED')
    expect(gateway.stats.readGauges().history).to.deep.equal({ problem: gateway.said[0] })
    await rm(gateway.folder)
    await gateway.run(6, row)
    expect(gateway.said[1]).to.contain('again')
    expect(gateway.stats.readGauges().history).to.deep.equal({ problem: null })
    await gateway.restart()
    expect(await gateway.last('sink/c0ffee/rows', 66)).to.deep.equal(new Array(66).fill(1))
  })

  it('begins anew when somebody removes its files', async () => {
    await gateway.run(12, row)
    await rm(gateway.folder, { recursive: true })
    await gateway.run(12, row)
    await gateway.restart()
    expect(await gateway.last('sink/c0ffee/rows', 24)).to.deep.equal([...new Array(12).fill(null), ...new Array(12).fill(1)])
    expect(gateway.said).to.deep.equal([])
  })

  it('is off where there is no folder of the user', async () => {
    await gateway.history.close()
    gateway = new MadeUpGateway(folder, { path: () => { throw new TypeError('no user folder') } })
    await gateway.run(12)
    expect(gateway.said.length).to.equal(1)
    await mkdir(gateway.folder)
    expect(await files()).to.deep.equal([])
  })

  it('does again what a kill has interrupted between two files, and counts nothing twice', async () => {
    const letter = () => { sink.deadLetters += 1 }
    await gateway.run(26 * 360, letter)
    /** @type {Map<string, Buffer>} */
    const kept = new Map()
    for (const name of await files()) kept.set(name, await readFile(join(gateway.folder, name)))
    await gateway.run(360, letter)
    const window = /** @type {const} */ ([START_MS, gateway.nowMs])
    const all = new Array(27 * 12).fill(30)
    expect(await gateway.values('sink/c0ffee/deadLetters', ...window)).to.deep.equal(all)
    for (const [name, bytes] of kept) if (!name.endsWith('.day')) await writeFile(join(gateway.folder, name), bytes)
    await gateway.restart()
    expect(await gateway.values('sink/c0ffee/deadLetters', ...window)).to.deep.equal(all)
    await gateway.run(360, letter)
    expect(await gateway.values('sink/c0ffee/deadLetters', ...window)).to.deep.equal(all)
  })

  it('writes less than 20 MB a day of 20 sources and two sinks', async () => {
    const meters = plant(gateway.stats, 20, 2)
    await gateway.run(26 * 360, step => busy(meters, step))
    const { writtenBytes } = await gateway.history.usage()
    // Each write dirties whole pages of the file system.
    const writes = 26 * 60 + 3 * 26
    expect(writtenBytes + writes * 4096).to.be.below(20e6 * 26 / 24)
  })

  it('never takes more than its limit: the oldest goes first', async () => {
    await gateway.history.close()
    const maxBytes = 100_000
    gateway = new MadeUpGateway(folder, { maxBytes })
    const meters = plant(gateway.stats, 4, 1)
    const total = async () => {
      const found = await Promise.all((await files()).map(name => stat(join(gateway.folder, name))))
      return sumOf(found.map(({ size }) => size))
    }
    for (let i = 0; i < 120; i++) {
      await gateway.run(90, step => busy(meters, i * 90 + step))
      expect(await total()).to.be.within(1, maxBytes)
    }
    expect((await gateway.history.usage()).bytes).to.equal(await total()).and.above(maxBytes * 0.8)
    expect(await gateway.last('source/machine 0/rows', 100)).to.not.include(null)
    expect((await files())[0] > '2026-03-01').to.equal(true)
    expect(await gateway.values('source/machine 0/rows', START_MS, START_MS + HOUR_MS, 12)).to.deep.equal(new Array(12).fill(null))
  })
})

/** @param {(number|null)[]} values  none of them a gap */
function sumOf (values) { return values.reduce((/** @type {number} */ sum, value) => sum + (value ?? NaN), 0) }

/** As answers have it. @param {number|null} value */
function rounded (value) { return value === null ? null : Number(value.toPrecision(4)) }

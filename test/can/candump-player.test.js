import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { openCandumpPlayer, schema } from '../../gateway/can/candump/player.js'
import { recorder } from '../sources/manual-clock.js'

const DBC = `BO_ 99 Alive: 0 X
BO_ 100 Motor: 8 X
 SG_ speed : 0|16@1+ (0.5,0) [0|0] "rpm" X
 SG_ load : 16|8@1+ (1,0) [0|0] "%" X
BO_ 101 Clock: 8 X
 SG_ ticks : 0|64@1- (1,0) [0|0] "" X
BO_ ${0x80000000 + 0x18FF00FE} Group: 8 X
 SG_ level : 0|8@1+ (1,0) [0|0] "" X
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_ "VFrameFormat" BO_ ${0x80000000 + 0x18FF00FE} 3;`

const MS = 1_000_000n

describe('candump player', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-player-'))
  const dbcFile = path.join(folder, 'bus.dbc')
  const logFile = path.join(folder, 'bus.log')
  writeFileSync(dbcFile, DBC)
  after(() => rmSync(folder, { recursive: true }))

  /**
   * Plays a log to its end.
   * @param {string[]} lines @param {object} [options] @param {ReturnType<typeof recorder>} [recording]
   */
  async function play (lines, options, recording = recorder()) {
    writeFileSync(logFile, lines.map(line => `${line}\n`).join(''))
    const source = openCandumpPlayer({ name: 'bus', logFile, dbcFile, speed: 0, times: 'log', ...options }, recording)
    const error = await recording.ended
    return { ...recording, counters: source.counters, error }
  }

  it('makes a batch per message and bus, a column per signal, with the times of the log', async () => {
    const { batches, counters, error } = await play([
      '(1700000000.000001) can0 064#640032',
      '(1700000000.000002) can1 064#C80033',
      '(1700000000.000003) can0 064#0A00',
      '(1700000000.000004) can0 065#FFFFFFFFFFFFFF7F',
      '(1700000000.000005) can0 0CFF0021#05',
      '(1700000000.000006) can0 18FF0022#FF'
    ])
    expect(error).to.equal(undefined)
    expect(batches.map(({ source, tags, fields }) => [
      source,
      tags.bus,
      ...fields.map(({ name, type, unit }) => `${name} ${type} ${unit ?? ''}`.trim())
    ])).to.deep.equal([
      ['bus.Motor', 'can0', 'speed float64 rpm', 'load float64 %'],
      ['bus.Clock', 'can0', 'ticks int64'],
      ['bus.Group', 'can0', 'address uint16', 'level float64'],
      ['bus.Motor', 'can1', 'speed float64 rpm', 'load float64 %']
    ])
    expect(batches.map(batch => batch.toObjects())).to.deep.equal([
      [{ time: 1700000000000001000n, speed: 50, load: 50 }, { time: 1700000000000003000n, speed: 5 }],
      [{ time: 1700000000000004000n, ticks: 2n ** 63n - 1n }],
      [{ time: 1700000000000005000n, address: 0x21, level: 5 }, { time: 1700000000000006000n, address: 0x22 }],
      [{ time: 1700000000000002000n, speed: 100, load: 51 }]
    ])
    expect(counters).to.deep.equal({ frames: 6, rows: 6, unknownIds: 0, undecodable: 0, otherFrames: 0, badLines: 0, rounds: 1 })
  })

  it('reassembles messages of several frames', async () => {
    const faults = 0x80000000 + 0x18FECAFE
    writeFileSync(dbcFile, `${DBC}\nBO_ ${faults} Faults: 12 X\n SG_ last : 88|8@1+ (1,0) [0|0] "" X\nBA_ "VFrameFormat" BO_ ${faults} 3;`)
    const { batches, counters, error } = await play([
      '(1700000000.1) can0 18ECFFFE#200C0002FFCAFE00',
      '(1700000000.2) can0 18EBFFFE#0100010203040506',
      '(1700000000.3) can0 18EBFFFE#02070809002AFFFF'
    ])
    writeFileSync(dbcFile, DBC)
    expect(error).to.equal(undefined)
    expect(batches.flatMap(batch => batch.toObjects())).to.deep.equal([{ time: 1700000000300000000n, address: 0xFE, last: 42 }])
    expect(counters).to.include({ frames: 3, rows: 1, unknownIds: 0 })
  })

  it('counts what it cannot use, and warns once of each kind', async () => {
    const { counters, warnings, batches } = await play([
      '# a comment', '', '(1700000000.0) can0 064#01', '(1700000000.0) can0 064#0100', 'garbage', 'more garbage',
      '(1700000000.0) can0 7FF#0100',
      '(1700000000.0) can0 064#R', '(1700000000.0) can0 063#', '(1700000000.0) can0 20000004#0000000000000000', '(1700000000.0) can0 064#'
    ])
    expect(counters).to.deep.equal({ frames: 7, rows: 1, unknownIds: 1, undecodable: 2, otherFrames: 3, badLines: 2, rounds: 1 })
    expect(batches).to.have.length(1)
    expect(warnings.map(text => text.replace(folder, ''))).to.deep.equal([
      'Motor of 1 data bytes is too short for any of its signals. Such frames are counted and left out.',
      '/bus.log, line 5: not a line of candump. Bad lines are counted and left out.'
    ])
  })

  /** A frame of `Motor` each 10 ms, their loads counting up. @param {number} count */
  const steady = count => Array.from({ length: count }, (_, i) => {
    const seconds = `${1700000000 + Math.floor(i / 100)}.${String(i % 100 * 10).padStart(3, '0')}`
    return `(${seconds}) can0 064#0000${(i % 256).toString(16).padStart(2, '0')}`
  })

  for (const speed of [1, 10, 0.5]) {
    it(`plays at ${speed}×, each tick's frames together, never before they are due`, async () => {
      const recording = recorder()
      const start = recording.clock.ns
      const arrivals = /** @type {bigint[]} */ ([])
      const record = recording.emit
      recording.emit = batch => {
        arrivals.push(recording.clock.ns)
        record(batch)
      }
      await play(steady(200), { speed, times: 'now' }, recording)
      const rows = recording.rows()
      expect(rows.map(({ load }) => load)).to.deep.equal(Array.from({ length: 200 }, (_, i) => i))
      expect(rows.map(({ time }) => time)).to.deep.equal(Array.from({ length: 200 }, (_, i) => start + BigInt(i * 10 / speed) * MS))
      recording.batches.forEach(({ time }, b) => {
        expect(time[time.length - 1] <= arrivals[b]).to.equal(true)
        expect(arrivals[b] - time[0] <= 50n * MS).to.equal(true)
      })
    })
  }

  it('sends at most 1000 rows in a batch', async () => {
    const { batches } = await play(steady(2500))
    expect(batches.map(({ rows }) => rows)).to.deep.equal([1000, 1000, 500])
  })

  it('reports that the times of the log jump, when the next frame is far away', async () => {
    writeFileSync(logFile, '(0000000020.000000) can0 064#000001\n(1700000000.000000) can0 064#000002\n')
    const recording = recorder()
    const source = openCandumpPlayer({ logFile, dbcFile, speed: 1, times: 'now' }, recording)
    while (recording.batches.length === 0) await new Promise(resolve => setImmediate(resolve))
    expect(source.trouble?.()).to.match(/^the times jump: the next row plays in 1967[45] days$/)
    await source.close()
  })

  it('keeps no rows for more buses than a log can really have', async () => {
    const { batches, counters } = await play(Array.from({ length: 250 }, (_, i) => {
      return `(1700000000.${String(i).padStart(6, '0')}) bus${i} 064#0000${(i % 256).toString(16).padStart(2, '0')}`
    }))
    expect(counters.rows).to.equal(250)
    expect(new Set(batches.map(({ tags }) => tags.bus)).size).to.equal(250)
  })

  it('continues in every round when shifted to now', async () => {
    const recording = recorder()
    writeFileSync(logFile, `${steady(100).join('\n')}\n`)
    const source = openCandumpPlayer({ name: 'bus', logFile, dbcFile, speed: 1, times: 'now', loop: true }, recording)
    while (source.counters.rounds < 3) await new Promise(resolve => setImmediate(resolve))
    await source.close()
    const rows = recording.rows()
    expect(rows.length).to.be.at.least(300)
    rows.forEach(({ time, load }, i) => {
      expect(load).to.equal(i % 100)
      expect(time).to.equal(/** @type {bigint} */ (rows[0].time) + BigInt(i) * 10n * MS)
    })
  })

  it('repeats the times of the log in every round when they are kept', async () => {
    const recording = recorder()
    writeFileSync(logFile, `${steady(100).join('\n')}\n`)
    const source = openCandumpPlayer({ logFile, dbcFile, speed: 0, times: 'log', loop: true }, recording)
    while (source.counters.rounds < 2) await new Promise(resolve => setImmediate(resolve))
    await source.close()
    const times = recording.rows().map(({ time }) => time)
    expect(times.slice(100, 200)).to.deep.equal(times.slice(0, 100))
  })

  for (const speed of [0, 1]) {
    it(`stands still while it is paused and loses nothing, at speed ${speed}`, async () => {
      const recording = recorder()
      let asked = 0
      recording.isPaused = () => asked++ % 10 !== 9
      const { counters } = await play(steady(3000), { speed, times: 'now' }, recording)
      const rows = recording.rows()
      expect(counters.rows).to.equal(3000)
      expect(rows.map(({ load }) => load)).to.deep.equal(Array.from({ length: 3000 }, (_, i) => i % 256))
      expect(rows.every(({ time }, i) => i === 0 || /** @type {any} */ (time) > /** @type {any} */ (rows[i - 1].time))).to.equal(true)
    })
  }

  it('stops where it is when closed', async () => {
    const recording = recorder()
    recording.isPaused = () => true
    writeFileSync(logFile, `${steady(5000).join('\n')}\n`)
    const source = openCandumpPlayer({ logFile, dbcFile, speed: 0 }, recording)
    await source.close()
    expect(recording.batches).to.deep.equal([])
  })

  describe('of the screen format', () => {
    /** @param {string[]} stamps */
    const timesOf = async stamps => {
      const recording = recorder()
      await play(stamps.map(stamp => `${stamp}  can0  064   [3]  01 02 03`), { times: 'now' }, recording)
      return recording.rows().map(({ time }) => Number(/** @type {bigint} */ (time) - 1_700_000_000_000_000_000n) / 1e6)
    }

    it('adds up seconds since the last frame', async () => {
      expect(await timesOf([' (000.000000)', ' (000.020000)', ' (000.010000)', ' (000.010000)'])).to.deep.equal([0, 20, 30, 40])
    })

    it('recognises seconds since the start, as they never decrease', async () => {
      expect(await timesOf([' (000.000000)', ' (000.020000)', ' (000.030000)'])).to.deep.equal([0, 20, 30])
    })

    it('gives frames without a time a millisecond each', async () => {
      expect(await timesOf(['', '', ''])).to.deep.equal([0, 1, 2])
    })

    it('refuses to keep times the log does not have', async () => {
      const { error } = await play(['  can0  064   [1]  01'])
      expect(error).to.have.property('code', 'SLUICE_REPLAY_TIMES')
      expect(error).to.have.property('message').that.includes('Choose times shifted to now')
    })
  })

  it('ends with an error where the log holds no frame, even when looping', async () => {
    const { error } = await play(['nothing'], { loop: true })
    expect(error).to.have.property('code', 'SLUICE_REPLAY_EMPTY')
  })

  it('refuses files that cannot be read', () => {
    const open = (/** @type {object} */ options) => () => openCandumpPlayer({ logFile, dbcFile, ...options }, recorder())
    expect(open({ logFile: path.join(folder, 'none.log') })).to.throw('none.log cannot be read').with.property('code', 'SLUICE_REPLAY_FILE')
    expect(open({ logFile: folder })).to.throw('it is a folder').with.property('code', 'SLUICE_REPLAY_FILE')
    expect(open({ dbcFile: path.join(folder, 'none.dbc') })).to.throw('none.dbc cannot be read').with.property('code', 'SLUICE_DBC_FILE')
  })

  it('describes every option', () => {
    for (const [name, property] of Object.entries(schema.properties)) {
      expect(property, name).to.include.all.keys('title', 'description', 'default')
    }
  })
})

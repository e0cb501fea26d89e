import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { openCsvPlayer, schema } from '../../gateway/sources/csv/player.js'
import { csvRig } from './csv-rig.js'
import { recorder } from './manual-clock.js'

const NOW = 1_700_000_000_000_000_000n
const SECOND = 1_000_000_000n

describe('CSV player', () => {
  const { folder, file, play } = csvRig()

  /** The fields of the first batch. @param {import('../../gateway/batch/batch.js').Batch[]} batches */
  const fieldsOf = ([{ fields }]) => fields.map(({ name, type, unit }) => `${name} ${type} ${unit ?? ''}`.trim())

  describe('reads', () => {
    it('a file as it is: the time by its name, the types by what is there', async () => {
      const { batches, rows, counters, error } = await play([
        'serial,time,pressure,count,open,note',
        '007,2024-05-01T12:00:00.123456789Z,1.5,9223372036854775807,true,"good, so far"',
        '008,2024-05-01T14:00:01+02:00,-2e3,-1,false,'
      ].join('\n'))
      expect(error).to.equal(undefined)
      expect(fieldsOf(batches)).to.deep.equal(['serial string', 'pressure float64', 'count int64', 'open bool', 'note string'])
      expect(rows).to.deep.equal([
        { time: 1_714_564_800_123_456_789n, serial: '007', pressure: 1.5, count: 2n ** 63n - 1n, open: true, note: 'good, so far' },
        { time: 1_714_564_801_000_000_000n, serial: '008', pressure: -2000, count: -1n, open: false }
      ])
      expect(counters).to.deep.equal({ rows: 2, badLines: 0, undecodable: 0, rounds: 1 })
    })

    it('only the columns it is told to, under the names, types and units it is told', async () => {
      const { batches, rows } = await play('when,a,b,c\n2024-05-01T12:00:00Z,1,2,3\n', {
        columns: [
          { column: 'when', role: 'time' },
          { column: '3', field: 'level', type: 'float64', unit: 'm' },
          { column: 'A', type: 'string' }
        ]
      })
      expect(fieldsOf(batches)).to.deep.equal(['level float64 m', 'a string'])
      expect(rows).to.deep.equal([{ time: 1_714_564_800_000_000_000n, level: 2, a: '1' }])
    })

    it('what a spreadsheet writes where a comma is the decimal sign', async () => {
      const text = Buffer.from('Zeit;Temperatur °C;Ventil\r\n2024-05-01 12:00:00,5;-3,25;offen\r\n', 'latin1')
      const { rows } = await play(text, {
        encoding: 'latin1',
        decimal: ',',
        timeZone: 'Europe/Berlin',
        columns: [{ column: 'zeit', role: 'time' }, { column: 'Temperatur °C', field: 't' }, { column: 'Ventil' }]
      })
      expect(rows).to.deep.equal([{ time: 1_714_557_600_500_000_000n, t: -3.25, Ventil: 'offen' }])
    })

    it('tabs, a byte order mark, empty lines, and no line of names', async () => {
      const { rows } = await play('\uFEFF1714564800\t5\n\n1714564801\t6\n', {
        header: false,
        columns: [{ column: '1', role: 'time' }, { column: 'column2' }]
      })
      expect(rows).to.deep.equal([{ time: 1_714_564_800n * SECOND, column2: 5n }, { time: 1_714_564_801n * SECOND, column2: 6n }])
    })

    it('quoted cells with line breaks and quotes in them', async () => {
      const { rows, counters } = await play('ts,text\n1714564800,"a ""b""\r\nc"\n1714564801,5" pipe\n')
      expect(rows.map(({ text }) => text)).to.deep.equal(['a "b"\nc', '5" pipe'])
      expect(counters.badLines).to.equal(0)
    })

    it('whole numbers that no number type holds as texts, digit for digit', async () => {
      const { batches, rows } = await play('ts,id\n1714564800,18446744073709551615\n1714564801,1\n')
      expect(fieldsOf(batches)).to.deep.equal(['id string'])
      expect(rows.map(({ id }) => id)).to.deep.equal(['18446744073709551615', '1'])
    })

    it('columns of one name, and some called like the time, under names of their own', async () => {
      const { batches } = await play('ts,x,x,time,quality,\n1714564800,1,2,3,4,5\n', {
        columns: [{ column: 'ts', role: 'time' }, ...['2', '3', '4', '5', '6'].map(column => ({ column }))]
      })
      expect(fieldsOf(batches).map(field => field.split(' ')[0])).to.deep.equal(['x', 'x_2', 'time_2', 'quality_2', 'column6'])
    })

    it('thousands of columns of one name at once, and not more of them than a batch may have', async () => {
      const header = (/** @type {number} */ count) => ['time', ...new Array(count).fill('a')].join()
      const { rows: [row] } = await play(`${header(4000)}\n2015-07-10T06:17:32Z${',1'.repeat(4000)}\n`)
      expect(Object.keys(row)).to.include.members(['a', 'a_2', 'a_4000'])
      const { error } = await play(`${header(5000)}\n2015-07-10T06:17:32Z${',1'.repeat(5000)}\n`)
      expect(error).to.have.property('code', 'SLUICE_CSV_COLUMNS')
    })

    it('a cell of endless digits in linear time', async () => {
      const { rows } = await play(`time,a\n2015-07-10T06:17:32Z,${'1'.repeat(200_000)}x\n`)
      expect(rows[0].a).to.have.length(200_001)
    })

    it('tags of one name, or called like a field, under names of their own', async () => {
      const { batches } = await play('ts,x,a,b\n1714564800,1,A,B\n', {
        columns: [
          { column: 'ts', role: 'time' }, { column: 'x' }, { column: 'a', role: 'tag', field: 't' },
          { column: 'b', role: 'tag', field: 't' }, { column: 'a', role: 'tag', field: 'x' }
        ]
      })
      expect(batches[0].tags).to.deep.equal({ t: 'A', t_2: 'B', x_2: 'A' })
    })

    it('a batch for each source and set of tags', async () => {
      const lines = ['1714564800,A,press,1', '1714564801,B,press,2', '1714564802,A,saw,3', '1714564803,A,press,4', '1714564804,A,,5', '']
      const { batches } = await play(['ts,line,machine,x', ...lines].join('\n'), {
        columns: [
          { column: 'ts', role: 'time' },
          { column: 'line', role: 'tag', field: 'hall' },
          { column: 'machine', role: 'source' },
          { column: 'x' }
        ]
      })
      expect(batches.map(({ source, tags, columns: [x] }) => [source, tags, Array.from(/** @type {BigInt64Array} */ (x))])).to.deep.equal([
        ['log.press', { hall: 'A' }, [1n, 4n]],
        ['log.press', { hall: 'B' }, [2n]],
        ['log.saw', { hall: 'A' }, [3n]],
        ['log', { hall: 'A' }, [5n]]
      ])
    })

    it('more sources than it keeps batches for', async () => {
      const { batches, counters } = await play(`ts,id,x\n${Array.from({ length: 2500 }, (_, i) => `1714564800,${i},${i}\n`).join('')}`, {
        columns: [{ column: 'ts', role: 'time' }, { column: 'id', role: 'tag' }, { column: 'x' }]
      })
      expect(batches).to.have.length(2500)
      expect(counters.rows).to.equal(2500)
    })

    it('at most 1000 rows into a batch, across blocks of the file', async () => {
      const { batches, rows } = await play(`ts,x\n${Array.from({ length: 12_500 }, (_, i) => `${1714564800 + i},${i}\n`).join('')}`)
      expect(Math.max(...batches.map(batch => batch.rows))).to.equal(1000)
      expect(rows.map(({ x }) => x)).to.deep.equal(Array.from({ length: 12_500 }, (_, i) => BigInt(i)))
    })
  })

  describe('of bad input', () => {
    it('leaves out lines that cannot be read, counts them, and warns once of each kind, with the line', async () => {
      const { rows, counters, warnings } = await play([
        'time,x', '1714564800,1', '1714564801', '1714564802,2,3', 'noon,4', '1714564803,"5', '1714564804,6', '"17145648"05,7',
        '1714564806,8', 'midnight,9'
      ].join('\n'))
      expect(rows.map(({ x }) => x)).to.deep.equal([1n, 6n, 8n])
      expect(counters).to.deep.equal({ rows: 3, badLines: 6, undecodable: 0, rounds: 1 })
      expect(warnings.map(text => text.replace(folder, ''))).to.deep.equal([
        '/log.csv, line 3: it has 1 cells where the first line has 2. Such lines are counted and left out: 1714564801',
        '/log.csv, line 5: "noon" is not a time. Such lines are counted and left out: noon 4',
        '/log.csv, line 6: a quote is not closed. Such lines are counted and left out: 1714564803,"5'
      ])
    })

    it('makes a value that does not fit its column a missing one, counts it, and marks the row', async () => {
      const lines = Array.from({ length: 1000 }, (_, i) => `${1714564800 + i},${i},${i}.5`)
      const columns = [{ column: 'time', role: 'time' }, { column: 'count', type: 'int64' }, { column: 'level' }]
      const { rows, counters, warnings } = await play([
        'time,count,level', ...lines, '1714565900,1.5,broken', '1714565901,n/a,', '1714565902,7,1e999'
      ].join('\n'), { columns })
      expect(rows.slice(-3)).to.deep.equal([
        { time: 1_714_565_900n * SECOND, quality: 'count: not a whole number of 64 bits; level: not a number' },
        { time: 1_714_565_901n * SECOND },
        { time: 1_714_565_902n * SECOND, count: 7n, quality: 'level: not a number' }
      ])
      expect(counters).to.deep.equal({ rows: 1003, badLines: 0, undecodable: 3, rounds: 1 })
      expect(warnings.map(text => text.replace(folder, ''))).to.deep.equal([
        '/log.csv, line 1002: "1.5" in the column count is not a whole number of 64 bits. Such cells are missing values, and counted.',
        '/log.csv, line 1002: "broken" in the column level is not a number. Such cells are missing values, and counted.'
      ])
    })

    it('reports that the file has another encoding', async () => {
      const { warnings } = await play(Buffer.from('time,Größe\n2024-05-01,1\n', 'latin1'))
      expect(warnings.map(text => text.replace(folder, ''))).to.deep.equal([
        '/log.csv has characters that are not utf-8: choose another encoding.'
      ])
    })

    it('ends when the file has other columns in a later round', async () => {
      const recording = recorder()
      writeFileSync(file, 'time,a,b\n1714564800,1,2\n')
      const { emit } = recording
      recording.emit = batch => {
        emit(batch)
        writeFileSync(file, 'time,b,a\n1714564800,2,1\n')
      }
      openCsvPlayer({ name: 'log', file, speed: 0, loop: true }, recording)
      expect(await recording.ended).to.have.property('message').that.includes('has other columns than when it was opened')
      expect(recording.rows()).to.deep.equal([{ time: NOW, a: 1n, b: 2n }])
    })

    it('ends with an error where there is nothing to play, even when looping', async () => {
      for (const text of ['', 'time,x\n', 'time,x\nnever,1\n', '\n\n']) {
        expect((await play(text, { loop: true })).error).to.have.property('code', 'SLUICE_CSV_EMPTY')
      }
    })

    it('names the columns where one is missing', async () => {
      const missing = await play('a,b\n1,2\n', { columns: [{ column: 'c', role: 'time' }] })
      expect(missing.error).to.have.property('message', 'There is no column "c". There are 2: a, b.')
      expect((await play('a,b\n1,2\n')).error).to.have.property('message').that.includes('No column is the time')
      expect((await play('ts\n1714564800\n')).error).to.have.property('message').that.includes('No column is a field')
      const sources = await play('ts,a,b\n1714564800,1,2\n', {
        columns: [{ column: 'ts', role: 'time' }, { column: 'a', role: 'source' }, { column: 'b', role: 'source' }, { column: 'a' }]
      })
      expect(sources.error).to.have.property('message').that.includes('2 columns are the source')
    })

    it('refuses what is not a file or a zone', () => {
      const open = (/** @type {object} */ options) => () => openCsvPlayer({ file, ...options }, recorder())
      expect(open({ file: path.join(folder, 'none.csv') })).to.throw('none.csv cannot be read').with.property('code', 'SLUICE_CSV_FILE')
      expect(open({ file: folder })).to.throw('it is a folder').with.property('code', 'SLUICE_CSV_FILE')
      expect(open({ timeZone: 'Mars/Olympus' })).to.throw('"Mars/Olympus" is not a time zone').with.property('code', 'SLUICE_OPTIONS')
    })

    it('never fails because of what is in a file', async () => {
      const cell = fc.oneof(fc.constantFrom(
        '1', '-2.5', '"', '""', '"a', 'b"', '1714564800', '2024-05-01T12:00:00Z', '', ' ', 'true', '\r', '\0', 'é', '9'.repeat(30)
      ), fc.string({ maxLength: 6 }))
      const line = fc.array(cell, { maxLength: 5 }).map(cells => cells.join(','))
      const text = fc.array(line, { maxLength: 12 }).map(lines => ['time,x,y', ...lines].join('\n'))
      await fc.assert(fc.asyncProperty(text, async content => {
        const { error, counters, rows } = await play(content)
        if (error) expect(error).to.have.property('code').that.matches(/^SLUICE_CSV_/)
        expect(rows).to.have.length(counters.rows)
      }), { seed: 4, numRuns: 1000 })
    })
  })

  describe('plays', () => {
    /** A row each 10 ms. @param {number} count */
    const steady = count => [
      'time,x',
      ...Array.from({ length: count }, (_, i) => `${1714564800 + Math.floor(i / 100)}.${String(i % 100 * 10).padStart(3, '0')},${i}`),
      ''
    ].join('\n')

    for (const speed of [1, 10, 0.5]) {
      it(`at ${speed}×, each tick's rows together, never before they are due`, async () => {
        const recording = recorder()
        const arrivals = /** @type {bigint[]} */ ([])
        const record = recording.emit
        recording.emit = batch => {
          arrivals.push(recording.clock.ns)
          record(batch)
        }
        const { rows } = await play(steady(200), { speed, times: 'now' }, recording)
        expect(rows.map(({ time }) => time)).to.deep.equal(Array.from({ length: 200 }, (_, i) => NOW + BigInt(i * 10 / speed) * 1_000_000n))
        recording.batches.forEach(({ time }, b) => {
          expect(time[time.length - 1] <= arrivals[b]).to.equal(true)
          expect(arrivals[b] - time[0] <= 50_000_000n).to.equal(true)
        })
      })
    }

    it('again and again, and marks recorded times', async () => {
      for (const [times, isRecorded] of /** @type {const} */ ([['now', false], ['recorded', true]])) {
        const recording = recorder()
        /** @type {unknown[]} */
        const ways = []
        const record = recording.emit
        recording.emit = (batch, /** @type {any} */ way = {}) => {
          ways.push(way.recorded)
          record(batch)
        }
        writeFileSync(file, steady(100))
        const source = openCsvPlayer({ file, speed: 1, times, loop: true }, recording)
        while (source.counters.rounds < 3) await new Promise(resolve => setImmediate(resolve))
        await source.close()
        const rows = recording.rows()
        rows.forEach(({ time, x }, i) => {
          expect(x).to.equal(BigInt(i % 100))
          expect(time).to.equal((isRecorded ? 1_714_564_800n * SECOND : NOW) + BigInt(isRecorded ? i % 100 : i) * 10_000_000n)
        })
        expect(new Set(ways)).to.deep.equal(new Set([isRecorded]))
      }
    })

    for (const speed of [0, 1]) {
      it(`and stands still while it is paused, losing nothing, at speed ${speed}`, async () => {
        const recording = recorder()
        let asked = 0
        recording.isPaused = () => asked++ % 10 !== 9
        const { rows } = await play(steady(3000), { speed, times: 'now' }, recording)
        expect(rows.map(({ x }) => x)).to.deep.equal(Array.from({ length: 3000 }, (_, i) => BigInt(i)))
        expect(rows.every(({ time }, i) => i === 0 || time > rows[i - 1].time)).to.equal(true)
      })
    }

    it('no further when it is closed', async () => {
      const recording = recorder()
      recording.isPaused = () => true
      writeFileSync(file, steady(5000))
      const source = openCsvPlayer({ file, speed: 0 }, recording)
      await source.close()
      expect(recording.batches).to.deep.equal([])
    })
  })

  it('plays the file of the example without a complaint', async () => {
    const [, , options] = JSON.parse(readFileSync('examples/2 Sources/csv-player.json', 'utf8'))
    const recording = recorder()
    openCsvPlayer({ ...options, speed: 0, loop: false, times: 'recorded' }, recording)
    expect(await recording.ended).to.equal(undefined)
    expect(recording.warnings).to.deep.equal([])
    expect(recording.batches.map(({ source, tags, rows }) => [source, tags.furnace, rows])).to.deep.equal([
      ['furnace', 'Ofen 1', 240],
      ['furnace', 'Ofen 2', 240]
    ])
    expect(recording.rows()[0]).to.deep.include({ time: 1_715_572_800n * SECOND, door_open: true, charge: '02400000' })
    expect(recording.rows().filter(({ bottom }) => bottom === undefined)).to.have.length(6)
  })

  it('describes every option', () => {
    for (const [name, property] of Object.entries(schema.properties)) {
      expect(property, name).to.include.all.keys('title', 'description', 'default')
    }
  })
})

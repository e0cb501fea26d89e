import { expect } from 'chai'
import { csvRig } from './csv-rig.js'

const NOW = 1_700_000_000_000_000_000n
const SECOND = 1_000_000_000n

describe('the times of a CSV file', () => {
  const { play } = csvRig()

  /** @param {string} text @param {object} [options] @returns {Promise<bigint>} */
  const timeOf = async (text, options) => {
    const { rows } = await play(`time;x\n${text};1\n`, { delimiter: 'semicolon', ...options })
    return rows[0]?.time
  }

  for (const [what, text, ns] of /** @type {const} */ ([
    ['seconds', '1714564800.123456789', 1_714_564_800_123_456_789n],
    ['milliseconds', '1714564800123.456789', 1_714_564_800_123_456_789n],
    ['microseconds', '1714564800123456.789', 1_714_564_800_123_456_789n],
    ['nanoseconds', '1714564800123456789', 1_714_564_800_123_456_789n],
    ['a day', '2024-05-01', 1_714_521_600_000_000_000n],
    ['a date without seconds', '2024-05-01 12:00', 1_714_564_800_000_000_000n],
    ['a date with a zone', '2024-05-01T12:00:00.000000001-0130', 1_714_570_200_000_000_001n]
  ])) {
    it(`knows ${what} from their text, exactly`, async () => expect(await timeOf(text)).to.equal(ns))
  }

  for (const [what, text, utc] of [
    ['winter', '2024-01-15 12:00:00', '2024-01-15T11:00:00Z'],
    ['summer', '2024-07-15 12:00:00', '2024-07-15T10:00:00Z'],
    ['the last moment of winter', '2024-03-31 01:59:59', '2024-03-31T00:59:59Z'],
    ['the first moment of summer', '2024-03-31 03:00:00', '2024-03-31T01:00:00Z'],
    ['an hour that is left out', '2024-03-31 02:30:00', '2024-03-31T01:30:00Z'],
    ['an hour that comes twice', '2024-10-27 02:30:00', '2024-10-27T00:30:00Z'],
    ['the hour after it', '2024-10-27 03:00:00', '2024-10-27T02:00:00Z']
  ]) {
    it(`reads the clocks of a zone in ${what}`, async () => {
      expect(await timeOf(text, { timeZone: 'Europe/Berlin' })).to.equal(BigInt(Date.parse(utc)) * 1_000_000n)
    })
  }

  for (const [text, utc, options] of /** @type {[string, string, object?][]} */ ([
    ['01.02.2024', '2024-02-01T00:00:00Z'],
    ['1.2.2024 9:05', '2024-02-01T09:05:00Z'],
    ['01.02.2024 13:45:10', '2024-02-01T13:45:10Z'],
    ['01.02.2024, 13:45:10,250', '2024-02-01T13:45:10.250Z'],
    ['01.07.2024 13:45:10', '2024-07-01T11:45:10Z', { timeZone: 'Europe/Berlin' }],
    ['31/12/2024 13:45', '2024-12-31T13:45:00Z'],
    ['12/31/2024', '2024-12-31T00:00:00Z'],
    ['31-12-2024', '2024-12-31T00:00:00Z'],
    ['01/02/2024', '2024-02-01T00:00:00Z', { timeFormat: 'day-first' }],
    ['01/02/2024', '2024-01-02T00:00:00Z', { timeFormat: 'month-first' }],
    ['01.02.2024', '2024-01-02T00:00:00Z', { timeFormat: 'month-first' }]
  ])) {
    it(`reads the date ${text} of ${utc}${options ? ` with ${Object.values(options)[0]}` : ''}`, async () => {
      expect(await timeOf(text, options)).to.equal(BigInt(Date.parse(utc)) * 1_000_000n)
    })
  }

  it('finds out from other rows whether the day or the month comes first', async () => {
    const { rows, counters } = await play('time,x\n03/04/2024,1\n03/14/2024,2\n')
    const days = ['2024-03-04', '2024-03-14'].map(day => BigInt(Date.parse(day)) * 1_000_000n)
    expect(rows.map(({ time }) => time)).to.deep.equal(days)
    expect(counters.badLines).to.equal(0)
  })

  it('does not guess whether the day or the month comes first', async () => {
    for (const text of ['time,x\n03/04/2024,1\n', 'time,x\n14/03/2024,1\n03/14/2024,2\n']) {
      const { error, rows } = await play(text)
      expect(error).to.have.property('code', 'SLUICE_CSV_TIMES')
      expect(error).to.have.property('message').that.includes('the day or the month')
      expect(rows).to.deep.equal([])
    }
  })

  it('reads ISO dates although one of another kind is among them', async () => {
    const { rows, counters } = await play('time,x\n2024-03-04,1\n03/04/2024,2\n')
    expect(rows.map(({ x }) => x)).to.deep.equal([1n])
    expect(counters.badLines).to.equal(1)
  })

  it('leaves out days that do not exist', async () => {
    const { rows, counters } = await play('time,x\n31.02.2024,1\n01.13.2024,2\n28.02.2024,3\n')
    expect(rows.map(({ x }) => x)).to.deep.equal([3n])
    expect(counters.badLines).to.equal(2)
  })

  it('joins a date and a time of day', async () => {
    const { rows } = await play('Date,Time,x\n2024-05-01,12:00:00.5,1\n', {
      columns: [{ column: 'Date', role: 'time' }, { column: 'Time', role: 'time' }, { column: 'x' }]
    })
    expect(rows[0].time).to.equal(1_714_564_800_500_000_000n)
  })

  it('does not read a date without time of day as midnight', async () => {
    const { rows, counters, warnings } = await play('Date,Time,x\n2024-05-01,,1\n2024-05-01,12:00,2\n', {
      columns: [{ column: 'Date', role: 'time' }, { column: 'Time', role: 'time' }, { column: 'x' }]
    })
    expect(rows).to.deep.equal([{ time: 1_714_564_800n * SECOND, x: 2n }])
    expect(counters.badLines).to.equal(1)
    expect(warnings[0]).to.include('line 2: it has no time.')
  })

  it('has no time before 1970, where a zone was ahead of it', async () => {
    const { rows, counters } = await play('time,x\n1970-01-01 00:30:00,1\n1970-01-01 01:30:00,2\n', { timeZone: 'Europe/Berlin' })
    expect(rows).to.deep.equal([{ time: 1800n * SECOND, x: 2n }])
    expect(counters.badLines).to.equal(1)
  })

  it('counts seconds from a start, and goes by a rate where there are none', async () => {
    const started = await play('time,x\n5.25,1\n6.000000001,2\n', { times: 'now' })
    expect(started.rows.map(({ time }) => time)).to.deep.equal([NOW, NOW + 750_000_001n])
    const rated = await play('x\n1\n2\n3\n', { timeFormat: 'none', rowsPerSecond: 3, times: 'now' })
    expect(rated.rows.map(({ time }) => time)).to.deep.equal([NOW, NOW + 333_333_333n, NOW + 666_666_667n])
  })

  it('cannot keep times that are not dates', async () => {
    for (const options of [{ timeFormat: 'none' }, { timeFormat: 'relative' }, {}]) {
      expect((await play('time,x\n1,1\n', options)).error).to.have.property('code', 'SLUICE_CSV_TIMES')
    }
  })
})

import { expect } from 'chai'
import { openSimulator } from '../../gateway/simulators/simulator.js'
import { recorder } from '../sources/manual-clock.js'

const START = 1_700_000_000_000_000_000n
const SECOND = 1_000_000_000n

/** What a preset makes when it need not wait. @param {object} options */
async function made (options) {
  const recording = recorder()
  openSimulator({ paced: false, name: 'test', ...options }, recording)
  expect(await recording.ended).to.equal(undefined)
  return { batches: recording.batches, rows: /** @type {any[]} */ (recording.rows()) }
}

/** @param {import('../../gateway/batch/batch.js').Batch} batch */
const fieldsOf = ({ fields }) => fields.map(({ name, type }) => `${name} ${type}`)

describe('the SciTS preset', () => {
  it('gives a record of every sensor at every step, its value any whole number of 31 bits', async () => {
    const { batches, rows } = await made({ preset: 'scits', sensors: 300, stepSeconds: 0.5, batchRows: 1000, maxSamples: 30_000 })
    expect(fieldsOf(batches[0])).to.deep.equal(['sensor_id int64', 'value float64'])
    expect(batches.map(({ rows: count }) => count)).to.deep.equal(Array(30).fill(1000))
    rows.forEach(({ time, sensor_id: sensor, value }, i) => {
      if (sensor !== BigInt(i % 300) || time !== START + BigInt(Math.floor(i / 300)) * SECOND / 2n) {
        expect.fail(`record ${i} is of sensor ${sensor} at ${time}`)
      }
      if (!Number.isInteger(value) || value < 0 || value > 2 ** 31 - 1) expect.fail(`record ${i} has the value ${value}`)
    })
    const mean = rows.reduce((sum, { value }) => sum + value, 0) / rows.length
    expect(mean / 2 ** 30).to.be.within(0.98, 1.02)
  })

  it('puts the records of an irregular step anywhere in it', async () => {
    const { rows } = await made({ preset: 'scits', steps: 'irregular', sensors: 1000, stepSeconds: 1, maxSamples: 20_000 })
    rows.forEach(({ time }, i) => expect((time - START) / SECOND).to.equal(BigInt(Math.floor(i / 1000))))
    const tenths = new Array(10).fill(0)
    for (const { time } of rows) tenths[Number((time - START) % SECOND / (SECOND / 10n))]++
    for (const count of tenths) expect(count).to.be.within(1800, 2200)
  })

  for (const [steps, dueAfterMs] of /** @type {const} */ ([['regular', 1000], ['irregular', 2000]])) {
    it(`sends the records of ${steps} steps in real time, none before its time`, async () => {
      const recording = recorder()
      const source = openSimulator({ preset: 'scits', steps, sensors: 10, tickMs: 50 }, recording)
      recording.clock.advance(dueAfterMs - 1)
      expect(source.counters.samples).to.equal(10)
      recording.clock.advance(51)
      await source.close()
      expect(source.counters).to.deep.equal({ samples: 20, late: 0, missed: 0 })
      expect(recording.rows().every(({ time }) => /** @type {bigint} */ (time) <= recording.clock.ns)).to.equal(true)
    })
  }

  it('takes other bounds of the values, and no others than in order', async () => {
    const { rows } = await made({ preset: 'scits', lowest: -1, highest: 1, maxSamples: 1000 })
    expect(new Set(rows.map(({ value }) => value))).to.deep.equal(new Set([-1, 0, 1]))
    expect(() => openSimulator({ preset: 'scits', lowest: 2, highest: 1 }, recorder()))
      .to.throw('The lowest value, 2, is above the highest, 1.').with.property('code', 'SLUICE_OPTIONS')
  })

  it('has batches of up to 100,000 records', async () => {
    const { batches } = await made({ preset: 'scits', batchRows: 100_000, maxSamples: 200_000 })
    expect(batches.map(({ rows }) => rows)).to.deep.equal([100_000, 100_000])
  })
})

describe('the Weißbach preset', () => {
  it('has an id of twelve characters, three integers, three doubles and a BLOB', async () => {
    const { batches, rows } = await made({ preset: 'weissbach', blobBytes: 10_000, recordsPerSecond: 2000, maxSamples: 100 })
    expect(fieldsOf(batches[0])).to.deep.equal(
      [
        'id string', 'integer1 int32', 'integer2 int32', 'integer3 int32', 'double1 float64', 'double2 float64', 'double3 float64',
        'blob bytes'
      ])
    for (const { id, blob } of rows) {
      expect(id).to.match(/^[0-9A-Z]{12}$/)
      expect(blob).to.be.instanceOf(Uint8Array).with.length(10_000)
    }
    expect(rows[99].time - rows[0].time).to.equal(99n * SECOND / 2000n)
  })

  for (const [blobBytes, mostRows] of [[1, 17_543], [10_000, 99], [100_000, 9], [5_000_000, 1]]) {
    it(`keeps batches below 1 MB with BLOBs of ${blobBytes} bytes`, async () => {
      const { batches } = await made({ preset: 'weissbach', blobBytes, batchRows: 100_000, maxSamples: 20_000 })
      expect(batches[0].rows).to.equal(mostRows)
    })
  }

  it('makes new ids to insert, the same million to update, and half of each when mixed', async () => {
    const ids = async (/** @type {string} */ keys) => {
      return (await made({ preset: 'weissbach', keys, maxSamples: 20_000 })).rows.map(({ id }) => id)
    }
    const isKnown = (/** @type {string} */ id) => /^U00000\d{6}$/.test(id)
    const inserted = await ids('insert')
    expect(new Set(inserted).size).to.equal(20_000)
    expect(inserted.some(isKnown)).to.equal(false)
    const updated = await ids('update')
    expect(updated.every(isKnown)).to.equal(true)
    expect(new Set(updated).size).to.be.within(19_600, 19_990)
    const mixed = await ids('mixed')
    expect(mixed.filter(isKnown).length).to.be.within(9700, 10_300)
  })
})

describe('the Warp 10 preset', () => {
  it('samples the position and 22 channels of every vehicle ten times a second', async () => {
    const recording = recorder()
    const source = openSimulator({ preset: 'warp10', name: 'fleet', vehicles: 10, tickMs: 50 }, recording)
    recording.clock.advance(2000)
    await source.close()
    expect(source.counters).to.deep.equal({ samples: 210, late: 0, missed: 0 })
    expect(recording.batches.every(({ source: name, fields }) => name === 'fleet' && fields.length === 25)).to.equal(true)
    expect(fieldsOf(recording.batches[0])).to.include.members([
      'latitude float64', 'longitude float64', 'elevation float64', 'throttlepedal float64', 'gear int16'
    ])
    const ofSeventh = recording.batches.filter(({ tags }) => tags.vehicle === '7').flatMap(batch => batch.toObjects())
    expect(ofSeventh.map(({ time }) => time)).to.deep.equal(Array.from({ length: 21 }, (_, i) => START + BigInt(i) * SECOND / 10n))
  })

  it('goes at any multiple, and stops after as many samples of each vehicle as the study has', async () => {
    const { batches } = await made({ preset: 'warp10', multiple: 100, maxSamples: 57_841, batchRows: 10_000 })
    expect(batches.map(({ rows }) => rows)).to.deep.equal([10_000, 10_000, 10_000, 10_000, 10_000, 7841])
    expect(batches[5].time[7840] - START).to.equal(57_840n * SECOND / 1000n)
  })

  it('has values like those of the study, and other ones in every vehicle', async () => {
    const { rows, batches } = await made({ preset: 'warp10', vehicles: 2, maxSamples: 5000 })
    for (const { latitude, longitude, elevation, speed, throttlepedal, gear } of rows) {
      expect(latitude).to.be.within(47.3, 47.4)
      expect(longitude).to.be.within(4.8, 5)
      expect(elevation).to.be.within(170, 260)
      expect(speed).to.be.within(80, 120)
      expect(throttlepedal).to.be.within(0, 100)
      expect([2, 3, 4, 5]).to.include(gear)
    }
    const [first, second] = ['1', '2'].map(vehicle => {
      return batches.filter(({ tags }) => tags.vehicle === vehicle).flatMap(batch => batch.toObjects())
    })
    expect(second.map(({ speed }) => speed)).not.to.deep.equal(first.map(({ speed }) => speed))
  })

  it('has trouble like any channels', async () => {
    const { rows } = await made({ preset: 'warp10', dropoutsPerHour: 3600, dropoutSeconds: 0.5, maxSamples: 1000 })
    expect(rows.some(({ quality }) => String(quality).includes('speed: dropout'))).to.equal(true)
  })
})

describe('the Haenisch preset', () => {
  it('has records of time, sensor and value in batches of any size', async () => {
    for (const batchRows of [1, 10, 50, 100, 500, 1000, 10_000]) {
      const { batches } = await made({ preset: 'haenisch', sensors: 32, batchRows, maxSamples: 2 * batchRows })
      expect(fieldsOf(batches[0])).to.deep.equal(['sensor_id int64', 'value float64'])
      expect(batches.map(({ rows }) => rows)).to.deep.equal([batchRows, batchRows])
    }
  })
})

describe('every preset', () => {
  for (const preset of ['machine-tool', 'warp10', 'scits', 'weissbach', 'haenisch', 'channels']) {
    it(`makes the same of ${preset} with the same seed, however it is cut`, async () => {
      const values = async (/** @type {object} */ options) => (await made({ preset, sensors: 7, maxSamples: 300, ...options })).rows
      const whole = await values({ batchRows: 1000 })
      expect(await values({ batchRows: 7 })).to.deep.equal(whole)
      if (preset !== 'channels') expect(await values({ seed: 9 })).not.to.deep.equal(whole)
    })
  }
})

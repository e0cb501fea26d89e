import { expect } from 'chai'
import { decode, plain } from './decode.js'

describe('SenML', () => {
  it('has base values, units and several times (RFC 8428, section 5.1.3)', () => {
    const { batches, refused } = decode([
      { bn: 'urn:dev:ow:10e2073a0108006:', bt: 1.276020076001e+09, bu: 'A', bver: 5, n: 'voltage', u: 'V', v: 120.1 },
      { n: 'current', t: -5, v: 1.2 },
      { n: 'current', t: -4, v: 1.3 },
      { n: 'current', v: 1.7 }
    ])
    expect(refused).to.deep.equal([])
    expect(batches.map(plain)).to.deep.equal([{
      source: 'plant',
      tags: { device: 'urn:dev:ow:10e2073a0108006' },
      units: ['V', 'A'],
      rows: [
        { time: 1276020076001000000n, voltage: 120.1, current: 1.7 },
        { time: 1276020071001000000n, current: 1.2 },
        { time: 1276020072001000000n, current: 1.3 }
      ]
    }])
  })

  it('has texts, booleans, data and sums (RFC 8428, section 5.1.5)', () => {
    const { batches: [batch] } = decode([
      { bn: 'urn:dev:ow:10e2073a01080063:', bt: 1.320067464e9, n: 'temp', u: 'Cel', v: 23.1 },
      { n: 'label', vs: 'Machine Room' },
      { n: 'open', vb: false },
      { n: 'nfc-reader', vd: 'aGkgCg' },
      { n: 'energy', s: 3.5 }
    ])
    expect(batch.toObjects()).to.deep.equal([
      {
        time: 1320067464000000000n,
        temp: 23.1,
        label: 'Machine Room',
        open: false,
        'nfc-reader': new Uint8Array(Buffer.from('hi \n')),
        'energy.sum': 3.5
      }
    ])
  })

  it('has times relative to now, and a single value without a name of its own', () => {
    const { batches: [batch] } = decode([{ bn: 'urn:dev:mac:0024befffe804ff1', v: 5, t: -60 }])
    expect(Math.abs(Number(batch.time[0] / 1_000_000n) - Date.now() + 60_000)).to.be.below(5000)
    expect(batch.fields.map(({ name }) => name)).to.deep.equal(['value'])
  })

  it('reports every incomplete record', () => {
    const { batches, refused } = decode([
      { bn: 'dev:', bt: 1.276e9 },
      { n: 'a', v: 1 },
      { n: 'b' },
      { n: 'c', v: 1, vs: 'one' },
      { n: 'd', u: 'A' }
    ])
    expect(refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal([
      '2: it has no value',
      '3: it has more than one value: v, vs',
      '4: it has no value'
    ])
    expect(batches[0].toObjects()).to.deep.equal([{ time: 1_276_000_000_000_000_000n, a: 1 }])
  })

  it('may have unknown labels, if it has a base name or its content type says what it is', () => {
    const named = [{ bn: 'dev:', bt: 1.276e9, n: 'a', v: 1, colour: 'red' }]
    const typed = { contentType: 'application/senml+json' }
    const unnamed = [{ n: 'a', t: 1.276e9, v: 1, colour: 'red' }]
    for (const { batches: [batch] } of [decode(named), decode(named, typed), decode(unnamed, typed)]) {
      expect(batch.toObjects()).to.deep.equal([{ time: 1_276_000_000_000_000_000n, a: 1 }])
    }
    expect(decode([{ n: 'a', v: 1, colour: 'red' }]).batches[0].fields.map(({ name }) => name)).to.deep.equal(['n', 'v', 'colour'])
    expect(decode([...named, 7], typed).refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal(['1: it is not an object'])
  })

  it('is refused as a whole for a label or version that must be understood (RFC 8428, section 4.4)', () => {
    for (const [record, reason] of /** @type {const} */ ([
      [{ n: 'b', v: 2, colour_: 'blue' }, 'the label "colour_" must be understood, but is not known'],
      [{ bver: 12, n: 'b', v: 2 }, 'version 12 of SenML is not known']
    ])) {
      const { batches, refused } = decode([{ bn: 'dev:', n: 'a', v: 1 }, record])
      expect(batches).to.deep.equal([])
      expect(refused.map(({ index, reason: why }) => `${index}: ${why}`)).to.deep.equal([`-1: ${reason}`])
    }
  })

  it('has a field for each unit of a name (RFC 8428, section 5.1.4)', () => {
    const { batches, refused } = decode([
      { bn: 'urn:dev:ow:10e2073a01080063', bt: 1.320067464e9, bu: '%RH', v: 20 },
      { u: 'lon', v: 24.30621 },
      { u: 'lat', v: 60.07965 },
      { t: 60, v: 20.3 },
      { u: 'lon', t: 60, v: 24.30622 },
      { u: 'lat', t: 60, v: 60.07965 }
    ])
    expect(refused).to.deep.equal([])
    expect(batches.map(plain)).to.deep.equal([{
      source: 'plant',
      tags: { device: 'urn:dev:ow:10e2073a01080063' },
      units: ['%RH', 'lon', 'lat'],
      rows: [
        { time: 1320067464000000000n, value: 20, 'value.lon': 24.30621, 'value.lat': 60.07965 },
        { time: 1320067524000000000n, value: 20.3, 'value.lon': 24.30622, 'value.lat': 60.07965 }
      ]
    }])
  })

  it('calls values of another unit alike where they come alone, without a base unit, or with names', () => {
    const fields = (/** @type {object[]} */ records) => decode(records).batches[0].fields.map(({ name, unit }) => `${name} ${unit}`)
    expect(fields([{ bn: 'a', bu: '%RH', u: 'lon', v: 24 }])).to.deep.equal(['value.lon lon'])
    expect(fields([{ bn: 'a', u: 'lon', v: 24 }, { u: 'lat', v: 60 }])).to.deep.equal(['value.lon lon', 'value.lat lat'])
    expect(fields([{ bn: 'a', u: 'Cel', v: 24 }])).to.deep.equal(['value Cel'])
    expect(fields([{ bn: 'a:', n: 'g', u: 'lon', v: 24 }, { n: 'g', u: 'lat', v: 60 }, { n: 'x', u: 'V', v: 1 }])).to.deep.equal([
      'g.lon lon', 'g.lat lat', 'x V'
    ])
  })

  it('has base values and sums without values of their own', () => {
    const { batches: [batch], refused } = decode([
      { bn: 'dev:', bt: 1.276e9, bv: 20, n: 'a' }, { n: 'b', v: 0.5 }, { bs: 7, n: 'c', v: 1 }, { n: 'd', s: 1 }, { n: 'e', vs: 'x' }
    ])
    expect(refused).to.deep.equal([])
    expect(batch.toObjects()).to.deep.equal([
      { time: 1_276_000_000_000_000_000n, a: 20, b: 20.5, c: 21, 'c.sum': 7, 'd.sum': 8, e: 'x' }
    ])
  })

  it('has integers beyond 2^53 to the digit, also where they are the sum of two', () => {
    const { batches: [batch], refused } = decode(`[
      {"bn":"d:","bt":1.276e9,"n":"a","v":9007199254740993}, {"bv":9007199254740993,"n":"b","v":1}, {"n":"c","v":0.5},
      {"bv":0,"n":"d","v":18446744073709551615}
    ]`)
    expect(batch.toObjects()).to.deep.equal([
      { time: 1_276_000_000_000_000_000n, a: 9007199254740993n, b: 9007199254740994n, c: 9007199254740992 }
    ])
    expect(refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal(['3: "v" does not fit a 64-bit integer'])
  })

  it('has times before now, as far back as possible', () => {
    const { batches: [batch], refused } = decode([{ n: 'a', v: 1, t: -3e8 }, { n: 'b', v: 1, t: -1e11 }])
    expect(Math.abs(Number(batch.time[0] / 1_000_000n) - Date.now() + 3e11)).to.be.below(5000)
    expect(refused).to.have.length(1)
  })

  it('is as fast for many values of one name and time as for many names', () => {
    const { batches: [batch] } = decode([
      { bn: 'dev:', bt: 1.276e9, n: 'a', v: 0 },
      ...Array.from({ length: 20_000 }, (_, i) => ({ n: 'a', v: i + 1 }))
    ])
    expect(Array.from(/** @type {Float64Array} */ (batch.columns[0]))).to.deep.equal(Array.from({ length: 20_001 }, (_, i) => i))
  })

  it('loses only the invalid record', () => {
    const { batches, refused } = decode([
      { bn: 'dev:', n: 'a', v: 1 },
      { n: 'b', v: 'high' },
      { n: '§', v: 1 },
      { n: 'c', v: 3 }
    ])
    expect(refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal([
      '1: "v" is not a number',
      '2: the name "dev:§" is not valid'
    ])
    expect(batches[0].fields.map(({ name }) => name)).to.deep.equal(['a', 'c'])
  })
})

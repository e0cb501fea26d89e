import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import fc from 'fast-check'
import { formatTime, parseTime, secondsText } from '../../gateway/batch/time.js'

const NS = 1_436_509_052_249_713_000n

describe('parseTime', () => {
  /** @type {[unknown, import('../../gateway/batch/time.js').TimeUnit, bigint][]} */
  const exact = [
    [NS, 'ms', NS],
    [1n, 'ms', 1n],
    [new Date(1436509052249), 's', 1_436_509_052_249_000_000n],
    ['1436509052.249713', 's', NS],
    ['1436509052.249713001', 's', NS + 1n],
    ['1436509052249', 'ms', 1_436_509_052_249_000_000n],
    ['1436509052249713001', 'ns', NS + 1n],
    ['1436509052.2497130000000', 's', NS],
    [1436509052.249713, 's', NS],
    [1436509052249, 'ms', 1_436_509_052_249_000_000n],
    [1436509052249.75, 'ms', 1_436_509_052_249_750_000n],
    [1436509052249713, 'us', NS],
    ['2015-07-10T06:17:32.249713Z', 'ms', NS],
    ['2015-07-10T06:17:32.249713001Z', 'ms', NS + 1n],
    ['2015-07-10 08:17:32.249713+02:00', 'ms', NS],
    ['2015-07-10T01:47:32.249713-0430', 'ms', NS],
    ['2015-07-10t06:17:32z', 'ms', 1_436_509_052_000_000_000n],
    ['1969-12-31T23:30:00-01:00', 'ms', 1_800_000_000_000n]
  ]
  for (const [value, unit, ns] of exact) {
    it(`reads ${typeof value} ${value instanceof Date ? value.toISOString() : value} in ${unit}`, () => {
      expect(parseTime(value, unit)).to.equal(ns)
    })
  }

  it('reads numbers as milliseconds by default', () => {
    expect(parseTime(1436509052249)).to.equal(1_436_509_052_249_000_000n)
  })

  it('reads a Date of another realm, as function nodes make them', () => {
    expect(parseTime(runInNewContext('new Date(1436509052249)'))).to.equal(1_436_509_052_249_000_000n)
  })

  /** @type {[unknown, any, string][]} */
  const refused = [
    [0, 'ms', 'SLUICE_TIME_RANGE'],
    [0n, 'ms', 'SLUICE_TIME_RANGE'],
    [-1, 'ms', 'SLUICE_TIME_RANGE'],
    [-1.5, 'ms', 'SLUICE_TIME_RANGE'],
    [1e-7, 'ms', 'SLUICE_TIME_RANGE'],
    [new Date(0), 'ms', 'SLUICE_TIME_RANGE'],
    ['1970-01-01T00:00:00Z', 'ms', 'SLUICE_TIME_RANGE'],
    ['2262-04-12T00:00:00Z', 'ms', 'SLUICE_TIME_RANGE'],
    [2n ** 63n, 'ms', 'SLUICE_TIME_RANGE'],
    [1436509052, 'ms', 'SLUICE_TIME_RANGE'],
    [1436509052249, 's', 'SLUICE_TIME_RANGE'],
    [1436509052249713000, 'ns', 'SLUICE_TIME_PRECISION'],
    ['1436509052.2497130001', 's', 'SLUICE_TIME_PRECISION'],
    [NaN, 'ms', 'SLUICE_TIME_FORMAT'],
    [Infinity, 'ms', 'SLUICE_TIME_FORMAT'],
    [new Date(NaN), 'ms', 'SLUICE_TIME_FORMAT'],
    ['', 'ms', 'SLUICE_TIME_FORMAT'],
    ['yesterday', 'ms', 'SLUICE_TIME_FORMAT'],
    ['2015-07-10', 'ms', 'SLUICE_TIME_FORMAT'],
    ['2015-07-10T06:17:32', 'ms', 'SLUICE_TIME_FORMAT'],
    ['2015-02-30T06:17:32Z', 'ms', 'SLUICE_TIME_FORMAT'],
    ['2015-07-10T24:00:00Z', 'ms', 'SLUICE_TIME_FORMAT'],
    ['2015-07-10T06:17:32.0123456789Z', 'ms', 'SLUICE_TIME_FORMAT'],
    [null, 'ms', 'SLUICE_TIME_FORMAT'],
    [true, 'ms', 'SLUICE_TIME_FORMAT'],
    [{}, 'ms', 'SLUICE_TIME_FORMAT'],
    [1436509052, 'seconds', 'SLUICE_TIME_UNIT'],
    [1436509052, 'toString', 'SLUICE_TIME_UNIT']
  ]
  for (const [value, unit, code] of refused) {
    it(`refuses ${typeof value} ${value instanceof Date ? 'Date' : value} in ${unit}: ${code}`, () => {
      expect(() => parseTime(value, unit)).to.throw().with.property('code', code)
    })
  }

  it('reports what a time in the wrong unit would be, and what to do', () => {
    expect(() => parseTime(1436509052)).to.throw('The time 1436509052 ms would be 1970-01-17T15:01:49.052000000Z. Set the unit')
    expect(() => parseTime(1436509052249713000, 'ns')).to.throw('Give it as BigInt or as a string')
  })
})

describe('formatTime and secondsText', () => {
  it('give nine decimals', () => {
    expect(formatTime(NS)).to.equal('2015-07-10T06:17:32.249713000Z')
    expect(secondsText(NS)).to.equal('1436509052.249713000')
    expect(formatTime(1n)).to.equal('1970-01-01T00:00:00.000000001Z')
    expect(secondsText(1n)).to.equal('0.000000001')
  })

  it('work before 1970 too', () => {
    expect(formatTime(-1n)).to.equal('1969-12-31T23:59:59.999999999Z')
    expect(secondsText(-1n)).to.equal('-0.000000001')
  })

  it('are read back to the same nanosecond', () => {
    fc.assert(fc.property(fc.bigInt(31_536_000_000_000_000n, 2n ** 63n - 1n), ns => {
      expect(parseTime(formatTime(ns))).to.equal(ns)
      expect(parseTime(secondsText(ns), 's')).to.equal(ns)
      expect(parseTime(String(ns), 'ns')).to.equal(ns)
    }), { numRuns: 2000 })
  })
})

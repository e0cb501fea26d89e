import { expect } from 'chai'
import { duration, measure, quantity, remaining } from '../../gateway/stats/format.js'

describe('Numbers for people', () => {
  for (const [value, text] of /** @type {[number, string][]} */ ([
    [0, '0'], [7, '7'], [0.5, '0.50'], [999, '999'], [999.7, '1.00 k'], [1000, '1.00 k'], [12345, '12.3 k'], [123456, '123 k'],
    [999_499, '999 k'], [999_500, '1.00 M'], [1_234_567, '1.23 M'], [5e9, '5.00 G']
  ])) it(`writes ${value} as "${text}"`, () => expect(quantity(value)).to.equal(text))

  for (const [value, text] of /** @type {[number, string][]} */ ([
    [0, '0 B'], [7, '7 B'], [12345, '12.3 kB'], [1e9, '1.00 GB']
  ])) it(`writes ${value} bytes as "${text}"`, () => expect(measure(value, 'B')).to.equal(text))

  for (const [milliseconds, text] of /** @type {[number, string][]} */ ([
    [0, '0 ms'], [0.35, '350 µs'], [0.0012, '1.20 µs'], [1, '1.00 ms'], [8.254, '8.25 ms'], [999, '999 ms'], [12_340, '12.3 s'],
    [300_000, '5.00 min']
  ])) it(`writes ${milliseconds} ms as "${text}"`, () => expect(duration(milliseconds)).to.equal(text))

  for (const [seconds, text] of /** @type {[number, string][]} */ ([
    [0.2, '1 s'], [45, '45 s'], [720, '12 min'], [12_600, '3.5 h'], [922_320, '11 days']
  ])) it(`says of ${seconds} s that they last ${text}`, () => expect(remaining(seconds)).to.equal(text))
})

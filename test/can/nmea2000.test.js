import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parseCandumpLine } from '../../gateway/can/candump/line.js'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'

/** Decimals CANboat prints. */
const DECIMALS = /** @type {Record<string, number>} */ ({ Rate: 8, Latitude: 7, Longitude: 7, SOG: 2 })
const ANGLE_DECIMALS = 4

/** @param {string} file */
const linesOf = file => readFileSync(file, 'utf8').trim().split('\n')

describe('a real NMEA 2000 bus', () => {
  const { messages, warnings } = readDbcFile('data/nmea2000.dbc')
  const decoder = new Decoder(messages)
  const decoded = linesOf('data/nmea2000.log').flatMap(line => {
    const frame = parseCandumpLine(line)
    if (frame === null) return []
    if ('reason' in frame) throw new Error(`${frame.reason}: ${line}`)
    const found = decoder.decode(frame.id, frame.extended, frame.data)
    return found ? [{ frame, ...found }] : []
  })

  it('decodes to the values of an independent decoder, at the same times and missing the same', () => {
    const expected = linesOf('test/data/can/nmea2000-decoded.jsonl').map(line => JSON.parse(line))
    expect(warnings).to.deep.equal([])
    expect(decoded).to.have.length(expected.length)
    for (const [i, { frame, message, values }] of decoded.entries()) {
      /** @type {Record<string, number>} */
      const signals = {}
      message.signals.forEach(({ name }, s) => {
        if (values[s] !== undefined) signals[name] = Number(Number(values[s]).toFixed(DECIMALS[name] ?? ANGLE_DECIMALS))
      })
      const { time, id, data, signals: expectedSignals } = expected[i]
      expect({ time: frame.stamp?.text, id: frame.id, data: Buffer.from(frame.data).toString('hex'), signals }, `row ${i}`)
        .to.deep.equal({ time, id, data, signals: expectedSignals })
    }
  })
})

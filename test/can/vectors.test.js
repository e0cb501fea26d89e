import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'

describe('frames that cantools has decoded', () => {
  const vectors = readFileSync('test/data/can/decoded.jsonl', 'utf8').trim().split('\n').map(line => JSON.parse(line))

  for (const [file, ofFile] of Object.entries(Object.groupBy(vectors, ({ dbc }) => dbc))) {
    it(`${file}: ${ofFile?.length} have the same values`, () => {
      const decoder = new Decoder(readDbcFile(`test/data/can/dbc/${file}`).messages)
      for (const { id, extended, data, message, signals } of ofFile ?? []) {
        const decoded = decoder.decode(id, extended, Buffer.from(data, 'hex'))
        expect(decoded?.message.name).to.equal(message)
        const all = decoded?.message.signals.map(({ name }, s) => [name, plain(decoded.values[s])])
        const values = all?.filter(([, value]) => value !== undefined)
        expect(Object.fromEntries(values ?? []), `${message} ${data}`).to.deep.equal(signals)
      }
    })
  }

  it('are complete', () => expect(vectors).to.have.length(1218))
})

describe('a file that cantools refuses', () => {
  it('loads but for the stray line, which it lists', () => {
    const { messages, warnings } = readDbcFile('test/data/can/dbc/opendbc-tesla_can.dbc')
    expect(messages).to.have.length(44)
    expect(warnings.map(({ line, reason }) => `${line} ${reason}`)).to.deep.equal([
      '783 message UI_driverAssistRoadSign has no signal UI_mapSpeedLimit'
    ])
  })
})

/** As the vectors have it: digits where a double would not hold a whole number. @param {unknown} value */
function plain (value) {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}

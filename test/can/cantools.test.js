import { readdirSync } from 'node:fs'
import { expect } from 'chai'
import fc from 'fast-check'
import { readDbcFile } from '../../gateway/can/dbc/file.js'
import { Decoder } from '../../gateway/can/dbc/decoder.js'
import { encodeMessage } from '../../gateway/can/dbc/encoder.js'
import { Cantools } from './cantools.js'
import { requirePython } from '../servers/python.js'
import { valuesOf } from './random-values.js'

const FOLDER = 'test/data/can/dbc'
const FRAMES_PER_MESSAGE = 20
const SEED = 1
/** It holds no message. */
const EMPTY = 'cantools-cp1252.dbc'

describe('beside cantools', () => {
  /** @type {Cantools} */
  let cantools
  /** @type {{path: string, messages: import('../../gateway/can/dbc/message.js').Message[]}[]} */
  const files = []

  before(async function () {
    requirePython(this)
    cantools = new Cantools()
    for (const name of readdirSync(FOLDER)) {
      if (!name.endsWith('.dbc') || name === EMPTY) continue
      const path = `${FOLDER}/${name}`
      const { refused } = await cantools.ask({ dbc: path })
      if (!refused) files.push({ path, messages: readDbcFile(path).messages })
    }
    files.push({ path: 'data/nmea2000.dbc', messages: readDbcFile('data/nmea2000.dbc').messages })
  })
  after(() => cantools?.close())

  it('messages of random values are encoded to the same bytes', async () => {
    let messagesCompared = 0
    for (const { path, messages } of files) {
      const cases = messages.flatMap(message => {
        return fc.sample(valuesOf(message), { numRuns: FRAMES_PER_MESSAGE, seed: SEED }).map(values => ({ message, values }))
      })
      const { data } = await cantools.ask({ encode: cases.map(({ message, values }) => [path, message.name, plain(values)]) })
      for (const [i, { message, values }] of cases.entries()) {
        // It wants a switch to select something.
        if (/multiplexer/.test(data[i].error)) continue
        const encoded = Buffer.from(encodeMessage(message, values)).toString('hex')
        expect(encoded, `${path} ${message.name} ${JSON.stringify(plain(values))}`).to.equal(data[i])
      }
      messagesCompared += messages.length
    }
    expect(messagesCompared).to.be.above(600)
  })

  it('random frames are decoded to the same texts', async () => {
    let textsCompared = 0
    for (const { path, messages } of files) {
      const decoder = new Decoder(messages, { choices: 'texts' })
      const cases = messages.flatMap(message => {
        return fc.sample(dataOf(message), { numRuns: FRAMES_PER_MESSAGE, seed: SEED }).map(data => ({ message, data: Buffer.from(data) }))
      })
      const { signals } = await cantools.ask({ decode: cases.map(({ message, data }) => [path, message.name, data.toString('hex')]) })
      for (const [i, { message, data }] of cases.entries()) {
        const decoded = decoder.decode(message.id, message.extended, data)
        decoded?.message.signals.forEach(({ name, choices }, s) => {
          const value = decoded.values[s]
          if (choices.size === 0 || value === undefined || signals[i] === null) return
          const theirs = signals[i][name]
          expect(value, `${path} ${message.name} ${name} ${data.toString('hex')}`).to.equal(theirs.text ?? theirs.digits ?? String(theirs))
          textsCompared++
        })
      }
    }
    expect(textsCompared).to.be.above(500)
  })
})

/** Whole numbers that a double cannot hold as digits. @param {Record<string, unknown>} values */
function plain (values) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]))
}

/** @param {import('../../gateway/can/dbc/message.js').Message} message */
function dataOf ({ length }) {
  return fc.uint8Array({ minLength: length, maxLength: length })
}

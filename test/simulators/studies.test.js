import { expect } from 'chai'
import { encodeWarp10 } from '../../gateway/messages/codecs/warp10/encode.js'
import { openSimulator } from '../../gateway/simulators/simulator.js'
import { recorder } from '../sources/manual-clock.js'

/** What a preset makes when it need not wait. @param {object} options */
async function made (options) {
  const recording = recorder()
  openSimulator({ paced: false, ...options }, recording)
  expect(await recording.ended).to.equal(undefined)
  return recording.batches
}

describe('What the studies measured with', () => {
  it('Arnst: five channels of 12 bits in unsigned 16, 1000 samples a second of a tool with 3 cycles a second', async () => {
    const [batch, ...more] = await made({ preset: 'machine-tool', batchRows: 30_000, maxSamples: 30_000 })
    expect(more).to.deep.equal([])
    const { fields, columns, time } = batch
    expect(fields.map(({ type }) => type)).to.deep.equal(Array(5).fill('uint16'))
    expect(time[1000] - time[0]).to.equal(1_000_000_000n)
    for (const column of /** @type {Uint16Array[]} */ (columns)) {
      expect(column.BYTES_PER_ELEMENT).to.equal(2)
      expect(Math.max(...column)).to.be.at.most(4095)
    }
    // A datapoint has 22 bytes: 8 and 4 of time, 2 for each value.
    expect(8 + 4 + columns.length * 2).to.equal(22)

    const angle = /** @type {Uint16Array} */ (columns[0])
    expect([Math.min(...angle), Math.max(...angle)]).to.deep.equal([0, 4095])
    const falls = [...angle.keys()].filter(row => row > 0 && angle[row - 1] - angle[row] > 2048)
    expect(falls.length).to.equal(89)
    const cycles = falls.slice(1).map((row, i) => row - falls[i])
    for (const rows of cycles) expect(rows).to.be.within(332, 335)
    // Noise: no two cycles are alike, so that a reader cannot know them beforehand.
    expect(new Set(falls.slice(1).map(row => [...angle.subarray(row - 300, row - 200)].join())).size).to.equal(falls.length - 1)
  })

  it('Warp 10: the 22 channels in the order and with the types of its lines, ten times a second, and where they are from', async () => {
    const [batch] = await made({ preset: 'warp10', name: 'xaaabvb', maxSamples: 1000 })
    expect(batch.fields.slice(0, 3).map(({ name }) => name)).to.deep.equal(['latitude', 'longitude', 'elevation'])
    expect(batch.fields.slice(3)).to.have.length(22)
    expect(batch.time[10] - batch.time[0]).to.equal(1_000_000_000n)
    const printed = '222 37.0 71.89889 830.909846282 826.901874311 92.0 -11.89 823.158183564 3 -0.05078125 101.818769659 78 15.0 ' +
      '4796.16306954 0.69 0.578125 810.153929247 0.0 86.0 23.0 23.5 53'
    const isWhole = (/** @type {string} */ text) => /^-?\d+$/.test(text)
    const chunks = Array.from(encodeWarp10(batch, 'multi-value'), chunk => chunk.toString().trimEnd().split('\n'))
    expect(chunks.flat()).to.have.length(1000)
    for (const [i, line] of chunks.flatMap(lines => [...lines.entries()])) {
      const [, place, head, values] = /** @type {RegExpExecArray} */ (/^(\S+) (allchannels\{.*\} )?\[ (.*) \]$/.exec(line))
      expect(place).to.match(/^=?\d{16}\/47\.3\d+:4\.\d+\/(1[789]|2[0-5])\d{4}$/)
      expect(head).to.equal(i === 0 ? 'allchannels{id=xaaabvb,vehicle=1} ' : undefined)
      expect(values.split(' ').map(isWhole), line).to.deep.equal(printed.split(' ').map(isWhole))
    }
  })

  it('Weißbach: BLOBs of 1, 10,000 and 100,000 bytes', async () => {
    for (const blobBytes of [1, 10_000, 100_000]) {
      const batches = await made({ preset: 'weissbach', blobBytes, maxSamples: 30 })
      const blobs = batches.flatMap(({ columns }) => /** @type {Uint8Array[]} */ (columns[7]))
      expect(blobs.map(({ length }) => length)).to.deep.equal(Array(30).fill(blobBytes))
    }
  })
})

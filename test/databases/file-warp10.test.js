import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { open } from '../../gateway/databases/file/sink.js'
import { decodeWarp10 } from '../../gateway/messages/codecs/warp10/decode.js'
import { FORMATS } from '../../gateway/messages/codecs/warp10/text.js'
import { ALL_NEW, batchOf, identity, rowOf, T0 } from './contract/batches.js'
import { filesOf } from './file-readers.js'

const start = T0 - T0 % 1000n

describe('File sink: Warp 10\'s text', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-file-')) })
  afterEach(() => rm(folder, { recursive: true }))

  const rowsOfFile = async () => {
    const [{ path }, ...others] = await filesOf(folder)
    expect(others).to.deep.equal([])
    const { batches, refused } = decodeWarp10(await readFile(path))
    expect(refused).to.deep.equal([])
    return batches.flatMap(batch => batch.toObjects().map((row, i) => ({ source: batch.source, ...batch.tagsAt(i), ...row })))
  }

  for (const warp10Format of FORMATS) {
    it(`has all that was stored, once, in one file: ${warp10Format}`, async () => {
      const options = { folder, file: 'all', format: 'warp10', warp10Format }
      const time = BigInt64Array.of(start, start + 1_000_000n)
      const first = batchOf([1, 2.5], { time, identity: identity(0), tags: { line: '4' } })
      const second = rowOf(
        { speed: ['int32', 7], latitude: ['float64', 47.5], longitude: ['float64', -4] },
        { identity: identity(1), time: BigInt64Array.of(start) }
      )
      const sink = await open(options)
      expect(await sink.write([first, second])).to.deep.equal(ALL_NEW)
      await sink.close()
      const again = await open(options)
      expect((await again.write([first, second])).duplicates).to.have.length(2)
      await again.write([batchOf([3], { time: BigInt64Array.of(start + 2_000_000n), source: 'oven' })])
      await again.close()
      expect(await rowsOfFile()).to.have.deep.members([
        { source: 'press', line: '4', time: start, force: 1 },
        { source: 'press', line: '4', time: start + 1_000_000n, force: 2.5 },
        { source: 'press', time: start, latitude: 47.5, longitude: -4, speed: 7n },
        { source: 'oven', time: start + 2_000_000n, force: 3 }
      ])
    })
  }
})

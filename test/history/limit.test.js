import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { encodeBlock } from '../../gateway/history/blocks.js'
import { Chunk, keyOf } from '../../gateway/history/chunk.js'
import { Folder } from '../../gateway/history/folder.js'
import { MEASURES } from '../../gateway/history/measures.js'
import { spanOfDay, spanOfHour } from '../../gateway/history/spans.js'
import { closeHour, keepUp } from '../../gateway/history/upkeep.js'
import { HOUR_MS, START_MS } from './gateways.js'
import { noise } from './plant.js'

const LIMIT_BYTES = 64 * 2 ** 20
const SERIES = 2000
const START_HOUR = START_MS / HOUR_MS

describe('The limit of the history', function () {
  this.timeout(240_000)
  /** @type {string} */
  let path

  beforeEach(async () => { path = await mkdtemp(join(tmpdir(), 'sluice-history-limit-')) })
  afterEach(() => rm(path, { recursive: true }))

  /** What no compression makes less. @param {import('../../gateway/history/chunk.js').Span} span */
  function noisy (span) {
    const chunk = new Chunk(span)
    for (let i = 0; chunk.series < SERIES; i++) {
      const subject = { type: /** @type {const} */ ('source'), id: `machine ${i}`, name: `machine ${i}` }
      const cells = chunk.of(keyOf(subject), subject)
      for (let at = 0; at < cells.length; at++) cells[at] = Math.floor(noise(at + i * 7919 + span.start) * 2 ** 16)
    }
    return chunk
  }

  async function bytesOnDisk () {
    const sizes = await Promise.all((await readdir(path)).map(name => stat(join(path, name))))
    return sizes.reduce((sum, { size }) => sum + size, 0)
  }

  it('is held over 30 days of 2000 series of noise: the oldest days go, and the last 24 h stay', async () => {
    expect(MEASURES.source.length).to.equal(8)
    const folder = new Folder(path)
    await folder.open()
    const day = await encodeBlock(noisy(spanOfDay(START_HOUR / 24)))
    for (let i = 0; i < 30; i++) await folder.replace('day', START_HOUR / 24 + i, day)
    expect(day.length * 30).to.be.within(0.5 * LIMIT_BYTES, LIMIT_BYTES)
    const firstHour = START_HOUR + 30 * 24
    for (let hour = firstHour; hour < firstHour + 27; hour++) {
      await closeHour(folder, hour, noisy(spanOfHour(hour)))
      expect(await bytesOnDisk()).to.be.at.most(LIMIT_BYTES)
      await keepUp(folder, hour + 1)
      expect(await bytesOnDisk()).to.be.at.most(LIMIT_BYTES).and.equal(folder.bytes)
    }
    const names = (await readdir(path)).sort()
    expect(names.filter(name => name.endsWith('.hour')).length).to.equal(24)
    const days = names.filter(name => name.endsWith('.day'))
    expect(days[0] > '2026-03-01.day').to.equal(true)
    expect(days.at(-1)).to.equal('2026-03-31.day')
    expect(days.length).to.be.above(15)
    expect(folder.bytes).to.be.above(0.9 * LIMIT_BYTES)
  })
})

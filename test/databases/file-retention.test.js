import { mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { LineFile } from '../../gateway/base/line-file.js'
import { open } from '../../gateway/databases/file/sink.js'
import { batchOf, identity } from './contract/batches.js'

const DAY_MS = 86_400_000
const NOW_MS = Math.floor(Date.now() / 1000) * 1000

const ns = (/** @type {number} */ ms) => BigInt(ms) * 1_000_000n

describe('File sink: retention', () => {
  /** @type {string} */
  let folder
  /** @type {import('../../gateway/databases/sink.js').Sink[]} */
  let opened

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-file-'))
    opened = []
  })
  afterEach(async () => {
    for (const sink of opened) await sink.close()
    await rm(folder, { recursive: true })
  })

  /** Each write of a MiB begins another file. @param {object} [options] */
  const openSink = async (options = {}) => {
    const sink = await open({ folder, maxMegabytes: 1, ...options })
    opened.push(sink)
    return sink
  }
  const large = (/** @type {number} */ seq) => batchOf(Array(40_000).fill(seq), { identity: identity(seq) })
  const names = async () => (await readdir(folder)).filter(name => name !== '.sluice').sort()
  const age = (/** @type {string} */ name, /** @type {number} */ days) =>
    utimes(join(folder, name), new Date(NOW_MS - days * DAY_MS), new Date(NOW_MS - days * DAY_MS))

  it('removes whole files that were last written to too long ago, and no others', async () => {
    const sink = await openSink()
    expect(await sink.span?.()).to.equal(null)
    for (let seq = 0; seq < 4; seq++) await sink.write([large(seq)])
    expect(await names()).to.deep.equal([1, 2, 3, 4].map(n => `press-00000${n}.csv`))
    await writeFile(join(folder, 'press-000099.csv'), 'another\'s')
    await writeFile(join(folder, 'press-1.csv'), 'another\'s')
    await writeFile(join(folder, 'press-000001.csv.bak'), 'another\'s')
    for (const name of await names()) await age(name, 9)
    await age('press-000003.csv', 2)
    await rename(join(folder, 'press-000002.csv'), join(folder, 'kept.csv'))
    expect(await sink.span?.()).to.deep.equal({ oldest: ns(NOW_MS - 9 * DAY_MS), newest: ns(NOW_MS - 2 * DAY_MS) })
    const before = await sink.committed()

    expect(await sink.removeBefore?.(ns(NOW_MS - 5 * DAY_MS), { maxRows: 1 })).to.equal(0)
    const left = ['kept.csv', 'press-000001.csv.bak', 'press-000003.csv', 'press-000004.csv', 'press-000099.csv', 'press-1.csv']
    expect(await names(), 'that of 4 is still written to').to.deep.equal(left)
    expect(await sink.committed()).to.deep.equal(before)
    expect((await sink.write([0, 1, 2, 3].map(large))).duplicates).to.have.length(4)
    await sink.write([large(4)])
    expect(await names()).to.include('press-000005.csv')

    await sink.close()
    const again = await openSink()
    expect(await again.committed()).to.deep.include({ store: before.store })
    await age('press-000004.csv', 9)
    await again.removeBefore?.(ns(NOW_MS - 5 * DAY_MS), { maxRows: 1 })
    expect(await names()).not.to.include('press-000004.csv')
  })

  it('leaves the files of other sinks in its folder', async () => {
    const others = [await openSink({ file: 'other {source}' }), await openSink({ format: 'arrow' })]
    for (const sink of others) for (let seq = 0; seq < 2; seq++) await sink.write([large(seq)])
    for (const name of await names()) await age(name, 9)
    const before = await names()
    const sink = await openSink()
    await sink.write([large(0)])
    await sink.removeBefore?.(ns(NOW_MS), { maxRows: 1 })
    expect(await names()).to.include.members(before)
  })

  it('begins a file at least as often as files are to go', async () => {
    const dueMs = async (/** @type {object} */ options) => {
      const sink = await openSink(options)
      await sink.write([batchOf([1])])
      await sink.close()
      /** @type {any[]} */
      const lines = []
      await (await LineFile.open(join(folder, '.sluice', 'journal'), line => lines.push(line))).close()
      return lines.findLast(({ begun }) => begun).begun.dueMs
    }
    expect(await dueMs({ keepDays: 0.5 }) % (DAY_MS / 2)).to.equal(0)
    expect(await dueMs({ keepDays: 0.5, maxMinutes: 60, file: 'hourly {source}' })).to.be.most(Date.now() + 3_600_000)
    expect(await dueMs({ file: 'for ever {source}' })).to.equal(null)
  })
})

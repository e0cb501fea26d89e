import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { batchOf, openWriter } from './fake-sink.js'

describe('a writer whose batches need tables that take long to make', () => {
  /** @type {string} */
  let folder
  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'sluice-writer-')) })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** The code of the error a promise rejects with. @param {Promise<unknown>} promise */
  const codeOf = promise => promise.then(() => 'none', error => error.code)

  it('stores those whose tables are there while others are being made', async () => {
    const { writer, sink, meter } = await openWriter(folder, { options: { batchRows: 3, maxAgeMs: 1 } })
    const isMade = new Set(['saw'])
    sink.isLacking = ({ source }) => !isMade.has(source)
    const [press, saw, lathe] = ['press', 'saw', 'lathe'].map((source, i) => writer.write(batchOf([i], 0, source)))
    await saw
    expect(sink.stored).to.deep.equal([1])
    expect(writer.state().pendingRows).to.equal(2)
    isMade.add('press')
    await press
    await writer.write(batchOf([3], 1, 'saw'))
    expect(sink.stored).to.deep.equal([1, 0, 3])
    isMade.add('lathe')
    expect(await lathe).to.deep.equal({ outcome: 'stored', deadRows: 0 })
    expect([sink.stored, meter.rows, writer.state().pendingRows]).to.deep.equal([[1, 0, 3, 2], 4, 0])
    await writer.close()
  })

  it('stores those whose tables are there while others are being made, also where one does not fit its table', async () => {
    const { writer, sink } = await openWriter(folder, { options: { batchRows: 3, maxAgeMs: 1 } })
    let isMade = false
    sink.isLacking = ({ source }) => !isMade && source === 'press'
    sink.isMisfit = ({ source, rows }) => source === 'lathe' && rows > 0
    const [press, saw, lathe] = ['press', 'saw', 'lathe'].map((source, i) => writer.write(batchOf([i], 0, source)))
    expect(await lathe).to.deep.equal({ outcome: 'stored', deadRows: 1 })
    await saw
    expect(sink.stored).to.deep.equal([1])
    isMade = true
    await press
    expect(sink.stored).to.deep.equal([1, 0])
    await writer.close()
  })

  it('releases those whose tables are not made in time', async () => {
    const { writer, sink } = await openWriter(folder, { options: { maxAgeMs: 1 } })
    sink.isLacking = ({ source }) => source === 'press'
    const codes = [codeOf(writer.write(batchOf([1], 0, 'press'))), codeOf(writer.write(batchOf([2], 0, 'saw')))]
    await writer.close({ deadlineMs: 20 })
    expect(await Promise.all(codes)).to.deep.equal(['SLUICE_WRITER_RELEASED', 'none'])
    expect(sink.stored).to.deep.equal([2])
  })

  it('makes dead letters of refused rows once, while tables are being made', async () => {
    const { writer, sink, meter } = await openWriter(folder, { options: { batchRows: 4, maxAgeMs: 1 } })
    let isMade = false
    sink.isLacking = ({ source }) => !isMade && source === 'press'
    sink.isPoison = value => value === 2
    const written = [writer.write(batchOf([1, 2], null, 'press')), writer.write(batchOf([2, 3], null, 'saw'))]
    expect(await written[1]).to.deep.equal({ outcome: 'stored', deadRows: 1 })
    isMade = true
    expect(await written[0]).to.deep.equal({ outcome: 'stored', deadRows: 1 })
    expect([sink.stored, meter.deadLetters]).to.deep.equal([[3, 1], 2])
    await writer.close()
  })
})

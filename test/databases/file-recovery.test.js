import { statSync } from 'node:fs'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, cp, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { tableFromIPC } from 'apache-arrow'
import { expect } from 'chai'
import { useFolder } from '../../gateway/databases/file/folder.js'
import { open, isTransient } from '../../gateway/databases/file/sink.js'
import { LineFile } from '../../gateway/base/line-file.js'
import { ALL_NEW, batchOf, EPOCH, failureOf, identity, rangesOf, rowOf, T0 } from './contract/batches.js'
import { arrowRows, csvRows, filesOf, lineRows } from './file-readers.js'

const RIVAL = fileURLToPath(new URL('./file-rival.js', import.meta.url))
const READERS = { csv: csvRows, lines: lineRows, arrow: arrowRows }

/** @typedef {keyof typeof READERS} Format */

describe('File sink: crashes, rotation and disks', () => {
  /** @type {string} */
  let folder
  /** @type {import('../../gateway/databases/sink.js').Sink[]} */
  let opened
  /** @type {string[]} */
  let warnings

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-file-'))
    opened = []
    warnings = []
  })
  afterEach(async () => {
    for (const sink of opened) await sink.close()
    await rm(folder, { recursive: true })
  })

  const warn = (/** @type {string} */ text) => { warnings.push(text) }
  const log = { info () {}, warn, error: warn }

  /** @param {object} [options] */
  const openSink = async (options = {}) => {
    const sink = await open({ folder, ...options }, { log })
    opened.push(sink)
    return sink
  }

  /** A batch of 20 rows, whose values and times go on from those of the one before. @param {number} seq */
  const batchAt = seq => {
    const values = Array.from({ length: 20 }, (_, i) => seq * 20 + i)
    return batchOf(values, { time: BigInt64Array.from(values, value => T0 + BigInt(value)), identity: identity(seq) })
  }

  /** @param {Format} format @param {string} [where] */
  const forces = async (format, where = folder) => (await READERS[format](where, 'press')).map(({ force }) => force)
  const counted = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => i)
  const namesIn = async () => (await filesOf(folder)).map(({ name }) => name)

  for (const format of /** @type {Format[]} */ (Object.keys(READERS))) {
    it(`cuts off what a kill left of a write, at any point, and stores the batch then: ${format}`, async () => {
      const sink = await openSink({ format })
      await sink.write([batchAt(0)])
      const name = (await namesIn())[0]
      const [before, journalBefore] = await Promise.all([name, '.sluice/journal'].map(path => readFile(join(folder, path))))
      await sink.write([batchAt(1)])
      const [after, journalAfter] = await Promise.all([name, '.sluice/journal'].map(path => readFile(join(folder, path))))
      await sink.close()
      await rm(join(folder, '.sluice', 'lock'))

      const cuts = Array.from({ length: 12 }, (_, i) => before.length + Math.floor((after.length - before.length) * i / 11))
      const journalCuts = [journalBefore.length, journalBefore.length + 1, journalAfter.length - 1, journalAfter.length]
      const torn = [...cuts.map(bytes => [bytes, journalBefore.length]), ...journalCuts.map(bytes => [after.length, bytes])]
      for (const [cut, journalCut] of torn) {
        const copy = await mkdtemp(join(tmpdir(), 'sluice-torn-'))
        try {
          await cp(folder, copy, { recursive: true })
          await writeFile(join(copy, name), after.subarray(0, cut))
          await writeFile(join(copy, '.sluice/journal'), journalAfter.subarray(0, journalCut))
          const again = await openSink({ folder: copy, format })
          const isStored = journalCut === journalAfter.length
          expect(rangesOf(await again.committed()), `${cut} ${journalCut}`).to.deep.equal([{ ...EPOCH, ranges: [[0, isStored ? 1 : 0]] }])
          expect(await forces(format, copy)).to.deep.equal(counted(isStored ? 40 : 20))
          await again.write([batchAt(1)])
          await again.write([batchAt(2)])
          expect(await forces(format, copy)).to.deep.equal(counted(60))
          await again.close()
          expect(await forces(format, copy)).to.deep.equal(counted(60))
        } finally {
          await rm(copy, { recursive: true })
        }
      }
    })
  }

  it('removes a file whose writer is killed before its first rows are stored', async () => {
    const sink = await openSink()
    await sink.write([batchAt(0)])
    await sink.close()
    const [name] = await namesIn()
    const lines = (await readFile(join(folder, '.sluice', 'journal'), 'utf8')).split('\n')
    await writeFile(join(folder, '.sluice', 'journal'), `${lines[0]}\n${lines[1]}\n`)
    expect(lines[1]).to.include('begun')
    const again = await openSink()
    expect(rangesOf(await again.committed())).to.deep.equal([])
    expect(await namesIn()).to.deep.equal([])
    await again.write([batchAt(0)])
    expect(await namesIn()).to.deep.equal([name.replace('1', '2')])
    expect(await forces('csv')).to.deep.equal(counted(20))
  })

  it('has each batch once, and no torn row, after each of several kills', async function () {
    const stored = []
    for (let run = 0; run < 4; run++) {
      const writer = spawn(process.execPath, [RIVAL, folder, 'arrow'], { stdio: ['ignore', 'pipe', 'inherit'] })
      let said = ''
      writer.stdout.setEncoding('utf8').on('data', text => { said += text })
      while (said.split('\n').length < 8 * (run + 1)) await sleep(5)
      writer.kill('SIGKILL')
      await once(writer, 'close')
      stored.push(...said.split('\n').slice(0, -1).map(Number))
    }
    const sink = await openSink({ format: 'arrow' })
    const [{ ranges: [[first, last], ...more] }] = rangesOf(await sink.committed())
    expect([first, more]).to.deep.equal([0, []])
    expect(Math.max(...stored), 'what was reported stored').to.be.at.most(last)
    expect(new Set(stored).size).to.equal(stored.length)
    expect(await forces('arrow')).to.deep.equal(counted(last + 1))
  })

  it('lets one process at a time write in a folder; the others wait and report it', async () => {
    const writer = spawn(process.execPath, [RIVAL, folder, 'csv'], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(writer.stdout, 'data')
      const sink = await openSink()
      const error = await failureOf(() => sink.write([batchAt(0)]))
      expect(error.code).to.equal('SLUICE_SINK_FILE_LOCKED')
      expect(error.message).to.include(`process, ${writer.pid},`).and.to.include(folder)
      expect(isTransient(error)).to.equal(true)
      writer.kill('SIGKILL')
      await once(writer, 'close')
      expect((await sink.write([batchAt(0)])).duplicates).to.have.length(1)
    } finally {
      writer.kill('SIGKILL')
    }
  })

  it('starts a new file before one exceeds its maximum size', async () => {
    const sink = await openSink({ format: 'arrow', maxMegabytes: 1 })
    const many = Array.from({ length: 30_000 }, (_, i) => i)
    for (let seq = 0; seq < 6; seq++) await sink.write([batchOf(many, { identity: identity(seq) })])
    const files = await filesOf(folder)
    expect(files.map(({ name }) => name)).to.deep.equal(['press-000001.arrow', 'press-000002.arrow', 'press-000003.arrow'])
    for (const [i, { path }] of files.entries()) {
      expect((await stat(path)).size).to.be.below(2 ** 20 + 1000)
      if (i < 2) expect(tableFromIPC(await readFile(path)).numRows, 'of a finished file').to.equal(60_000)
    }
    expect(await forces('arrow')).to.have.length(180_000)
  })

  it('finishes a file when its time is up, even if nothing arrives any more', async function () {
    this.timeout(10_000)
    const sink = await openSink({ format: 'arrow', maxMinutes: 1 })
    await sink.write([batchAt(0)])
    await sink.close()
    // As if the minute had passed: the file is due according to its records.
    const journal = join(folder, '.sluice', 'journal')
    /** @type {any[]} */
    const lines = []
    await (await LineFile.open(journal, line => lines.push(line))).close()
    await rm(journal)
    const changed = await LineFile.open(journal, () => {})
    await changed.append(lines.map(line => line.begun ? { begun: { ...line.begun, dueMs: Date.now() + 300 } } : line))
    await changed.close()

    const again = await openSink({ format: 'arrow', maxMinutes: 1 })
    await again.write([batchAt(1)])
    await sleep(1700)
    await again.write([batchAt(2)])
    await again.close()
    const counts = (await filesOf(folder)).map(async ({ path }) => tableFromIPC(await readFile(path)).numRows)
    expect(await Promise.all(counts)).to.deep.equal([40, 20])
  })

  it('commits what was just written to a file before finishing it because too many are open', async () => {
    const types = /** @type {const} */ (['float64', 'float32', 'int64', 'int32', 'int16', 'uint16', 'bool', 'string', 'bytes'])
    const values = { int64: 1n, string: 'x', bytes: Buffer.from('x') }
    const batchOfType = (/** @type {number} */ type, /** @type {number} */ seq) =>
      rowOf({ force: [types[type], /** @type {any} */ (values)[types[type]] ?? 1] }, { identity: identity(seq) })
    const sink = await openSink({ format: 'arrow' })
    for (let type = 0; type < 8; type++) await sink.write([batchOfType(type, type)])
    await sink.write([batchOfType(0, 8), batchOfType(8, 9)])
    /** @type {any[]} */
    const lines = []
    await (await LineFile.open(join(folder, '.sluice', 'journal'), line => lines.push(line), { readOnly: true })).close()
    const { lengths } = lines.pop()
    const unfinished = new Set(lines.flatMap(({ begun }) => begun?.name ?? []))
    for (const { finished } of lines) unfinished.delete(finished)
    expect([...unfinished]).to.include.members(Object.keys(lengths)).and.to.have.length(8)
  })

  it('stays closed when something waits for its turn while its last user closes it', async () => {
    const left = await useFolder(folder, log)
    await left.run(() => {})
    const released = left.release()
    const late = failureOf(() => left.run(() => {}))
    await released
    expect((await late).code).to.equal('SLUICE_SINK_FILE_CLOSED')
    await (await openSink()).write([batchAt(0)])
    expect(await forces('csv')).to.deep.equal(counted(20))
  })

  it('undoes a failed write before another process may write', async () => {
    await (await openSink()).write([batchAt(0)])
    const [{ path }] = await filesOf(folder)
    const { size } = await stat(path)
    let sizeThen = 0
    const shared = await useFolder(folder, log)
    const error = await failureOf(() => shared.run(async held => {
      const { unlock } = held
      held.unlock = () => {
        sizeThen = statSync(path).size
        unlock()
      }
      await appendFile(path, 'half a row')
      throw new Error('the disk is full')
    }))
    expect(error.message).to.equal('the disk is full')
    expect(sizeThen).to.equal(size)
    await shared.release()
  })

  it('continues in the same file when it is opened again, and leaves complete Arrow files', async () => {
    for (let seq = 0; seq < 3; seq++) {
      const sink = await openSink({ format: 'arrow' })
      await sink.write([batchAt(seq)])
      await sink.close()
      const [{ path }] = await filesOf(folder)
      const table = tableFromIPC(await readFile(path))
      expect([table.numRows, table.batches.length]).to.deep.equal([20 * (seq + 1), seq + 1])
    }
    expect(await namesIn()).to.deep.equal(['press-000001.arrow'])
    expect(warnings).to.deep.equal([])
  })

  it('is an Arrow stream after its first eight bytes while it is written', async () => {
    const sink = await openSink({ format: 'arrow' })
    await sink.write([batchAt(0)])
    const [{ path }] = await filesOf(folder)
    expect(tableFromIPC((await readFile(path)).subarray(8)).numRows).to.equal(20)
  })

  it('leaves files alone that other programs have moved, deleted or changed, and continues in a new one', async () => {
    const sink = await openSink()
    await sink.write([batchAt(0)])
    await rename(join(folder, 'press-000001.csv'), join(folder, 'taken.csv'))
    await sink.write([batchAt(1)])
    await appendFile(join(folder, 'press-000002.csv'), '# a note\n')
    await sink.write([batchAt(2)])
    await rm(join(folder, 'press-000003.csv'))
    await sink.close()
    const again = await openSink()
    await again.write([batchAt(3)])
    await again.close()
    await truncate(join(folder, 'press-000004.csv'), 10)
    await (await openSink()).write([batchAt(4)])
    const files = ['press-000002.csv', 'press-000004.csv', 'press-000005.csv', 'taken.csv']
    expect((await readdir(folder)).sort()).to.deep.equal(['.sluice', ...files])
    expect(await readFile(join(folder, 'press-000002.csv'), 'utf8')).to.match(/# a note\n$/)
    expect(warnings).to.have.length(4)
    expect(warnings.join('\n')).to.match(/moved, deleted or changed.*\n.*changed.*\n.*is gone.*\n.*is shorter/)
  })

  it('leaves an Arrow file alone that has been changed, and stores what follows', async () => {
    const sink = await openSink({ format: 'arrow' })
    await sink.write([batchAt(0)])
    await sink.close()
    const [{ path }] = await filesOf(folder)
    const bytes = await readFile(path)
    await writeFile(path, bytes.fill(0, 8))
    const again = await openSink({ format: 'arrow' })
    expect((await again.write([batchAt(0)])).duplicates).to.have.length(1)
    await again.write([batchAt(1)])
    expect(await namesIn()).to.deep.equal(['press-000001.arrow', 'press-000002.arrow'])
    expect(warnings.join()).to.match(/000001.arrow" is damaged/)
  })

  it('rewrites its records before they grow without limit', async () => {
    const epoch = { gateway: 'g'.repeat(6000), source: 'press', epoch: '1-a' }
    const sink = await openSink()
    for (let seq = 0; seq < 250; seq++) {
      await sink.write([batchOf([seq], { time: BigInt64Array.of(T0 + BigInt(seq)), identity: { ...epoch, seq } })])
    }
    expect((await stat(join(folder, '.sluice', 'journal'))).size).to.be.below(2 ** 20)
    await sink.close()
    const again = await openSink()
    expect(rangesOf(await again.committed())).to.deep.equal([{ ...epoch, ranges: [[0, 249]] }])
    await again.write([batchOf([250], { time: BigInt64Array.of(T0 + 250n), identity: { ...epoch, seq: 250 } })])
    expect(await forces('csv')).to.deep.equal(counted(251))
    expect(await namesIn()).to.have.length(1)
  })

  for (const format of /** @type {Format[]} */ (['csv', 'arrow'])) {
    it(`waits while the disk is full, leaves nothing of what failed, and continues when there is room: ${format}`, async function () {
      const disk = await mkdtemp(join(tmpdir(), 'sluice-full-'))
      try {
        execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk], { stdio: 'pipe' })
      } catch {
        await rm(disk, { recursive: true })
        console.log('      skipped, a small disk: mounting a tmpfs needs root')
        return this.skip()
      }
      try {
        const sink = await openSink({ folder: disk, format })
        await sink.write([batchAt(0)])
        await writeFile(join(disk, 'filler'), Buffer.alloc(900_000))
        const values = Array.from({ length: 20_000 }, (_, i) => i + 20)
        const large = batchOf(values, { time: BigInt64Array.from(values, value => T0 + BigInt(value)), identity: identity(1) })
        for (let i = 0; i < 2; i++) {
          const error = await failureOf(() => sink.write([large]))
          expect(error.message).to.match(/ENOSPC/)
          expect(isTransient(error)).to.equal(true)
          expect(await forces(format, disk)).to.deep.equal(counted(20))
        }
        await rm(join(disk, 'filler'))
        expect(await sink.write([large])).to.deep.equal(ALL_NEW)
        expect(await forces(format, disk)).to.deep.equal(counted(20_020))
        await sink.close()
      } finally {
        execFileSync('umount', ['-l', disk])
        await rm(disk, { recursive: true, force: true })
      }
    })
  }
})

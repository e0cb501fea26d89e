import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { LineFile } from '../../gateway/base/line-file.js'
import { Batch } from '../../gateway/batch/batch.js'
import { decode } from '../../gateway/messages/codecs/arrow/arrow.js'
import { open, isTransient } from '../../gateway/databases/file/sink.js'
import { ALL_NEW, batchOf, EPOCH, failureOf, identity, rangesOf, rowOf, T0 } from './contract/batches.js'
import { sinkContract } from './contract/contract.js'
import { writerContract } from './contract/writer.js'
import { arrowRows, csvRows, filesOf, lineRows, setBack } from './file-readers.js'

const DIFFERS = {
  'can be prepared by several at once': 'a file is begun by its first rows: "unites the columns of what is written at once"'
}

const FORMATS = /** @type {const} */ ({
  csv: { read: csvRows, nan: NaN, differs: {} },
  arrow: { read: arrowRows, nan: NaN, differs: {} },
  lines: {
    read: lineRows,
    nan: undefined,
    differs: {
      'stores the infinities, and NaN as the database can': 'lines cannot express them: "leaves out what lines cannot express"',
      'keeps nanoseconds over the whole range of time': 'a row without a value has no line: "leaves out what lines cannot express"',
      'stores tags as columns': 'an empty tag has no place in a line: "leaves out what lines cannot express"',
      'keeps fields and tags of the same name apart': 'a line keeps tags and fields apart: "leaves out what lines cannot express"'
    }
  }
})

describe('File sink', () => {
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

  /** @param {{table?: string, [option: string]: unknown}} [options] */
  const openSink = async ({ table = '{source}', ...options } = {}) => {
    const sink = await open({ folder, file: table, ...options })
    opened.push(sink)
    return sink
  }

  /** What is in the only file. @param {Record<string, unknown>} options @param {...Batch} batches */
  const fileOf = async (options, ...batches) => {
    const sink = await openSink(options)
    await sink.write(batches)
    await sink.close()
    const [{ path }, ...others] = await filesOf(folder)
    expect(others).to.deep.equal([])
    return readFile(path)
  }

  for (const [format, { read, nan, differs }] of Object.entries(FORMATS)) {
    describe(format, () => {
      const openFormat = (/** @type {object} */ options = {}) => openSink({ format, ...options })
      const rows = (/** @type {string} */ table) => read(folder, table)

      sinkContract({
        open: openFormat,
        isTransient,
        rows,
        tables: async () => [...new Set((await filesOf(folder)).map(({ table }) => table))],
        drop: async () => {},
        elsewhere: () => openFormat({ folder: join(folder, 'elsewhere') }),
        setBack: seq => setBack(folder, seq),
        guarantee: 'transaction',
        hasColumns: false,
        layouts: ['narrow', 'document'],
        nan,
        ignoresCase: false,
        differs: { ...DIFFERS, ...differs }
      })

      writerContract({
        open: openFormat,
        isTransient,
        rows,
        wrong: [{ what: 'a folder that cannot be created', options: { folder: '/dev/null/plant' }, tells: /ENOTDIR|EEXIST/ }]
      })

      it('treats a folder\'s files of another format as those of another sink', async () => {
        const batch = batchOf([1], { identity: identity(0) })
        await (await openFormat()).write([batch])
        const other = await openSink({ format: format === 'csv' ? 'arrow' : 'csv' })
        expect(rangesOf(await other.committed())).to.deep.equal([])
        expect(await other.write([batch])).to.deep.equal(ALL_NEW)
      })
    })
  }

  describe('its folder', () => {
    it('is noticed when it has been moved away, and what was in it is stored again', async () => {
      const sink = await openSink()
      const batches = [0, 1].map(seq => batchOf([seq], { identity: identity(seq) }))
      await sink.write(batches)
      await rename(folder, `${folder}-moved`)
      expect((await failureOf(() => sink.write(batches))).code).to.equal('SLUICE_SINK_SET_BACK')
      expect((await sink.committed()).records).to.deep.equal([])
      expect(await sink.write(batches)).to.deep.equal(ALL_NEW)
      expect(await csvRows(folder, 'press')).to.have.length(2)
      await rm(`${folder}-moved`, { recursive: true })
    })

    it('may be replaced by a copy that has all', async () => {
      const sink = await openSink()
      const batches = [0, 1].map(seq => batchOf([seq], { identity: identity(seq) }))
      await sink.write([batches[0]])
      await cp(folder, `${folder}-copy`, { recursive: true })
      await rm(folder, { recursive: true })
      await rename(`${folder}-copy`, folder)
      expect((await sink.write(batches)).duplicates).to.deep.equal([batches[0]])
      expect(await csvRows(folder, 'press')).to.have.length(2)
    })

    it('has records that only the gateway\'s user may read, and data files as the umask leaves them', async () => {
      await (await openSink()).write([batchOf([1])])
      const modes = await Promise.all(['.sluice', '.sluice/journal', '.sluice/lock', '.sluice/pid', 'press-000001.csv']
        .map(async name => ((await stat(join(folder, name))).mode & 0o777).toString(8)))
      expect(modes).to.deep.equal(['700', '600', '600', '600', (0o666 & ~process.umask()).toString(8)])
    })

    it('is not taken over from version 0.1', async () => {
      await mkdir(join(folder, '.sluice'))
      const journal = await LineFile.open(join(folder, '.sluice', 'journal'), () => {})
      await journal.append([{ stored: [{ table: 'press.csv', ...EPOCH, ranges: [[0, 7]] }], lengths: {} }])
      await journal.close()
      const error = await failureOf(async () => (await openSink()).committed())
      expect([error.code, isTransient(error)]).to.deep.equal(['SLUICE_SINK_RECORDS_OLD', true])
    })
  })

  describe('as CSV', () => {
    const rich = new Batch({
      source: 'press',
      tags: { line: 'a "b", c' },
      time: BigInt64Array.of(T0, -1n),
      fields: [
        { name: 'x, y', type: 'float64' },
        { name: 'n', type: 'int64' },
        { name: 'on', type: 'bool' },
        { name: 'text', type: 'string' },
        { name: 'blob', type: 'bytes' }
      ],
      columns: [
        Float64Array.of(-0.5, NaN),
        BigInt64Array.of(2n ** 63n - 1n, 0n),
        Uint8Array.of(1, 0),
        ['say "hi"\n', ''],
        [Uint8Array.of(0, 255), new Uint8Array(0)]
      ],
      validity: [null, Uint8Array.of(1, 0), null, null, null]
    })

    it('follows RFC 4180, and distinguishes an empty text from a missing one', async () => {
      expect((await fileOf({}, rich)).toString()).to.equal([
        'time,line,"x, y",n,on,text,blob',
        '2023-11-14T22:13:20.123456789Z,"a ""b"", c",-0.5,9223372036854775807,true,"say ""hi""\n","00ff"',
        '1969-12-31T23:59:59.999999999Z,"a ""b"", c",NaN,,false,"",""',
        ''
      ].join('\n'))
    })

    it('writes times as nanoseconds where configured', async () => {
      const file = await fileOf({ timeFormat: 'ns' }, batchOf([1, 2]))
      expect(file.toString()).to.equal('time,force\n1700000000123456789,1\n1700000000123456790,2\n')
    })
  })

  describe('as Arrow', () => {
    it('is what Sluice reads itself, with units and gaps, in the order of the rows', async () => {
      const gap = rowOf({ force: ['float64', undefined], note: ['string', 'x'] }, {
        fields: [{ name: 'force', type: 'float64', unit: 'N' }, { name: 'note', type: 'string' }]
      })
      const stream = (await fileOf({ format: 'arrow' }, gap, batchOf([1, 2]))).subarray(8)
      const batch = decode(new Uint8Array(stream))
      expect(batch.fields).to.deep.equal([{ name: 'force', type: 'float64', unit: 'N' }, { name: 'note', type: 'string' }])
      expect(batch.toObjects()).to.deep.equal([{ time: T0, note: 'x' }, { time: T0, force: 1 }, { time: T0 + 1n, force: 2 }])
      expect(batch.identity).to.equal(null)
    })

    it('writes a column whose type or unit has changed to another file, and keeps using both', async () => {
      const sink = await openSink({ format: 'arrow' })
      const kinds = [rowOf({ level: ['int32', 1] }), rowOf({ level: ['float64', 1.5] })]
      for (let i = 0; i < 6; i++) await sink.write([kinds[i % 2]])
      expect((await readdir(folder)).filter(name => name.startsWith('press'))).to.deep.equal(['press-000001.arrow', 'press-000002.arrow'])
      await sink.write([batchOf([1]), batchOf([1], { fields: [{ name: 'force', type: 'float64', unit: 'kN' }] })])
      expect(await filesOf(folder)).to.have.length(4)
    })
  })

  describe('as lines', () => {
    it('leaves out what lines cannot express', async () => {
      const batch = new Batch({
        source: 'press',
        tags: { line: 'Süd', shift: '', time: 'night' },
        time: BigInt64Array.of(-(2n ** 63n), 1n, 2n ** 63n - 1n),
        fields: [{ name: 'line', type: 'float64' }, { name: 'on', type: 'bool' }],
        columns: [Float64Array.of(1.5, Infinity, NaN), Uint8Array.of(1, 0, 1)],
        validity: [null, Uint8Array.of(1, 0, 1)]
      })
      expect((await fileOf({ format: 'lines' }, batch)).toString()).to.equal(
        'press,line=Süd,time~tag=night line=1.5,on=t -9223372036854775808\npress,line=Süd,time~tag=night on=t 9223372036854775807\n'
      )
    })

    it('refuses for good what no line can hold, and stores the rest', async () => {
      const sink = await openSink({ format: 'lines' })
      const error = await sink.write([batchOf([1]), rowOf({ 'a\nb': ['float64', 1] })]).catch(reason => reason)
      expect(error.code).to.equal('SLUICE_SINK_IDENTIFIER')
      expect(isTransient(error)).to.equal(false)
      await sink.write([batchOf([1])])
      expect(await lineRows(folder, 'press')).to.have.length(1)
    })
  })

  it('combines the columns of what is written at once and of the file before', async () => {
    const sink = await openSink()
    await sink.write([rowOf({ a: ['float64', 1] }), rowOf({ b: ['float64', 2] })])
    await sink.write([rowOf({ c: ['float64', 3] })])
    await sink.write([rowOf({ a: ['float64', 4] })])
    const files = await Promise.all((await filesOf(folder)).map(({ path }) => readFile(path, 'utf8')))
    const time = '2023-11-14T22:13:20.123456789Z'
    expect(files).to.deep.equal([`time,a,b\n${time},1,\n${time},,2\n`, `time,c,a,b\n${time},3,,\n${time},,4,\n`])
  })

  it('keeps files apart whose sources have names that no file can have, or that map to the same one', async () => {
    const sources = ['a/b', '../c', '.hidden', 'CON', 'a%2Fb', 'con', 'press-000001', 'press']
    const sink = await openSink()
    await sink.write(sources.map((source, i) => batchOf([i], { source })))
    for (const [i, source] of sources.entries()) expect(await csvRows(folder, source)).to.deep.equal([{ time: T0, force: i }])
    expect((await readdir(folder)).sort()).to.include.members(['%2E.%2Fc-000001.csv', 'a%252Fb-000001.csv', 'a%2Fb-000001.csv'])
  })
})

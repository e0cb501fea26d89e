import { appendFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { Batch, COLUMN_TYPES } from '../../gateway/batch/batch.js'
import { deadLetter, toBatches } from '../../gateway/dead-letters/dead-letter.js'
import { DeadLetterDesk } from '../../gateway/dead-letters/desk.js'
import { FILE_NAME, deadLettersFolder, openDeadLetterQueue } from '../../gateway/dead-letters/queue.js'
import { replayed } from '../../gateway/dead-letters/replay.js'
import { batchOf, range, valuesOf } from '../writer/fake-sink.js'

const REFUSED = new Error('not allowed')

/** @param {number} seq @param {number} [row] */
const letter = (seq, row = 0) => deadLetter(batchOf([10, 11, 12], seq), row, REFUSED)

/** @param {number} seq @param {number} [row] */
const key = (seq, row = 0) => `gw/press/1-a/${seq}/${row}`

/** What a row becomes when it is kept, written as JSON, and made a row again. @param {Batch} batch */
const roundTrip = batch => [...toBatches(JSON.parse(JSON.stringify(range(0, batch.rows).map(row => deadLetter(batch, row, REFUSED)))))]

describe('a dead letter', () => {
  it('says what was refused, and why', () => {
    const error = Object.assign(new Error('value out of range'), { code: '22003' })
    const { failedAt, ...rest } = deadLetter(batchOf([1, 2, 3], 7), 1, error)
    expect(rest).to.deep.equal({
      key: 'gw/press/1-a/7/1',
      reason: { code: '22003', text: '22003: value out of range' },
      identity: { gateway: 'gw', source: 'press', epoch: '1-a', seq: 7 },
      row: 1,
      source: 'press',
      time: '1700000000000000001',
      tags: {},
      fields: [{ name: 'force', type: 'float64', unit: 'N' }],
      values: [2]
    })
    expect(Date.parse(failedAt)).to.be.closeTo(Date.now(), 10_000)
  })

  it('has a key of its own where the batch had no identity', () => {
    const keys = [0, 1].map(row => deadLetter(batchOf([1, 2]), row, REFUSED).key)
    expect(keys[0]).to.not.equal(keys[1])
  })

  it('becomes exactly the row it was, whatever its values', () => {
    /** @type {Record<string, fc.Arbitrary<any>>} */
    const values = {
      float64: fc.double(),
      float32: fc.float(),
      int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      int32: fc.integer(),
      int16: fc.integer({ min: -32768, max: 32767 }),
      uint16: fc.nat(65535),
      bool: fc.nat(1),
      string: fc.string({ unit: 'binary' }),
      bytes: fc.uint8Array()
    }
    const types = /** @type {(keyof COLUMN_TYPES)[]} */ (Object.keys(COLUMN_TYPES))
    const field = fc.record({ name: fc.string({ minLength: 1 }), type: fc.constantFrom(...types) })
    const fields = fc.uniqueArray(field, { selector: ({ name }) => name, maxLength: 5 })
    const time = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
    const batches = fc.tuple(fields, fc.integer({ min: 1, max: 4 })).chain(([itsFields, rows]) => fc.record({
      source: fc.string({ minLength: 1 }),
      tags: fc.dictionary(fc.string(), fc.string()).map(tags => ({ ...tags })),
      time: fc.array(time, { minLength: rows, maxLength: rows }).map(times => BigInt64Array.from(times)),
      fields: fc.constant(itsFields),
      columns: fc.tuple(...itsFields.map(({ type }) => fc.array(values[type], { minLength: rows, maxLength: rows })
        .map(array => COLUMN_TYPES[type] === Array ? array : /** @type {any} */ (COLUMN_TYPES[type]).from(array)))),
      validity: fc.tuple(...itsFields.map(() => {
        return fc.option(fc.array(fc.nat(1), { minLength: rows, maxLength: rows }).map(marks => Uint8Array.from(marks)))
      }))
    }))
    fc.assert(fc.property(batches, parts => {
      const batch = new Batch(/** @type {any} */ (parts))
      const [{ batch: restored }, ...more] = roundTrip(batch)
      expect(more).to.deep.equal([])
      expect(restored.identity).to.equal(null)
      expect(restored).to.deep.include({ source: batch.source, time: batch.time, fields: batch.fields, tags: batch.tags })
      for (const [f, row] of batch.fields.flatMap((_, i) => range(0, batch.rows).map(r => [i, r]))) {
        expect(restored.value(f, row)).to.deep.equal(batch.value(f, row))
      }
    }), { numRuns: 1000 })
  })

  it('shares a batch with those of the same shape', () => {
    const other = batchOf([5], 9, 'lathe')
    const batches = [...toBatches([letter(0), letter(1), deadLetter(other, 0, REFUSED), letter(2)])]
    expect(batches.map(({ batch, keys }) => [batch.source, valuesOf(batch), keys])).to.deep.equal([
      ['press', [10, 10], [key(0), key(1)]],
      ['lathe', [5], ['gw/lathe/1-a/9/0']],
      ['press', [10], [key(2)]]
    ])
  })
})

describe('dead letters', () => {
  /** @type {string} */
  let root
  /** @type {string} */
  let folder
  /** @type {import('../../gateway/dead-letters/queue.js').DeadLetterQueue} */
  let letters
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'sluice-dead-letters-'))
    folder = deadLettersFolder(root, 'plant/db')
    letters = await openDeadLetterQueue(folder)
  })
  afterEach(async () => {
    await letters.close()
    await rm(root, { recursive: true, force: true })
  })

  const reopen = async (/** @type {object} */ options = {}) => {
    await letters.close()
    letters = await openDeadLetterQueue(folder, options)
  }

  it('are listed, oldest first, and found by their key', async () => {
    await letters.append([letter(0), letter(1)])
    await letters.append([letter(2)])
    expect(letters.count).to.equal(3)
    expect(letters.keys).to.deep.equal([key(0), key(1), key(2)])
    expect((await letters.list({ offset: 1, limit: 1 })).map(one => one.key)).to.deep.equal([key(1)])
    expect((await letters.get(key(2)))?.values).to.deep.equal([10])
    expect(await letters.get('nobody')).to.equal(undefined)
  })

  it('are kept over restarts, each once', async () => {
    await letters.append([letter(0), letter(1)])
    await reopen()
    await letters.append([letter(1), letter(2), letter(0)])
    expect(letters.keys).to.deep.equal([key(0), key(1), key(2)])
  })

  it('tell which rows of a batch are settled, also when they were replayed and the file rewritten', async () => {
    const identity = { gateway: 'gw', source: 'press', epoch: '1-a', seq: 4 }
    await letters.append([letter(4, 0), letter(4, 2), letter(5)])
    await letters.replayed([key(4, 0), key(4, 2)])
    expect(letters.settledRows(identity)?.ranges).to.deep.equal([[0, 0], [2, 2]])
    await reopen()
    expect(letters.settledRows(identity)?.ranges).to.deep.equal([[0, 0], [2, 2]])
    expect(letters.settledRows({ ...identity, seq: 6 })).to.equal(undefined)
    await letters.append([letter(4, 2)])
    expect(letters.keys).to.deep.equal([key(5)])
  })

  it('free their room when they are replayed', async () => {
    await letters.append(range(0, 3000).map(seq => letter(seq)))
    const { bytes } = letters
    await letters.replayed(range(0, 2999).map(seq => key(seq)))
    expect(letters.bytes).to.be.below(bytes / 2)
    expect(letters.keys).to.deep.equal([key(2999)])
    await reopen()
    expect((await letters.list()).map(one => one.key)).to.deep.equal([key(2999)])
    expect(await readdir(folder)).to.deep.equal([FILE_NAME])
  })

  it('know which of them are on their way, also when the file is rewritten', async () => {
    await letters.append(range(0, 3000).map(seq => letter(seq)))
    const replay = { replay: { epoch: '1-a', seq: 0 }, keys: [key(1), key(2)] }
    await letters.beginReplay(replay)
    await letters.replayed(range(3, 3000).map(seq => key(seq)))
    await reopen()
    expect(letters.replays).to.deep.equal([replay])
    await letters.replayed(replay.keys)
    expect(letters.replays).to.deep.equal([])
  })

  it('are refused when there is no room, until some are replayed', async () => {
    await reopen({ maxBytes: 1000 })
    const ofAnother = (/** @type {number} */ seq) => deadLetter(batchOf([10], seq, `press ${seq}`), 0, REFUSED)
    expect(letters.fillPercent).to.equal(0)
    for (let seq = 0; letters.bytes < 1000; seq++) await letters.append([ofAnother(seq)])
    expect(letters.fillPercent).to.be.within(100, 200)
    const refused = await letters.append([ofAnother(100)]).catch(error => error)
    expect(refused.code).to.equal('SLUICE_DEAD_LETTERS_FULL')
    await letters.append([ofAnother(0)])
    await letters.replayed(letters.keys)
    await letters.append([ofAnother(100)])
    expect(letters.keys).to.deep.equal(['gw/press 100/1-a/100/0'])
  })

  it('of one source do not take the room of the others; what was replayed and is refused again comes back', async () => {
    await reopen({ maxBytes: 4000 })
    for (let seq = 0; !letters.isFullFor('press'); seq++) await letters.append([letter(seq)])
    expect(letters.bytes).to.be.within(1000, 2000)
    expect(letters.fullSources).to.deep.equal(['press'])
    const lathe = deadLetter(batchOf([10], 0, 'lathe'), 0, REFUSED)
    expect([...await letters.append([letter(100), lathe])]).to.deep.equal(['press'])
    expect(letters.keys).to.include(lathe.key).and.not.include(key(100))
    const again = deadLetter(replayed(batchOf([10]), { epoch: '1-b', seq: 0 }), 0, REFUSED)
    expect([...await letters.append([again])]).to.deep.equal([])
    await letters.replayed(letters.keys)
    expect([...await letters.append([letter(100)])]).to.deep.equal([])
  })

  it('survive a kill at any byte: what was half written is cut off, and said', async () => {
    await letters.append([letter(0), letter(1)])
    const { bytes } = letters
    await letters.append([letter(2)])
    await letters.close()
    const path = join(folder, FILE_NAME)
    const whole = await readFile(path)
    for (const size of range(bytes, whole.length)) {
      await writeFile(path, whole.subarray(0, size))
      /** @type {string[]} */
      const said = []
      const log = { info () {}, warn: (/** @type {string} */ text) => { said.push(text) }, error () {} }
      letters = await openDeadLetterQueue(folder, { log })
      expect(letters.keys).to.deep.equal([key(0), key(1)])
      expect(letters.tornBytes).to.equal(size - bytes)
      expect(said).to.have.length(size > bytes ? 1 : 0)
      await letters.append([letter(2)])
      expect(letters.keys).to.have.length(3)
      await letters.close()
    }
  })

  it('go on behind a damaged line, and count it', async () => {
    await letters.append([letter(0), letter(1), letter(2)])
    await letters.close()
    const path = join(folder, FILE_NAME)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace('"seq":1', '"seq":7'))
    letters = await openDeadLetterQueue(folder)
    expect(letters.keys).to.deep.equal([key(0), key(2)])
    expect([letters.damaged, letters.tornBytes]).to.deep.equal([1, 0])
  })

  it('can be looked at while they are being written', async () => {
    await letters.append([letter(0)])
    await appendFile(join(folder, FILE_NAME), 'half a li')
    const reader = await openDeadLetterQueue(folder, { readOnly: true })
    expect((await reader.list()).map(one => one.key)).to.deep.equal([key(0)])
    await reader.close()
    expect(await readFile(join(folder, FILE_NAME), 'utf8')).to.match(/half a li$/)
  })

  describe('replayed', () => {
    /** @param {string[]|undefined} keys @param {(batch: Batch) => Promise<void>} accept */
    const replay = (keys, accept) => new DeadLetterDesk(() => [['plant/db', letters]], accept).replay({ keys })

    it('are removed once their rows are accepted', async () => {
      await letters.append([letter(0), letter(1), letter(2)])
      /** @type {number[][]} */
      const accepted = []
      const result = await replay([key(2), key(0)], async batch => {
        expect(letters.count).to.equal(3)
        accepted.push(valuesOf(batch))
      })
      expect(result).to.deep.equal({ replayed: 2 })
      expect(accepted).to.deep.equal([[10, 10]])
      expect(letters.keys).to.deep.equal([key(1)])
    })

    it('stay when they are not accepted', async () => {
      await letters.append([letter(0), deadLetter(batchOf([1], 1, 'lathe'), 0, REFUSED)])
      const failed = await replay(undefined, async ({ source }) => {
        if (source === 'lathe') throw new Error('spool is full')
      }).catch(error => error)
      expect(failed.message).to.equal('spool is full')
      expect(letters.keys).to.deep.equal(['gw/lathe/1-a/1/0'])
    })

    it('must all be known', async () => {
      await letters.append([letter(0)])
      const failed = await replay([key(0), 'nobody'], async () => {}).catch(error => error)
      expect(failed.code).to.equal('SLUICE_DEAD_LETTER_UNKNOWN')
      expect(letters.count).to.equal(1)
    })
  })
})

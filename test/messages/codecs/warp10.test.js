import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../../gateway/batch/batch.js'
import { decodeWarp10, mayBeWarp10 } from '../../../gateway/messages/codecs/warp10/decode.js'
import { encodeWarp10 } from '../../../gateway/messages/codecs/warp10/encode.js'
import { FORMATS } from '../../../gateway/messages/codecs/warp10/text.js'
import { batchOf, EVERY_TYPE, tagOf } from './batches.js'

/** @typedef {import('../../../gateway/batch/batch.js').FieldType} FieldType */

const PLACE = { latitude: 47.36333099193871, longitude: 4.898983938619494, elevation: 214.748 }

/** @param {Batch} batch @param {import('../../../gateway/messages/codecs/warp10/text.js').Warp10Format} format @param {object} [options] */
const textOf = (batch, format, options) => Buffer.concat([...encodeWarp10(batch, format, options)]).toString()

/**
 * Rows of the study's car.
 * @param {number[]} microseconds @param {Record<string, [FieldType, unknown[]]>} columns @param {typeof PLACE} [place]
 */
const car = (microseconds, columns, place = PLACE) => {
  const all = (/** @type {number} */ value) => /** @type {[FieldType, unknown[]]} */ (['float64', microseconds.map(() => value)])
  return batchOf({ latitude: all(place.latitude), longitude: all(place.longitude), elevation: all(place.elevation), ...columns }, {
    source: 'xaaabvb',
    time: BigInt64Array.from(microseconds, us => BigInt(us) * 1000n)
  })
}

describe('Warp 10 text, as it is printed in the study', () => {
  it('naive: a line for each value', () => {
    const batch = car([1412918379300000], {
      throttlepedal: ['float64', [23.5]],
      torque: ['int16', [78]],
      boostpressure: ['float64', [0.69]],
      gammalongitudinal: ['float64', [-0.05078125]],
      speed: ['float64', [101.818769659]],
      wheeltorque: ['int16', [222]],
      externaltemp: ['float64', [15]],
      yawrate: ['float64', [-11.89]],
      engineoiltemp: ['float64', [92]]
    }, { latitude: 47.363331, longitude: 4.898984, elevation: 214.748 })
    expect(textOf(batch, 'naive')).to.equal(`\
1412918379300000/47.363331:4.898984/214748 throttlepedal{id=xaaabvb} 23.5
1412918379300000/47.363331:4.898984/214748 torque{id=xaaabvb} 78
1412918379300000/47.363331:4.898984/214748 boostpressure{id=xaaabvb} 0.69
1412918379300000/47.363331:4.898984/214748 gammalongitudinal{id=xaaabvb} -0.05078125
1412918379300000/47.363331:4.898984/214748 speed{id=xaaabvb} 101.818769659
1412918379300000/47.363331:4.898984/214748 wheeltorque{id=xaaabvb} 222
1412918379300000/47.363331:4.898984/214748 externaltemp{id=xaaabvb} 15.0
1412918379300000/47.363331:4.898984/214748 yawrate{id=xaaabvb} -11.89
1412918379300000/47.363331:4.898984/214748 engineoiltemp{id=xaaabvb} 92.0
`)
  })

  const standing = () => car([1435854991700000, 1435854991600000, 1435854991500000], { wheeltorque: ['int16', [0, 0, 0]] })

  it('ordered: by channels', () => {
    expect(textOf(standing(), 'ordered')).to.equal(`\
1435854991700000/47.36333099193871:4.898983938619494/214748 wheeltorque{id=xaaabvb} 0
1435854991600000/47.36333099193871:4.898983938619494/214748 wheeltorque{id=xaaabvb} 0
1435854991500000/47.36333099193871:4.898983938619494/214748 wheeltorque{id=xaaabvb} 0
`)
  })

  it('optimized: continued by =', () => {
    expect(textOf(standing(), 'optimized')).to.equal(`\
1435854991700000/47.36333099193871:4.898983938619494/214748 wheeltorque{id=xaaabvb} 0
=1435854991600000/47.36333099193871:4.898983938619494/214748 0
=1435854991500000/47.36333099193871:4.898983938619494/214748 0
`)
  })

  // Both lines with all of their 22 values.
  const lines = [
    ['222 37.0 71.89889 830.909846282 826.901874311 92.0 -11.89 823.158183564 3 -0.05078125 101.818769659 78 15.0 4796.16306954',
      '0.69 0.578125 810.153929247 0.0 86.0 23.0 23.5 53'],
    ['203 38.0 71.90889 831.370375502 827.586206897 92.0 -12.69 823.723228995 3 -0.046875 101.898755149 71 15.0 4803.84307446',
      '0.69 0.55859375 809.71659919 0.0 86.0 23.0 23.5 49']
  ].map(halves => halves.join(' '))
  const driving = () => {
    const rows = lines.map(line => line.split(' '))
    const columns = rows[0].map((first, i) => /** @type {[string, [FieldType, unknown[]]]} */ ([
      `channel${i}`, [first.includes('.') ? 'float64' : 'int16', rows.map(row => Number(row[i]))]
    ]))
    return car([1435848939300000, 1435848939400000], Object.fromEntries(columns))
  }

  for (const [format, open] of /** @type {const} */ ([['multi-value', '['], ['uncompressed', '[!']])) {
    it(`${format}: a line for the 22 values of a time`, () => {
      expect(textOf(driving(), format)).to.equal(`\
1435848939300000/47.36333099193871:4.898983938619494/214748 allchannels{id=xaaabvb} ${open} ${lines[0]} ]
=1435848939400000/47.36333099193871:4.898983938619494/214748 ${open} ${lines[1]} ]
`)
    })
  }

  it('is read again: every format gives the same row', () => {
    const names = driving().fields.slice(3).map(({ name }) => name)
    for (const format of FORMATS) {
      const { batches: [batch, ...more], refused } = decodeWarp10(Buffer.from(textOf(driving(), format)), { fields: names })
      expect(refused, format).to.deep.equal([])
      expect(more, format).to.deep.equal([])
      expect(batch).to.include({ source: 'xaaabvb', rows: 2 })
      const whole = driving().toObjects().map(({ time, ...row }) => ({ time, ...numbers(row) }))
      expect(batch.toObjects().map(({ time, ...row }) => ({ time, ...numbers(row) })), format).to.deep.equal(whole)
      const wholeNumbers = batch.fields.filter(({ type }) => type === 'int64').map(({ name }) => name)
      expect(wholeNumbers, format).to.deep.equal(['channel0', 'channel8', 'channel11', 'channel21'])
    }
  })
})

describe('Warp 10 text', () => {
  /** @param {string} text @param {object} [options] */
  const read = (text, options) => decodeWarp10(Buffer.from(text), { source: 'topic', now: () => 7n, ...options })

  for (const format of FORMATS) {
    it(`keeps every type, what is missing, and tags: ${format}`, () => {
      const batch = new Batch({ ...EVERY_TYPE, time: EVERY_TYPE.time.map((_, row) => 1000n * BigInt(row + 1)) })
      const narrowIntegers = batch.fields.filter(({ type }) => /^u?int(16|32)$/.test(type)).map(({ name }) => name)
      const widened = (/** @type {any} */ row) => {
        const integers = narrowIntegers.filter(name => row[name] !== undefined).map(name => [name, BigInt(row[name])])
        return plain({ ...row, ...Object.fromEntries(integers) })
      }
      const { batches: [decoded], refused } = decodeWarp10([...encodeWarp10(batch, format, { names: true })][0])
      expect(refused).to.deep.equal([])
      expect(decoded.tags).to.deep.equal(batch.tags)
      const byTime = decoded.toObjects().toSorted((a, b) => Number(a.time) - Number(b.time))
      expect(byTime.map(plain)).to.deep.equal(batch.toObjects().map(widened))
    })

    it(`keeps any text in names and values, and the tags of rows: ${format}`, () => {
      const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }).filter(text => text !== 'time')
      fc.assert(fc.property(word, word, word, word, fc.string({ unit: 'binary' }), (source, field, tag, tagText, value) => {
        fc.pre(field !== tag)
        const batch = batchOf({ [field]: ['string', [value, undefined, value]], n: ['float64', [1, 2, 3]] }, {
          source,
          time: BigInt64Array.of(1000n, 2000n, 3000n),
          tags: { [tag]: tagOf([tagText, tagText, undefined]) }
        })
        fc.pre(field !== 'n' && tag !== 'n')
        const { batches, refused } = decodeWarp10(Buffer.concat([...encodeWarp10(batch, format, { names: true })]))
        expect(refused).to.deep.equal([])
        expect(batches.every(each => each.source === source)).to.equal(true)
        const rows = batches.flatMap(each => each.toObjects().map((/** @type {any} */ row, i) => {
          const tags = each.tagsAt(i)
          return [row.time, Object.hasOwn(row, field) ? row[field] : undefined, row.n, Object.hasOwn(tags, tag) ? tags[tag] : undefined]
        }))
        expect(rows).to.have.deep.members([
          [1000n, value, 1, tagText], [2000n, undefined, 2, tagText], [3000n, value, 3, undefined]
        ])
      }), { numRuns: 100 })
    })
  }

  it('says of a row with gaps which values it has', () => {
    const time = BigInt64Array.of(1000n, 2999n)
    const batch = batchOf({ a: ['float64', [1, undefined]], b: ['int32', [2, 3]] }, { time, source: 's' })
    expect(textOf(batch, 'multi-value', { names: true })).to.equal('#fields a b\n1// allchannels{id=s} [ 1.0 2 ]\n=2// [ 1/3 ]\n')
    const { batches: [decoded] } = read(textOf(batch, 'multi-value'))
    expect(decoded.toObjects().map(plain)).to.deep.equal([{ time: '1000', 0: 1, 1: '2' }, { time: '2000', 1: '3' }].map(plain))
  })

  it('reads what others write', () => {
    const { batches, refused } = read([
      '# a comment', '', '// a{} 1', '5// b{id=x,site=r%C3%B6+1}{unit=%C2%B0C} true', '=6/1.5:-2/-3000 F', '7// c{} "a%20b"\r',
      '8// c{} \'\'', '9// d{} hex:00ff', '9// e{} 1e3', '9// f{} -Infinity', '9// g{} +4', '9// m{} [! 3/T 1/2.5  ]'
    ].join('\n'))
    expect(refused).to.deep.equal([])
    const rows = batches.flatMap(batch => {
      return batch.toObjects().map((row, i) => ({ source: batch.source, tags: batch.tagsAt(i), ...plain(row) }))
    })
    expect(rows).to.have.deep.members([
      { source: 'topic', tags: {}, time: '7', a: '1' },
      { source: 'x', tags: { site: 'rö 1' }, time: '5000', b: 1 },
      { source: 'x', tags: { site: 'rö 1' }, time: '6000', b: 0, latitude: 1.5, longitude: -2, elevation: -3 },
      { source: 'topic', tags: {}, time: '7000', c: 'a b' },
      { source: 'topic', tags: {}, time: '8000', c: '' },
      { source: 'topic', tags: {}, time: '9000', d: '00ff', e: 1000, f: -Infinity, g: '4', 1: 2.5, 3: 1 }
    ])
  })

  it('refuses what it cannot read, with the line and the reason, and reads the rest', () => {
    const bad = [
      '=1// 2', 'nothing', '1/2 a{} 3', '1// a 3', '1// a{}', '1// a{} what', '1/91:0/ a{} 3', '1/1:2:3/ a{} 3', '-1// a{} 3',
      '1// a{} [ 1', `1// a{} ${2n ** 63n}`, '1// %ZZ{} 1', '1// time{} 1', '99999999999999999999// a{} 3'
    ]
    const { batches, refused } = read([...bad, '1// a{} 3', '2// a{} 4.5'].join('\n'))
    expect(refused.map(({ index }) => index).toSorted((a, b) => a - b)).to.deep.equal([...bad.keys(), bad.length + 1])
    for (const { index, reason, value } of refused.slice(0, -1)) {
      expect(value).to.equal(bad[index])
      expect(reason).to.be.a('string').that.is.not.empty
    }
    expect(refused.at(-1)?.reason).to.match(/"a" is float64 here and int64 in the rows before/)
    expect(batches.map(({ rows }) => rows)).to.deep.equal([1])
  })

  it('never throws, and takes no more memory than a message may', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), bytes => { decodeWarp10(bytes) }))
    const word = fc.constantFrom('1', '/', ' ', '{', '}', '[', ']', '!', '=', 'a', '\n', '\'', '%', ',', '-', 'b64:', '//', '{} ')
    fc.assert(fc.property(fc.array(word, { maxLength: 60 }), words => { decodeWarp10(Buffer.from(words.join(''))) }))
    for (const text of [`1// a{} ${'1'.repeat(100_000)}x`, `1// a{} [${' '.repeat(100_000)}x`, `1// a{} [ ${'1 '.repeat(100_000)}]`]) {
      expect(read(text).refused).to.have.length(1)
    }
  })

  it('is told from line protocol and other texts by its first line', () => {
    for (const text of ['1// a{} 1', '# x\n\n1/2:3/4 a{b=c} [ 1 ]', '// a{} T']) expect(mayBeWarp10(Buffer.from(text)), text).to.equal(true)
    for (const text of ['', 'm,a=b v=1 1', '=1// 2', '1/2 a{} 1', '{"a": 1}', '1// a 1', 'http://x{} 1']) {
      expect(mayBeWarp10(Buffer.from(text)), text).to.equal(false)
    }
  })
})

/** Whole numbers as numbers, whatever their type. @param {Record<string, unknown>} row */
function numbers (row) {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, Number(value)]))
}

/** Values as all types can be compared. @param {Record<string, any>} row */
function plain (row) {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined).map(([name, value]) => {
    if (value instanceof Uint8Array) return [name, Buffer.from(value).toString('hex')]
    if (typeof value === 'boolean') return [name, Number(value)]
    return [name, typeof value === 'bigint' ? String(value) : value]
  }))
}

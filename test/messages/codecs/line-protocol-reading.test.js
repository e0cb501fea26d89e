import { isUtf8 } from 'node:buffer'
import { expect } from 'chai'
import { MAX_SERIES } from '../../../gateway/messages/bounds.js'
import { nearest } from '../../../gateway/messages/codecs/alike/decimal.js'
import { decodeLines } from '../../../gateway/messages/codecs/line-protocol/decode.js'
import { mutated } from '../../fuzz/mutate.js'
import { Random } from '../../fuzz/random.js'
import { columnOf, rowsOf } from './decode.js'
import { readPlainly } from './plain-lines.js'

/** @typedef {import('../../../gateway/batch/batch.js').Batch} Batch */

const T0 = 1_700_000_000_000_000_000n
const NOW = 1_750_000_000_000_000_001n

/** @param {string|string[]} lines @param {() => bigint} [now] */
function read (lines, now = () => NOW) {
  const content = decodeLines(Buffer.from([lines].flat().join('\n')), { now })
  if (!content) throw new Error('it is no line protocol')
  return content
}

/** @param {Batch} batch */
const table = ({ tags, ...batch }) => ({ fields: batch.fields.map(({ name, type }) => `${name} ${type}`), tags, columns: batch.columns })

describe('line protocol that is read', () => {
  it('is a batch a measurement, with a column for each tag, also of one line', () => {
    expect(read(`m,b=1,a=x v=1.5 ${T0}`).batches.map(table)).to.deep.equal([
      { fields: ['v float64'], tags: { a: columnOf('x'), b: columnOf('1') }, columns: [Float64Array.of(1.5)] }
    ])
    const { batches } = read(['m,a=x v=1.5', 'n,a=x v=2', 'm,a=y v=2.5', 'm,a=x v=3.5'])
    expect(batches.map(table)).to.deep.equal([
      { fields: ['v float64'], tags: { a: columnOf('x', 'y', 'x') }, columns: [Float64Array.of(1.5, 2.5, 3.5)] },
      { fields: ['v float64'], tags: { a: columnOf('x') }, columns: [Float64Array.of(2)] }
    ])
  })

  it('has nulls where a tag or a field is missing, and keeps its rows in order', () => {
    const { batches } = read(['m,a=x v=1', 'm,b=y w=2i,v=3', 'm v=4', 'm,constructor=z v=5', 'm,a=x v=6'])
    expect(batches).to.have.length(1)
    expect(batches[0].toObjects().map(({ time: _time, ...values }, row) => ({ ...values, tags: batches[0].tagsAt(row) }))).to.deep.equal([
      { v: 1, tags: { a: 'x' } }, { v: 3, w: 2n, tags: { b: 'y' } }, { v: 4, tags: {} }, { v: 5, tags: { constructor: 'z' } },
      { v: 6, tags: { a: 'x' } }
    ])
    expect(Object.keys(batches[0].tags)).to.deep.equal(['a', 'b', 'constructor'])
    expect(batches[0].tags.constructor).to.deep.equal({ values: ['', '', '', 'z', ''], valid: Uint8Array.of(0, 0, 0, 1, 0) })
  })

  it('is several batches where too much would be missing', () => {
    const line = (/** @type {number} */ i) => `m ${Array.from({ length: 10 }, (_, f) => `f${10 * i + f}=1`)} ${T0}`
    const { batches, refused } = read(Array.from({ length: 200 }, (_, i) => line(i)))
    expect(refused).to.deep.equal([])
    expect(batches.reduce((sum, { rows }) => sum + rows, 0)).to.equal(200)
    expect(batches.reduce((sum, { values }) => sum + values, 0)).to.be.at.most(4 * 2000)
    const tags = Array.from({ length: 100 }, (_, i) => `,t${i}=x`).join('')
    const few = read([`m${tags} v=1`, ...Array(20_000).fill('m v=1')]).batches
    expect(few.map(({ rows }) => rows)).to.deep.equal([1, 20_000])
  })

  it('is several batches where devices send a field with several types, and one device cannot', () => {
    const { batches, refused } = read(['m,d=1 v=1', 'm,d=2 v="x"', 'm,d=2 v=2', 'm,d=1 v="y"', 'm,d=3 v=t', 'm,d=1 v=3'])
    expect(batches.map(table)).to.deep.equal([
      { fields: ['v float64'], tags: { d: columnOf('1', '1') }, columns: [Float64Array.of(1, 3)] },
      { fields: ['v string'], tags: { d: columnOf('2') }, columns: [['x']] },
      { fields: ['v bool'], tags: { d: columnOf('3') }, columns: [Uint8Array.of(1)] }
    ])
    expect(refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal([
      '2: line 3: "v" is float64 here and string in the rows before',
      '3: line 4: "v" is string here and float64 in the rows before'
    ])
  })

  it('may have more devices than batches', () => {
    const { batches, refused } = read(Array.from({ length: 2 * MAX_SERIES }, (_, i) => `m,d=${i} v=1 ${T0}`))
    expect([batches.length, batches[0].rows, refused]).to.deep.equal([1, 2 * MAX_SERIES, []])
  })

  it('may have far more shapes than batches, of which none is lost', () => {
    const random = new Random(2, 0)
    const lines = Array.from({ length: 1.2 * MAX_SERIES }, (_, i) => {
      const present = Array.from({ length: 20 }, (_f, f) => f).filter(() => random.oneIn(2))
      const fields = [...present, 20].map(f => `f${f}=${f === 3 && i % 1000 === 0 ? '"x"' : i}`)
      return `m,d=${i % 10}${random.oneIn(2) ? ',e=1' : ''} ${fields} ${T0}`
    })
    const { batches, refused } = read(lines)
    const plain = readPlainly(lines.join('\n'), () => NOW)
    expect(batches).to.have.length(2)
    expect(refused.map(({ index, reason }) => ({ index, reason }))).to.deep.equal(plain?.refused)
    expect(rowsOf(batches)).to.deep.equal(rowsOf(plain?.batches ?? []))
    const [{ fields, columns }] = batches
    const inOrder = columns[fields.findIndex(({ name }) => name === 'f20')]
    expect(inOrder).to.deep.equal(inOrder.toSorted())
  }).timeout(20_000)

  it('is stamped with the present time only where it has none', () => {
    let asked = 0
    const now = () => {
      asked++
      return NOW
    }
    for (const line of ['m a=1', 'm a=1,b=2', 'm a=1', 'm a=1,b=2']) read(`${line} ${T0}`, now)
    expect(asked).to.equal(0)
    expect(read(['m a=1', 'm a=1'], now).batches[0].time[1]).to.equal(NOW)
    expect(asked).to.equal(2)
  })

  it('begins with a point, or is something else', () => {
    for (const text of ['', 'open', '21.5', '# m v=1\n', 'a=b', 'x\nm v=1', 'm v=x']) {
      expect(decodeLines(Buffer.from(text), { now: () => NOW }), text).to.equal(null)
    }
    expect(read('\n# c\n m v=1 1').refused[0].reason).to.match(/^line 3: SLUICE_TIME_RANGE/)
  })

  it('has no text of another device, however many there are', () => {
    const devices = Array.from({ length: 30_000 }, (_, i) => `device ${i * 7919 % 30_000}`)
    for (let round = 0; round < 2; round++) {
      const lines = devices.map(name => `m,d=${name.replace(' ', '\\ ')},e=${name.length} t="${name}" ${T0}`)
      const [{ tags, columns }] = read(lines).batches
      expect(tags.d).to.deep.equal(columnOf(...devices))
      expect(columns).to.deep.equal([devices])
    }
  })

  it('loses no row where a shape that was forgotten is expected and has been learned again', () => {
    read(['p v=1', 'm b=1'])
    read(Array.from({ length: 8 }, (_, i) => `m c${i}=1`))
    read(['q v=1', 'm b=1'])
    read('p v=1')
    read(['m b=1', 'm b=1,c=2'])
    expect(read(['p v=1', 'm b=1']).batches.map(({ source, rows }) => [source, rows])).to.deep.equal([['p', 1], ['m', 1]])
  })

  it('is read alike when it has more shapes than are kept', () => {
    const names = Array.from({ length: 40 }, (_, i) => `f${i}`)
    const shapes = names.flatMap(a => names.slice(0, 5).map(b => a === b ? `m ${a}=1` : `m,t=x ${a}=1,${b}="x"`))
    const random = new Random(3, 0)
    for (let round = 0; round < 20; round++) {
      const lines = Array.from({ length: 200 }, () => random.pick(shapes))
      expect(rowsOf(read(lines).batches)).to.deep.equal(rowsOf(readPlainly(lines.join('\n'), () => NOW)?.batches ?? []))
    }
  })

  it('has every integer and every decimal to the digit', () => {
    const random = new Random(11, 0)
    const digits = (/** @type {number} */ count) => Array.from({ length: count }, () => random.below(10)).join('')
    for (let i = 0; i < 20_000; i++) {
      const whole = BigInt.asIntN(64, BigInt(`0x${random.bytes(8).toString('hex')}`)) >> BigInt(random.below(64))
      const decimal = `${digits(1 + random.below(18))}.${digits(random.below(22))}`
      const { batches: [{ columns: [[integer], [float]] }] } = read(`m i=${whole}i,f=${decimal} ${T0}`)
      expect(integer).to.equal(whole)
      expect(float, decimal).to.equal(Number(decimal))
    }
  })

  it('is what it is character by character, whatever is in it', () => {
    let points = 0
    let refusals = 0
    for (let number = 0; number < 6000; number++) {
      const random = new Random(5, number)
      let bytes = Buffer.from(anyLines(random))
      if (random.oneIn(4)) bytes = mutated(random, [bytes]).subarray(0, 4000)
      if (!isUtf8(bytes)) continue
      const text = bytes.toString()
      const content = decodeLines(bytes, { now: () => NOW })
      const plain = readPlainly(text, () => NOW)
      const refused = content && content.refused.map(({ index, reason }) => ({ index, reason }))
      expect(content && { rows: rowsOf(content.batches), refused }, text)
        .to.deep.equal(plain && { rows: rowsOf(plain.batches), refused: plain.refused })
      points += content?.batches.reduce((sum, { rows }) => sum + rows, 0) ?? 0
      refusals += refused?.length ?? 0
    }
    expect([points > 5000, refusals > 5000]).to.deep.equal([true, true])
  }).timeout(60_000)

  it('is the same as the only line of a message and behind others', () => {
    const COMMENT = Buffer.from('# not the only line\n')
    let points = 0
    for (let number = 0; number < 2000; number++) {
      for (const line of anyLines(new Random(7, number)).split('\n')) {
        const bytes = Buffer.from(line)
        const behind = decodeLines(Buffer.concat([COMMENT, bytes]), { now: () => NOW })
        const alone = [bytes, Buffer.from(`${line}\n`)].map(each => decodeLines(each, { now: () => NOW }))
        const refused = behind && behind.refused.map(({ reason }) => ({ reason: reason.replace(/^line 2/, 'line 1') }))
        for (const content of alone) {
          expect(content && content.batches.map(table), line).to.deep.equal(behind && behind.batches.map(table))
          expect(content && rowsOf(content.batches), line).to.deep.equal(behind && rowsOf(behind.batches))
          expect(content && content.refused.map(({ reason }) => ({ reason })), line).to.deep.equal(refused)
        }
        points += behind?.batches.length ?? 0
      }
    }
    expect(points).to.be.above(3000)
  }).timeout(60_000)
})

describe('the nearest number of a decimal', () => {
  it('is that of JavaScript, or left to it: also close to the middle of two numbers', () => {
    const random = new Random(7, 0)
    const check = (/** @type {string} */ text) => {
      const decimals = text.includes('.') ? text.length - text.indexOf('.') - 1 : 0
      const number = nearest(Buffer.from(text), 0, text.length, decimals)
      if (!Number.isNaN(number)) expect(number, text).to.equal(Number(text))
      return Number.isNaN(number)
    }
    let left = 0
    for (let i = 0; i < 50_000; i++) {
      if (check(String(Math.abs(Math.sin(i)) * 10 ** random.below(6) + 0.001))) left++
      const middle = (2n ** 53n + BigInt(random.bits())) * 2n + 1n
      check(String(middle))
      const text = String(middle + BigInt(random.below(3)) - 1n)
      check(`${text.slice(0, random.below(17))}.${text.slice(random.below(17))}`)
    }
    expect(left).to.be.below(10)
    expect(check('1.23456789012345678901')).to.equal(true)
  }).timeout(20_000)
})

/** Lines of few shapes, some of which are broken. @param {Random} random */
function anyLines (random) {
  const digits = (/** @type {number} */ count) => Array.from({ length: count }, () => random.below(10)).join('')
  const odd = () => random.pick([
    'a b', 'a\\ b', 'a\\\\,b', 'é', '🚀', '', 't=1', ',', '"', '\\', '#', 'time', '__proto__', 'constructor', 'x\\=y', '\r', '\t',
    random.oneIn(50) ? 'a'.repeat(1030) : 'a', random.oneIn(50) ? 'é'.repeat(300) : 'é'
  ])
  const value = () => random.pick([
    '1', '1i', '1u', 't', 'F', 'TRUE', 'tru', '"x"', '"', '1e400', '-0', '+1.5', '.5', '5.', '.', '-', '', 'i', '-1u', 'nan', '-.5', '1_0',
    '99999999999999999999i', '9223372036854775807i', '9223372036854775808i', '-9223372036854775808i', '-9223372036854775809i',
    '00000000000000000012i', '18446744073709551615u', '"\\""', '"a\\\\b\\c,  \n e=1 "', '"é🚀"', `"${digits(70)}"`, '9007199254740993',
    '0.1', '4503599627370497.5', '9007199254740991.5', '179769313486231580793728971405301199e273', '2.2250738585072011e-308',
    digits(1 + random.below(22)), `${digits(random.below(20))}.${digits(random.below(25))}`, `-${digits(1 + random.below(21))}i`,
    `${digits(1 + random.below(21))}u`, `${digits(3)}e${random.below(330)}`, `${digits(18)}.5e-${random.below(340)}`
  ])
  const time = () => random.pick([
    '', ' ', ' 1700000000000000000', ' 1700000000000000001 ', ' 1700000000123456789\r', '  999999999999999999', ' 9223372036854775807',
    ' 9223372036854775808', ' 9999999999999999999', ' 31536000000000000', ' 31535999999999999', ' 031536000000000000', ' -1', ' 1.5', ' x',
    ' 0', ' 1700000000000000000 1', ' 17000000000000000001', '1700000000000000000', ' 1700000000000000000,a=1', ' ,', ' \r'
  ])
  const isOdd = random.oneIn(3)
  const name = (/** @type {string[]} */ ...names) => isOdd ? odd() : random.pick(names)
  const shapes = Array.from({ length: 1 + random.below(4) }, () => ({
    measurement: name('m', 'cpu', 'mem'),
    tags: Array.from({ length: random.below(3) }, () => name('host', 'line', 'a')),
    fields: Array.from({ length: 1 + random.below(4) }, () => [name('v', 'w', 'x', 'y', 'z'), value()])
  }))
  const another = (/** @type {string} */ text) => {
    if (/^-?[\d.]+$/.test(text)) return `${digits(2)}.${digits(random.below(4))}`
    return /^\d+i$/.test(text) ? `${digits(1 + random.below(19))}i` : text
  }
  const lines = Array.from({ length: random.small(30) }, () => {
    if (random.oneIn(20)) return random.pick(['', '# c', '  # "', '\t', 'plain', ' '])
    const { measurement, tags, fields } = random.pick(shapes)
    const tagTexts = tags.map(tag => `,${tag}=${name('a', 'b', 'c', 'dev\\ 1', '')}`).join('')
    const fieldTexts = fields.map(([field, text]) => `${field}=${random.oneIn(15) ? value() : another(text)}`).join()
    const start = (random.oneIn(20) ? random.pick([' ', '\t', '\r']) : '') + measurement + tagTexts
    return `${start} ${random.oneIn(20) ? ' ' : ''}${fieldTexts}${random.oneIn(4) ? time() : ` 17000000000${digits(8)}`}`
  })
  if (random.oneIn(2)) lines.unshift(random.pick(['m,host=a v=1 1700000000000000000', 'cpu v="x",w=1i', 'm,__proto__=a,constructor=b n=1']))
  return lines.join(random.pick(['\n', '\r\n']))
}

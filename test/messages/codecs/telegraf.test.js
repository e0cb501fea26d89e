import { expect } from 'chai'
import { JsonReader } from '../../../gateway/messages/codecs/json-reader.js'
import { readMetrics } from '../../../gateway/messages/codecs/telegraf-reader.js'
import { decodeTelegraf } from '../../../gateway/messages/codecs/telegraf.js'
import { mutated } from '../../fuzz/mutate.js'
import { Random } from '../../fuzz/random.js'
import { columnOf, decode, rowsOf } from './decode.js'

const T0 = 1_458_229_140

/** @param {object} [more] */
const metric = more => ({ fields: { usage: 97.25, on: true }, name: 'cpu', tags: { host: 'a' }, timestamp: T0, ...more })

describe('JSON of Telegraf that is read', () => {
  it('is a batch a measurement, with a column for each tag', () => {
    const metrics = ['b', 'a', 'b'].map((host, i) => metric({ tags: { host, cpu: 'cpu0' }, timestamp: T0 + i }))
    for (const payload of [{ metrics }, JSON.stringify({ metrics }, null, 1)]) { // spaces are not what Telegraf writes
      const { batches, refused } = decode(payload)
      expect(refused).to.deep.equal([])
      expect(batches.map(({ source, tags, rows }) => [source, Object.keys(tags), rows])).to.deep.equal([['cpu', ['cpu', 'host'], 3]])
      expect(batches[0].tags.cpu).to.deep.equal(columnOf('cpu0', 'cpu0', 'cpu0'))
      expect(rowsOf(batches)).to.deep.equal(rowsOf(metrics.flatMap(each => decode(each).batches)))
    }
  })

  it('has nulls where a tag or a field is missing', () => {
    const { batches } = decode({ metrics: [metric(), metric({ tags: { cpu: 'x' }, fields: { usage: 1 } }), metric({ tags: {} })] })
    expect(batches).to.have.length(1)
    expect([0, 1, 2].map(row => batches[0].tagsAt(row))).to.deep.equal([{ host: 'a' }, { cpu: 'x' }, {}])
    expect(batches[0].toObjects().map(({ on }) => on)).to.deep.equal([true, undefined, true])
  })

  it('takes the fast way as Telegraf writes it, alone and in batches, with times in any unit', () => {
    for (const [unit, zeros] of Object.entries({ s: '', ms: '000', us: '000000', ns: '000000000' })) {
      for (const text of [JSON.stringify(metric()), `${JSON.stringify({ metrics: [metric(), metric({ name: 'disk', tags: {} })] })}\n`]) {
        const batches = readMetrics(Buffer.from(text.replaceAll(`${T0}`, `${T0}${zeros}`))) ?? []
        expect(batches.map(({ source, time }) => [source, time[0]])[0], unit).to.deep.equal(['cpu', BigInt(T0) * 1_000_000_000n])
      }
    }
  })

  it('has times in microseconds beyond 2^53, whichever way it takes', () => {
    const text = JSON.stringify(metric()).replace(`${T0}`, '9007199254740993')
    for (const each of [text, ` ${text}`]) expect(decode(each).batches[0].time[0], each).to.equal(9_007_199_254_740_993_000n)
    expect(decode(` ${text.replace('9007199254740993', '1700000000123456789')}`).batches[0].time[0]).to.equal(1_700_000_000_123_456_789n)
    expect(decode(text.replace('9007199254740993', '9300000000000000')).refused).to.have.length(1)
  })

  it('is the same whichever way it takes', () => {
    let fast = 0
    for (let number = 0; number < 6000; number++) {
      const random = new Random(21, number)
      let bytes = Buffer.from(anyMetrics(random))
      if (random.oneIn(8)) bytes = mutated(random, [bytes]).subarray(0, 4000)
      const read = readMetrics(bytes)
      if (!read) continue
      fast++
      const { batches, refused } = decodeTelegraf(new JsonReader(bytes).document(), bytes)
      expect(refused, bytes.toString()).to.deep.equal([])
      expect(rowsOf(read), bytes.toString()).to.deep.equal(rowsOf(batches))
    }
    expect(fast).to.be.above(1000)
  }).timeout(30_000)
})

/** @param {Random} random */
function anyMetrics (random) {
  const digits = (/** @type {number} */ count) => Array.from({ length: count }, () => random.below(10)).join('')
  const value = () => random.pick([
    '1', '-0', '1.5', 'true', 'false', '"x"', `${random.below(1000)}.${digits(random.below(20) + 1)}`, '"a b"', '1e5', '"é"',
    ...random.oneIn(25) ? ['null', '"\\n"', '9007199254740993', '1e400', '[1]', '01', '"open', '-'] : []
  ])
  const time = () => random.pick([
    '1700000000', '1700000000123', '1700000000123456', '1700000000123456789', `17${digits(8)}`,
    ...random.oneIn(25) ? ['1', '0', '-1', '1.5', '99999999999', '9300000000', '9223372036854775808', '31535999', '31536000'] : []
  ])
  const names = ['a', 'b', 'c', ...random.oneIn(25) ? ['time', '', '__proto__', 'é\\n', 'a'] : []]
  const name = (/** @type {number} */ i) => random.oneIn(20) ? random.pick(names) : names[i]
  const members = (/** @type {number} */ most, /** @type {() => string} */ make) => {
    return Array.from({ length: random.below(most + 1) }, (_, i) => `"${name(i)}":${make()}`).join()
  }
  const shapes = Array.from({ length: 1 + random.below(3) }, () => {
    return { fields: members(3, value) || '"a":1', tags: members(2, () => '"t"') }
  })
  const one = () => {
    const { fields, tags } = random.pick(shapes)
    const decimals = fields.replace(/(?<=:)\d+\.\d+/g, () => `${random.below(1000)}.${digits(2)}`)
    const texts = tags.replace(/"t"/g, () => random.pick(['"x"', '"y"', '"é"', random.oneIn(20) ? '5' : '"z"']))
    const source = random.pick(['cpu', 'cpu', 'mem', random.oneIn(20) ? '' : 'é'])
    return `{"fields":{${decimals}},"name":"${source}","tags":{${texts}},"timestamp":${time()}}`
  }
  return random.oneIn(4) ? one() : `{"metrics":[${Array.from({ length: random.small(8) }, one)}]}`
}

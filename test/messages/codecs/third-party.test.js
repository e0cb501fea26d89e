import { expect } from 'chai'
import fc from 'fast-check'
import { encodeLines } from '../../../gateway/messages/codecs/line-protocol/line-protocol.js'
import { Batch } from '../../../gateway/batch/batch.js'
import { columnOf, decode, plain } from './decode.js'

const T1 = 1_436_509_052_249_713_000n

describe('line protocol of Telegraf', () => {
  it('has a measurement that is the source, tags, fields of every type and nanoseconds', () => {
    const { batches, refused } = decode([
      '# a comment, then a blank line',
      '',
      `cpu,host=gate,cpu=cpu0 usage_idle=97.25,n=12i,u=3u,up=true,name="a \\"quoted\\" text, with = and \\\\" ${T1}`,
      `cpu,cpu=cpu0,host=gate usage_idle=1e2,up=F ${T1 + 1n}\r`,
      `disk\\ space,path=/var/a\\,b\\=c\\ d used=-.5 ${T1}`
    ].join('\n'))
    expect(refused).to.deep.equal([])
    expect(batches.map(plain)).to.deep.equal([
      {
        source: 'cpu',
        tags: { cpu: columnOf('cpu0', 'cpu0'), host: columnOf('gate', 'gate') },
        units: ['', '', '', '', ''],
        rows: [
          { time: T1, usage_idle: 97.25, n: 12n, u: 3n, up: true, name: 'a "quoted" text, with = and \\' },
          { time: T1 + 1n, usage_idle: 100, up: false }
        ]
      },
      { source: 'disk space', tags: { path: columnOf('/var/a,b=c d') }, units: [''], rows: [{ time: T1, used: -0.5 }] }
    ])
  })

  it('may have tags and fields with any name', () => {
    const { batches: [batch] } = decode(`m,__proto__=a,constructor=b __proto__=1,toString=2 ${T1}`)
    expect(Object.entries(batch.tags)).to.deep.equal([['__proto__', columnOf('a')], ['constructor', columnOf('b')]])
    expect(batch.fields.map(({ name }) => name)).to.deep.equal(['__proto__', 'toString'])
  })

  it('may have points without a time, which get the present one', () => {
    const { batches: [batch] } = decode('m v=1')
    expect(Math.abs(Number(batch.time[0] / 1_000_000n) - Date.now())).to.be.below(5000)
  })

  for (const [line, reason] of [
    ['m v=1,w=x', 'line 2: the field "w" has the value "x"'],
    ['m v=1 2 3', 'line 2: there is more after the time'],
    ['m v=1 soon', 'line 2: its time "soon" is not a whole number'],
    ['m,tag v=1', 'line 2: a tag without a value'],
    ['m v=18446744073709551615u', 'line 2: the field "v" does not fit a 64-bit integer'],
    [
      'm v=1 12',
      'line 2: SLUICE_TIME_RANGE: The time "12" ns would be 1970-01-01T00:00:00.000000012Z. ' +
      'Set the unit that the time is given in, or check the clock it comes from.'
    ],
    ['m v="open', 'line 2: a text is not closed'],
    ['m v="text"', 'line 2: "v" is string here and float64 in the rows before'],
    ['m v=1,v=2', 'line 2: it has a field twice'],
    ['m,a=1,a=2 v=1', 'line 2: the tag "a" occurs twice']
  ]) {
    it(`loses only the line ${JSON.stringify(line)}`, () => {
      const { batches, refused } = decode(`m v=7 ${T1}\n${line}\nm v=8 ${T1 + 1n}`)
      expect(refused.map(problem => problem.reason)).to.deep.equal([reason])
      const values = batches.flatMap(batch => batch.toObjects().map(({ v }) => v))
      expect(values).to.deep.equal(line.includes('open') ? [7] : [7, 8]) // a text that is not closed takes the rest with it
    })
  }

  it('is read as it was written', () => {
    const text = fc.string({ minLength: 1, maxLength: 8 }).filter(value => (
      !/[\n\r\\\0#\t]|^[[{"]/.test(value) && value.trim() === value && !['time', 'row', 'sensor'].includes(value)
    ))
    const written = fc.record({
      name: text,
      tag: text,
      value: fc.double({ noNaN: true, noDefaultInfinity: true }),
      note: fc.string({ maxLength: 12 })
    })
    fc.assert(fc.property(written, ({ name, tag, value, note }) => {
      const batch = new Batch({
        source: name,
        time: BigInt64Array.of(T1),
        fields: [{ name: 'v', type: 'float64' }, { name: 'note', type: 'string' }, { name: 'n', type: 'int64' }],
        columns: [Float64Array.of(value), [note], BigInt64Array.of(2n ** 63n - 1n)],
        tags: { tag }
      })
      const { batches: [read], refused } = decode(Buffer.concat([...encodeLines([{ batch }])]).toString())
      expect(refused).to.deep.equal([])
      expect([read.source, read.tags]).to.deep.equal([name, { tag: columnOf(tag) }])
      expect(read.toObjects()).to.deep.equal([{ time: T1, v: value, note, n: 2n ** 63n - 1n }])
    }), { seed: 4 })
  })

  it('is not confused with plain text', () => {
    for (const text of ['12 bar', 'open', 'valve a is open', 'a=b']) {
      expect(decode(text).batches.map(plain)[0].rows.map(({ value }) => value), text).to.deep.equal([text])
    }
  })
})

describe('Third-party JSON', () => {
  it('has the shape {ts, values}, alone and in a list', () => {
    const row = { ts: 1_436_509_052_249, values: { temperature: 20.5, on: true } }
    for (const payload of [row, [row]]) {
      expect(decode(payload).batches[0].toObjects()).to.deep.equal([{ time: 1_436_509_052_249_000_000n, temperature: 20.5, on: true }])
    }
  })

  it('has objects in objects', () => {
    expect(decode({ ts: 1_436_509_052_249, ENERGY: { Power: 12, Voltage: [230, 231] } }).batches[0].toObjects()).to.deep.equal([
      { time: 1_436_509_052_249_000_000n, 'ENERGY.Power': 12, 'ENERGY.Voltage0': 230, 'ENERGY.Voltage1': 231 }
    ])
  })

  it('keeps _id', () => {
    expect(decode({ _id: 'abc', time: 1_436_509_052_249, a: 1 }).batches[0].toObjects()).to.deep.equal([
      { time: 1_436_509_052_249_000_000n, _id: 'abc', a: 1 }
    ])
  })

  it('has times in nanoseconds that no number can hold', () => {
    expect(decode(`{"time": ${T1}, "v": 1}`, { timeUnit: 'ns' }).batches[0].time[0]).to.equal(T1)
  })

  describe('keeps integers beyond 2^53 to the digit', () => {
    const BEYOND = 2n ** 53n + 1n
    /** @param {string[]} values */
    const column = values => {
      const rows = values.map((value, i) => `{"time":${1_436_509_052_249 + i},"n":${value},"ok":true}`)
      const { batches: [batch], refused } = decode(`[${rows}]`)
      const n = batch.fields.findIndex(({ name }) => name === 'n')
      return {
        type: batch.fields[n].type,
        values: Array.from(batch.time, (_, row) => batch.value(n, row)),
        refused: refused.map(({ reason }) => reason)
      }
    }

    it('in a column of integers, which becomes int64', () => {
      const values = [BEYOND, 1n, -(2n ** 63n), 2n ** 63n - 1n]
      for (const order of [values, values.toReversed(), [1n, 2n, BEYOND]]) {
        expect(column(order.map(String))).to.deep.equal({ type: 'int64', values: order, refused: [] })
      }
    })

    it('in a column with decimals only where float64 holds them', () => {
      expect(column(['0.5', String(2n ** 60n)])).to.deep.equal({ type: 'float64', values: [0.5, 2 ** 60], refused: [] })
      expect(column([String(2n ** 60n), '0.5'])).to.deep.equal({ type: 'float64', values: [2 ** 60, 0.5], refused: [] })
      expect(column(['0.5', String(BEYOND)])).to.deep.equal({
        type: 'float64', values: [0.5], refused: ['"n" is int64 here and float64 in the rows before']
      })
      expect(column([String(BEYOND), '0.5'])).to.deep.equal({
        type: 'int64', values: [BEYOND], refused: ['"n" is float64 here and int64 in the rows before']
      })
    })

    it('up to 2^63; a larger one is refused, not its row', () => {
      expect(column([String(2n ** 64n - 1n), '5'])).to.deep.equal({
        type: 'float64', values: [undefined, 5], refused: ['"n" does not fit a 64-bit integer']
      })
    })

    it('and those that JavaScript prints for a float stay one', () => {
      expect(column([String(2 ** 66), '0.5'])).to.deep.equal({ type: 'float64', values: [2 ** 66, 0.5], refused: [] })
    })

    it('in messages of Neuron', () => {
      const { batches: [batch] } = decode(`{"node":"plc","group":"g","timestamp":1436509052249,"values":{"n":${BEYOND},"m":1}}`)
      expect(batch.toObjects()).to.deep.equal([{ time: 1_436_509_052_249_000_000n, n: BEYOND, m: 1 }])
    })

    it('in time that is linear in the rows, whatever their order', () => {
      const rows = 100_000
      const values = Array.from({ length: rows }, (_, row) => row === rows / 2 ? '0.5' : row > rows / 2 ? String(BEYOND) : '1')
      expect(column(values).refused[0]).to.equal('"n" is int64 here and float64 in the rows before')
    })
  })

  for (const [format, payload] of Object.entries({
    values: { node: 'plc', group: 'slow', timestamp: 1_436_509_052_249, values: { level: 3.5 }, errors: { flow: 3002 } },
    tags: { node: 'plc', group: 'slow', timestamp: 1_436_509_052_249, tags: [{ name: 'level', value: 3.5 }, { name: 'flow', error: 3002 }] }
  })) {
    it(`is Neuron's in its ${format} format, with a quality for each error`, () => {
      const { batches, refused } = decode(payload)
      expect(refused).to.deep.equal([])
      expect(batches.map(({ tags }) => tags)).to.deep.equal([{ node: 'plc', group: 'slow' }])
      expect(batches[0].toObjects()).to.deep.equal([{ time: 1_436_509_052_249_000_000n, level: 3.5, quality: 'flow: error 3002' }])
    })
  }
})

describe('a message of Neuron', () => {
  it('has the elements of an array as values of their own', () => {
    const { batches: [batch], refused } = decode({
      node: 'plc', group: 'slow', timestamp: 1_436_509_052_249, tags: [{ name: 'word', value: [1, 2] }, { name: 'a', value: 1.5 }]
    })
    expect(refused).to.deep.equal([])
    expect(batch.toObjects()).to.deep.equal([{ time: 1_436_509_052_249_000_000n, word0: 1, word1: 2, a: 1.5 }])
  })

  it('keeps the errors of its tags where one is called quality, and reports tags that occur twice', () => {
    const { batches: [batch], refused } = decode({
      node: 'plc',
      group: 'slow',
      timestamp: 1_436_509_052_249,
      tags: [{ name: 'quality', value: 5 }, { name: 'a', value: 1 }, { name: 'a', value: 2 }, { name: 'b', error: 3002 }]
    })
    expect(batch.toObjects()).to.deep.equal([{ time: 1_436_509_052_249_000_000n, quality_2: 5, a: 1, quality: 'b: error 3002' }])
    expect(refused.map(({ reason }) => reason)).to.deep.equal(['"a" occurs twice'])
  })
})

describe('JSON of Telegraf', () => {
  const metric = { fields: { usage: 97.25, uptime: 86400, note: '5i' }, name: 'cpu', tags: { host: 'gate' }, timestamp: 1_458_229_140 }
  const row = { usage: 97.25, uptime: 86400, note: '5i' }

  for (const [unit, zeros] of Object.entries({ s: '', ms: '000', us: '000000', ns: '000000000' })) {
    it(`has times in ${unit}, whatever the node's unit`, () => {
      const text = JSON.stringify(metric).replace('1458229140', `1458229140${zeros}`)
      for (const timeUnit of /** @type {const} */ ([undefined, 'ns'])) {
        const { batches, refused } = decode(text, { timeUnit })
        expect(refused).to.deep.equal([])
        expect(batches.map(({ source, tags }) => ({ source, tags }))).to.deep.equal([{ source: 'cpu', tags: { host: columnOf('gate') } }])
        expect(batches[0].toObjects()).to.deep.equal([{ time: 1_458_229_140_000_000_000n, ...row }])
      }
    })
  }

  it('comes in batches', () => {
    const other = { ...metric, name: 'disk', tags: {}, fields: { free: 1 } }
    const { batches, refused } = decode({ metrics: [metric, other, { ...metric, timestamp: 1_458_229_141 }, { ...metric, fields: {} }] })
    expect(refused.map(({ index, reason }) => `${index}: ${reason}`)).to.deep.equal(['3: it holds no values'])
    expect(batches.map(({ source, rows }) => [source, rows])).to.deep.equal([['cpu', 2], ['disk', 1]])
  })

  it('keeps integers beyond 2^53, and refuses those of more than 64 bits alone', () => {
    const text = JSON.stringify(metric).replace('97.25', '9007199254740993').replace('86400', '18446744073709551615')
    const { batches: [batch], refused } = decode(text)
    expect(batch.toObjects()).to.deep.equal([{ time: 1_458_229_140_000_000_000n, usage: 9007199254740993n, note: '5i' }])
    expect(refused.map(({ reason }) => reason)).to.deep.equal(['"uptime" does not fit a 64-bit integer'])
  })
})

describe('any third-party bytes', () => {
  it('are accepted or refused with a reason, without an error', () => {
    const shapes = [
      'cpu,host=a v=1i,w="x" 1436509052249713000', '[{"bn":"a:","n":"t","v":1}]', '{"node":"a","group":"b","values":{"x":1}}',
      '{"ts":1436509052249,"values":{"a":1}}'
    ]
    const mutated = fc.tuple(
      fc.constantFrom(...shapes),
      fc.array(fc.tuple(fc.nat(60), fc.string({ maxLength: 3 })), { maxLength: 4 })
    ).map(([shape, edits]) => (
      edits.reduce((text, [at, inserted]) => text.slice(0, at) + inserted + text.slice(at + 1), shape)
    ))
    fc.assert(fc.property(fc.oneof(mutated, fc.string()), text => {
      const { batches, refused } = decode(text)
      expect(batches.length + refused.length, text).to.be.above(0)
      for (const { reason } of refused) expect(reason).to.be.a('string').and.not.equal('')
    }), { seed: 8, numRuns: 20_000 })
  }).timeout(30_000)
})

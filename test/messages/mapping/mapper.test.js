import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../../gateway/batch/batch.js'
import { encode } from '../../../gateway/messages/codecs/arrow/arrow.js'
import { Mapper, tryMappings } from '../../../gateway/messages/mapping/mapping.js'
import { Recent } from '../../../gateway/messages/mapping/recent.js'
import { rowsOf } from './recorded.js'

const NOW = 1_800_000_000_000_000_000n
const MS = 1_700_000_000_000
const now = () => NOW

/** @param {unknown} payload */
const bytesOf = payload => {
  return payload instanceof Uint8Array ? payload : Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload))
}

/**
 * What becomes of messages, the last of them: those before are learned from.
 * @param {object|object[]} mappings @param {string} topic @param {...unknown} payloads
 */
function read (mappings, topic, ...payloads) {
  const mapper = new Mapper([mappings].flat())
  const contents = payloads.map(payload => mapper.decode(bytesOf(payload), { topic, now }))
  const { batches, refused } = contents[contents.length - 1]
  return { rows: rowsOf(batches), refused: refused.map(({ reason }) => reason), batches }
}

/** Its values alone. @param {Parameters<typeof read>} all */
const fields = (...all) => read(...all).rows.map(row => row.fields)

const plant = { topic: 'plant/{line}/{device}', source: 'plant' }

describe('Messages that no mapping matches', () => {
  it('have the first level of the topic as their source, and the topic as a tag', () => {
    expect(read([], 'plant/hall/door', { ts: MS, open: true }).rows)
      .to.deep.equal([{ source: 'plant', time: `${MS}000000`, tags: { topic: 'plant/hall/door' }, fields: { open: true } }])
    expect(read([], '/x', '1').rows[0]).to.include({ source: 'mqtt' })
    expect(read([], `${'x'.repeat(256)}/y`, '1').rows[0]).to.include({ source: 'mqtt' })
  })

  it('can be bare values of any type in one table: numbers and truth values are numbers, texts have a name of their own', () => {
    const values = ['21.5', 'true', 'false', '"open"', 'open', 'ON', '12 bar', '9007199254740993'].map(text => fields([], 'a/b', text)[0])
    expect(values).to.deep.equal([
      { value: 21.5 }, { value: 1 }, { value: 0 }, { text: 'open' }, { text: 'open' }, { text: 'ON' }, { text: '12 bar' },
      { value: '9007199254740993n' }
    ])
    expect(fields([], 'a/b', [1, 'x', null])).to.deep.equal([{ value0: 1, value1: 'x' }])
  })

  it('keep names and tags of their own, and get the topic as one more', () => {
    const { rows } = read([], 'telegraf/gate', 'cpu,host=a v=1 1700000000000000000\ncpu,host=b v=2 1700000000000000000')
    expect(rows.map(({ source, tags }) => [source, tags])).to.deep.equal(['a', 'b'].map(host => ['cpu', { host, topic: 'telegraf/gate' }]))
  })

  it('are left alone where they are our own batches', () => {
    const identity = { gateway: 'g', source: 's', epoch: '1-cafe', seq: 0 }
    const own = new Batch({ source: 's', time: BigInt64Array.of(NOW), identity })
    const { batches: [batch] } = read([], 'x/y', encode(own))
    expect([batch.identity, batch.tags]).to.deep.equal([identity, {}])
  })

  it('are refused, visibly, where they are empty, binary, broken or have a member with the name of the tag', () => {
    expect(read([], 'a', '').refused).to.deep.equal(['the message is empty'])
    expect(read([], 'a', Buffer.from([0xff, 0xfe, 0])).refused).to.deep.equal(['the message is neither an Arrow stream nor text'])
    expect(read([], 'a', '{"a":').refused[0]).to.match(/^it is not JSON/)
    const { rows, refused } = read([], 'a', { topic: 'x', b: 1 })
    expect([rows[0].fields, rows[0].tags, refused])
      .to.deep.equal([{ b: 1 }, { topic: 'a' }, ['"topic" is the name of a tag: rename that, or exclude the field']])
  })
})

describe('Messages that a mapping matches', () => {
  it('give a batch with tag columns, however many rows it has', () => {
    const { batches: [one] } = read(plant, 'plant/n/press', { a: 1 })
    const { batches: [two] } = read(plant, 'plant/n/press', [{ a: 1 }, { a: 2 }])
    expect(one.tags).to.deep.equal({ line: { values: ['n'], valid: null }, device: { values: ['press'], valid: null } })
    expect(two.tags).to.deep.equal({ line: { values: ['n', 'n'], valid: null }, device: { values: ['press', 'press'], valid: null } })
  })

  it('have the tags of the JSON as text, whatever they are, and none where they are missing', () => {
    const mapping = { ...plant, tags: ['id', 'on', 'place=where.room', 'n=list.1'] }
    const rows = '[{"id":17,"on":true,"where":{"room":"x"},"list":[1,2],"v":1},{"id":null,"where":{},"v":2},{"id":9007199254740993,"v":3}]'
    const { batches: [batch] } = read(mapping, 'plant/n/p', rows)
    expect(batch.tags).to.deep.include({
      id: { values: ['17', '', '9007199254740993'], valid: Uint8Array.of(1, 0, 1) },
      on: { values: ['true', '', ''], valid: Uint8Array.of(1, 0, 0) },
      place: { values: ['x', '', ''], valid: Uint8Array.of(1, 0, 0) },
      n: { values: ['2', '', ''], valid: Uint8Array.of(1, 0, 0) }
    })
    expect(batch.fields.map(({ name }) => name)).to.deep.equal(['list0', 'v'])
  })

  it('are refused where a tag is an object, or too long', () => {
    const mapping = { ...plant, tags: ['id'] }
    const { rows, refused } = read(mapping, 'plant/n/p', [{ id: { a: 1 }, v: 1 }, { id: 'x'.repeat(1025), v: 2 }, { id: 'good', v: 3 }])
    expect(rows.map(row => row.fields)).to.deep.equal([{ v: 3 }])
    expect(refused).to.deep.equal(['its tag "id" is not text', 'its tag "id" is over 1024 characters'])
  })

  it('lose no field to a tag of the same name without saying so', () => {
    const { rows, refused } = read({ ...plant, tags: ['place=x'] }, 'plant/n/p', { line: 5, place: 6, x: 'here', v: 7 })
    expect(rows[0]).to.deep.include({ tags: { line: 'n', device: 'p', place: 'here' }, fields: { v: 7 } })
    expect(refused).to.deep.equal(['line', 'place'].map(name => `"${name}" is the name of a tag: rename that, or exclude the field`))
    expect(read({ ...plant, exclude: ['line'] }, 'plant/n/p', { line: 5, v: 7 }).refused).to.deep.equal([])
    const lines = read(plant, 'plant/n/p', 'cpu,line=own v=1,device=2')
    expect([lines.rows[0].tags, lines.rows[0].fields, lines.refused])
      .to.deep.equal([{ line: 'n', device: 'p' }, { v: 1 }, ['"device" is the name of a tag of the topic: rename that']])
  })

  it('take the time from where it is, in its unit; without it they have that of their arrival; with a broken one they are refused', () => {
    const time = (/** @type {object} */ mapping, /** @type {unknown} */ payload) => {
      const { rows, refused } = read({ ...plant, ...mapping }, 'plant/n/p', payload)
      return refused[0] ?? rows[0].time ?? 'arrival'
    }
    expect(time({ time: 'meta.t', timeFormat: 's' }, { meta: { t: 1.7e9 }, v: 1 })).to.equal('1700000000000000000')
    expect(time({ time: 't', timeFormat: 'us' }, { t: MS * 1000, v: 1 })).to.equal('1700000000000000000')
    expect(time({ time: 't', timeFormat: 'ns' }, '{"t":1700000000123456789,"v":1}')).to.equal('1700000000123456789')
    expect(time({ time: 't', timeFormat: 'iso' }, { t: '2023-11-14T22:13:20Z', v: 1 })).to.equal('1700000000000000000')
    expect(time({ time: 't', timeFormat: 's' }, { t: '2023-11-14T22:13:20Z', v: 1 })).to.equal('1700000000000000000')
    expect(time({ time: 't', timeFormat: 'iso' }, { t: MS, v: 1 })).to.match(/SLUICE_TIME_FORMAT/)
    expect(time({ time: 't' }, { t: 'yesterday', v: 1 })).to.match(/SLUICE_TIME_FORMAT/)
    expect(time({ time: 't' }, { t: 5, v: 1 })).to.match(/SLUICE_TIME_RANGE/)
    expect(time({ time: 't' }, { v: 1 })).to.equal('arrival')
    expect(time({ time: 't' }, { t: null, v: 1 })).to.equal('arrival')
    expect(time({}, { ts: MS, v: 1 })).to.equal('1700000000000000000')
    expect(fields({ ...plant, time: 't' }, 'plant/n/p', { t: MS, ts: 5, v: 1 })).to.deep.equal([{ v: 1, ts: 5 }])
  })

  it('bring no more tags of their own than a batch may have, nor columns in which nearly all is missing', () => {
    const point = (/** @type {object} */ tags) => ({ fields: { a: 1 }, tags })
    const { rows, refused } = read(plant, 'plant/n/p', Array.from({ length: 150 }, (_, i) => point({ [`t${i}`]: 'x' })))
    expect([rows.length, refused.length, refused[0]]).to.deep.equal([98, 52, 'there are more than 100 tags'])
    const sparse = read(plant, 'plant/n/p', Array.from({ length: 30_000 }, (_, i) => point({ [`t${i % 98}`]: 'x' })))
    expect(sparse.rows.length).to.be.within(10_000, 11_000)
    expect(sparse.refused[0]).to.match(/^SLUICE_MESSAGE_TOO_LARGE: The message is too large: its rows × fields/)
  })

  it('take rows from an array, with what stands around it', () => {
    const mapping = { ...plant, rows: 'data.rows', values: 'values', tags: ['id', 'site'], time: 't', timeFormat: 's' }
    const list = [{ id: 1, t: 1.7e9, values: { a: 1 } }, { id: 2, values: 5 }, 7, { id: 3, values: { a: 3 } }]
    const { rows, refused } = read(mapping, 'plant/n/p', { site: 'x', data: { rows: list } })
    expect(rows.map(row => [row.tags.id, row.tags.site, row.time, row.fields]))
      .to.deep.equal([['1', 'x', '1700000000000000000', { a: 1 }], ['3', 'x', undefined, { a: 3 }]])
    expect(refused).to.deep.equal(['it has no object "values"', 'it is not an object of values, a point or a [fields, tags] pair'])
    expect(read(mapping, 'plant/n/p', { data: 1 }).refused).to.deep.equal(['it has no array "data.rows"'])
    expect(read(mapping, 'plant/n/p', '17').refused).to.deep.equal(['it has no array "data.rows"'])
  })

  it('refuse the rows that do not fit, and store the others', () => {
    const { rows, refused } = read(plant, 'plant/n/p', [{ a: 1 }, { a: 'x' }, {}, { a: 2, time: 'x' }, { a: 3 }])
    expect(rows.map(row => row.fields)).to.deep.equal([{ a: 1 }, { a: 3 }])
    expect(refused).to.have.length(3)
    expect(refused[0]).to.equal('"a" is string here and float64 in the rows before')
  })

  it('leave out fields, and name them', () => {
    const payload = { temp: 1, temp_max: 2, wifi: { rssi: -60, ssid: 'x' }, debug: 3 }
    expect(fields({ ...plant, include: ['temp*', 'wifi.*'], exclude: ['*.ssid'], prefix: 'x_' }, 'plant/n/p', payload))
      .to.deep.equal([{ x_temp: 1, x_temp_max: 2, 'x_wifi.rssi': -60 }])
    expect(read({ ...plant, include: ['none'] }, 'plant/n/p', payload)).to.deep.include({ rows: [], refused: [] })
    expect(read({ ...plant, exclude: ['list'] }, 'plant/n/p', { list: [{ a: 1 }], v: 1 })).to.deep.include({ refused: [] })
    expect(fields({ ...plant, exclude: ['a.b', 'c?'] }, 'plant/n/p', { 'a.b': 1, axb: 2, c: 3, cd: 4 })).to.deep.equal([{ axb: 2, c: 3 }])
  })

  it('name what is bare by a level of the topic, and begin the names of others with it', () => {
    const mapping = { topic: '{device}/{field…}' }
    expect(fields(mapping, 'd/relay/0', '12.5')).to.deep.equal([{ 'relay.0': 12.5 }])
    expect(fields(mapping, 'd/relay/0', 'on')).to.deep.equal([{ 'relay.0_text': 'on' }])
    expect(fields(mapping, 'd/relay', '[1,2]')).to.deep.equal([{ relay0: 1, relay1: 2 }])
    expect(fields(mapping, 'd/relay', { a: 1, b: { c: 2 } })).to.deep.equal([{ 'relay.a': 1, 'relay.b.c': 2 }])
  })

  it('do not mix up the fields of two topics whose messages look alike', () => {
    const mapper = new Mapper([{ topic: '{device}/{field}' }])
    const names = ['a', 'b', 'a', 'b'].map(field => {
      const { batches: [batch] } = mapper.decode(bytesOf({ x: 1 }), { topic: `d/${field}`, now })
      return batch.fields[0].name
    })
    expect(names).to.deep.equal(['a.x', 'b.x', 'a.x', 'b.x'])
  })

  it('are nothing, and no error, where they are empty or null: so a retained message is deleted', () => {
    for (const payload of ['', 'null']) expect(read(plant, 'plant/n/p', payload)).to.deep.include({ rows: [], refused: [] })
  })

  it('are refused, visibly, where they are binary or broken', () => {
    const binary = Buffer.from([0xff, 0xfe, 0])
    expect(read(plant, 'plant/n/p', binary).refused).to.deep.equal(['the message is neither an Arrow stream nor text'])
    expect(read(plant, 'plant/n/p', '{"a":').refused[0]).to.match(/^it is not JSON/)
  })

  it('keep names of their own, unless the mapping has a source: then all their tags are columns of one table', () => {
    const lines = 'cpu,host=a v=1\nmem,host=b v=2'
    expect(read({ topic: 'x/{gate}' }, 'x/g', lines).rows.map(({ source, tags }) => [source, tags]))
      .to.deep.equal([['cpu', { host: 'a', gate: 'g' }], ['mem', { host: 'b', gate: 'g' }]])
    const { batches } = read({ topic: 'x/{gate}', source: 'all' }, 'x/g', lines)
    for (const { source, tags } of batches) {
      expect(source).to.equal('all')
      expect(tags.host).to.have.keys('values', 'valid')
    }
    const points = [{ measurement: 'm', tags: { k: 'x' }, fields: { a: 1 } }]
    expect(read({ topic: 'x/{gate}' }, 'x/g', points).rows[0]).to.deep.include({ source: 'm', tags: { k: 'x', gate: 'g' } })
  })

  it('keep names of their own where each topic is a source, as in 0.1', () => {
    const mapping = { preset: 'topic-source' }
    expect(read(mapping, 'x/g', 'cpu,host=a v=1').rows[0]).to.deep.include({ source: 'cpu', tags: { host: 'a' } })
    expect(read(mapping, 'x/g', { measurement: 'm', fields: { a: 1 } }).rows[0]).to.include({ source: 'm' })
    expect(read(mapping, 'x/g', { node: 'plc', group: 'g', timestamp: MS, values: { a: 1 } }).rows[0])
      .to.deep.include({ source: 'x.g', tags: { node: 'plc', group: 'g' } })
    const born = new Batch({ source: 'plant.line.press', time: BigInt64Array.of(NOW), tags: { group: 'plant' } })
    const { batches } = new Mapper([mapping]).adopt({ batches: [born], refused: [] }, 'spBv1.0/plant/DDATA/line/press')
    expect(batches).to.deep.equal([born])
  })

  it('are what the mapping says, not a format that they look like, where it says where the values are', () => {
    const neuron = { node: 'plc', group: 'g', timestamp: MS, values: { a: 1 } }
    expect(fields({ ...plant, values: 'values' }, 'plant/n/p', neuron)).to.deep.equal([{ a: 1 }])
    expect(read(plant, 'plant/n/p', neuron).rows[0].tags).to.include({ node: 'plc' })
  })

  it('are read in columns as they are read one by one, whatever comes', () => {
    const mapping = { topic: '{a}/{b}', tags: ['id', 'm.k'], time: 't', timeFormat: 'ms', exclude: ['no*'], prefix: 'p' }
    const scalar = fc.constantFrom(
      '1', '-2.5', '9007199254740993', '"x"', '"é\\n"', 'true', 'null', '1700000000000', '"2026-11-21T08:00:00Z"', '5'
    )
    const name = fc.constantFrom('id', 't', 'v', 'no1', 'm', 'k', 'a', 'ts', 'values', 'fields', 'tags', 'measurement', '__proto__')
    const value = fc.oneof(scalar, fc.array(fc.tuple(name, scalar), { maxLength: 2 }).map(members => (
      `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`
    )))
    const row = fc.array(fc.tuple(name, value), { minLength: 1, maxLength: 4 })
    const others = fc.array(fc.array(scalar, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 3 })
    fc.assert(fc.property(row, others, fc.constantFrom({}, { values: 'm' }), (first, scalars, more) => {
      const mapper = new Mapper([{ ...mapping, ...more }])
      const text = (/** @type {string[]|null} */ its) => `{${first.map(([key, own], i) => (
        `${JSON.stringify(key)}:${its && !own.startsWith('{') ? its[i] : own}`
      )).join(',')}}`
      for (const [i, payload] of [text(null), ...scalars.map(text), `[${scalars.map(text).join(',')}]`].entries()) {
        const warm = mapper.decode(Buffer.from(payload), { topic: 'x/y', now })
        const cold = new Mapper([{ ...mapping, ...more }]).decode(Buffer.from(payload), { topic: 'x/y', now })
        const said = (/** @type {typeof warm} */ { batches, refused }) => (
          [batches.map(({ source, tags, time, ...batch }) => [source, tags, time, batch]), refused.map(({ reason }) => reason)]
        )
        expect(said(warm), `message ${i}: ${payload}`).to.deep.equal(said(cold))
      }
    }), { numRuns: 500 })
  })

  for (const [what, more, payload] of /** @type {[string, object, object][]} */ ([
    ['of a topic with tags', {}, { ts: MS, a: 1, b: 'x', c: { d: true } }],
    ['with tags of their own', { tags: ['id'], time: 't' }, { t: MS, id: 'x', a: 1 }],
    ['whose values are in an object', { values: 'v', tags: ['head.id'] }, { head: { id: 7, lists: [[1], [{ x: 2 }]] }, v: { a: 1 } }]
  ])) {
    it(`are read into columns the second time: ${what}`, () => {
      const mapper = new Mapper([{ ...plant, ...more }])
      const [, second, third] = [1, 2, 3].map(() => mapper.decode(bytesOf(payload), { topic: 'plant/n/p', now }).batches[0])
      expect(second.tags.line).to.equal(third.tags.line) // the very same column: only the fast path has it from the topic
    })
  }

  for (const [what, more, before, payload, field] of /** @type {const} */ ([
    ['SenML where rows with a number for its name came before, which is a tag', { tags: ['n'] }, '{"n":5,"v":1}', '[{"n":"x","v":2}]', 'x'],
    ['SenML where such rows came before, and the name is left out', { exclude: ['n'] }, '{"n":5,"v":1}', '[{"n":"x","v":2}]', 'x'],
    ['both "values" and "fields" the second time', {}, '{"values":1,"fields":{"a":1}}', '{"values":2,"fields":{"a":3}}', 'values'],
    ['both, of which one is 0', {}, '{"values":1,"fields":{"a":1}}', '{"values":0,"fields":{"a":1}}', 'values'],
    ['both, of which one was 0 before', {}, '{"values":0,"fields":{"a":1}}', '{"values":1,"fields":{"a":1}}', 'values']
  ])) {
    it(`are read as they are without those before: ${what}`, () => {
      const mapping = { topic: 'd/{device}', source: 'd', ...more }
      const { rows, batches: [{ fields: [first] }] } = read(mapping, 'd/1', before, payload)
      expect(rows).to.deep.equal(read(mapping, 'd/1', payload).rows)
      expect(first.name).to.equal(field)
    })
  }

  it('never throw: any bytes are accepted, refused, or nothing', () => {
    const mappings = [{ topic: 'a/{x}', values: 'v' }, { topic: 'b/{x}', rows: 'r.s', tags: ['t'] }, { topic: 'c/{field}' }]
    const mapper = new Mapper(mappings)
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.json().map(bytesOf), fc.string({ unit: 'binary' }).map(bytesOf))
    fc.assert(fc.property(bytes, fc.constantFrom('a/1', 'b/1', 'c/1', 'd/1'), (payload, topic) => {
      expect(() => mapper.decode(payload, { topic, now })).to.not.throw()
    }), { numRuns: 3000 })
  })
})

describe('A mapper', () => {
  it('remembers no more topics than it may, however many there are, and the recent ones', () => {
    let made = 0
    const recent = new Recent(100, topic => `${topic} ${made++}`)
    for (let i = 0; i < 10_000; i++) {
      recent.get(`t${i}`)
      expect(recent.get('always')).to.match(/^always /)
      expect(recent.size).to.be.at.most(100)
    }
    expect(made).to.be.below(10_000 + 300)
  })

  it('finds the mapping of each of many topics, again and again', () => {
    const mapper = new Mapper([{ topic: 'plant/{device}', source: 'plant' }])
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 10_000; i++) {
        const { batches: [batch] } = mapper.decode(Buffer.from('{"a":1}'), { topic: `plant/${i}`, now })
        if (i % 1000 === 0) expect(batch.tagsAt(0)).to.deep.equal({ device: String(i) })
      }
    }
  })

  it('takes messages of a flow by their topic, and leaves others alone', () => {
    const mapper = new Mapper([plant, { topic: 'bare/{field}' }])
    const take = (/** @type {any} */ message, options = {}) => {
      const content = mapper.take(message, { now, ...options })
      return content && rowsOf(content.batches)
    }
    const tags = { line: 'n', device: 'p' }
    const payloads = [{ a: 1 }, '{"a":1}', Buffer.from('{"a":1}')]
    for (const payload of payloads) {
      expect(take({ topic: 'plant/n/p', payload })).to.deep.equal([{ source: 'plant', tags, fields: { a: 1 } }])
      expect(take({ topic: 'plant/n/p', payload, timestamp: MS })?.[0].time).to.equal(`${MS}000000`)
    }
    expect(take({ topic: 'bare/x', payload: 5 })).to.deep.equal([{ source: 'bare', tags: {}, fields: { x: 5 } }])
    expect(take({ topic: 'bare/x', payload: 5 }, { source: 'of the node' })?.[0].source).to.equal('of the node')
    expect(take({ topic: 'plant/n/p', payload: 5 }, { source: 'of the node' })?.[0].source).to.equal('plant')
    const perTopic = new Mapper([{ preset: 'topic-source' }]).take({ topic: 'a/b', payload: 5 }, { source: 'of the node', now })
    expect(rowsOf(perTopic?.batches ?? [])[0].source).to.equal('a.b')
    for (const message of [
      { topic: 'elsewhere', payload: 1 }, { payload: 1 }, { topic: 5, payload: 1 },
      { topic: 'plant/n/p', payload: new Batch({ source: 's', time: BigInt64Array.of(1n) }) },
      { topic: 'plant/n/p', payload: { a: 1 }, collection: 'c' }, { topic: 'plant/n/p', query: 'INSERT INTO t (a) VALUES (1)' }
    ]) expect(take(message)).to.equal(null)
    expect(mapper.take({ topic: 'plant/n/p', payload: undefined })?.refused[0].reason).to.equal('it holds no values')
  })

  it('shows what becomes of messages', () => {
    const messages = [['plant/n/p', '[{"a":1,"big":9007199254740993,"ts":1700000000000},{"a":2}]'], ['x', ''], ['x', 'on']]
      .map(([topic, payload]) => ({ topic, payload: Buffer.from(payload) }))
    expect(tryMappings([plant], messages, { now: NOW })).to.deep.equal([
      {
        topic: 'plant/n/p',
        mapping: 0,
        source: 'plant',
        tags: { line: 'n', device: 'p' },
        time: 1_700_000_000_000_000_000n,
        fields: [['a', 'float64', 1], ['big', 'int64', 9007199254740993n]],
        more: 1,
        refused: []
      },
      { topic: 'x', mapping: -1, source: null, tags: {}, time: null, fields: [], more: 0, refused: [{ reason: 'the message is empty' }] },
      { topic: 'x', mapping: -1, source: 'x', tags: { topic: 'x' }, time: NOW, fields: [['text', 'string', 'on']], more: 0, refused: [] }
    ])
  })
})

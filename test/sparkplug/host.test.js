import { expect } from 'chai'
import { encodePayload } from '../../gateway/sparkplug/codec.js'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'

const MS = 1_700_000_000_000n
const NS = MS * 1_000_000n
const NOW = NS + 5_000_000_000n
const DOUBLE = 10
const INT32 = 3

describe('A Sparkplug host', () => {
  /** @type {SparkplugHost} */
  let host
  /** @type {string[]} the nodes it has asked */
  let asked
  /** @type {bigint} */
  let now

  beforeEach(() => {
    asked = []
    now = NOW
    host = new SparkplugHost({ requestRebirth: (group, node) => { asked.push(`${group}/${node}`) }, now: () => now })
  })

  const double = (/** @type {number} */ value) => ({ value: { case: /** @type {const} */ ('doubleValue'), value } })
  const bdSeq = (/** @type {number} */ value) => ({
    name: 'bdSeq',
    datatype: 4,
    value: { case: /** @type {const} */ ('longValue'), value: BigInt(value) }
  })
  const quality = (/** @type {number} */ value) => ({
    properties: { keys: ['Quality'], values: [{ type: 3, value: { case: /** @type {const} */ ('intValue'), value } }] }
  })

  /**
   * @param {string} type @param {number} [seq] @param {any[]} [metrics]
   * @param {{node?: string, device?: string, timestamp?: bigint}} [more]
   */
  function receive (type, seq, metrics = [], { node = 'cell', device = type[0] === 'D' ? 'press' : undefined, timestamp = MS } = {}) {
    const topic = ['spBv1.0', 'plant', type, node, device].filter(Boolean).join('/')
    return host.receive(topic, encodePayload({ timestamp, seq: seq === undefined ? undefined : BigInt(seq), metrics }))
  }

  const births = () => {
    receive('NBIRTH', 0, [bdSeq(7), { name: 'Node Control/Rebirth', datatype: 11, value: { case: 'booleanValue', value: false } }])
    return receive('DBIRTH', 1, [
      {
        name: 'hall/speed',
        alias: 1n,
        datatype: DOUBLE,
        ...double(1),
        properties: { keys: ['engUnit'], values: [{ type: 12, value: { case: 'stringValue', value: 'm/s' } }] }
      },
      { name: 'count', alias: 2n, datatype: INT32, value: { case: 'intValue', value: 4 } }
    ])
  }

  it('turns a birth into a row, without the metrics that control the session', () => {
    expect(receive('NBIRTH', 0, [bdSeq(7)])).to.deep.equal({ batches: [], refused: [] })
    const { batches: [press], refused } = births()
    expect(refused).to.deep.equal([])
    expect(press.source).to.equal('plant.cell.press')
    expect(press.tags).to.deep.equal({ group: 'plant', node: 'cell', device: 'press' })
    expect(press.fields).to.deep.equal([{ name: 'hall/speed', type: 'float64', unit: 'm/s' }, { name: 'count', type: 'int32' }])
    expect(press.toObjects()).to.deep.equal([{ time: NS, 'hall/speed': 1, count: 4 }])
    expect(host.gauge()).to.include({ nodes: 1, devices: 1, metrics: 4 })
  })

  it('turns metrics with the same time into a row; without one, the payload\'s counts', () => {
    births()
    const { batches } = receive('DDATA', 2, [
      { alias: 1n, timestamp: MS + 1n, ...double(2) }, { alias: 2n, timestamp: MS + 1n, value: { case: 'intValue', value: 5 } },
      { alias: 1n, timestamp: MS + 2n, ...double(3) },
      { name: 'hall/speed', ...double(4) }
    ])
    expect(batches.flatMap(batch => batch.toObjects())).to.deep.equal([
      { time: NS + 1_000_000n, 'hall/speed': 2, count: 5 }, { time: NS + 2_000_000n, 'hall/speed': 3 }, { time: NS, 'hall/speed': 4 }
    ])
  })

  it('begins a row for each of several values with one time', () => {
    births()
    const { batches: [batch] } = receive('DDATA', 2, [
      { alias: 1n, ...double(2) },
      { alias: 1n, ...double(3) },
      { alias: 2n, value: { case: 'intValue', value: 5 } }
    ])
    expect(batch.toObjects()).to.deep.equal([{ time: NS, 'hall/speed': 2 }, { time: NS, 'hall/speed': 3, count: 5 }])
  })

  it('puts history into batches of its own', () => {
    births()
    const { batches } = receive('DDATA', 2, [
      { alias: 1n, ...double(2) },
      { alias: 1n, timestamp: MS - 9n, isHistorical: true, ...double(1) }
    ])
    expect(batches.map(({ tags, rows }) => [tags.historical, rows])).to.deep.equal([['true', 1], [undefined, 1]])
  })

  it('reports why a value is missing', () => {
    births()
    const reasons = [
      { alias: 1n, isNull: true },
      { alias: 1n, ...double(1), ...quality(0) },
      { alias: 1n, ...double(1), ...quality(500) },
      { alias: 1n, ...double(NaN) },
      { alias: 1n, ...double(5), ...quality(192) }
    ]
      .map((metric, i) => receive('DDATA', 2 + i, [metric]).batches[0].toObjects()[0])
    expect(reasons).to.deep.equal([
      ...['null', 'bad', 'stale', 'not a number'].map(text => ({ time: NS, quality: text })),
      { time: NS, 'hall/speed': 5 }
    ])
    const { batches: [mixed] } = receive('DDATA', 7, [{ alias: 1n, isNull: true }, { alias: 2n, value: { case: 'intValue', value: 5 } }])
    expect(mixed.toObjects()).to.deep.equal([{ time: NS, count: 5, quality: 'hall/speed: null' }])
  })

  it('turns a death into a row without values', () => {
    births()
    const { batches: [gone] } = receive('DDEATH', 2, [], { timestamp: MS + 9n })
    expect(gone.toObjects()).to.deep.equal([{ time: NS + 9_000_000n, quality: 'offline' }])
    expect(gone.fields.map(({ name }) => name)).to.deep.equal(['hall/speed', 'count', 'quality'])
    expect(receive('DDEATH', 3).batches).to.deep.equal([])
    expect(asked).to.deep.equal([])
  })

  it('treats a node\'s death as that of its devices, at the time it arrives', () => {
    births()
    expect(receive('NDEATH', undefined, [bdSeq(6)]).batches).to.deep.equal([])
    expect(host.counters.oldDeaths).to.equal(1)
    expect(receive('NDEATH', undefined, [bdSeq(7)]).batches.map(batch => [batch.source, batch.toObjects()])).to.deep.equal([[
      'plant.cell.press',
      [{ time: NOW, quality: 'offline' }]
    ]])
    expect(host.gauge()).to.include({ nodes: 0, devices: 0, metrics: 0 })
    expect(receive('NDEATH', undefined, [bdSeq(7)]).batches).to.deep.equal([])
  })

  it('treats a birth of another session as a missed death, and keeps the devices through a rebirth', () => {
    births()
    expect(receive('NBIRTH', 0, [bdSeq(7)]).batches).to.deep.equal([])
    expect(host.gauge()).to.include({ devices: 1 })
    expect(receive('NBIRTH', 0, [bdSeq(8)]).batches.map(batch => batch.toObjects()[0].quality)).to.deep.equal(['offline'])
    expect(host.gauge()).to.include({ devices: 0 })
  })

  it('refuses what comes before a birth, and requests it less and less often', () => {
    const askedAt = []
    for (let second = 0; second <= 100; second++) {
      now = NOW + BigInt(second) * 1_000_000_000n
      const { refused } = receive('NDATA', second, [{ alias: 1n, ...double(1) }])
      expect(refused).to.have.length(1)
      expect(refused[0]).to.include({ index: -1, reason: 'its node is not born: a rebirth was requested' })
      expect(refused[0].value).to.be.instanceOf(Uint8Array)
      if (asked.splice(0).length > 0) askedAt.push(second)
    }
    expect(askedAt).to.deep.equal([0, 10, 30, 70])
    births()
    receive('DDATA', 9, [{ alias: 1n, ...double(1) }])
    expect(asked, 'after a birth, at once again').to.deep.equal(['plant/cell'])
  })

  it('refuses an unknown alias or another type than the birth\'s, and accepts the rest', () => {
    births()
    const { batches, refused } = receive('DDATA', 2, [
      { alias: 9n, ...double(1) },
      { alias: 1n, datatype: INT32, value: { case: 'intValue', value: 1 } },
      { alias: 1n, ...double(2) }
    ])
    expect(batches[0].toObjects()).to.deep.equal([{ time: NS, 'hall/speed': 2 }])
    expect(refused.map(({ index, reason }) => [index, reason])).to.deep.equal([
      [0, 'its birth has no alias 9: a rebirth was requested'],
      [1, 'its metric "hall/speed" has the data type 3, 10 in its birth: a rebirth was requested']
    ])
    expect(asked).to.deep.equal(['plant/cell'])
    expect(receive('DDATA', 3, [], { device: 'unborn' }).refused[0].reason).to.match(/its device is not born/)
  })

  it('requests a rebirth after a gap, and accepts data meanwhile', () => {
    births()
    for (let i = 2; i < 600; i++) receive('DDATA', i % 256, [{ alias: 1n, ...double(i) }])
    expect(host.counters.gaps).to.equal(0)
    expect(receive('DDATA', 0, [{ alias: 1n, ...double(1) }]).batches).to.have.length(1)
    expect(host.counters).to.include({ gaps: 1, rebirthsRequested: 1 })
    host.reconnected()
    expect(asked, 'not again so soon').to.deep.equal(['plant/cell'])
  })

  it('requests a rebirth of all live nodes after a break', () => {
    births()
    receive('NBIRTH', 0, [bdSeq(1)], { node: 'other' })
    host.reconnected()
    expect(asked).to.deep.equal(['plant/cell', 'plant/other'])
  })

  it('reports which metrics of a birth it cannot store', () => {
    receive('NBIRTH', 0, [bdSeq(1)])
    const { batches, refused } = receive('DBIRTH', 1, [
      { name: 'set', alias: 1n, datatype: 16, value: { case: 'datasetValue', value: {} } },
      { name: 'motor', alias: 2n, datatype: 19, value: { case: 'templateValue', value: { templateRef: 'Motor' } } },
      { name: 'Motor', datatype: 19, value: { case: 'templateValue', value: { isDefinition: true } } },
      { name: 'time', alias: 3n, datatype: DOUBLE, ...double(1) }, { name: 'new', datatype: 77 }, { alias: 4n, datatype: DOUBLE },
      { name: 'fleeting', alias: 5n, datatype: DOUBLE, isTransient: true, ...double(1) },
      { name: 'early', datatype: DOUBLE, timestamp: 0n, ...double(1) },
      { name: 'good', alias: 6n, datatype: DOUBLE, ...double(1) }
    ])
    expect(batches.flatMap(batch => batch.toObjects())).to.deep.equal([{ time: NS, good: 1 }])
    expect(refused.map(({ reason }) => reason)).to.deep.equal([
      'its metric "set" is a DataSet: only single values and arrays are stored',
      'its metric "motor" is a Template: only single values and arrays are stored',
      'its metric "time" cannot be the name of a value: it is the name of the time',
      'its metric "new" has the unknown data type 77',
      'a metric of its birth has no name',
      'the time of "early" is not between 1970 and 2262'
    ])
    expect(asked).to.deep.equal([])
  })

  it('names a metric that it cannot store once, then counts its values and stores the others', () => {
    const birth = [
      { name: 'set', alias: 1n, datatype: 16, value: { case: 'datasetValue', value: {} } },
      { name: 'motor', alias: 2n, datatype: 19, value: { case: 'templateValue', value: { templateRef: 'Motor' } } },
      { name: 'good', alias: 3n, datatype: DOUBLE, ...double(1) }
    ]
    receive('NBIRTH', 0, [bdSeq(1)])
    expect(receive('DBIRTH', 1, birth).refused).to.have.length(2)
    for (let seq = 2; seq < 5; seq++) {
      const { batches, refused } = receive('DDATA', seq, [{ alias: 1n }, { alias: 2n }, { alias: 3n, ...double(seq) }])
      expect(batches.flatMap(batch => batch.toObjects())).to.deep.equal([{ time: NS, good: seq }])
      expect(refused).to.deep.equal([])
    }
    expect(receive('DBIRTH', 5, birth).refused).to.deep.equal([])
    expect(host.gauge()).to.include({ unstorable: 8, leftOut: 1 })
    expect(receive('DBIRTH', 6, [...birth, { name: 'other', datatype: 16 }]).refused.map(({ reason }) => reason)).to.deep.equal([
      'its metric "other" is a DataSet: only single values and arrays are stored'
    ])
  })

  it('splits what is too wide for a batch', () => {
    receive('NBIRTH', 0, [bdSeq(1)])
    const metrics = Array.from({ length: 2500 }, (_, i) => ({ name: `m${i}`, alias: BigInt(i), datatype: DOUBLE, ...double(i) }))
    expect(receive('DBIRTH', 1, metrics).batches.map(({ fields }) => fields.length)).to.deep.equal([999, 999, 502])
    expect(receive('DDEATH', 2).batches.map(batch => [batch.fields.length, ...batch.toObjects()])).to.deep.equal([1000, 1000, 503].map(
      fields => [fields, { time: NS, quality: 'offline' }]
    ))
  })

  it('limits its nodes, devices and metrics', () => {
    host = new SparkplugHost({ requestRebirth: () => {}, maxSources: 2 })
    births()
    expect(receive('DBIRTH', 2, [], { device: 'second' }).refused[0].reason).to.equal('there are already 2 nodes and devices')
    expect(receive('NBIRTH', 0, [], { node: 'second' }).refused[0].reason).to.equal('there are already 2 nodes and devices')
    expect(births().refused).to.deep.equal([])
    receive('NDEATH', undefined, [bdSeq(7)])
    const { refused } = receive(
      'NBIRTH',
      0,
      Array.from({ length: 10_300 }, (_, i) => ({ name: `m${i}`, datatype: DOUBLE, ...double(i) })),
      { node: 'second' }
    )
    expect(refused).to.have.length(101)
    expect(refused[0].reason).to.equal('its birth names more than 10000 metrics')
    expect(refused[100]).to.include({ index: -1, reason: '200 more of its metrics were refused' })
  })

  it('limits the metrics of all nodes together', () => {
    host = new SparkplugHost({ requestRebirth: () => {}, maxMetrics: 4 })
    births()
    expect(receive('NBIRTH', 0, [{ name: 'a', datatype: DOUBLE, ...double(1) }], { node: 'second' }).refused[0].reason)
      .to.equal('all nodes and devices together would have more than 4 metrics')
    expect(births().refused).to.deep.equal([])
  })

  const array = (/** @type {string} */ name, /** @type {number} */ length) => ({
    name, datatype: 26, value: { case: 'bytesValue', value: new Uint8Array(length) }
  })

  it('refuses payloads that would become far more than they are, before they do', () => {
    const reasonOf = (/** @type {any[]} */ metrics) => receive('NBIRTH', 0, metrics).refused.at(-1)?.reason
    const tooLarge = /SLUICE_MESSAGE_TOO_LARGE: The message is too large/
    expect(host.receive('spBv1.0/plant/NBIRTH/cell', Buffer.from('1200'.repeat(300_000), 'hex')).refused[0].reason).to.match(tooLarge)
    const rows = new Array(150_000).fill({ elements: [{ value: { case: 'intValue', value: 1 } }] })
    expect(reasonOf([{ name: 'd', datatype: 16, value: { case: 'datasetValue', value: { rows } } }])).to.match(tooLarge)
    const { batches, refused } = receive('NBIRTH', 0, Array.from({ length: 400 }, (_, i) => array(`a${i}`, 999)))
    expect(batches.reduce((sum, batch) => sum + batch.values, 0)).to.be.at.most(250_000)
    expect(refused[0].reason).to.match(tooLarge)
    const bits = Buffer.alloc(1_000_004)
    bits.writeUInt32LE(8_000_000)
    const bools = { name: 'b', datatype: 32, value: { case: 'bytesValue', value: bits } }
    expect(reasonOf([bools])).to.equal('its array "b" has over 999 elements')
    const unit = { keys: ['engUnit'], values: [{ type: 12, value: { case: 'stringValue', value: 'x'.repeat(300) } }] }
    const measured = { name: 'u', datatype: DOUBLE, ...double(1), properties: unit }
    expect(reasonOf([measured])).to.equal('its metric "u" has a unit of over 255 characters')
  })

  it('refuses rows that have hardly a metric in common', () => {
    const metrics = Array.from({ length: 900 }, (_, i) => ({ name: `m${i}`, datatype: DOUBLE, ...double(i) }))
    receive('NBIRTH', 0, metrics)
    const { batches, refused } = receive('NDATA', 1, metrics.flatMap((metric, i) => [
      { ...metric, timestamp: MS + BigInt(i) }, { ...metric, timestamp: MS + BigInt(i) + 1000n }
    ]))
    expect(batches.reduce((sum, batch) => sum + batch.values, 0)).to.be.at.most(1_000_000)
    expect(refused[0].reason).to.match(/^\d+ of its rows: SLUICE_MESSAGE_TOO_LARGE/)
  })

  it('ignores messages of hosts, and refuses other topics', () => {
    for (const topic of ['spBv1.0/STATE/scada', 'spBv1.0/plant/NCMD/cell', 'spBv1.0/plant/DCMD/cell/press']) {
      expect(host.receive(topic, Buffer.from('{}'))).to.deep.equal({ batches: [], refused: [] })
    }
    const topics = [
      '', 'spBv1.0', 'spBv1.0/plant/NDATA', 'spBv1.0/plant/NDATA/cell/press', 'spBv1.0/plant/DDATA/cell', 'spBv1.0/plant/WHAT/cell',
      'spAv1.0/plant/NDATA/cell', 'spBv1.0//NDATA/cell'
    ]
    for (const topic of topics) {
      expect(host.receive(topic, Buffer.alloc(0)).refused[0].reason, topic).to.equal('its topic is not one of Sparkplug\'s')
    }
    const reasonFor = (/** @type {Uint8Array} */ bytes) => host.receive('spBv1.0/plant/NDATA/cell', bytes).refused[0].reason
    expect(reasonFor(Buffer.from('no'))).to.match(/SLUICE_SPARKPLUG: The payload is not Sparkplug B/)
    expect(host.receive(`spBv1.0/plant/NDATA/${'n'.repeat(300)}`, Buffer.alloc(0)).refused[0].reason).to.match(/over 255 characters/)
  })
})

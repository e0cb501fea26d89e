import { expect } from 'chai'
import { Batch } from '../../gateway/batch/batch.js'
import { toBatches } from '../../gateway/messages/payload.js'
import { decodePayload, encodeRebirthCommand } from '../../gateway/sparkplug/codec.js'
import { encodeDeath, SparkplugEdge } from '../../gateway/sparkplug/edge.js'
import { SparkplugHost } from '../../gateway/sparkplug/host.js'

const NOW = 1_700_000_000_000_000_000n
const MS = 1_700_000_000_000

describe('A Sparkplug edge node', () => {
  /** @type {{type: string, device?: string, bytes: Buffer, topic: string}[]} */
  let published
  /** @type {number} how many payloads its outlet still takes */
  let room
  /** @type {SparkplugEdge} */
  let edge

  /** @param {object} [more] */
  function make (more) {
    published = []
    room = Infinity
    edge = new SparkplugEdge({
      groupId: 'plant',
      nodeId: 'gateway',
      now: () => NOW,
      outlet: {
        publish (topic, bytes) {
          const [, , type, , device] = topic.split('/')
          published.push({ type, device, bytes, topic })
          room--
        },
        hasRoom: () => room > 0
      },
      ...more
    })
  }
  beforeEach(() => make())

  const batchOf = (/** @type {unknown} */ payload, topic = 'press') => toBatches({ payload, topic }).batches[0]
  const types = () => published.map(({ type, device }) => device ? `${type} ${device}` : type)
  const seqs = () => published.map(({ bytes }) => Number(decodePayload(bytes).seq))

  /** What a host makes of all that was published. */
  function heard () {
    const host = new SparkplugHost({ requestRebirth: () => { throw new Error('A rebirth was asked for.') }, now: () => NOW })
    return published.flatMap(({ topic, bytes }) => {
      const { batches, refused } = host.receive(topic, bytes)
      expect(refused).to.deep.equal([])
      return batches
    })
  }

  it('publishes its birth, and that of each source as a device at its first batch', () => {
    edge.begin(3n)
    edge.take(batchOf({ speed: 1 }))
    edge.take(batchOf({ speed: 2 }))
    edge.take(batchOf({ level: 1 }, 'hall/tank'))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH press', 'DDATA press', 'DBIRTH hall.tank'])
    expect(seqs()).to.deep.equal([0, 1, 2, 3])
    expect(decodePayload(published[0].bytes).metrics.map(({ name, value }) => [name, value.value])).to.deep.equal([
      ['bdSeq', 3n],
      ['Node Control/Rebirth', false]
    ])
    expect(decodePayload(encodeDeath(3n, NOW)).metrics[0]).to.deep.include({ name: 'bdSeq', value: { case: 'longValue', value: 3n } })
  })

  it('sends a host every value, type and unit of a batch', () => {
    const batch = new Batch({
      source: 'press',
      time: BigInt64Array.of(NOW, NOW + 1_000_000n, NOW + 2_000_000n),
      fields: [
        { name: 'a', type: 'float64', unit: 'm' }, { name: 'b', type: 'float32' }, { name: 'c', type: 'int64' },
        { name: 'd', type: 'int32' }, { name: 'e', type: 'int16' },
        { name: 'f', type: 'uint16' }, { name: 'g', type: 'bool' }, { name: 'h', type: 'string' }, { name: 'i', type: 'bytes' }
      ],
      columns: [
        Float64Array.of(1.5, -2.5, 3), Float32Array.of(0.5, 0.25, 1), BigInt64Array.of(-(2n ** 63n), 2n ** 63n - 1n, 0n),
        Int32Array.of(-(2 ** 31), 2 ** 31 - 1, 0),
        Int16Array.of(-32_768, 32_767, 0), Uint16Array.of(0, 65_535, 1), Uint8Array.of(0, 1, 0), ['', 'grün', 'x'],
        [Uint8Array.of(), Uint8Array.of(0, 255), Uint8Array.of(1)]
      ]
    })
    edge.begin(0n)
    edge.take(batch)
    const batches = heard()
    expect(batches[0].fields).to.deep.equal(batch.fields)
    expect(batches.flatMap(told => told.toObjects())).to.deep.equal(batch.toObjects())
  })

  it('numbers its messages 0 … 255', () => {
    edge.begin(0n)
    for (let i = 0; i < 600; i++) edge.take(batchOf({ speed: i }))
    expect(seqs()).to.deep.equal(Array.from({ length: 601 }, (_, i) => i % 256))
    expect(heard()).to.have.length(600)
  })

  it('sends missing values with a reason as bad, and no others', () => {
    const qualities = ['', 'speed: timeout', '']
    const batch = new Batch({
      source: 'press',
      time: BigInt64Array.of(NOW, NOW + 1_000_000n, NOW + 2_000_000n),
      fields: [{ name: 'speed', type: 'float64' }, { name: 'level', type: 'float64' }, { name: 'quality', type: 'string' }],
      columns: [Float64Array.of(1, 0, 3), Float64Array.of(1, 2, 0), qualities],
      validity: [Uint8Array.of(1, 0, 1), Uint8Array.of(1, 1, 0), Uint8Array.of(0, 1, 0)]
    })
    edge.begin(0n)
    edge.take(batch)
    expect(heard().flatMap(told => told.toObjects())).to.deep.equal(batch.toObjects())
    const bad = decodePayload(published[2].bytes).metrics.find(({ isNull }) => isNull)
    expect(bad?.properties?.keys).to.deep.equal(['Quality'])

    edge.take(batchOf({ speed: 4, level: 4 }))
    edge.command(encodeRebirthCommand(NOW))
    const quality = decodePayload(published[published.length - 1].bytes).metrics.find(({ name }) => name === 'quality')
    expect(quality?.isNull, 'a reason that holds no longer is not told again').to.equal(true)
  })

  it('publishes a device\'s birth again for new fields or types, and keeps the old aliases', () => {
    edge.begin(0n)
    edge.take(batchOf({ speed: 1 }))
    edge.take(batchOf({ speed: 2, level: 1 }))
    edge.take(batchOf({ level: 'high' }))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH press', 'DBIRTH press', 'DBIRTH press'])
    expect(decodePayload(published[3].bytes).metrics.map(({ name, alias, value }) => [name, alias, value.value])).to.deep.equal([
      ['speed', 0n, 2],
      ['level', 1n, 'high']
    ])
  })

  it('publishes its births again on command, with the last values', () => {
    edge.begin(9n)
    edge.take(batchOf([{ time: MS, speed: 1, level: 7 }, { time: MS + 1, speed: 2 }]))
    published = []
    edge.command(Buffer.from('no command'))
    edge.command(encodeDeath(1n, NOW))
    expect(published).to.deep.equal([])
    edge.command(encodeRebirthCommand(NOW))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH press'])
    expect(seqs()).to.deep.equal([0, 1])
    expect(decodePayload(published[1].bytes).metrics.map(({ value, timestamp }) => [value.value, timestamp])).to.deep.equal([
      [2, BigInt(MS + 1)],
      [7, BigInt(MS)]
    ])
  })

  it('holds batches while it is offline, and sends them as history', () => {
    edge.take(batchOf([{ time: MS, speed: 1 }, { time: MS + 1, speed: 2 }]))
    expect(published).to.deep.equal([])
    edge.begin(0n)
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH press', 'DDATA press'])
    const [birth, history] = heard()
    expect(birth.toObjects()).to.deep.equal([{ time: NOW + 1_000_000n, speed: 2 }])
    expect(history.tags.historical).to.equal('true')
    expect(history.toObjects().map(({ speed }) => speed)).to.deep.equal([1, 2])
    expect(edge.state).to.include({ historical: 2, heldValues: 0 })

    edge.end()
    edge.take(batchOf({ speed: 3 }))
    edge.command(encodeRebirthCommand(NOW))
    expect(published).to.have.length(3)
  })

  it('keeps the newest batches within its limit, and counts the rest', () => {
    make({ maxHeldValues: 5 })
    for (let i = 0; i < 4; i++) edge.take(batchOf([{ time: MS + i, speed: i, level: i }]))
    expect(edge.state).to.include({ heldValues: 4, droppedValues: 4 })
    edge.take(batchOf(Array.from({ length: 9 }, (_, i) => ({ time: MS + 10 + i, speed: 10 + i, level: 0 }))))
    expect(edge.state).to.include({ heldValues: 4, droppedValues: 4 + 4 + 14 })
    edge.begin(0n)
    expect(heard().at(-1)?.toObjects().map(({ speed }) => speed)).to.deep.equal([17, 18])
  })

  it('holds many small batches in order', () => {
    for (let i = 0; i < 5000; i++) edge.take(batchOf({ time: MS + i, speed: i }))
    room = 100
    edge.begin(0n)
    expect(edge.state.heldValues).to.equal(4902)
    room = Infinity
    edge.drained()
    const speeds = heard().filter(({ tags }) => tags.historical).flatMap(told => told.toObjects()).map(({ speed }) => speed)
    expect(speeds).to.deep.equal(Array.from({ length: 5000 }, (_, i) => i))
  })

  it('waits for an outlet without room', () => {
    edge.begin(0n)
    edge.take(batchOf({ text: '' }))
    room = 2
    const long = 'x'.repeat(20_000)
    edge.take(batchOf(Array.from({ length: 10 }, (_, i) => ({ time: MS + i, text: long }))))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH press', 'DDATA press', 'DDATA press'])
    expect(edge.state).to.include({ sent: 5, heldValues: 6 })
    room = Infinity
    edge.drained()
    expect(heard().flatMap(told => told.toObjects())).to.have.length(11)
    expect(edge.state).to.include({ sent: 5, historical: 6, heldValues: 0 })
    for (const { bytes } of published) expect(bytes.length).to.be.below(64 * 1024)
  })

  it('counts what Sparkplug cannot express', () => {
    edge.begin(0n)
    edge.take(new Batch(
      { source: 'press', time: BigInt64Array.of(-5n, NOW), fields: [{ name: 'speed', type: 'float64' }], columns: [Float64Array.of(1, 2)] }
    ))
    expect(edge.state).to.include({ refused: 1, sent: 1 })
    edge.take(new Batch(
      {
        source: 'press',
        time: BigInt64Array.of(NOW),
        fields: [{ name: 'text', type: 'string' }],
        columns: [/** @type {any} */ ([{ not: 'text' }])]
      }
    ))
    expect(heard().at(-1)?.toObjects()[0].text).to.equal('[object Object]')
  })

  it('can be one device, whatever the sources', () => {
    make({ deviceId: 'line' })
    edge.begin(0n)
    edge.take(batchOf({ speed: 1 }))
    edge.take(batchOf({ level: 1 }, 'tank'))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH line', 'DBIRTH line'])
  })

  it('can have a device for each tag, whatever the source', () => {
    make({ deviceId: '{line}-{source}' })
    edge.begin(0n)
    const tagged = (/** @type {Record<string, string>} */ tags) => new Batch({ ...batchOf({ speed: 1 }, 'press/1'), tags })
    edge.take(tagged({ line: 'a' }))
    edge.take(tagged({ line: 'b/2', hall: '1' }))
    edge.take(tagged({}))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH a-press.1', 'DBIRTH b.2-press.1', 'DBIRTH -press.1'])
    make({ deviceId: '{line}' })
    edge.begin(0n)
    edge.take(tagged({}))
    expect(types()).to.deep.equal(['NBIRTH', 'DBIRTH press.1'])
  })

  it('shares the rows of a batch out among the devices of their tags', () => {
    make({ deviceId: '{line}' })
    edge.begin(0n)
    edge.take(new Batch({
      source: 'hall',
      time: BigInt64Array.of(NOW, NOW + 1_000_000n, NOW + 2_000_000n),
      fields: [{ name: 'speed', type: 'float64' }],
      columns: [Float64Array.of(1, 2, 3)],
      tags: { line: { values: ['a', 'b', 'a'], valid: null } }
    }))
    expect(heard().flatMap(batch => batch.toObjects().map(({ speed }) => [batch.tags.device, speed]))).to.have.deep.members([
      ['a', 1], ['b', 2], ['a', 3]
    ])
  })
})

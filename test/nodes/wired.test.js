import { expect } from 'chai'
import { readersOf, SINK_TYPES, wiredSinks } from '../../nodes/sinks/wired.js'

const SINK = 'sluice-test-sink'
const stageIn = (/** @type {object} */ more) => ({ id: 'in', type: 'sluice-stage-in', z: 'tab', broker: 'b', wires: [['db']], ...more })
const sink = (/** @type {object} */ more = {}) => ({ id: 'db', type: SINK, z: 'tab', name: 'history', wires: [], ...more })
const tab = { id: 'tab', type: 'tab' }
const required = (/** @type {any[]} */ ...configs) => wiredSinks([tab, ...configs], 'gw', 'b').map(each => `${each.consumer}/${each.sink}`)

describe('the wiring', () => {
  before(() => { SINK_TYPES.add(SINK) })
  after(() => { SINK_TYPES.delete(SINK) })

  it('names a sink by gateway and node, whatever it is called', () => {
    expect(wiredSinks([tab, stageIn({ source: 'press' }), sink()], 'gw', 'b')).to.deep.equal([
      { consumer: 'gw', sink: 'db', label: 'history', node: 'db', gateway: '+', source: 'press', route: 'in mqtt://127.0.0.1:1883 mqtt://127.0.0.1:1883' }
    ])
    expect(required(stageIn({}), sink({ name: 'renamed' }))).to.deep.equal(['gw/db'])
  })

  it('names a sink of a consumer group by its name', () => {
    expect(required(stageIn({ group: 'plant' }), sink())).to.deep.equal(['group:plant/history'])
  })

  it('calls a sink as people read it, and knows it by that name, but nowhere in a key', () => {
    const names = new Map([['db', 'postgresql 2']])
    const of = (/** @type {object} */ more) => {
      return wiredSinks([tab, stageIn(more), sink({ name: '' })], 'gw', 'b', names).map(({ sink: key, label }) => [key, label])
    }
    expect(of({})).to.deep.equal([['db', 'postgresql 2']])
    expect(of({ group: 'plant' })).to.deep.equal([['db', 'postgresql 2']])
    expect(of({ sinks: 'postgresql 2' })).to.deep.equal([['db', 'postgresql 2']])
  })

  it('counts disabled sinks, stage ins and tabs, and leads through disabled nodes', () => {
    expect(required(stageIn({}), sink({ d: true }))).to.deep.equal(['gw/db'])
    expect(required(stageIn({ d: true }), sink())).to.deep.equal(['gw/db'])
    expect(required({ ...tab, id: 'off', disabled: true }, stageIn({ z: 'off' }), sink({ z: 'off' }))).to.deep.equal(['gw/db'])
    const between = { id: 'f', type: 'function', z: 'tab', d: true, wires: [['db']] }
    expect(required(stageIn({ wires: [['f']] }), between, sink())).to.deep.equal(['gw/db'])
  })

  it('follows links and link calls, and goes round no circle for ever', () => {
    const call = { id: 'call', type: 'link call', z: 'tab', links: ['li'], wires: [['in', 'out']] }
    const out = { id: 'out', type: 'link out', z: 'tab', links: ['l2'], wires: [] }
    const ins = [{ id: 'li', type: 'link in', wires: [['db']] }, { id: 'l2', type: 'link in', wires: [['db2']] }]
    expect(required(stageIn({ wires: [['call']] }), call, out, ...ins, sink(), sink({ id: 'db2' }), sink({ id: 'other' })))
      .to.deep.equal(['gw/db', 'gw/db2'])
  })

  it('leads into subflows, through them and out of them, under the ids that run', () => {
    const inner = { id: 'inner', type: 'subflow', in: [{ wires: [{ id: 'f' }] }], out: [{ wires: [{ id: 'f', port: 0 }] }] }
    const out = [{ wires: [{ id: 'i', port: 0 }, { id: 'outer', port: 0 }] }]
    const outer = { id: 'outer', type: 'subflow', in: [{ wires: [{ id: 'i' }] }], out }
    const nodes = [
      { id: 'f', type: 'function', z: 'inner', wires: [['idb']] },
      sink({ id: 'idb', z: 'inner' }),
      { id: 'i', type: 'subflow:inner', z: 'outer', wires: [['odb']] },
      sink({ id: 'odb', z: 'outer' }),
      { id: 'o1', type: 'subflow:outer', z: 'tab', wires: [['db']] },
      { id: 'o2', type: 'subflow:outer', z: 'tab', wires: [['db2']] }
    ]
    expect(required(inner, outer, ...nodes, stageIn({ wires: [['o1']] }), sink(), sink({ id: 'db2' })).sort())
      .to.deep.equal(['gw/db', 'gw/o1-i-idb', 'gw/o1-odb'])
  })

  it('has a stage in once for each instance of its subflow, and none where there is none', () => {
    const subflow = { id: 's', type: 'subflow', in: [], out: [] }
    const content = [stageIn({ z: 's' }), sink({ z: 's' })]
    expect(required(subflow, ...content)).to.deep.equal([])
    const instances = [{ id: 'i1', type: 'subflow:s', z: 'tab', wires: [] }, { id: 'i2', type: 'subflow:s', z: 'tab', wires: [] }]
    expect(required(subflow, ...content, ...instances)).to.deep.equal(['gw/i1-db', 'gw/i2-db'])
    expect(readersOf([subflow, ...content, ...instances], 'gw').map(({ id }) => id)).to.deep.equal(['i1-in', 'i2-in'])
  })

  it('takes the sinks that stage in names, by name or id, and waits for one that is not there', () => {
    const sinks = [sink(), sink({ id: 'db2', name: 'two' }), sink({ id: 'db3' })]
    for (const names of ['two\ndb3\n\nghost', ['two', 'db3', 'ghost']]) {
      expect(required(stageIn({ sinks: names }), ...sinks)).to.deep.equal(['gw/db2', 'gw/db3', 'gw/ghost'])
    }
    expect(required(stageIn({ sinks: '' }), ...sinks)).to.deep.equal(['gw/db'])
  })

  it('knows two broker nodes with one address for one broker', () => {
    const brokers = [['b', 'mqtt://127.0.0.1:1883'], ['same', undefined], ['else', 'mqtt://10.0.0.1']].map(([id, url]) => ({ id, url, type: 'sluice-broker' }))
    expect(required(...brokers, stageIn({ broker: 'same' }), sink())).to.deep.equal(['gw/db'])
    expect(required(...brokers, stageIn({ broker: 'else' }), sink())).to.deep.equal([])
  })
})

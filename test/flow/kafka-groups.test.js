import { expect } from 'chai'
import { groupsAtOdds } from '../../gateway/flow/kafka-groups.js'

describe('Kafka ins that share a group', () => {
  const node = (/** @type {string} */ id, /** @type {string} */ type, /** @type {object} */ options, /** @type {string[]} */ ...wires) => {
    return { id, type: `sluice-${type}`, z: 'tab', ...options, wires: [wires] }
  }
  /** @param {object} [more]  of the second @param {string[]} [wires] */
  const found = (more = {}, wires = ['other']) => groupsAtOdds([
    { id: 'tab', type: 'tab' }, { id: 'off', type: 'tab', disabled: true },
    { id: 'kafka', type: 'sluice-kafka-server', host: 'a, b', port: 9092 },
    { id: 'again', type: 'sluice-kafka-server', host: 'b:9092,a', port: '9092' },
    { id: 'elsewhere', type: 'sluice-kafka-server', host: 'c', port: 9092 },
    node('one', 'kafka-in', { server: 'kafka', topics: 'plant.*\nmill' }, 'step'),
    node('two', 'kafka-in', { server: 'again', topics: ['plant.press'], group: 'sluice', ...more }, ...wires),
    { id: 'step', type: 'function', z: 'tab', wires: [['sink']] },
    node('sink', 'sqlite', {}), node('other', 'null', {}), node('count', 'count', {})
  ]).map(pair => pair.map(({ id, group }) => `${id} of ${group}`))

  it('are at odds where they share a topic and lead to different sinks', () => {
    for (const more of [{}, { topics: ['mill'] }, { topics: 'plant.*' }, { topics: ['*'] }]) {
      expect(found(more), JSON.stringify(more)).to.deep.equal([['one of sluice', 'two of sluice']])
    }
    expect(found({}, ['sink', 'other'])).to.have.length(1)
  })

  it('are not where they lead to the same sinks, or share nothing', () => {
    expect(found({}, ['sink'])).to.deep.equal([])
    expect(found({}, ['step', 'count'])).to.deep.equal([])
    for (const more of [{ topics: ['mills'] }, { group: 'other' }, { server: 'elsewhere' }, { d: true }, { z: 'off' }]) {
      expect(found(more), JSON.stringify(more)).to.deep.equal([])
    }
  })
})

import { expect } from 'chai'
import { readCommit, readResend, readSinks } from '../../broker/control-messages.js'

const bytes = (/** @type {unknown} */ message) => Buffer.from(JSON.stringify(message))
const ranges = (/** @type {number} */ count) => Array.from({ length: count }, (_, i) => [2 * i, 2 * i])
const many = (/** @type {number} */ count, /** @type {unknown} */ value) => {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${i}`, value]))
}

describe('control messages', () => {
  it('are read as specified', () => {
    const commit = { store: 'a1', label: 'history', sources: { press: { '7-a': [[12, 32, 176512375921], [36, 41, 0]] } } }
    expect(readCommit(bytes(commit))).to.deep.equal(commit)
    expect(readCommit(bytes({ ...commit, reading: [1_700_000_000_000, 3] }))).to.deep.equal({ ...commit, reading: [1_700_000_000_000, 3] })
    const resend = { sources: { press: { '7-a': [[33, 35]] } }, undelivered: { press: { '7-a': [31] } } }
    expect(readResend(bytes(resend))).to.deep.equal(resend)
    expect(readResend(bytes({ sources: {} }))).to.deep.equal({ sources: {}, undelivered: {} })
    const list = { gateway: '+', source: 'press', sinks: [{ sink: 'n1', label: 'history', committed: true }] }
    expect(readSinks(bytes(list))).to.deep.equal(list)
    expect(readSinks(bytes({ ...list, member: [2, 3] }))).to.deep.equal({ ...list, member: [2, 3] })
    for (const member of [undefined, [2], [0, 3], 'two']) {
      expect(readSinks(bytes({ ...list, member }))).to.deep.equal(list)
    }
    expect(readSinks(Buffer.alloc(0))).to.equal(null)
  })

  it('that are impossible are refused', () => {
    const commitOf = (/** @type {unknown} */ range) => ({ store: 'a', sources: { press: { e: [range] } } })
    for (const message of [
      null, 1, [], 'text', {}, { store: '', sources: {} }, { store: 'a' }, { store: 'a', sources: [] },
      { store: 'a', sources: { press: null } }, { store: 'a', sources: {}, reading: 3 }, { store: 'a', sources: {}, reading: [1, -1] },
      { store: 'a', sources: { press: { e: 'all' } } }, { store: 'a', sources: { '': {} } }, commitOf(null), commitOf([1, 0, 5]),
      commitOf([-1, 0, 5]), commitOf([0, 1.5, 5]), commitOf([0, 2 ** 53, 5]), commitOf([0, 1]),
      commitOf([0, 1, -1]), commitOf([0, 1, 2 ** 48]),
      { store: 'a', sources: { press: { e: [[0, 5, 1], [5, 6, 1]] } } },
      { store: 'a', sources: { press: { e: [[5, 6, 1], [0, 1, 1]] } } }
    ]) {
      expect(() => readCommit(bytes(message)), JSON.stringify(message)).to.throw().with.property('code', 'SLUICE_PROTOCOL')
    }
    expect(() => readResend(bytes({ undelivered: { press: { e: [-1] } } }))).to.throw('not a seq')
    expect(() => readSinks(bytes({ gateway: '+', source: '+', sinks: [null] }))).to.throw('name of a sink')
    expect(() => readCommit(Buffer.from('{"store'))).to.throw('not JSON')
  })

  it('that exceed their bounds are refused', () => {
    expect(readResend(bytes({ sources: { press: { e: ranges(1000) } } })).sources.press.e).to.have.length(1000)
    expect(() => readResend(bytes({ sources: { press: { e: ranges(1001) } } }))).to.throw('at most 1000 ranges')
    expect(() => readResend(bytes({ sources: { press: many(65, [[0, 1]]) } }))).to.throw('65 sources or epochs where 64 may be')
    expect(() => readResend(bytes({ sources: many(1001, {}) }))).to.throw('1001 sources')
    expect(() => readCommit(bytes({ store: 'a', sources: { ['x'.repeat(257)]: {} } }))).to.throw('is not the name')
    expect(() => readCommit(bytes({ store: 'a', sources: {}, more: 'x'.repeat(2 ** 20) }))).to.throw('bytes')
    const sinks = Array.from({ length: 101 }, (_, i) => ({ sink: `s${i}` }))
    expect(() => readSinks(bytes({ gateway: '+', source: '+', sinks }))).to.throw('at most 100')
  })

  it('may have sources with the names of methods', () => {
    const { sources } = readResend(Buffer.from('{"sources": {"__proto__": {"constructor": [[0, 1]]}}}'))
    expect(Object.keys(sources)).to.deep.equal(['__proto__'])
    expect(sources.__proto__.constructor).to.deep.equal([[0, 1]])
    expect(sources.toString).to.equal(undefined)
  })
})

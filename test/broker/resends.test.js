import { expect } from 'chai'
import { Resends } from '../../broker/out/resends.js'

const held = () => ({ first: 0, last: 1_000_000 })
const drain = (/** @type {Resends} */ resends, max = 100) => {
  const sent = []
  for (let next; sent.length < max && (next = resends.next());) sent.push(`${next.reader} ${next.source} ${next.epoch}/${next.seq}`)
  return sent
}

describe('resends', () => {
  it('go to all requesters in turn: a long request holds up no short one', () => {
    const resends = new Resends()
    resends.add('gw', 'long', { press: { e: [[0, 999_999]] } }, held)
    resends.add('gw', 'short', { press: { e: [[7, 8]] } }, held)
    resends.add('other', 'third', { mill: { f: [[3, 3]] } }, held)
    expect(drain(resends, 6)).to.deep.equal(
      ['long press e/0', 'short press e/7', 'third mill f/3', 'long press e/1', 'short press e/8', 'long press e/2'])
  })

  it('add a request to what is left of the one before', () => {
    const resends = new Resends()
    resends.add('gw', 'in', { press: { e: [[0, 4]] } }, held)
    expect(drain(resends, 2)).to.deep.equal(['in press e/0', 'in press e/1'])
    resends.add('gw', 'in', { press: { e: [[3, 5], [9, 9]], d: [[1, 1]] } }, held)
    expect(drain(resends)).to.deep.equal(
      ['in press e/2', 'in press e/3', 'in press e/4', 'in press e/5', 'in press e/9', 'in press d/1'])
  })

  it('are of what is held', () => {
    const resends = new Resends()
    resends.add('gw', 'in', { press: { e: [[0, 4], [8, Number.MAX_SAFE_INTEGER]], gone: [[0, 1]] }, unknown: { e: [[0, 1]] } },
      (source, epoch) => source === 'press' && epoch === 'e' ? { first: 3, last: 9 } : undefined)
    expect(drain(resends)).to.deep.equal(['in press e/3', 'in press e/4', 'in press e/8', 'in press e/9'])
    expect(resends.size).to.equal(0)
  })

  it('of a flood are bounded: ranges of one reader, and readers', () => {
    const resends = new Resends()
    const ranges = Array.from({ length: 1000 }, (_, i) => /** @type {[number, number]} */ ([2 * i, 2 * i]))
    for (let i = 0; i < 5; i++) resends.add('gw', 'in', { press: { [`e${i}`]: ranges } }, held)
    expect(resends.refused).to.equal(4000)
    expect(drain(resends, 10_000)).to.have.length(1000)
    for (let i = 0; i < 200; i++) resends.add('gw', `in ${i}`, { press: { e: [[0, 0]] } }, held)
    expect(resends.size).to.equal(100)
  })
})

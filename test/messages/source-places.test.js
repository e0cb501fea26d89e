import { expect } from 'chai'
import { SourcePlaces } from '../../gateway/messages/source-places.js'

describe('The places of sources', () => {
  /** @type {number} */
  let now
  /** @type {Set<string>} sources of which something waits to be stored */
  let waiting

  beforeEach(() => {
    now = 0
    waiting = new Set()
  })

  const places = (/** @type {string[]} */ sources = []) => {
    return new SourcePlaces({ max: 3, sources, silentMs: 1000, now: () => now, isEmpty: source => !waiting.has(source) })
  }
  const admits = (/** @type {SourcePlaces} */ of, /** @type {string} */ source) => {
    try {
      of.admit(source)
      return true
    } catch (error) {
      expect(error).to.have.property('code', 'SLUICE_SOURCE_COUNT')
      return false
    }
  }

  it('are limited, those found in the spool included', () => {
    const of = places(['old'])
    expect(['a', 'b', 'c', 'a', 'old'].map(source => admits(of, source))).to.deep.equal([true, true, false, true, true])
  })

  it('that a flood of invented sources has taken are free again once it is over', () => {
    const of = places()
    for (let i = 0; i < 3; i++) expect(admits(of, `invented ${i}`)).to.equal(true)
    now = 999
    expect(admits(of, 'machine')).to.equal(false)
    now = 1000
    expect(admits(of, 'machine')).to.equal(true)
  })

  it('are kept by those that speak, and by those of which something waits to be stored', () => {
    const of = places()
    for (const source of ['waiting', 'silent', 'speaking']) of.admit(source)
    waiting.add('waiting')
    now = 900
    of.admit('speaking')
    now = 1500
    expect(admits(of, 'new')).to.equal(true)
    expect(admits(of, 'silent')).to.equal(false)
    expect(admits(of, 'waiting')).to.equal(true)
    expect(admits(of, 'speaking')).to.equal(true)
  })
})

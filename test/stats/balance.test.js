import { expect } from 'chai'
import { balanceOf } from '../../gateway/stats/balance.js'

/**
 * A source with batches of ten rows, told as a history; what its spool and a database say of it are made from that. `epochs` by name: how
 * many batches were staged in it, and what is still held of them.
 */
const ROWS = 10

/**
 * @typedef {{staged: number, first?: number, lost?: [number, number][], replaced?: [number, number][], isGone?: boolean}} History
 *
 * @param {{[epoch: string]: History}} epochs
 * @returns {{rows: number, replacedRows: number, epochs: any[]}}
 */
function spoolOf (epochs) {
  let before = 0
  let replacedRows = 0
  const named = Object.entries(epochs).flatMap(([epoch, { staged, first = 0, lost = [], replaced = [], isGone }]) => {
    const begin = before
    const counted = (/** @type {[number, number][]} */ ranges) => ranges.map(([from, to]) => [from, to, (to - from + 1) * ROWS])
    before += staged * ROWS
    replacedRows += counted(replaced).reduce((sum, [,, rows]) => sum + rows, 0)
    if (isGone) return []
    return { epoch, first, last: staged - 1, before: begin + first * ROWS, rows: before, lost: counted(lost), replaced: counted(replaced) }
  })
  return { rows: before, replacedRows, epochs: named }
}

/** @param {string} epoch @param {number} first @param {number} last @param {number} before @param {object} [more] */
function record (epoch, first, last, before, more = {}) {
  const rows = (last - first + 1) * ROWS
  return { epoch, first, last, before, staged: rows, stored: rows, dead: 0, ...more }
}

/** The balance, without what is zero; it must balance. @param {Parameters<typeof balanceOf>[0]} views */
function balance (views) {
  const all = balanceOf(views)
  const { produced, ...terms } = all
  expect(Object.values(terms).reduce((sum, rows) => sum + rows, 0), JSON.stringify(all)).to.equal(produced)
  expect(Math.min(...Object.values(all))).to.be.at.least(0)
  return Object.fromEntries(Object.entries(all).filter(([, rows]) => rows > 0))
}

describe('The balance of a sink and a source', () => {
  it('has all that is produced in flight until it is recorded', () => {
    expect(balance({ spools: [spoolOf({ '1-a': { staged: 5 } })], records: [] })).to.deep.equal({ produced: 50, inFlight: 50 })
    const records = [record('1-a', 0, 2, 0)]
    expect(balance({ spools: [spoolOf({ '1-a': { staged: 5 } })], records })).to.deep.equal({ produced: 50, stored: 30, inFlight: 20 })
  })

  it('is the same after a restart, an epoch later, when the spool has let go of what is stored', () => {
    const spool = spoolOf({ '1-a': { staged: 5, isGone: true }, '2-a': { staged: 3, first: 1 } })
    const records = [record('1-a', 0, 4, 0), record('2-a', 0, 1, 50)]
    expect(balance({ spools: [spool], records })).to.deep.equal({ produced: 80, stored: 70, inFlight: 10 })
  })

  it('takes the record of an identity under which rows were staged before for nothing that was stored', () => {
    const spool = spoolOf({ '1-a': { staged: 9, first: 6, replaced: [[6, 6]] } })
    const empty = { staged: 0, stored: 0 }
    const records = [record('0-z', 3, 3, 0, empty), record('1-a', 6, 6, 0, empty), record('1-a', 8, 8, 80)]
    expect(balance({ spools: [spool], records })).to.deep.equal({ produced: 80, beforeItBegan: 60, stored: 10, inFlight: 10 })
  })

  it('says of a sink that was added late what was before it began, and that for ever', () => {
    const held = spoolOf({ '1-a': { staged: 9, first: 6 } })
    expect(balance({ spools: [held], records: [] })).to.deep.equal({ produced: 90, beforeItBegan: 60, inFlight: 30 })
    const newestFirst = [record('1-a', 8, 8, 80)]
    expect(balance({ spools: [held], records: newestFirst })).to.deep.equal({ produced: 90, beforeItBegan: 60, stored: 10, inFlight: 20 })
    const records = [record('1-a', 6, 8, 60)]
    const later = spoolOf({ '1-a': { staged: 9, isGone: true }, '2-a': { staged: 1, first: 1 } })
    expect(balance({ spools: [later], records: [...records, record('2-a', 0, 0, 90)] })).to.deep.equal({
      produced: 100, beforeItBegan: 60, stored: 40
    })
  })

  it('says of a sink without a record, where nothing is held, that all was before it began', () => {
    const spool = spoolOf({ '1-a': { staged: 9, first: 9 } })
    expect(balance({ spools: [spool], records: [] })).to.deep.equal({ produced: 90, beforeItBegan: 90 })
  })

  it('counts what the spool dropped, and this sink lacks, as lost', () => {
    const spool = spoolOf({ '1-a': { staged: 9, first: 6 } })
    expect(balance({ spools: [spool], records: [record('1-a', 0, 2, 0)] })).to.deep.equal({
      produced: 90, stored: 30, lost: 30, inFlight: 30
    })
  })

  it('counts what is damaged as lost where it is not stored', () => {
    const spool = spoolOf({ '1-a': { staged: 9, lost: [[2, 4]] } })
    const records = [record('1-a', 0, 2, 0), record('1-a', 5, 6, 50)]
    expect(balance({ spools: [spool], records })).to.deep.equal({ produced: 90, stored: 50, lost: 20, inFlight: 20 })
    expect(balance({ spools: [spool], records: [record('1-a', 0, 8, 0)] })).to.deep.equal({ produced: 90, stored: 90 })
  })

  it('tells dead letters and what a flow has settled from what is stored', () => {
    const records = [record('1-a', 0, 0, 0, { stored: 7, dead: 3 }), record('1-a', 1, 1, 10, { stored: 0 }), record('1-a', 2, 2, 20)]
    expect(balance({ spools: [spoolOf({ '1-a': { staged: 3 } })], records })).to.deep.equal({
      produced: 30, stored: 17, deadLetters: 3, settled: 10
    })
  })

  it('has what is parked neither in flight nor lost', () => {
    const views = { spools: [spoolOf({ '1-a': { staged: 3 } })], records: [record('1-a', 0, 0, 0)] }
    expect(balance({ ...views, parked: [{ epoch: '1-a', seq: 1, rows: 10 }] })).to.deep.equal({
      produced: 30, stored: 10, parked: 10, inFlight: 10
    })
  })

  it('counts what was staged again once, whichever of its identities is recorded', () => {
    const spool = spoolOf({ '1-a': { staged: 4, replaced: [[1, 1]] }, '2-a': { staged: 1 } })
    const rest = [record('1-a', 0, 0, 0), record('1-a', 2, 3, 20)]
    expect(balance({ spools: [spool], records: rest })).to.deep.equal({ produced: 40, stored: 30, inFlight: 10 })
    expect(balance({ spools: [spool], records: [...rest, record('2-a', 0, 0, 40)] })).to.deep.equal({ produced: 40, stored: 40 })
    const moved = [...rest, record('1-a', 1, 1, 10), record('2-a', 0, 0, 40, { staged: 0, stored: 0 })]
    expect(balance({ spools: [spool], records: moved })).to.deep.equal({ produced: 40, stored: 40 })
  })

  it('counts a compacted record that reaches into what is held by its rows', () => {
    expect(balance({ spools: [spoolOf({ '1-a': { staged: 9, first: 4 } })], records: [record('1-a', 0, 6, 0)] })).to.deep.equal({
      produced: 90, stored: 70, inFlight: 20
    })
  })

  it('counts as produced what the database has already and no head has said yet', () => {
    const records = [record('1-a', 0, 4, 0), record('2-a', 0, 1, 50)]
    expect(balance({ spools: [spoolOf({ '1-a': { staged: 3 } })], records })).to.deep.equal({ produced: 70, stored: 70 })
    expect(balance({ spools: [], records: [record('1-a', 3, 4, 30)] })).to.deep.equal({ produced: 50, beforeItBegan: 30, stored: 20 })
  })

  it('takes nothing for lost that a spool which was set back has counted on, and the database has', () => {
    const setBack = { ...spoolOf({ '1-a': { staged: 4, first: 4 } }), rows: 60 }
    const records = [record('1-a', 0, 3, 0), record('2-a', 0, 1, 40)]
    expect(balance({ spools: [setBack], records })).to.deep.equal({ produced: 60, stored: 60 })
    expect(balance({ spools: [setBack], records: [...records, record('2-a', 2, 3, 60)] })).to.deep.equal({ produced: 80, stored: 80 })
  })

  it('does not let what a spool before has stored make good what is lost of another, and takes nothing of it for lost', () => {
    const before = record('5-b', 0, 4, 0)
    const spool = spoolOf({ '1-a': { staged: 9, first: 6 } })
    expect(balance({ spools: [spool], records: [before, record('1-a', 0, 2, 0)] })).to.deep.equal({
      produced: 140, stored: 80, lost: 30, inFlight: 30
    })
    const other = spoolOf({ '5-b': { staged: 5, isGone: true }, '6-b': { staged: 1 } })
    expect(balance({ spools: [spool, other], records: [before, record('1-a', 0, 2, 0)] })).to.deep.equal({
      produced: 150, stored: 80, lost: 30, inFlight: 40
    })
  })

  it('adds up over two spools of one source', () => {
    const spools = [spoolOf({ '1-a': { staged: 5 } }), spoolOf({ '1-b': { staged: 3, first: 2 } })]
    expect(balance({ spools, records: [record('1-a', 0, 4, 0)] })).to.deep.equal({
      produced: 80, beforeItBegan: 20, stored: 50, inFlight: 10
    })
  })
})

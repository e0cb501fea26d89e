import { expect } from 'chai'
import fc from 'fast-check'
import { Batch } from '../../gateway/batch/batch.js'
import { Joint } from '../../gateway/batch/join.js'
import { toBatches } from '../../gateway/messages/payload.js'

/** One batch of a row each. @param {Record<string, unknown>} values @param {object} [more] @returns {Batch} */
const rowOf = (values, more = {}) => toBatches({ payload: { values, ...more } }, { source: 'press', now: () => 5n }).batches[0]

/** @param {Batch[]} batches @returns {Joint} of those that it takes */
function jointOf (...batches) {
  const joint = new Joint()
  for (const batch of batches) if (joint.takes(batch)) joint.add(batch)
  return joint
}

describe('Batches that become one', () => {
  it('keep their rows, in order', () => {
    const batch = jointOf(rowOf({ force: 1, name: 'a' }), rowOf({ force: 2, name: 'b' })).batch()
    expect(batch.toObjects()).to.deep.equal([{ time: 5n, force: 1, name: 'a' }, { time: 5n, force: 2, name: 'b' }])
    expect(batch.validity).to.deep.equal([null, null])
  })

  it('have missing values where one lacks a field of the other', () => {
    const batch = jointOf(rowOf({ force: 1 }), rowOf({ name: 'b', force: 2 }), rowOf({ name: 'c' })).batch()
    expect(batch.toObjects()).to.deep.equal([{ time: 5n, force: 1 }, { time: 5n, name: 'b', force: 2 }, { time: 5n, name: 'c' }])
  })

  it('are of any rows whatever', () => {
    const cell = fc.oneof(fc.constant(undefined), fc.double({ noNaN: true, noDefaultInfinity: true }))
    const row = fc.record({ a: cell, b: cell, c: fc.option(fc.string(), { nil: undefined }) })
    fc.assert(fc.property(fc.array(fc.array(row, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 5 }), messages => {
      const batches = messages.flatMap(rows => toBatches({ payload: { rows } }, { source: 'press', now: () => 5n }).batches)
      const joint = new Joint()
      const taken = batches.filter(batch => joint.takes(batch) && (joint.add(batch), true))
      if (joint.rows === 0) return
      expect(joint.batch().toObjects()).to.deep.equal(taken.flatMap(batch => batch.toObjects()))
    }))
  })

  it('are not those whose tags differ by name: a row would stand for hundreds of tags that it lacks', () => {
    const tagsOf = (/** @type {number} */ device) => Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`t${device}_${i}`, 'x']))
    const joint = jointOf(...Array.from({ length: 100 }, (_, i) => rowOf({ force: i }, { tags: tagsOf(i) })))
    expect([joint.rows, Object.keys(joint.batch().tags).length]).to.deep.equal([1, 60])
    const few = jointOf(...Array.from({ length: 100 }, (_, i) => rowOf({ force: i }, { tags: { [`t${i}`]: 'x' } })))
    expect([few.rows, Object.keys(few.batch().tags).length]).to.deep.equal([4, 4])
  })

  it('are not those of which one has a field that is a tag of another', () => {
    expect(jointOf(rowOf({ force: 1 }, { tags: { shift: 'early' } }), rowOf({ force: 1, shift: 2 })).rows).to.equal(1)
    expect(jointOf(rowOf({ force: 1, shift: 2 }), rowOf({ force: 1 }, { tags: { shift: 'early' } })).rows).to.equal(1)
  })

  it('take as much memory as their tags say, too', () => {
    const tags = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`t${i}`, 'x']))
    expect(jointOf(...Array.from({ length: 100 }, (_, i) => rowOf({ force: i }, { tags }))).bytes).to.be.greaterThan(100 * 100 * 8)
  })

  it('have tags of their own, and one for all where they agree', () => {
    const batch = jointOf(
      rowOf({ force: 1 }, { tags: { device: 'a', hall: 'x' } }), rowOf({ force: 2 }, { tags: { device: 'b', hall: 'x' } }),
      rowOf({ force: 3 }, { tags: { hall: 'x', line: '7' } })
    ).batch()
    expect(batch.tags.hall).to.equal('x')
    expect([0, 1, 2].map(row => batch.tagsAt(row))).to.deep.equal([
      { device: 'a', hall: 'x' }, { device: 'b', hall: 'x' }, { hall: 'x', line: '7' }
    ])
  })

  it('are as many as come: of each kind of value, tags that come later, and more rows than there was room for', () => {
    const makes = [
      (/** @type {number} */ i) => rowOf({ a: i / 2, b: BigInt(i), c: `text ${i}`, d: i % 2 === 0 }, { tags: { device: `d${i % 3}` } }),
      (/** @type {number} */ i) => rowOf({ c: `text ${i}`, a: i / 2 }, { tags: { hall: 'x' } })
    ]
    const batches = Array.from({ length: 300 }, (_, i) => makes[i % 5 === 4 ? 1 : 0](i))
    const batch = jointOf(...batches).batch()
    expect(batch.toObjects()).to.deep.equal(batches.flatMap(each => each.toObjects()))
    expect(batches.map((_, row) => batch.tagsAt(row))).to.deep.equal(batches.map(({ tags }) => tags))
  })

  it('are not those with a field of another type or unit', () => {
    expect(jointOf(rowOf({ force: 1 })).takes(rowOf({ force: 'much' }))).to.equal(false)
    const withUnit = (/** @type {string} */ unit) => new Batch({
      source: 'press', time: new BigInt64Array(1), fields: [{ name: 'force', type: 'float64', unit }], columns: [new Float64Array(1)]
    })
    expect(jointOf(withUnit('N')).takes(withUnit('N'))).to.equal(true)
    expect(jointOf(withUnit('N')).takes(withUnit('kN'))).to.equal(false)
  })

  it('are not so different that most values would be missing', () => {
    const joint = jointOf(...Array.from({ length: 100 }, (_, i) => rowOf({ [`value ${i}`]: i })))
    const { rows, fields, validity } = joint.batch()
    const there = validity.reduce((sum, valid) => sum + (valid?.reduce((count, each) => count + each, 0) ?? rows), 0)
    expect(rows * fields.length).to.be.at.most(4 * there)
  })
})

import { expect } from 'chai'
import fc from 'fast-check'
import { AREAS, parseAddress } from '../../gateway/modbus/addresses.js'
import { compileTags, readTags } from '../../gateway/modbus/tags.js'
import { tagsProperty, writableTagsProperty } from '../../gateway/modbus/tags.schema.js'
import { TYPES } from '../../gateway/modbus/values.js'
import { readOptions } from '../../gateway/base/options.js'

const RULES = { addressing: /** @type {const} */ ('protocol'), limits: { maxRegisters: 125, maxBits: 2000 }, groups: ['default', 'slow'] }

/** @param {object[]} tags @returns {any[]} as the schema reads them, unchecked */
const table = (tags, tagTable = tagsProperty) => {
  return readOptions({ properties: { tags: { ...tagTable, 'x-check': undefined } } }, { tags }).tags
}

/** @param {object} tag @param {object} [rules] @returns {string[]} */
const problems = (tag, rules) => readTags(
  table([{ name: 'x', address: '0', ...tag }]),
  { ...RULES, ...rules }
).problems.map(({ column, problem }) => `${column}: ${problem}`)

describe('A tag table', () => {
  it('has its columns in the order of CSV files', () => {
    expect(Object.keys(/** @type {any} */ (tagsProperty.items).properties)).to.deep.equal(
      ['name', 'area', 'address', 'type', 'length', 'order', 'scale', 'offset', 'unit', 'group', 'deadband', 'heartbeatMs'])
  })

  it('is compiled, with what is not said taken from the device', () => {
    const [flow, text] = compileTags(
      table([
        { name: 'flow', address: '7', type: 'float32', unit: 'l/s' },
        { name: 'text', address: '20', type: 'string', length: '5', order: 'ABCD' }
      ]),
      { ...RULES, order: 'CDAB' }
    )
    expect(flow).to.include({
      row: 1,
      name: 'flow',
      area: 'holding-registers',
      address: 7,
      count: 2,
      field: 'float32',
      unit: 'l/s',
      group: '',
      deadband: null
    })
    expect(flow.read([0, 0x3FC0], 0)).to.equal(1.5)
    expect(text).to.include({ row: 2, count: 3, field: 'string' })
  })

  it('takes numbers as a form or CSV file has them, and an address that is a number', () => {
    const [tag] = compileTags(table([{ name: 'x', address: 12, scale: '0.1', deadband: '2', heartbeatMs: '' }]), RULES)
    expect(tag).to.include({ address: 12, field: 'float64', deadband: 2, heartbeatMs: 60000 })
  })

  it('says what is wrong, by row and column', () => {
    expect(problems({ address: '65536' })).to.deep.equal(['address: must be 0 to 65535'])
    expect(problems({ address: '1.5' })).to.deep.equal(['address: names a bit: only the type bit has one'])
    expect(problems({ address: '4x1' })).to.deep.equal(['address: must be a whole number'])
    expect(problems({ address: '65533', type: 'float64' })).to.deep.equal(['address: leaves no space for its 4 registers'])
    expect(problems({ type: 'bit' })).to.deep.equal(['address: must name a bit, such as 100.3'])
    expect(problems({ type: 'bit', address: '1.16' })).to.deep.equal(['address: names bit 16: a register has bits 0 to 15'])
    expect(problems({ area: 'coils', type: 'int16' })).to.deep.equal(['type: int16 is for registers; here it must be bool'])
    expect(problems({ type: 'bool' })).to.deep.equal(['type: bool is for coils and discrete inputs; for a register, choose bit'])
    expect(problems({ group: 'fast' })).to.deep.equal(['group: must be one of default, slow; "fast" is not one of them'])
    expect(problems({ scale: 0 })).to.deep.equal(['scale: must not be 0'])
    expect(problems({ name: 'time' })).to.match(/name: "time" cannot be the name of a value/)
    expect(problems({ name: 'quality' })).to.match(/name: "quality" is the name of the column/)
    expect(problems({ type: 'string', length: 20 }, { limits: { maxRegisters: 8, maxBits: 8 } })).to.deep.equal([
      'length: needs 10 registers, and the device returns 8 at a time'
    ])
  })

  it('is refused with the first problems told and all of them kept', () => {
    const wrong = Array.from({ length: 8 }, (_, i) => ({ name: `t${i}`, address: '70000' }))
    const text = /^Tags, row 1: Address must be 0 to 65535\. Tags, row 2: .* And 3 more\.$/
    const refused = expect(() => compileTags(table(wrong), RULES)).to.throw(text)
    refused.with.property('code', 'SLUICE_OPTIONS')
    refused.with.nested.property('details.problems').with.length(8)
    expect(() => compileTags([], RULES)).to.throw('There are no tags.')
  })

  it('is compiled or refused, whatever it holds', () => {
    const isText = (/** @type {string} */ text) => text.trim() !== '' // what is blank is missing
    const address = fc.oneof(fc.string({ maxLength: 9, minLength: 1 }).filter(isText), fc.stringMatching(/^\d{1,6}(\.\d{1,2})?$/))
    const tag = fc.record({
      name: fc.string({ minLength: 1 }).filter(isText),
      area: fc.constantFrom(...AREAS),
      address,
      type: fc.constantFrom(...TYPES),
      length: fc.integer({ min: 1, max: 250 }),
      scale: fc.double({ noNaN: true, noDefaultInfinity: true })
    })
    fc.assert(fc.property(tag, fc.constantFrom('protocol', 'data-sheet'), (entry, addressing) => {
      const { tags, problems: found } = readTags(table([entry]), { ...RULES, addressing: /** @type {any} */ (addressing) })
      expect(tags.length).to.equal(found.length > 0 ? 0 : 1)
      for (const { address: at, count } of tags) expect(at >= 0 && at + count <= 65536).to.equal(true)
    }), { numRuns: 5000, seed: 4 })
  })

  it('holds each name once', () => {
    expect(() => table([{ name: 'a', address: '1' }, { name: 'a', address: '2' }])).to.throw(/row 2.*unique/)
  })

  it('of what is written holds only what can be', () => {
    const written = (/** @type {object} */ tag) => readTags(table([{ name: 'x', address: '0', ...tag }], writableTagsProperty), {
      ...RULES,
      isWritten: true
    }).problems.map(({ column }) => column)
    expect(written({})).to.deep.equal([])
    expect(written({ area: 'coils', type: 'bool' })).to.deep.equal([])
    expect(written({ area: 'input-registers' })).to.deep.equal(['area'])
    expect(written({ area: 'discrete-inputs', type: 'bool' })).to.deep.equal(['area'])
    expect(written({ type: 'bit', address: '1.1' })).to.deep.equal(['type'])
  })
})

describe('Addresses of data sheets', () => {
  const parse = (/** @type {string} */ text, /** @type {any} */ area) => parseAddress(text, { area, addressing: 'data-sheet' })

  it('name the area and count from 1', () => {
    expect(parse('40001', 'holding-registers')).to.deep.equal({ address: 0 })
    expect(parse('400001', 'holding-registers')).to.deep.equal({ address: 0 })
    expect(parse('465536', 'holding-registers')).to.deep.equal({ address: 65535 })
    expect(parse('30100', 'input-registers')).to.deep.equal({ address: 99 })
    expect(parse('10001', 'discrete-inputs')).to.deep.equal({ address: 0 })
    expect(parse('00010', 'coils')).to.deep.equal({ address: 9 })
    expect(parseAddress(
      '40101.3',
      { area: 'holding-registers', isBit: true, addressing: 'data-sheet' }
    )).to.deep.equal({ address: 100, bit: 3 })
  })

  it('must fit their area', () => {
    expect(parse('30001', 'holding-registers').problem).to.equal('30001 is one of the input registers, not of the holding registers')
    expect(parse('1', 'holding-registers').problem).to.match(/five or six digits/)
    expect(parse('20001', 'holding-registers').problem).to.match(/first of them 0, 1, 3 or 4/)
    expect(parse('40000', 'holding-registers').problem).to.match(/from 1 to 65536/)
    expect(parse('465537', 'holding-registers').problem).to.match(/from 1 to 65536/)
  })
})

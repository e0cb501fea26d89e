import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const PAGE = join(import.meta.dirname, '../../gateway/live/page')
const read = (/** @type {string} */ name) => readFileSync(join(PAGE, name), 'utf8')
/** @type {Record<string, string|Record<string, string>>} */
const texts = JSON.parse(read('locales/en-US.json'))
const code = [...globSync('*.js', { cwd: PAGE }), 'index.html', 'doctor.html'].map(read).join('\n')

/** Of which the page makes keys: tables of counters, columns of lists, states. */
const MADE = /^(sent|staged|stored|waits|device|source|sink|sources|sinks|state|level|list\.by|charts|balance|detail\.no|doctor\.level)\./

describe('Texts of the live page', () => {
  it('are all in the catalogue', () => {
    const used = [...code.matchAll(/\btext\('([^']+)'|data-(?:text|label)="([^"]+)"|\bkey: '([a-z]+\.[a-z]+)'/g)]
      .map(([, called, inPage, column]) => called ?? inPage ?? column)
    expect(used.length).to.be.above(80)
    expect(used.filter(key => !Object.hasOwn(texts, key))).to.deep.equal([])
  })

  it('are all used', () => {
    expect(Object.keys(texts).filter(key => !MADE.test(key) && !code.includes(`'${key}'`) && !code.includes(`"${key}"`))).to.deep.equal([])
  })

  it('explain each counter, and each column', () => {
    const named = Object.keys(texts).filter(key => /^(sent|staged|stored|waits|device)\.[A-Za-z0-9]+$/.test(key))
    const without = named.filter(key => !/^stored\.(stopped|rate|some|each)$/.test(key) && !Object.hasOwn(texts, `${key}.help`))
    expect(without).to.deep.equal([])
  })

  it('have no word outside of it: what an element shows comes from a text, or is a figure', () => {
    const literal = [...code.matchAll(/(?:textContent = |say\([^,]+, |element\('[a-z0-9]+', \{[^}]*\}, )'([^']*[A-Za-z]{3,}[^']*)'/g)]
      .map(([found]) => found)
    expect(literal).to.deep.equal([])
  })
})

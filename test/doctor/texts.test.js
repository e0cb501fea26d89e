import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { CHECKS } from '../../gateway/doctor/checks/index.js'
import { examine } from '../../gateway/doctor/examine.js'
import { problem } from '../../gateway/doctor/finding.js'
import { asJson, reportOf } from '../../gateway/doctor/report.js'
import { phrase, said, speaker } from '../../gateway/stats/phrases.js'
import { Patient } from './subject.js'

const HOUSE = join(import.meta.dirname, '../..')
const read = (/** @type {string} */ name) => readFileSync(join(HOUSE, name), 'utf8')
/** @type {Record<string, string>} */
const german = JSON.parse(read('gateway/doctor/locales/de.json'))

/** What is said`…` in the code, as its keys. */
const inCode = globSync(['gateway/doctor/**/*.js', 'broker/{preflight,kafka}/*.js'], { cwd: HOUSE }).flatMap(name =>
  [...read(name).matchAll(/\bsaid`((?:[^`\\]|\\.)*)`/g)].map(([, template]) => {
    let places = 0
    return template.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, () => `{${places++}}`).replace(/\s*\n\s*/g, ' ')
  }))

const keys = new Set([...inCode, ...CHECKS.map(({ title }) => title)].filter(key => /[a-z]{2}/.test(key)))
const placesIn = (/** @type {string} */ text) => [...text.matchAll(/\{\w+\}|sluice [a-z-]+|--[a-z-]+/g)].map(([place]) => place).sort()

describe('What the doctor says', () => {
  it('is all in the catalogue of each language, with the same values and commands, and nothing else is', () => {
    expect(keys.size).to.be.above(120)
    expect([...keys].filter(key => !Object.hasOwn(german, key))).to.deep.equal([])
    expect(Object.keys(german).filter(key => !keys.has(key))).to.deep.equal([])
    for (const [key, text] of Object.entries(german)) expect(placesIn(text), text).to.deep.equal(placesIn(key))
  })

  it('is German for a German reader, without passwords, while programs get English alone', async () => {
    const patient = new Patient()
    const found = problem(said`The variable ${'mqtt://ada:s3cret@plant'} of the environment is not set here.`, '', said`The interface is
      down.`)
    const subject = patient.subject()
    const report = await reportOf(subject, examine(subject, [{ name: 'one', title: 'Disk', find: async () => [found] }]))
    patient.remove()
    const say = speaker(german, 'de')
    const [{ what, fix, phrases }] = report.findings
    expect([what, fix]).to.deep.equal(['The variable mqtt://…@plant of the environment is not set here.', 'The interface is down.'])
    expect([phrases.what, phrases.fix].map(say)).to.deep.equal([
      'Die Umgebungsvariable mqtt://…@plant ist hier nicht gesetzt.', 'Die Schnittstelle ist nicht in Betrieb.'
    ])
    expect(say(phrase('Disk'))).to.equal('Platte')
    expect(JSON.parse(asJson(report)).findings).to.deep.equal([{ check: 'one', level: 'problem', what, where: '', fix }])
  })
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { startEmbeddedBroker } from '../../broker/embedded/embedded.js'
import { broker } from '../../gateway/doctor/checks/broker.js'
import { CHECKS } from '../../gateway/doctor/checks/index.js'
import { examine } from '../../gateway/doctor/examine.js'
import { ok, problem } from '../../gateway/doctor/finding.js'
import { asJson, asText, reportOf } from '../../gateway/doctor/report.js'
import { freePort } from '../servers/ports.js'
import { Patient } from './subject.js'

describe('The doctor', () => {
  /** @type {Patient} */
  let patient
  beforeEach(() => { patient = new Patient() })
  afterEach(() => patient.remove())

  /** @param {string} name @param {import('../../gateway/doctor/finding.js').Check['find']} find @param {number} [limitMs] */
  const check = (name, find, limitMs) => ({ name, title: `About ${name}`, find, ...limitMs !== undefined && { limitMs } })
  /** @param {import('../../gateway/doctor/finding.js').Check[]} checks */
  const report = checks => {
    const subject = patient.subject()
    return reportOf(subject, examine(subject, checks))
  }

  it('reports problems first, and says whether there are any', async () => {
    const [fine, broken] = [ok('Fine.'), problem('Broken.', 'here', 'Mend it.')]
    const found = await report([check('one', async () => [fine]), check('two', async () => [broken])])
    expect(found).to.deep.include({ ok: false, counts: { problem: 1, warning: 0, note: 0, ok: 1 } })
    expect(JSON.parse(asJson(found)).findings).to.deep.equal([
      { check: 'two', level: 'problem', what: 'Broken.', where: 'here', fix: 'Mend it.' },
      { check: 'one', level: 'ok', what: 'Fine.', where: '', fix: '' }
    ])
    expect(asText(found)).to.equal(
      'Problems\n  • About two, here\n      Broken.\n      → Mend it.\n\nIn order\n  • About one\n      Fine.\n\n1 problem, 0 warnings.\n')
  })

  it('makes a finding of a check that fails, at once or later', async () => {
    const { findings } = await report([
      check('one', () => { throw new Error('no such thing') }), check('two', () => Promise.reject(new Error('nor this')))
    ])
    expect(findings.map(({ what }) => what)).to.deep.equal([
      'About one could not be checked: no such thing', 'About two could not be checked: nor this'
    ])
  })

  it('waits for no check longer than that may take', async () => {
    const { findings } = await report([check('slow', () => new Promise(() => {}), 10), check('one', async () => [ok('Fine.')])])
    expect(findings.map(({ level, what }) => `${level}: ${what}`)).to.deep.equal([
      'warning: About slow: not finished within 0.01 s.', 'ok: Fine.'
    ])
  })

  it('shows no password of an address', async () => {
    const { findings: [{ what, where }] } = await report([check('one', async () => [ok('At mqtt://ada:s3cret@host.', 'http://a:b@c/')])])
    expect(what + where).to.equal('At mqtt://…@host.http://…@c/')
  })

  it('has checks with names of their own', () => {
    expect(new Set(CHECKS.map(({ name }) => name)).size).to.equal(CHECKS.length)
  })

  describe('asks brokers', () => {
    /** @param {number} port @param {object} [credentials] */
    const flow = (port, credentials = {}) => patient.flow([
      { id: 'broker', type: 'sluice-broker', url: `mqtt://127.0.0.1:${port}` },
      { id: 'embedded', type: 'sluice-embedded-broker', z: 'tab', port, wires: [] },
      { id: 'out', type: 'sluice-stage-out', z: 'tab', broker: 'broker', wires: [] }
    ], { broker: credentials })

    it('as sluice preflight does', async () => {
      const { port, close } = await startEmbeddedBroker({ port: 0 })
      flow(port)
      const found = await patient.findings(broker)
      expect(found[0]).to.match(/^ok: broker broker, mqtt:\/\/127\.0\.0\.1:\d+: aedes /)
      expect(found.some(text => text.startsWith('note:') && text.includes('without a password'))).to.equal(true)
      await close()
    })

    it('with the user and password of the flow, as the gateway that will use them', async () => {
      const { port, close } = await startEmbeddedBroker({ port: 0, users: ['gw-test:gateway:a long password'] })
      mkdirSync(join(patient.userDir, 'sluice'))
      writeFileSync(join(patient.userDir, 'sluice', 'gateway-id'), 'gw-test\n')
      flow(port, { user: 'gw-test', password: 'a long password' })
      const found = await patient.findings(broker)
      expect(found[0]).to.match(/^ok: /)
      expect(found.filter(text => text.startsWith('problem'))).to.deep.equal([])
      flow(port, { user: 'gw-test', password: 'another' })
      expect((await patient.findings(broker))[0]).to.match(/^problem: .*does not let this client in/)
      await close()
    })

    it('and says when one cannot be reached', async () => {
      flow(await freePort())
      expect((await patient.findings(broker))[0]).to.match(/^problem: broker broker, mqtt:\/\/127\.0\.0\.1:\d+: /)
    })
  })
})

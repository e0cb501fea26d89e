import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { KINDS } from '../../gateway/metrics/kinds.js'

/** What `npm run metrics-check` asks a real Prometheus; here, only whether what is asked for exists. */
describe('The dashboard and the alerts', () => {
  const types = new Map(Object.values(KINDS).flatMap(({ metrics }) => {
    return /** @type {[string, string][]} */ (metrics.map(([name, type]) => [name, type]))
  }))
  const read = (/** @type {string} */ path) => readFileSync(new URL(`../../packaging/${path}`, import.meta.url), 'utf8')
  const alerts = read('prometheus/sluice-alerts.yml')
  const names = [...alerts.matchAll(/alert: (\w+)/g)].map(([, name]) => name)

  /** Metrics in PromQL that no gateway has. @param {string} text */
  const unknownIn = text => [...text.matchAll(/\b(?:sluice|process|nodejs)_[a-z_]+/g)].map(([name]) => name).filter(name => {
    return !types.has(name) && types.get(name.replace(/_bucket$/, '')) !== 'histogram'
  })

  it('ask only for metrics that there are', () => {
    const { panels } = JSON.parse(read('grafana/sluice.json'))
    const expressions = panels.flatMap((/** @type {any} */ { targets = [] }) => targets.map((/** @type {any} */ { expr }) => expr))
    expect(expressions.length).to.be.above(40)
    expect(expressions.flatMap(unknownIn)).to.deep.equal([])
    expect(alerts.match(/expr: .*/g)?.flatMap(unknownIn)).to.deep.equal([])
    expect(read('prometheus/sluice-alerts.test.yml').match(/series: .*/g)?.flatMap(unknownIn)).to.deep.equal([])
  })

  it('are found out by this when they ask for another', () => {
    expect(unknownIn('rate(sluice_sink_rows_total[5m]) + rate(sluice_sink_row_total[5m]) + sluice_ready_bucket')).to.deep.equal([
      'sluice_sink_row_total', 'sluice_ready_bucket'
    ])
  })

  it('have a test for each alert: that it keeps quiet, and that it is heard', () => {
    const tests = read('prometheus/sluice-alerts.test.yml')
    for (const name of names) {
      expect(tests, name).to.contain(`{ eval_time: 110m, alertname: ${name} }\n`)
      expect(tests.match(new RegExp(`\\b${name}\\b`, 'g'))?.length, name).to.be.at.least(2)
    }
  })

  it('say of each alert what to do', () => {
    expect(names.length).to.be.above(15)
    expect(alerts.match(/ description: \S/g)?.length).to.equal(names.length)
    expect(alerts.match(/ summary: \S/g)?.length).to.equal(names.length)
  })
})

import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
// @ts-expect-error: it brings no types
import helper from 'node-red-node-test-helper'
import { Alarms } from '../../gateway/alarms/alarms.js'
import { limits } from '../../gateway/alarms/watch.js'
import { stats } from '../../gateway/stats/stats.js'
import alarmNode, { statusOf } from '../../nodes/operations/alarm.js'

/** @typedef {import('../../gateway/alarms/kind.js').Finding} Finding */

const KIND = { when: '', level: /** @type {const} */ ('problem'), raiseAfterMs: 0, clearAfterMs: 1, several: () => '' }

describe('alarm', () => {
  /** @type {string} */
  let userDir
  const former = stats.alarms
  /** @type {Alarms} */
  let alarms
  let nowMs = 0
  /** What is wrong, by kind. @type {Record<string, Finding[]>} */
  let wrong = {}
  const kindOf = (/** @type {string} */ name) => ({ ...KIND, read: () => wrong[name] ?? [] })
  /** @param {string} name @param {'warning'|'problem'} level @returns {Finding} */
  const finding = (name, level) => ({ subject: { type: 'sink', name }, level, what: `${name} is away`, fix: 'Wait.' })

  /** @param {typeof wrong} now */
  function judge (now) {
    wrong = now
    nowMs += 10
    alarms.judge()
  }

  beforeEach(async () => {
    const kinds = { 'sink-unreachable': kindOf('sink-unreachable'), spool: kindOf('spool') }
    alarms = stats.alarms = new Alarms({ kinds, take: () => /** @type {any} */ ({}), now: () => nowMs, wallNow: () => nowMs })
    userDir = await mkdtemp(join(tmpdir(), 'sluice-alarm-'))
    helper.init(createRequire(import.meta.url).resolve('node-red'), { userDir })
    await new Promise(resolve => helper.startServer(() => resolve(undefined)))
  })

  afterEach(async () => {
    await helper.unload()
    await new Promise(resolve => helper.stopServer(() => resolve(undefined)))
    await rm(userDir, { recursive: true })
    stats.alarms = former
  })

  /** What the node sends. @type {any[]} */
  let sent = []

  /** @param {object} [options] */
  async function load (options = {}) {
    sent = []
    await helper.load(alarmNode, [{ id: 'alarm', type: 'sluice-alarm', ...options, wires: [['out']] }, { id: 'out', type: 'helper' }])
    helper.getNode('out').on('input', (/** @type {any} */ message) => sent.push(message))
  }

  const changes = async (/** @type {number} */ count) => {
    while (sent.length < count) await once(helper.getNode('out'), 'input')
    return sent.map(({ topic, alarm, payload }) => `${alarm} ${topic} ${payload.subject.name}`)
  }

  it('sends each change under the topic of its kind', async () => {
    await load()
    judge({ 'sink-unreachable': [finding('plant', 'problem')] })
    alarms.acknowledge('sink-unreachable:sink:plant')
    judge({})
    expect(await changes(3)).to.deep.equal([
      'raised sluice/alarm/sink-unreachable plant',
      'acknowledged sluice/alarm/sink-unreachable plant',
      'cleared sluice/alarm/sink-unreachable plant'
    ])
    expect(sent[0].payload).to.include({ what: 'plant is away', clearedMs: null, acknowledgedMs: null })
    expect(sent[2].payload).to.include({ clearedMs: nowMs })
  })

  it('sends only the level and kinds that it is to', async () => {
    await load({ level: 'problem', kinds: ['spool'] })
    judge({ 'sink-unreachable': [finding('plant', 'problem')], spool: [finding('in', 'warning'), finding('out', 'problem')] })
    expect(await changes(1)).to.deep.equal(['raised sluice/alarm/spool out'])
  })

  it('sends what is raised when the flow starts, if it is to', async () => {
    judge({ spool: [finding('out', 'warning')], 'sink-unreachable': [finding('plant', 'problem')] })
    alarms.acknowledge('spool:sink:out')
    await load()
    expect(await changes(2)).to.deep.equal(['raised sluice/alarm/sink-unreachable plant', 'acknowledged sluice/alarm/spool out'])
    await helper.unload()
    await load({ atStart: false })
    judge({ spool: [finding('out', 'warning')] })
    expect(await changes(1)).to.deep.equal(['cleared sluice/alarm/sink-unreachable plant'])
  })

  it('knows exceptions as long as it is there', async () => {
    await load({ limits: [{ of: 'silent', name: 'press', limit: '600' }, { of: 'spool', name: '', limit: 50 }] })
    expect([limits.of('silent', 'press'), limits.of('silent', 'saw'), limits.of('spool', 'out')]).to.deep.equal([600, undefined, 50])
    await helper.unload()
    expect([limits.of('silent', 'press'), limits.of('spool', 'out')]).to.deep.equal([undefined, 80])
  })

  it('refuses kinds that there are not', async () => {
    await load({ kinds: ['sink-away'] })
    const [{ args: [status] }] = helper.getNode('alarm').status.getCalls()
    expect(status.text).to.equal('settings invalid, see the form')
    expect(helper.getNode('alarm').error.firstCall.args[0]).to.match(/Kinds, entry 1: Kind must be one of sink-unreachable, /)
  })

  it('shows the worst in at most forty characters', async () => {
    expect(statusOf([])).to.deep.equal({ fill: 'green', shape: 'dot', text: 'no alarms' })
    judge({ spool: [finding('out', 'warning')] })
    expect(statusOf(alarms.active)).to.deep.equal({ fill: 'yellow', shape: 'dot', text: 'out is away' })
    judge({ spool: [finding('out', 'warning')], 'sink-unreachable': [finding('plant', 'problem')] })
    expect(statusOf(alarms.active)).to.deep.equal({ fill: 'red', shape: 'dot', text: 'plant is away, 1 more' })
    judge({ 'sink-unreachable': [finding('p'.repeat(50), 'problem')] })
    expect(statusOf(alarms.active).text).to.equal(`${'p'.repeat(39)}…`)
  })
})

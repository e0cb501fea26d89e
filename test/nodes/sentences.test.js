import { EventEmitter } from 'node:events'
import { expect } from 'chai'
import { SluiceError } from '../../gateway/base/errors.js'
import { stats } from '../../gateway/stats/stats.js'
import { fail, throttledStatus } from '../../nodes/node.js'
import { counted, sentence } from '../../nodes/status.js'
import { statusOf as statsStatus } from '../../nodes/operations/stats.js'
import { statusOf as stageInStatus } from '../../nodes/staging/stage-in.js'
import { statusOf as stageOutStatus } from '../../nodes/staging/stage-out.js'
import { until } from '../broker/waiting.js'
import { isSound } from './sound-status.js'

const BIG = 987_654_321
const broken = new SluiceError('SLUICE_BROKER_UNREACHABLE', 'The broker at mqtt://plant.example:1883 cannot be reached (ETIMEDOUT).')
const flaw = 'the broker breaks the promise: not-persistent, small-queue, expiry'
const place = '/var/lib/sluice/sluice/spool/16dc29069ea3080e'

/** Every value of a few with every other. @param {Record<string, unknown[]>} values @returns {any[]} */
function combined (values) {
  return Object.entries(values).reduce((all, [key, its]) => all.flatMap(one => its.map(value => ({ ...one, [key]: value }))), [{}])
}

describe('the sentences of statuses', () => {
  it('has what matters first, and as many counts as there is room for', () => {
    const counts = { waiting: 1500, 'dead letters': 12, 'duplicates refused': 0 }
    expect(sentence('PostgreSQL not reachable', ...counted(counts))).to.equal('PostgreSQL not reachable, 1.50 k waiting')
    expect(sentence('12.3 rows/s', ...counted({ ...counts, waiting: 0 }))).to.equal('12.3 rows/s, 12 dead letters')
    expect(counted({ 'dead letters': 1, 'duplicates refused': 1, missed: 1, 'identity clashes': 1 }))
      .to.deep.equal(['1 dead letter', '1 duplicate refused', '1 missed', '1 identity clash'])
  })

  it('ends with a clause or a word, and within one only where nothing else would be left', () => {
    expect(sentence('9 of 12 values missing: what the device answers is too short')).to.equal('9 of 12 values missing')
    expect(sentence('something that is longer than what the editor shows')).to.equal('something that is longer than what the…')
    expect(sentence('x'.repeat(50))).to.equal(`${'x'.repeat(39)}…`)
    expect(sentence(`waiting for ${'x'.repeat(50)}`)).to.equal('waiting for…')
  })

  it('has a headline for what has a code', () => {
    expect(sentence('9 of 12 values missing: SLUICE_MODBUS_TIMEOUT: no answer')).to.equal('device does not answer')
  })

  it('are sound in every state of stage out', () => {
    const states = combined({
      blocked: [null, 'the limit of 1 GiB is reached', `cannot write to ${place}: ENOSPC: no space left on device, write`],
      connected: [true, false],
      unwaitedSinks: [0, BIG],
      clashes: [0, BIG],
      lostRows: [0, BIG],
      tooBig: [0, 1],
      unstoredBytes: [0, BIG]
    })
    for (const state of states) {
      const whole = { spoolBytes: BIG, maxBytes: 2 ** 30, droppedRows: 5, setBack: 1, strangers: 0, impossible: 0, doubts: 0, ...state }
      for (const problem of [null, broken]) {
        for (const its of [null, flaw]) {
          const opened = /** @type {any} */ ({ stage: { state: whole }, link: { connection: { problem }, flaw: its } })
          for (const refused of [{ values: BIG, rows: 0 }, { values: 0, rows: BIG }]) isSound(stageOutStatus(opened, refused))
        }
      }
    }
  })

  it('are sound in every state of stage in', () => {
    const states = combined({
      sinks: [0, 2],
      connected: [true, false],
      waitingFor: [[], ['postgresql', 'postgresql 2', 'archive of the whole plant in the cellar']],
      membersFlaw: ['', 'nobody reads the gateways of member 2 for sink "history"'],
      lostRows: [0, BIG],
      held: [0, BIG]
    })
    const thirdParties = [null, { missingTopics: ['plant/+/very/long/topic/of/some/device/#'] }, { missingTopics: [], blocked: place }, {
      problem: new SluiceError('SLUICE_SPOOL_OPEN', `The spool ${place} cannot be opened.`)
    }]
    for (const state of states) {
      const whole = { parked: 1, refused: 0, clashes: 0, setBack: 0, duplicates: BIG, notKept: 0, ...state }
      for (const thirdParty of thirdParties) {
        for (const [problem, its] of [[null, null], [broken, flaw]]) {
          isSound(stageInStatus(whole, /** @type {any} */ ({ link: { connection: { problem }, flaw: its }, thirdParty })))
        }
      }
    }
  })

  it('are sound in every state of stats', () => {
    for (const { lost, deadLetters, p99 } of combined({ lost: [0, BIG], deadLetters: [0, BIG], p99: [null, 0, 1e7] })) {
      const meters = [
        { stage: 'source', perSecond: { rows: BIG } },
        { stage: 'sink', perSecond: { rows: 1 }, latencyMs: { interval: p99 === null ? null : { p99 } } }
      ]
      isSound(statsStatus(/** @type {any} */ ({ meters, ledger: [{ lost, deadLetters }] })))
    }
  })

  it('tell a problem in full when it begins, and not each second', async () => {
    /** @type {string[]} */
    const shown = []
    /** @type {string[]} */
    const told = []
    const node = Object.assign(new EventEmitter(), {
      id: 'told',
      status: (/** @type {{text: string}} */ { text }) => shown.push(text),
      warn: (/** @type {string} */ text) => told.push(text)
    })
    const show = throttledStatus(node)
    const problems = ['SLUICE_SINK_CONNECT: gone for 1 s', 'SLUICE_SINK_CONNECT: gone for 2 s', undefined, 'SLUICE_SINK_SQLITE: the disk']
    for (const [i, problem] of problems.entries()) {
      show({ text: String(i), problem })
      await until(() => shown.length > i)
    }
    node.emit('close')
    expect(shown).to.deep.equal(['0', '1', '2', '3'])
    expect(told).to.deep.equal([problems[0], problems[3]])
    stats.statuses.delete('told')
  })

  it('of an error that stops a node is its headline; the rest goes to the log, and page and editor have the same', () => {
    /** @type {any[]} */
    const shown = []
    /** @type {string[]} */
    const errors = []
    const node = {
      id: 'stopped',
      status: (/** @type {any} */ status) => shown.push(status),
      error: (/** @type {string} */ text) => errors.push(text)
    }
    fail(node, broken)
    expect(shown).to.deep.equal([{ fill: 'red', shape: 'ring', text: 'broker not reachable' }])
    expect(errors).to.deep.equal([`SLUICE_BROKER_UNREACHABLE: ${broken.message}`])
    expect(stats.statuses.get('stopped')).to.equal(shown[0])
    stats.statuses.delete('stopped')
  })
})

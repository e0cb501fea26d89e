import { phrase } from '../../stats/phrases.js'
import { placesOf } from '../kind.js'
import { lasting, short } from '../words.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../../stats/alarm.js').Subject} Subject
 */

/** @type {Record<string, Omit<Kind, 'several'>>} */
export const sourceKinds = {
  'source-silent': {
    when: 'A source that runs, or whose messages are staged, has sent nothing for 4 times as long as is usual for it, and for 30 s at ' +
      'least. While that is not known yet, one that runs has 15 min.',
    level: 'warning',
    knows: ({ sources }, subject) => placesOf(sources, subject).some(({ hasSent }) => hasSent),
    raiseAfterMs: 5000,
    clearAfterMs: 10_000,
    read: ({ sources, limits }, lastingMs) => sources.flatMap(({ name, nodeId, silentMs, usualMs, limitMs, hasSent, isExpected }) => {
      /** @type {Subject} */
      const subject = { type: 'source', name, nodeId }
      const own = limits.of('silent', name)
      const isSilent = silentMs > (own === undefined ? limitMs : own * 1000)
      const before = own !== Infinity && isExpected && !hasSent ? lastingMs(subject) : null // since before this process started
      if (!isSilent && before === null) return []
      const lastsMs = Math.max(silentMs, before ?? 0)
      return [{
        subject,
        level: 'warning',
        what: hasSent || before !== null
          ? phrase('source-silent', { name: short(name), time: lasting(lastsMs / 1000) })
          : phrase('source-silent.start', { name: short(name) }),
        reason: usualMs === null ? '' : phrase('source-silent.reason', { time: lasting(Math.max(1, usualMs / 1000)) }),
        fix: phrase('source-silent.fix'),
        lastsMs
      }]
    })
  },
  'device-silent': {
    when: 'A Modbus device does not answer: its source goes on sending rows without values.',
    level: 'problem',
    knows: ({ devices }, subject) => placesOf(devices, subject).some(({ gauge }) => typeof gauge.lastGoodSecondsAgo === 'number'),
    raiseAfterMs: 15_000,
    clearAfterMs: 10_000,
    read: ({ devices }) => devices.filter(({ gauge: { state } }) => state === 'silent' || state === 'disconnected')
      .map(({ name, nodeId, gauge: { lastGoodSecondsAgo } }) => {
        const known = typeof lastGoodSecondsAgo === 'number'
        return {
          subject: { type: 'source', name, nodeId },
          level: 'problem',
          what: known
            ? phrase('device-silent', { name: short(name), time: lasting(lastGoodSecondsAgo) })
            : phrase('device-silent.never', { name: short(name) }),
          fix: phrase('device-silent.fix'),
          ...known && { lastsMs: lastGoodSecondsAgo * 1000 }
        }
      })
  },
  'values-missing': {
    when: 'A Modbus device answers, and every value of its source is missing.',
    level: 'problem',
    knows: ({ devices }, subject) => placesOf(devices, subject).some(({ gauge }) => gauge.state === 'good'),
    raiseAfterMs: 15_000,
    clearAfterMs: 10_000,
    read: ({ devices }) => devices.filter(({ gauge: { state, valueless } }) => state === 'good' && valueless)
      .map(({ name, nodeId, gauge: { valueless } }) => ({
        subject: { type: 'source', name, nodeId },
        level: 'problem',
        what: phrase('values-missing', { name: short(name) }),
        reason: String(valueless),
        fix: phrase('values-missing.fix')
      }))
  },
  'node-failed': {
    when: 'A node cannot work as it is set, has ended with an error, or was not made by Node-RED: what /sluice/health/ready calls ' +
      'missing, without brokers and sinks.',
    level: 'problem',
    knows: ({ sinks, spools, stageIns, sources }, subject) => placesOf([...sinks, ...spools, ...stageIns, ...sources], subject).length > 0,
    raiseAfterMs: 2000,
    clearAfterMs: 5000,
    read: ({ failed }) => failed.map(({ name, nodeId, problem }) => ({
      subject: { type: 'node', name, nodeId },
      level: 'problem',
      what: phrase('node-failed', { name: short(name) }),
      reason: problem,
      fix: phrase('node-failed.fix')
    }))
  }
}

import { remaining } from '../../stats/format.js'
import { placesOf } from '../kind.js'
import { short } from '../words.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../../stats/alarm.js').Subject} Subject
 */

/** @type {Record<string, Kind>} */
export const sourceKinds = {
  'source-silent': {
    when: 'A source that runs, or whose messages are staged, has sent nothing for 4 times as long as is usual for it, and for 30 s at ' +
      'least. While that is not known yet, one that runs has 15 min.',
    level: 'warning',
    knows: ({ sources }, subject) => placesOf(sources, subject).some(({ hasSent }) => hasSent),
    raiseAfterMs: 5000,
    clearAfterMs: 10_000,
    several: count => `${count} sources are silent for longer than usual`,
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
          ? `${short(name)} is silent: it has sent nothing for ${remaining(lastsMs / 1000)}`
          : `${short(name)} has sent nothing since the start`,
        reason: usualMs === null ? '' : `It usually sends at least every ${remaining(Math.max(1, usualMs / 1000))}.`,
        fix: 'Look at the device, its cable and its power; stop the source if it is meant to be silent.',
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
    several: count => `${count} devices do not answer`,
    read: ({ devices }) => devices.filter(({ gauge: { state } }) => state === 'silent' || state === 'disconnected')
      .map(({ name, nodeId, gauge: { lastGoodSecondsAgo } }) => {
        const known = typeof lastGoodSecondsAgo === 'number'
        return {
          subject: { type: 'source', name, nodeId },
          level: 'problem',
          what: known
            ? `The device of ${short(name)} does not answer: its last answer came ${remaining(lastGoodSecondsAgo)} ago`
            : `The device of ${short(name)} has not answered yet`,
          fix: 'Look at its power, cable, address and unit id.',
          ...known && { lastsMs: lastGoodSecondsAgo * 1000 }
        }
      })
  },
  'node-failed': {
    when: 'A node cannot work as it is set, has ended with an error, or was not made by Node-RED: what /sluice/health/ready calls ' +
      'missing, without brokers and sinks.',
    level: 'problem',
    knows: ({ sinks, spools, stageIns, sources }, subject) => placesOf([...sinks, ...spools, ...stageIns, ...sources], subject).length > 0,
    raiseAfterMs: 2000,
    clearAfterMs: 5000,
    several: count => `${count} nodes do not work`,
    read: ({ failed }) => failed.map(({ name, nodeId, problem }) => ({
      subject: { type: 'node', name, nodeId },
      level: 'problem',
      what: `${short(name)} does not work: open it in the editor`,
      reason: problem,
      fix: 'Correct what the reason says, and deploy.'
    }))
  }
}

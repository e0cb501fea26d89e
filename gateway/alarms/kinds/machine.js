import { duration } from '../../stats/format.js'
import { phrase } from '../../stats/phrases.js'

/**
 * @typedef {import('../kind.js').Kind} Kind
 * @typedef {import('../../stats/host/alarms.js').Alarm} HostAlarm
 */

const MACHINE = { type: /** @type {const} */ ('machine'), name: 'machine' }
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/**
 * What `stats/host/alarms.js` finds, which reads it every ten seconds.
 * @param {HostAlarm['kind']} kind
 * @param {import('../kind.js').Level} level
 * @param {string} when
 * @param {{isFolder?: boolean}} [about]  `isFolder`: it is of the data folder
 * @returns {Omit<Kind, 'several'>}
 */
function ofHost (kind, level, when, { isFolder = false } = {}) {
  return {
    when,
    level,
    knows: ({ isMachineKnown }) => isMachineKnown,
    raiseAfterMs: 15_000,
    clearAfterMs: 5 * MINUTE_MS,
    read: ({ host }) => host.filter(alarm => alarm.kind === kind).map(({ level: its, phrases: { what, fix } }) => ({
      subject: MACHINE,
      level: its,
      what: isFolder ? phrase('data-folder', { what }) : what,
      fix
    }))
  }
}

/** @type {Record<string, Omit<Kind, 'several'>>} */
export const machineKinds = {
  'clock-unset': {
    when: 'The clock of the machine is not set: samples wait for it for two minutes, and are marked then.',
    level: 'warning',
    knows: ({ clock, isMachineKnown }) => clock.state === 'set' && isMachineKnown,
    raiseAfterMs: 15_000,
    clearAfterMs: 0,
    read: ({ clock: { isWrong, state } }) => [isWrong].filter(Boolean).map(() => ({
      subject: MACHINE,
      level: 'warning',
      what: phrase(state === 'waiting' ? 'clock-unset' : 'clock-unset.marked'),
      fix: phrase('clock-unset.fix')
    }))
  },
  'clock-jumped': {
    when: 'The clock, once set, was put forward or back by more than 2 s.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: HOUR_MS,
    event: 'process',
    read: ({ clock: { jumps, jumpMs } }) => [{
      subject: MACHINE,
      level: 'warning',
      what: phrase(jumpMs > 0 ? 'clock-jumped.forward' : 'clock-jumped.back', { time: duration(Math.abs(jumpMs)) }),
      fix: phrase('clock-jumped.fix'),
      count: jumps
    }]
  },
  'event-loop': {
    when: 'Something has kept the gateway from all else for more than a second.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: 10 * MINUTE_MS,
    event: 'process',
    read: ({ blocked: { times, longestMs } }) => [{
      subject: MACHINE,
      level: 'warning',
      what: phrase('event-loop', { time: duration(longestMs) }),
      fix: phrase('event-loop.fix'),
      count: times
    }]
  },
  history: {
    when: 'The history cannot be written to the data folder, as on a full disk or a read-only one: after a restart the charts have a hole.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    read: ({ historyProblem }) => [historyProblem].filter(Boolean).map(reason => ({
      subject: MACHINE,
      level: 'warning',
      what: phrase('history'),
      reason,
      fix: phrase('history.fix')
    }))
  },
  temperature: ofHost('temperature', 'problem', 'The processor is hotter than 75 °C; a problem from 82 °C on.'),
  power: ofHost('power', 'problem', 'A Raspberry Pi had too little voltage, or was slowed down; a problem while its voltage is too low.'),
  card: ofHost('card', 'problem', 'An eMMC has used 80 % of its life; a problem once it has used all.'),
  space: ofHost('space', 'problem',
    'The disk of the data folder has less than 10 % and 5 GB left; a problem below 3 % and 1 GB, or below 100 MB.', { isFolder: true }),
  files: ofHost('files', 'problem', 'It can have few more files: less than 10 % of them are left; a problem below 3 %.',
    { isFolder: true })
}

import { duration } from '../../stats/format.js'

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
 * @param {string} [place]  that its words are about
 * @returns {Kind}
 */
function ofHost (kind, level, when, place = '') {
  return {
    when,
    level,
    knows: ({ isMachineKnown }) => isMachineKnown,
    raiseAfterMs: 15_000,
    clearAfterMs: 5 * MINUTE_MS,
    several: count => `${count} machines`, // there is one
    read: ({ host }) => host.filter(alarm => alarm.kind === kind).map(({ level: its, what, fix }) => ({
      subject: MACHINE,
      level: its,
      what: `${place}${what.replace(/\.$/, '')}`,
      fix
    }))
  }
}

/** @type {Record<string, Kind>} */
export const machineKinds = {
  'clock-unset': {
    when: 'The clock of the machine is not set: samples wait for it for two minutes, and are marked then.',
    level: 'warning',
    knows: ({ clock, isMachineKnown }) => clock.state === 'set' && isMachineKnown,
    raiseAfterMs: 15_000,
    clearAfterMs: 0,
    several: count => `${count} clocks are not set`,
    read: ({ clock: { isWrong, state } }) => [isWrong].filter(Boolean).map(() => ({
      subject: MACHINE,
      level: 'warning',
      what: `The clock is not set: ${state === 'waiting' ? 'samples wait for it' : 'samples are stored, marked as uncertain'}`,
      fix: 'Give the machine a time server that it reaches, or a clock with a battery.'
    }))
  },
  'clock-jumped': {
    when: 'The clock, once set, was put forward or back by more than 2 s.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: HOUR_MS,
    event: 'process',
    several: count => `${count} clocks have jumped`,
    read: ({ clock: { jumps, jumpMs } }) => [{
      subject: MACHINE,
      level: 'warning',
      what: `The clock was put ${jumpMs > 0 ? 'forward' : 'back'} by ${duration(Math.abs(jumpMs))}`,
      fix: 'See what sets it: two services, or somebody by hand. No sample is lost by it.',
      count: jumps
    }]
  },
  'event-loop': {
    when: 'Something has kept the gateway from all else for more than a second.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: 10 * MINUTE_MS,
    event: 'process',
    several: count => `${count} processes were blocked`,
    read: ({ blocked: { times, longestMs } }) => [{
      subject: MACHINE,
      level: 'warning',
      what: `Something has kept the gateway from all else for ${duration(longestMs)}`,
      fix: 'Look for long work in function nodes, swapping, or too small a machine.',
      count: times
    }]
  },
  history: {
    when: 'The history cannot be written to the data folder, as on a full disk or a read-only one: after a restart the charts have a hole.',
    level: 'warning',
    raiseAfterMs: 0,
    clearAfterMs: 10_000,
    several: count => `${count} histories are not written to disk`,
    read: ({ historyProblem }) => [historyProblem].filter(Boolean).map(reason => ({
      subject: MACHINE,
      level: 'warning',
      what: 'The history of the gateway is not written to disk: after a restart its charts have a hole',
      reason,
      fix: 'Make room, or let the user of the gateway write to the folder. Samples are not concerned.'
    }))
  },
  temperature: ofHost('temperature', 'problem', 'The processor is hotter than 75 °C; a problem from 82 °C on.'),
  power: ofHost('power', 'problem', 'A Raspberry Pi had too little voltage, or was slowed down; a problem while its voltage is too low.'),
  card: ofHost('card', 'problem', 'An eMMC has used 80 % of its life; a problem once it has used all.'),
  space: ofHost('space', 'problem',
    'The disk of the data folder has less than 10 % and 5 GB left; a problem below 3 % and 1 GB, or below 100 MB.', 'The data folder: '),
  files: ofHost('files', 'problem', 'It can have few more files: less than 10 % of them are left; a problem below 3 %.',
    'The data folder: ')
}

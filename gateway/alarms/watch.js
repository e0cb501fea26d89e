import { join } from 'node:path'
import { describe } from '../base/errors.js'
import { wallClock } from '../clock/system-clock.js'
import { Alarms } from './alarms.js'
import { blockedTime } from './blocked.js'
import { AlarmFile } from './file.js'
import { KINDS } from './kinds/index.js'
import { Limits } from './limits.js'
import { Snapshots } from './snapshot.js'

const INTERVAL_MS = 5000
/** What alarms count goes on without a change that somebody is told of. */
const KEEP_INTERVAL_MS = 60_000

/** What is normal in this process, as the nodes of its flows say. */
export const limits = new Limits()

/**
 * Judges every five seconds what is wrong with a gateway. Keeps no process alive.
 * @param {import('../stats/stats.js').Stats} stats
 * @param {string} folder  of the data
 * @param {(text: string) => void} warn
 */
export function watchAlarms (stats, folder, warn) {
  const blockedMs = blockedTime()
  const snapshots = new Snapshots(stats, limits, { now: () => performance.now(), wallNow: Date.now, clock: wallClock, blockedMs })
  const file = new AlarmFile(join(folder, 'alarms.json'), warn)
  const alarms = new Alarms({ kinds: KINDS, take: () => snapshots.take(), kept: file.kept })
  alarms.onChange((_, change) => {
    file.changed()
    if (change === 'acknowledged') file.save(() => alarms.kept)
  })
  setInterval(() => { if (alarms.active.length > 0) file.changed() }, KEEP_INTERVAL_MS).unref()
  let told = ''
  setInterval(() => {
    try {
      alarms.judge()
      file.save(() => alarms.kept)
    } catch (error) {
      if (told !== describe(error)) warn(told = describe(error)) // a mistake here must not end what works
    }
  }, INTERVAL_MS).unref()
  return alarms
}

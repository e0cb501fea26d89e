/**
 * What a monitor reports. Counters grow from the start of what they count; everything else is as it is now. **What cannot be read is
 * absent, not 0**, and so is what is not read this time because it is dear (see `ration.js`).
 *
 * @typedef {object} Sample  plain JSON
 * @property {number} timeMs  since 1970 UTC, of the host that is watched
 * @property {number} elapsedSeconds  since the monitor began, of a clock that nobody sets: rates are over its differences
 * @property {Record<string, ProcessUsage>} processes  by the names that were asked for
 * @property {Record<string, FolderUsage>} folders
 * @property {MachineUsage} [machine]
 * @property {string[]} notes  what cannot be read here, and why
 *
 * @typedef {object} ProcessUsage  of a process, or of it and all that it has started, those that have ended included
 * @property {number} processes  that run
 * @property {number} [threads]
 * @property {number} [cpuSeconds]  counter; from the scheduler, in nanoseconds, where it counts, or else in ticks of 10 ms
 * @property {number} [userSeconds]  counter; in ticks of 10 ms
 * @property {number} [systemSeconds]  counter; in ticks of 10 ms
 * @property {number} [voluntarySwitches]  counter; the process waited for something
 * @property {number} [involuntarySwitches]  counter; others had their turn
 * @property {number} [rssBytes]  resident memory; of several processes, what they share is counted for each
 * @property {number} [peakRssBytes]  of a single process, since it began
 * @property {number} [pssBytes]  resident memory; what is shared is divided among those who share it
 * @property {number} [swapBytes]
 * @property {number} [readBytes]  counter; from disks. It includes children that have ended, also those of a process watched alone
 * @property {number} [writtenBytes]  counter; to disks, once the pages are dirty. Likewise
 * @property {number} [readCalls]  counter; system calls that read anything. Likewise
 * @property {number} [writeCalls]  counter; likewise
 * @property {number} [receivedBytes]  counter; over TCP, without headers, by all sockets seen open: what one received after it was last
 *   seen, or that opened and closed between two readings, is missing, and so are UDP and sockets of the machine's files
 * @property {number} [sentBytes]  counter; and acknowledged. Likewise
 * @property {number} [sockets]  of TCP, connected
 * @property {CgroupUsage} [cgroup]  of the (first) process, where it is in one
 *
 * @typedef {object} CgroupUsage
 * @property {1|2} version
 * @property {number} [cpuSeconds]  counter
 * @property {number} [userSeconds]  counter
 * @property {number} [systemSeconds]  counter
 * @property {number} [throttledSeconds]  counter; it had to wait for its next share
 * @property {number} [throttledPeriods]  counter
 * @property {number} [cpuLimitCores]  of it and those around it, the least; absent without a limit
 * @property {number} [memoryBytes]  page cache included
 * @property {number} [peakMemoryBytes]
 * @property {number} [memoryLimitBytes]  as with `cpuLimitCores`
 *
 * @typedef {object} FolderUsage  of all that is in it
 * @property {number} sizeBytes  the lengths of its files
 * @property {number} diskBytes  what they take on the disk: less for sparse and compressed files
 * @property {number} files
 *
 * @typedef {object} MachineUsage
 * @property {number} [cores]
 * @property {number} [cpuSeconds]  counter; all cores, busy
 * @property {number} [userSeconds]  counter
 * @property {number} [systemSeconds]  counter; interrupts included
 * @property {number} [idleSeconds]  counter
 * @property {number} [iowaitSeconds]  counter; idle while a disk was busy
 * @property {number} [stealSeconds]  counter; taken by the machine below a virtual one
 * @property {number} [contextSwitches]  counter
 * @property {number} [memoryBytes]
 * @property {number} [availableBytes]
 * @property {number} [swapBytes]  in use
 * @property {number} [swappedInPages]  counter
 * @property {number} [swappedOutPages]  counter
 * @property {number} [readBytes]  counter; of real disks, not of partitions or of what is built of disks
 * @property {number} [writtenBytes]  counter
 * @property {number} [readOperations]  counter
 * @property {number} [writeOperations]  counter
 * @property {number} [diskBusySeconds]  counter; of all disks
 * @property {number} [receivedBytes]  counter; all interfaces but `lo`, with headers
 * @property {number} [sentBytes]  counter
 *
 * @typedef {object} Monitor  of this machine (`monitor.js`) or of another one (`remote.js`)
 * @property {(options?: {fresh?: boolean}) => Promise<Sample>} read  `fresh`: with what is dear
 */

/** The counters of all usages: what else there is are levels. */
export const COUNTERS = new Set([
  'cpuSeconds', 'userSeconds', 'systemSeconds', 'idleSeconds', 'iowaitSeconds', 'stealSeconds', 'throttledSeconds', 'throttledPeriods',
  'voluntarySwitches', 'involuntarySwitches', 'contextSwitches', 'swappedInPages', 'swappedOutPages',
  'readBytes', 'writtenBytes', 'readCalls', 'writeCalls', 'readOperations', 'writeOperations', 'diskBusySeconds',
  'receivedBytes', 'sentBytes'
])

/**
 * Without what is not known: undefined, or a sum with something that is not.
 * @template {object} T
 * @param {T} usage
 * @returns {T}
 */
export function known (usage) {
  return /** @type {T} */ (Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined && !Number.isNaN(value))))
}

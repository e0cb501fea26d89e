import { bytesOf, numberOf } from './system-files.js'
import { known } from './usage.js'

/**
 * The machine as a whole.
 *
 * @typedef {import('./system-files.js').SystemFiles} SystemFiles
 * @typedef {import('./usage.js').MachineUsage} MachineUsage
 */

const TICKS_PER_SECOND = 100
/** Of the kernel's counters, whatever those of the disk are. */
const SECTOR_BYTES = 512

/** @param {SystemFiles} files @returns {MachineUsage|undefined} */
export function readMachine (files) {
  const usage = known({ ...processors(files), ...memory(files), ...disks(files), ...network(files) })
  return Object.keys(usage).length > 0 ? usage : undefined
}

/** @param {SystemFiles} files @returns {MachineUsage} */
function processors (files) {
  const stat = files.text('/proc/stat')
  if (!stat?.startsWith('cpu ')) return {}
  const ticks = stat.slice(0, stat.indexOf('\n')).trim().split(/ +/).slice(1).map(Number)
  const [user, nice, system, idle, iowait, interrupts = 0, softInterrupts = 0, steal] = ticks
  return {
    cores: stat.match(/^cpu\d+ /gm)?.length,
    cpuSeconds: (user + nice + system + interrupts + softInterrupts) / TICKS_PER_SECOND,
    userSeconds: (user + nice) / TICKS_PER_SECOND,
    systemSeconds: (system + interrupts + softInterrupts) / TICKS_PER_SECOND,
    idleSeconds: idle / TICKS_PER_SECOND,
    iowaitSeconds: iowait / TICKS_PER_SECOND,
    stealSeconds: steal / TICKS_PER_SECOND,
    contextSwitches: numberOf(stat, 'ctxt ')
  }
}

/** @param {SystemFiles} files @returns {MachineUsage} */
function memory (files) {
  const [info, counts] = [files.text('/proc/meminfo'), files.text('/proc/vmstat')]
  return {
    memoryBytes: bytesOf(info, 'MemTotal:'),
    availableBytes: bytesOf(info, 'MemAvailable:'),
    swapBytes: (bytesOf(info, 'SwapTotal:') ?? NaN) - (bytesOf(info, 'SwapFree:') ?? NaN),
    swappedInPages: numberOf(counts, 'pswpin '),
    swappedOutPages: numberOf(counts, 'pswpout ')
  }
}

/** Real disks have a device; partitions are in them, and what is built of disks would be counted twice. @param {SystemFiles} files */
function disks (files) {
  const rows = files.text('/proc/diskstats')?.split('\n').map(line => line.trim().split(/ +/)) ?? []
  const real = rows.filter(([, , name]) => name !== undefined && files.names(`/sys/block/${name}/device`) !== undefined)
  if (real.length === 0) return {}
  const sum = (/** @type {number} */ column) => real.reduce((total, row) => total + Number(row[column]), 0)
  return {
    readOperations: sum(3),
    readBytes: sum(5) * SECTOR_BYTES,
    writeOperations: sum(7),
    writtenBytes: sum(9) * SECTOR_BYTES,
    diskBusySeconds: sum(12) / 1000
  }
}

/** @param {SystemFiles} files @returns {MachineUsage} */
function network (files) {
  const lines = files.text('/proc/net/dev')?.split('\n').slice(2) ?? []
  const others = lines.map(line => line.split(/[: ]+/).filter(Boolean)).filter(([name]) => name !== undefined && name !== 'lo')
  if (others.length === 0) return {}
  const sum = (/** @type {number} */ column) => others.reduce((total, row) => total + Number(row[column]), 0)
  return { receivedBytes: sum(1), sentBytes: sum(9) }
}

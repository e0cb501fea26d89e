import { stat } from 'node:fs/promises'

/**
 * What all programs have written to the disk that a folder is on, since the machine started: what wears a card.
 *
 * @typedef {{disk: string, bytes: number, bytesPerDay: number}} Written
 */

/** Of the kernel's counters, whatever those of the disk are. */
const SECTOR_BYTES = 512
const WRITTEN_SECTORS = 6
const SECONDS_PER_DAY = 86_400

/**
 * @param {import('../monitor/system-files.js').SystemFiles} files
 * @param {string} folder
 * @returns {Promise<Written|undefined>} undefined where the folder is on no disk of its own, as in memory or on a network
 */
export async function readWritten (files, folder) {
  const device = `/sys/dev/block/${numbersOf((await stat(folder)).dev)}`
  const isPartition = files.text(`${device}/partition`) !== undefined
  const counts = files.text(`${device}${isPartition ? '/..' : ''}/stat`)?.trim().split(/\s+/).map(Number)
  const seconds = Number.parseFloat(files.text('/proc/uptime') ?? '')
  if (!counts || !(seconds > 0)) return undefined
  const disk = files.link(device)?.split('/').at(isPartition ? -2 : -1) ?? ''
  const bytes = counts[WRITTEN_SECTORS] * SECTOR_BYTES
  return { disk, bytes, bytesPerDay: bytes / seconds * SECONDS_PER_DAY }
}

/** "179:2", as Linux packs both numbers of a device into one. @param {number} device */
export function numbersOf (device) {
  const number = BigInt(device)
  const major = number >> 8n & 0xfffn | number >> 32n & 0xfffff000n
  const minor = number & 0xffn | number >> 12n & 0xffffff00n
  return `${major}:${minor}`
}

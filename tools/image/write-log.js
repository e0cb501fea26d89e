import { closeSync, openSync, readSync, writeSync } from 'node:fs'

/**
 * What QEMU's driver blklogwrites has kept of a disk, in the format of Linux's dm-log-writes: a header, then an entry for each write and
 * each flush, in the order in which the guest asked for them.
 *
 * A disk may keep a write in its memory until it is told to flush. So after a power cut all that is behind the last flush may be missing,
 * each write for itself, but for those that were asked to be on the disk at once (FUA).
 */

export const MAGIC = 0x6A736677736872n
const FLUSH = 1n
const FUA = 2n
const DISCARD = 4n
const HEADER_BYTES = 32
const COPY_BYTES = 2 ** 20

/**
 * @typedef {object} Entry
 * @property {bigint} sector
 * @property {bigint} sectors
 * @property {bigint} flags
 * @property {number} at  where its data are in the log
 * @property {number} endsAt  where the next entry begins
 */

/**
 * @param {string} file
 * @param {number} endsAt  only what was in the log when it was so long
 * @returns {{sectorBytes: number, entries: Entry[]}}
 */
export function readLog (file, endsAt = Infinity) {
  const log = openSync(file, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    readSync(log, header, 0, HEADER_BYTES, 0)
    if (header.readBigUInt64LE(0) !== MAGIC) throw new Error(`${file} is no write log.`)
    const sectorBytes = header.readUInt32LE(24)
    const entries = []
    for (let at = sectorBytes; readSync(log, header, 0, HEADER_BYTES, at) === HEADER_BYTES;) {
      const [sector, sectors, flags] = [0, 8, 16].map(offset => header.readBigUInt64LE(offset))
      const data = at + sectorBytes
      at = data + (flags & DISCARD ? 0 : Number(sectors) * sectorBytes)
      if (at > endsAt || sectors === 0n && flags === 0n) break
      entries.push({ sector, sectors, flags, at: data, endsAt: at })
    }
    return { sectorBytes, entries }
  } finally {
    closeSync(log)
  }
}

/**
 * What of a log is on the disk after a power cut.
 * @param {Entry[]} entries  up to the cut
 * @param {() => boolean} isKept  of a write that was not flushed
 */
export function survivors (entries, isKept) {
  const flushed = entries.findLastIndex(({ flags }) => (flags & FLUSH) !== 0n)
  return entries.filter(({ sectors, flags }, i) => sectors > 0n && !(flags & DISCARD) && (i <= flushed || (flags & FUA) !== 0n || isKept()))
}

/**
 * Writes entries of a log to the disk as it was when the log began.
 * @param {string} file
 * @param {string} disk
 * @param {{sectorBytes: number, entries: Entry[]}} log
 */
export function replay (file, disk, { sectorBytes, entries }) {
  const [from, to] = [openSync(file, 'r'), openSync(disk, 'r+')]
  const buffer = Buffer.alloc(COPY_BYTES)
  try {
    for (const { sector, sectors, at } of entries) {
      const bytes = Number(sectors) * sectorBytes
      for (let done = 0; done < bytes;) {
        const length = readSync(from, buffer, 0, Math.min(COPY_BYTES, bytes - done), at + done)
        if (length === 0) throw new Error(`${file} ends within an entry.`)
        writeSync(to, buffer, 0, length, Number(sector) * sectorBytes + done)
        done += length
      }
    }
  } finally {
    closeSync(from)
    closeSync(to)
  }
}

import { spawnSync } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { sqlite } from './can-test.js'
import { INTERFACE } from './flow.js'
import { layout, SECTOR_BYTES } from './layout.js'

/**
 * @typedef {import('./guest.js').Guest} Guest
 * @typedef {import('./machine.js').Machine} Machine
 */

const FIRST_ID = 0x200
const GAP_MS = 20
const SETTLED_POLLS = 5
/** Of a power cut: the interval at which the spool is written to disk (1 s), what gathers in front of it (0.1 s), and a batch (0.05 s). */
const STATED_MS = 1150
/** The clock of the guest is told four times a second, and an emulated processor is slow. */
const READING_MS = 1000

/**
 * Frames that count up, under an identifier of their own, and the guest's clock on its console.
 * @param {Guest} guest
 * @param {number} run
 * @param {number} [gapMs]
 */
export async function sendFrames (guest, run, gapMs = GAP_MS) {
  await guest.run(`systemd-run --quiet --unit=frames cangen ${INTERFACE} -I ${idOf(run).toString(16)} -L 8 -D i -g ${gapMs}`)
  await guest.run(`systemd-run --quiet --unit=beats sh -c 'while :; do echo "beat $(date +%s%3N)" > /dev/console; sleep 0.25; done'`)
}

/** What the guest's clock showed last: milliseconds since 1970. @param {Machine} machine */
export function lastBeatMs ({ console: text }) {
  const [, ms] = /^beat (\d+)\r?$/m.exec(text.slice(text.lastIndexOf('beat ', text.lastIndexOf('\n')))) ?? []
  return Number(ms ?? 0)
}

/**
 * What the database has of a run, once it has all that the spool kept.
 * @param {Guest} guest
 * @param {number} run
 * @returns {Promise<string[]>} eight bytes in hexadecimal, the time in nanoseconds; in the order of time
 */
export async function settledRows (guest, run) {
  const query = sqlite(`SELECT hex(data), time FROM frames WHERE id = ${idOf(run)} ORDER BY time`)
  let rows = await guest.run(query)
  for (let polls = 0; polls < SETTLED_POLLS;) {
    await sleep(1000)
    const now = await guest.run(query)
    polls = now === rows ? polls + 1 : 0
    rows = now
  }
  return rows.trim().split('\n').filter(Boolean)
}

/**
 * Compares what the database has of a run with what was sent.
 * @param {Guest} guest
 * @param {number} run  that was stopped
 * @param {number} stoppedAtMs  by the guest's clock
 * @returns {Promise<string>} a line to tell
 * @throws {Error} where something is missing or doubled
 */
export async function settledRun (guest, run, stoppedAtMs) {
  const rows = await settledRows(guest, run)
  const errors = (await guest.run('journalctl --boot --dmesg --output cat --grep "EXT4-fs (error|warning)|I/O error" || true')).trim()
  if (errors) throw new Error(`The kernel complains of a file system:\n${errors}`)
  return judge(rows, stoppedAtMs)
}

/** @param {string[]} rows  eight bytes in hexadecimal, the time in nanoseconds @param {number} stoppedAtMs */
export function judge (rows, stoppedAtMs) {
  const counts = rows.map(row => Number(Buffer.from(row.split('|')[0], 'hex').readBigUInt64LE()))
  const distinct = new Set(counts)
  const [first, last] = [Math.min(...counts), Math.max(...counts)]
  if (distinct.size < rows.length) throw new Error(`${rows.length - distinct.size} of ${rows.length} rows are doubled.`)
  if (rows.length === 0 || first > 1 || last - first + 1 !== rows.length) {
    throw new Error(`${rows.length} rows, from frame ${first} to frame ${last}: some are missing.`)
  }
  const lastMs = Number(BigInt(rows.at(-1)?.split('|')[1] ?? 0) / 1_000_000n)
  const lostMs = stoppedAtMs - lastMs
  if (lostMs > STATED_MS + READING_MS) throw new Error(`The last row is ${lostMs} ms older than the stop; stated are ${STATED_MS} ms.`)
  return `${rows.length} rows without a gap, none doubled, the last ${Math.max(0, lostMs)} ms before the stop`
}

/** @param {number} run */
function idOf (run) {
  return FIRST_ID + run
}

/** Of a card that was shut down. @param {import('./card.js').Card} card @returns {string} a line to tell */
export function checkFileSystems (card) {
  const { root, data } = layout().partitions
  for (const { name, startSector } of [root, data]) {
    const { status, stdout } = spawnSync('e2fsck', ['-fn', `${card.file}?offset=${startSector * SECTOR_BYTES}`], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`The file system ${name} is not clean:\n${stdout}`)
  }
  return 'both file systems are clean (e2fsck -fn)'
}

import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mix } from '../../gateway/base/random.js'
import { Card } from './card.js'
import { readLog, replay, survivors } from './write-log.js'
import { newCard, running, withRig } from './rig.js'
import { checkFileSystems, lastBeatMs, sendFrames, settledRun } from './stop-checks.js'

/**
 * @typedef {import('./rig.js').Rig} Rig
 * @typedef {import('./options.js').Task} Task
 */

const LIMIT_MS = 900_000
const MIN_FLOW_MS = 10_000
const SPREAD_MS = 20_000
const FLOW_MS_PER_CUT = 5000
/** Starts before the root is read-only where it is to be: one makes the keys of SSH, the next one switches. */
const WRITABLE_STARTS = 2

/**
 * Ends a machine, while frames flow, in ways that nobody has planned, and looks what its next start makes of it.
 * @param {import('./rig.js').RigOptions & {task: Task, times: number}} options
 * @param {(line: string) => void} log
 */
export async function stopTest (options, log) {
  if (options.machine !== 'virt') throw new Error('Only virt can be stopped: its disk is one whose writes can be logged.')
  await withRig(options, rig => (options.task === 'hard-stops' ? hardStops : powerCuts)(rig, options.times, log))
}

/**
 * One card, stopped again and again: what the guest had not given to its disk is lost.
 * @param {Rig} rig @param {number} times @param {(line: string) => void} log
 */
async function hardStops (rig, times, log) {
  const card = newCard(rig)
  let stoppedAtMs = 0
  for (let run = 0; run <= times; run++) {
    stoppedAtMs = await running(rig, card, async (machine, guest) => {
      await guest.healthy(LIMIT_MS)
      const seconds = (machine.elapsedMs / 1000).toFixed(0)
      const root = (await guest.run('findmnt --noheadings --output FSTYPE /')).trim()
      if (root !== (rig.options.isRootReadOnly && run >= WRITABLE_STARTS ? 'overlay' : 'ext4')) throw new Error(`The root is ${root}.`)
      if (run > 0) log(`stop ${run}: editor after ${seconds} s, root ${root}, ${await settledRun(guest, run - 1, stoppedAtMs)}`)
      if (run === times) {
        await shutDown(machine, guest)
        return 0
      }
      await sendFrames(guest, run)
      await sleep(MIN_FLOW_MS + Math.random() * SPREAD_MS)
      await machine.cutPower()
      return lastBeatMs(machine)
    })
  }
  log(checkFileSystems(card))
}

/**
 * One run whose writes are logged, cut in many places: what the disk had not been told to flush is lost as well, by turns all of it and any
 * part of it.
 * @param {Rig} rig @param {number} times @param {(line: string) => void} log
 */
async function powerCuts (rig, times, log) {
  const writeLog = join(rig.folder, 'writes')
  writeFileSync(writeLog, '')
  const before = newCard(rig)
  /** Of the guest's clock, how long the log was. @type {{guestMs: number, logBytes: number}[]} */
  const marks = []
  await running(rig, new Card(before.file, rig.folder, 'logged.img'), async (machine, guest) => {
    await guest.healthy(LIMIT_MS)
    await sendFrames(guest, 0)
    await sleep(MIN_FLOW_MS)
    for (const endMs = Date.now() + times * FLOW_MS_PER_CUT; Date.now() < endMs; await sleep(100)) {
      marks.push({ guestMs: lastBeatMs(machine), logBytes: statSync(writeLog).size })
    }
  }, { writeLog })
  const seed = Date.now() % 2 ** 31
  let drawn = 0
  const random = () => (mix(seed + drawn++) >>> 0) / 2 ** 32
  log(`${statSync(writeLog).size >> 20} MiB were written to the card; seed ${seed}`)
  for (let cut = 0; cut < times; cut++) {
    const { guestMs, logBytes } = marks[Math.floor((cut + random()) * marks.length / times)]
    const card = new Card(before.file, rig.folder, 'cut.img')
    const { sectorBytes, entries } = readLog(writeLog, logBytes)
    const kept = survivors(entries, () => cut % 2 === 1 && random() < 0.5)
    replay(writeLog, card.file, { sectorBytes, entries: kept })
    await running(rig, card, async (machine, guest) => {
      await guest.healthy(LIMIT_MS)
      const seconds = (machine.elapsedMs / 1000).toFixed(0)
      const lost = entries.length - kept.length
      log(`cut ${cut + 1}: ${lost} writes lost, editor after ${seconds} s, ${await settledRun(guest, 0, guestMs)}`)
      await shutDown(machine, guest)
    })
    log(checkFileSystems(card))
  }
}

/** @param {import('./machine.js').Machine} machine @param {import('./guest.js').Guest} guest */
async function shutDown (machine, guest) {
  await machine.ended(() => guest.run('systemctl poweroff').catch(() => {})) // it hangs up
}

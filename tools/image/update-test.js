import { createReadStream } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeKeys } from '../release/sign.js'
import { newestRelease } from './build.js'
import { INTERFACE } from './flow.js'
import { newCard, running, withRig } from './rig.js'
import { settledRows, sendFrames } from './stop-checks.js'
import { sickRelease, signedRelease } from './test-releases.js'
import { judgeUpdates, outagesIn } from './update-checks.js'

/**
 * @typedef {import('./guest.js').Guest} Guest
 * @typedef {import('./rig.js').RigOptions} RigOptions
 */

const START_LIMIT_MS = 900_000
const COPY_LIMIT_MS = 300_000
/** An emulated processor unpacks a release in ten minutes, and in many more beside other work. */
const UPDATE_LIMIT_MS = 3_600_000
/** Few enough to leave it time. */
const GAP_MS = 200
/** In which a release that does not start has to be given up, since it was switched to. */
const BACK_LIMIT_MS = 120_000
const FLOW_MS = 10_000
const FOLDER = '/data/update'
/** An emulator may need more than the usual two minutes for a start. */
const PATIENCE = '--wait 600'

/**
 * Updates a card while frames flow, to a release that is healthy and then to one that is not, and compares the rows with the frames.
 * @param {RigOptions & {payload?: string}} options
 * @param {(line: string) => void} log
 */
export async function updateTest (options, log) {
  await withRig(options, async rig => {
    const keys = makeKeys(join(rig.folder, 'keys'))
    const next = signedRelease(options.payload ?? newestRelease(), rig.folder, keys.secret)
    const sick = sickRelease(next, rig.folder, keys.secret)
    await running(rig, newCard(rig), async (machine, guest) => {
      await guest.healthy(START_LIMIT_MS)
      await put(guest, keys.open, '/etc/sluice/update-keys')
      for (const { tarball } of [next, sick]) {
        for (const file of [tarball, `${tarball}.sha256`, `${tarball}.sha256.sig`]) await put(guest, file, FOLDER)
      }
      await sendFrames(guest, 0, GAP_MS)
      await sleep(FLOW_MS)

      const { version: before } = await statusOf(guest)
      const up = await update(guest, next.tarball)
      if (!up.output.includes(`Sluice ${next.version} runs.`)) throw new Error(`The update did not end as it should: ${up.output}`)
      log(`update from ${before} to ${next.version}: kept after ${seconds(up.tookMs)}`)
      await sleep(FLOW_MS)

      const down = await update(guest, sick.tarball)
      const { version, update: state } = await statusOf(guest)
      if (!down.output.includes(`${next.version} runs again`) || version !== next.version || state.state !== 'returned') {
        throw new Error(`A release that does not start was not given up: ${down.output}`)
      }
      const givenUpMs = Number(await guest.run('stat --format=%Y000 /opt/sluice/update.json')) - Date.parse(state.since)
      if (givenUpMs > BACK_LIMIT_MS) throw new Error(`The release that does not start was given up after ${seconds(givenUpMs)} only.`)
      log(`update to a release that does not start: given up after ${seconds(givenUpMs)}, as ${state.reason}; ${version} runs again`)
      await sleep(FLOW_MS)

      await guest.run('systemctl stop frames')
      const sent = Number(await guest.run(`cat /sys/class/net/${INTERFACE}/statistics/tx_packets`))
      const journal = await guest.run('journalctl --unit=sluice --output=short-unix --no-pager')
      log(judgeUpdates(await settledRows(guest, 0), sent, outagesIn(journal)))
    })
  })
}

/** @param {Guest} guest @param {string} file @param {string} folder */
async function put (guest, file, folder) {
  const input = createReadStream(file)
  await guest.run(`mkdir -p ${folder} && cat > ${folder}/${basename(file)}`, { input, limitMs: COPY_LIMIT_MS })
}

/** @param {Guest} guest @param {string} tarball  its exit code is 1 where the release is given up */
async function update (guest, tarball) {
  const startMs = Date.now()
  const output = await guest.run(`sluice update ${PATIENCE} ${FOLDER}/${basename(tarball)} 2>&1 || true`, { limitMs: UPDATE_LIMIT_MS })
  return { output, tookMs: Date.now() - startMs }
}

/** What answers, and how the last update went. @param {Guest} guest */
async function statusOf (guest) {
  const { body } = await guest.fetch('/sluice/health')
  return { version: JSON.parse(body).version, update: JSON.parse(await guest.run('sluice update --status --json')) }
}

/** @param {number} ms */
const seconds = ms => `${(ms / 1000).toFixed(0)} s`

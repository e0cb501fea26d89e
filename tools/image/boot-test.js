import { countFrames } from './can-test.js'
import { until } from './guest.js'
import { newCard, running, withRig } from './rig.js'
import { runSuite } from './suite.js'

/**
 * @typedef {import('./card.js').Card} Card
 * @typedef {import('./guest.js').Guest} Guest
 * @typedef {import('./machine.js').Machine} Machine
 */

const LIMIT_MS = 900_000
const PASSWORD_LIMIT_MS = 60_000
const FRAMES = 5000

/**
 * Starts a card as it comes out of the box: how long that takes, who is let in, and whether CAN frames become rows.
 * @param {import('./rig.js').RigOptions} options
 * @param {(line: string) => void} log
 */
export async function bootTest (options, log) {
  await withRig(options, async rig => {
    const card = newCard(rig)
    await running(rig, card, async (machine, guest) => {
      const { machine: kind, memoryMib } = options
      await reportStart(machine, guest, kind === 'virt' ? `virt, ${memoryMib} MiB` : kind, log)
      await reportLogin(guest, card, log)
      log(await countFrames(guest, FRAMES))
      log(await runSuite(guest))
    })
  })
}

/** @param {Machine} machine @param {Guest} guest @param {string} name @param {(line: string) => void} log */
async function reportStart (machine, guest, name, log) {
  const seconds = (/** @type {number} */ ms) => `${(ms / 1000).toFixed(1)} s`
  const editor = guest.healthy(LIMIT_MS).then(() => machine.elapsedMs)
  editor.catch(() => {}) // the console says first what went wrong
  const consoleMs = await machine.shown(/login:/, LIMIT_MS)
  log(`${name}: login on the console after ${seconds(consoleMs)}`)
  await guest.until('true', LIMIT_MS)
  log(`${name}: login by SSH after ${seconds(machine.elapsedMs)}`)
  log(`${name}: editor after ${seconds(await editor)}`)
  const [total, available] = (await guest.run('awk \'/MemTotal|MemAvailable/ {print int($2 / 1024)}\' /proc/meminfo')).trim().split('\n')
  const [dataMib, freeMib] = (await guest.run('df --block-size=M --output=size,avail /data | tail -1')).trim().split(/\s+/)
  log(`${name}: ${available} of ${total} MiB memory available; ${freeMib} of ${dataMib} free on the data partition, which has grown`)
  const failed = (await guest.run('systemctl list-units --failed --plain --no-legend')).trim()
  if (failed) throw new Error(`Units failed:\n${failed}`)
}

/** @param {Guest} guest @param {Card} card @param {(line: string) => void} log */
async function reportLogin (guest, card, log) {
  const text = await until(async () => card.read('sluice-password.txt'), PASSWORD_LIMIT_MS)
  const [, password] = /^Password: +(\S+)$/m.exec(text) ?? []
  if (!password) throw new Error('sluice-password.txt on the FAT partition has no password.')
  const open = await guest.fetch('/flows')
  const wrong = await login(guest, 'a wrong one')
  const right = await login(guest, password)
  const flows = await guest.fetch('/flows', { headers: { Authorization: `Bearer ${JSON.parse(right.body).access_token}` } })
  const statuses = [open, wrong, right, flows].map(({ status }) => status)
  if (String(statuses) !== '401,403,200,200') throw new Error(`The editor answered ${statuses} instead of 401, 403, 200 and 200.`)
  log('Editor: refused without a login and with a wrong password, open with that of sluice-password.txt')
}

/** @param {Guest} guest @param {string} password */
function login (guest, password) {
  const form = { client_id: 'node-red-editor', grant_type: 'password', scope: '', username: 'admin', password }
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  return guest.fetch('/auth/token', { method: 'POST', headers, body: String(new URLSearchParams(form)) })
}

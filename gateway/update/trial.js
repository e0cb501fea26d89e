import { setTimeout as sleep } from 'node:timers/promises'
import { waitForHealth } from './health.js'

/**
 * @typedef {import('./installation.js').Installation} Installation
 * @typedef {import('./installation.js').State} State
 */

const LOCK_EVERY_MS = 250

/**
 * Waits for the release on trial to be healthy. Then the update is confirmed, and older releases than the last are removed; otherwise the
 * last one is to start again. Somebody else may decide meanwhile: the service, the start-up script, a user who wants to go back.
 * @param {Installation} installation
 * @returns {Promise<State|null>} as it was decided here; null where it was not
 */
export async function decide (installation) {
  const begun = await installation.undecided()
  if (!begun) return null
  const now = async () => {
    const state = await installation.undecided()
    return state?.since === begun.since ? state : null // another may have begun
  }
  const isOnTrial = async () => (await now())?.state === 'trial'
  const reason = await waitForHealth(begun.url, { ...begun, version: begun.to }, isOnTrial)
  const unlock = await lockWhile(installation, now)
  try {
    const state = unlock && await now()
    if (!state) return null
    if (state.state === 'returning') return await takeBack(installation, state, state.reason) // who began with it was killed
    return reason === '' ? await confirm(installation, state) : await takeBack(installation, state, reason)
  } finally {
    unlock?.()
  }
}

/** @param {Installation} installation @param {State} state @returns {Promise<State>} */
async function confirm (installation, state) {
  const confirmed = { ...state, state: /** @type {const} */ ('confirmed') }
  await installation.save(confirmed)
  await installation.bringScript(state.to)
  await installation.keepOnly([state.from, state.to])
  return confirmed
}

/**
 * Has the release before start again. Should this be interrupted, the start-up script does it: the state says so.
 * @param {Installation} installation
 * @param {State} state
 * @param {string} reason
 * @returns {Promise<State>}
 */
export async function takeBack (installation, state, reason) {
  const returned = { ...state, state: /** @type {const} */ ('returned'), reason }
  await installation.save({ ...returned, state: 'returning' })
  await installation.switchTo(state.from)
  await installation.save(returned)
  return returned
}

/**
 * Two that have waited for the same health decide in turn.
 * @param {Installation} installation
 * @param {() => Promise<unknown>} isWanted
 */
async function lockWhile (installation, isWanted) {
  while (await isWanted()) {
    try {
      return installation.lock()
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'SLUICE_UPDATE_UNDER_WAY') throw error
      await sleep(LOCK_EVERY_MS)
    }
  }
  return null
}

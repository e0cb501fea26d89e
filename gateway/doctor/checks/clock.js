import { isKernelSynchronised } from '../../clock/kernel.js'
import { RELEASED } from '../../clock/release.js'
import { note, ok, problem, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

const SYNCHRONISE = said`Have it set from the network (sudo timedatectl set-ntp true) and check that a time server is reached: timedatectl
  timesync-status.`

/** @type {import('../finding.js').Check} */
export const clock = {
  name: 'clock',
  title: 'Clock',
  async find ({ environment }) {
    const now = new Date()
    if (now < new Date(RELEASED)) {
      const what = said`The clock shows ${now.toISOString()}, before this version was made: samples wait, and are then marked.`
      return [problem(what, '', SYNCHRONISE)]
    }
    if (environment.SLUICE_CLOCK === 'trusted') return [note(said`The clock is taken for right, as SLUICE_CLOCK=trusted asks for.`)]
    const isSynchronised = await isKernelSynchronised()
    if (isSynchronised === true) return [ok(said`The clock is set, and the kernel reports it synchronised.`)]
    if (isSynchronised === false) {
      return [warning(said`The kernel reports the clock as not synchronised: after a start, samples wait two minutes and are then marked.`,
        '', said`${SYNCHRONISE} Where there is no network, SLUICE_CLOCK=trusted says that it is right.`)]
    }
    return [note(said`Whether the clock is synchronised cannot be known here, as in most containers: the gateway takes it for right.`)]
  }
}

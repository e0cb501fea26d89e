import { execFile } from 'node:child_process'

const TIME_LIMIT_MS = 5000

/**
 * Whether the kernel's clock is synchronised, as systemd reads it from adjtimex(2): true whichever of timesyncd, chrony or ntpd keeps it.
 * @returns {Promise<boolean|undefined>} undefined where nobody can tell, as in most containers
 */
export function isKernelSynchronised () {
  return new Promise(resolve => {
    execFile('timedatectl', ['show', '--property=NTPSynchronized', '--value'], { timeout: TIME_LIMIT_MS }, (error, stdout) => {
      resolve(error ? undefined : { yes: true, no: false }[stdout.trim()])
    })
  })
}

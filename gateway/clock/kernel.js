import { execFile } from 'node:child_process'

const TIME_LIMIT_MS = 5000

/**
 * Whether the kernel's clock is synchronised, as systemd reads it from adjtimex(2): true whichever of timesyncd, chrony or ntpd keeps it.
 * @param {string} [program]
 * @returns {Promise<boolean|undefined|null>} undefined where it cannot be known, as in most containers; null where no answer comes in
 *   time or the kernel cannot be asked now, as on a machine that is busy starting
 */
export function isKernelSynchronised (program = 'timedatectl') {
  return new Promise(resolve => {
    try {
      execFile(program, ['show', '--property=NTPSynchronized', '--value'], { timeout: TIME_LIMIT_MS }, (error, stdout) => {
        if (error) resolve(isUnavailable(error) ? undefined : null)
        else resolve({ yes: true, no: false }[stdout.trim()])
      })
    } catch { // no memory for another process
      resolve(null)
    }
  })
}

/** It cannot be run at all, or has answered that there is no systemd. @param {import('node:child_process').ExecFileException} error */
function isUnavailable ({ code }) {
  return code === 'ENOENT' || code === 'EACCES' || typeof code === 'number'
}

import { execFile } from 'node:child_process'

/** What a program may answer: a log is no longer. */
const MAX_BYTES = 2 ** 24

/**
 * What a program of the system prints; null where there is none, or it fails.
 * @param {string} program
 * @param {string[]} args
 * @param {number} [limitMs]
 * @returns {Promise<string|null>}
 */
export function outputOf (program, args, limitMs = 5000) {
  return new Promise(resolve => {
    execFile(program, args, { timeout: limitMs, maxBuffer: MAX_BYTES }, (error, stdout) => resolve(error ? null : stdout))
  })
}

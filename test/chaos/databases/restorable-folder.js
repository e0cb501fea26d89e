import { execFile } from 'node:child_process'
import { rename, rm } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The data folder of a server: owners and modes are kept. @param {string} folder @returns {import('./index.js').Restorable} */
export function restorableFolder (folder) {
  const copy = `${folder}.copy`
  return {
    async save () {
      await rm(copy, { recursive: true, force: true })
      await run('cp', ['-a', folder, copy])
    },
    async restore () {
      await rm(folder, { recursive: true })
      await rename(copy, folder)
    }
  }
}

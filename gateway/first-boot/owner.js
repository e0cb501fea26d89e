import { mkdir, stat } from 'node:fs/promises'
import { PRIVATE_FOLDER } from '../base/files.js'
import { lockUserDir } from '../run/user-dir-lock.js'

/**
 * The gateway's data folder, which another user owns.
 */
export class UserDir {
  /** @param {string} path */
  constructor (path) {
    this.path = path
  }

  /** Makes it where it is missing. @param {import('./host.js').Host} host */
  async make ({ root, run }) {
    const made = await mkdir(this.path, { recursive: true, mode: PRIVATE_FOLDER })
    if (made !== undefined || root.isUnfinished) await run('chown', 'sluice:sluice', this.path)
  }

  /**
   * Acts while no gateway runs there, and as the user it belongs to: what is written is then theirs, and no link that they have put there
   * leads further than they could go themselves. Nothing else may be under way meanwhile.
   * @template Result
   * @param {() => Promise<Result>} act
   * @returns {Promise<Result>}
   * @throws {import('../base/errors.js').SluiceError} SLUICE_USER_DIR_IN_USE
   */
  async change (act) {
    const { uid, gid } = await stat(this.path)
    const { geteuid, setegid, seteuid } = process
    const isOthers = geteuid?.() === 0 && uid !== 0
    if (isOthers) {
      setegid?.(gid)
      seteuid?.(uid)
    }
    try {
      const unlock = lockUserDir(this.path)
      try {
        return await act()
      } finally {
        unlock()
      }
    } finally {
      if (isOthers) {
        seteuid?.(0)
        setegid?.(0)
      }
    }
  }
}

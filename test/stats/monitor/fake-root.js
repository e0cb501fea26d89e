import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * @typedef {object} FakeProcess
 * @property {number} [parent]
 * @property {string} [start]  ticks
 * @property {number} [userTicks]
 * @property {number} [systemTicks]
 * @property {number} [reapedTicks]  of children that it has waited for, in user mode
 * @property {Record<string, number>} [threads]  nanoseconds by id
 * @property {number[]} [children]
 * @property {number|null} [written]  bytes; null: its disk use may not be seen
 */

/** A folder that stands for `/`: what is in its `proc` and `sys` was recorded, or is made up. */
export class FakeRoot {
  path = mkdtempSync(join(tmpdir(), 'sluice-fake-root-'))

  /** @param {Record<string, string>} files  by path */
  write (files) {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(this.path, name)), { recursive: true })
      writeFileSync(join(this.path, name), text)
    }
  }

  /** @param {string} name @param {string} target */
  link (name, target) {
    mkdirSync(dirname(join(this.path, name)), { recursive: true })
    symlinkSync(target, join(this.path, name))
  }

  /** @param {string} [name] */
  remove (name = '') { rmSync(join(this.path, name), { recursive: true, force: true }) }

  /** As it is now. @param {number} pid @param {FakeProcess} [now] */
  process (pid, now = {}) {
    const { parent = 1, start = '77', userTicks = 0, systemTicks = 0, reapedTicks = 0, children = [], written = 0 } = now
    const threads = now.threads ?? { [pid]: (userTicks + systemTicks) * 1e7 }
    const count = Object.keys(threads).length
    const folder = `proc/${pid}`
    this.remove(folder)
    // The name of a program may look like the rest of the line.
    const head = `${pid} (a) R 1 (b) S ${parent} 1 1 0 -1 0 0 0 0 0`
    const status = 'VmHWM:\t    2000 kB\nVmRSS:\t    1000 kB\nVmSwap:\t       8 kB\n'
    const switches = 'voluntary_ctxt_switches:\t30\nnonvoluntary_ctxt_switches:\t4\n'
    this.write({
      [`${folder}/stat`]: `${head} ${userTicks} ${systemTicks} ${reapedTicks} 0 20 0 ${count} 0 ${start} 1 1\n`,
      [`${folder}/status`]: `Name:\tx\n${status}${switches}`,
      [`${folder}/smaps_rollup`]: `0-1 ---p 0 00:00 0 [rollup]\nRss: 1000 kB\nPss:     600 kB\n`,
      [`${folder}/schedstat`]: `${threads[pid]} 0 0\n`
    })
    if (written !== null) this.write({ [`${folder}/io`]: `rchar: 1\nsyscr: 5\nsyscw: 6\nread_bytes: 4096\nwrite_bytes: ${written}\n` })
    for (const [id, nanoseconds] of Object.entries(threads)) {
      this.write({
        [`${folder}/task/${id}/schedstat`]: `${nanoseconds} 0 0\n`,
        [`${folder}/task/${id}/status`]: `Name:\tx\n${switches}`,
        [`${folder}/task/${id}/children`]: Number(id) === pid ? `${children.join(' ')} ` : ''
      })
    }
  }
}

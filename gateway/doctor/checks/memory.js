import { Cgroups } from '../../stats/monitor/cgroup.js'
import { readMachine } from '../../stats/monitor/machine.js'
import { measure } from '../../stats/format.js'
import { note, ok, warning } from '../finding.js'
import { said } from '../../stats/phrases.js'

/** A gateway with its flow takes some 150 MB; below this, little is left for a burst. */
const SMALL_BYTES = 256e6
const FULL = 0.9
const SCARCE = 0.1

/** @type {import('../finding.js').Check} */
export const memory = {
  name: 'memory',
  title: 'Memory',
  async find ({ files, pid }) {
    const found = []
    const { memoryBytes: all = 0, availableBytes: free = 0 } = readMachine(files) ?? {}
    if (all === 0) return [note(said`What memory there is cannot be read here.`)]
    const text = said`${measure(free, 'B')} of ${measure(all, 'B')} are available.`
    found.push(free < all * SCARCE
      ? warning(text, '', said`See what takes it (top, sorted by M), and end it or add memory: the kernel kills what is largest.`)
      : ok(text))
    if (pid === null) return found
    const { memoryBytes: used, memoryLimitBytes: limit } = new Cgroups(files).read(pid) ?? {}
    if (used === undefined || limit === undefined || limit >= all) return found
    const share = said`The gateway has ${measure(used, 'B')} of the ${measure(limit, 'B')} it may have.`
    if (limit < SMALL_BYTES || used > limit * FULL) {
      const fix = said`Raise MemoryMax of the unit, or the container's limit; smaller batches and fewer sources need less.`
      found.push(warning(share, said`control group`, fix))
    } else {
      found.push(ok(share, said`control group`))
    }
    return found
  }
}

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../run.js'

const TEMPLATE = fileURLToPath(new URL('../../packaging/image/can-overlay.dts', import.meta.url))
/** Of what a chip is told, in Hz: half its fastest quartz. */
const CHIPS = { mcp2515: 10_000_000, mcp251xfd: 20_000_000 }
const SELECTS = [0, 1]
/** A Pi 5 has its pins elsewhere. */
const BOARDS = /^bcm(2711|2837)-.*\.dtb$/

/**
 * Overlays for CAN controllers, as `sluice first-boot` names them in config.txt, each tried on the device tree of each board.
 * @param {string} boot  the folder that becomes the FAT partition
 */
export function addOverlays (boot) {
  const template = readFileSync(TEMPLATE, 'utf8')
  const boards = readdirSync(boot).filter(name => BOARDS.test(name))
  if (boards.length === 0) throw new Error('There is no device tree of a Pi on the FAT partition.')
  for (const [chip, hertz] of Object.entries(CHIPS)) {
    for (const select of SELECTS) {
      const overlay = join(boot, 'overlays', `${chip}-can${select}.dtbo`)
      const input = template.replaceAll('SELECT', String(select)).replaceAll('CHIP', chip).replaceAll('HERTZ', String(hertz))
      run('dtc', ['-q', '-I', 'dts', '-O', 'dtb', '-o', overlay, '-'], { input })
      for (const board of boards) run('fdtoverlay', ['-i', join(boot, board), '-o', '/dev/null', overlay])
    }
  }
}

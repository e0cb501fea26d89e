import { quantity } from '../../gateway/stats/format.js'

/** Counts of losses in a status, without those of 0: ", 12 missed, 3 late". @param {Record<string, number>} losses */
export function lossesText (losses) {
  return Object.entries(losses).filter(([, count]) => count > 0).map(([what, count]) => `, ${quantity(count).trim()} ${what}`).join('')
}

/**
 * Wear of flash cards, as an eMMC tells it (JEDEC 5.0 and later); an SD card tells nothing.
 *
 * @typedef {import('../monitor/system-files.js').SystemFiles} SystemFiles
 * @typedef {object} Card
 * @property {string} name  of its device, as mmcblk0
 * @property {number} wornPercent  of its life, to the next ten; 110 beyond
 * @property {'normal'|'warning'|'urgent'} [reserve]  blocks in reserve: 80 % or 90 % of them are used
 */

const STEP_PERCENT = 10
const RESERVES = /** @type {const} */ ({ 1: 'normal', 2: 'warning', 3: 'urgent' })

/** @param {SystemFiles} files @returns {Card[]} those that tell */
export function readCards (files) {
  const names = (files.names('/sys/block') ?? []).filter(name => /^mmcblk\d+$/.test(name))
  return names.flatMap(name => {
    const [wear, reserve] = ['life_time', 'pre_eol_info'].map(file => numbersIn(files.text(`/sys/block/${name}/device/${file}`)))
    const steps = Math.max(0, ...wear) // of its kinds of memory, the one that is worn most; 0 is not told
    if (steps === 0) return []
    return [{ name, wornPercent: steps * STEP_PERCENT, reserve: RESERVES[/** @type {1|2|3} */ (reserve[0])] }]
  })
}

/** "0x01 0x02" @param {string|undefined} text */
function numbersIn (text = '') {
  return (text.match(/0x[0-9a-f]+/gi) ?? []).map(Number)
}

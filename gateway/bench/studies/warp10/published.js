/**
 * The figures and the text formats of "Ingesting 300k datapoints per second …".
 *
 * @typedef {import('../../../messages/codecs/warp10/text.js').Warp10Format} Warp10Format
 */

/** The columns of the paper's table, and ours: compressed or not is one column there. @type {{format: Warp10Format, title: string}[]} */
export const COLUMNS = [
  { format: 'naive', title: 'naïve' },
  { format: 'ordered', title: 'ordered' },
  { format: 'optimized', title: 'optimized, =' },
  { format: 'multi-value', title: 'multi-value, [ ]' },
  { format: 'uncompressed', title: 'uncompressed, [! ]' }
]

/** @typedef {{label: string, pointsPerSecond: Partial<Record<Warp10Format, number>>}} Machine */

/** @type {Machine[]} */
export const MACHINES = [
  machine('Raspberry Pi 3B, SD card', 7200, 13_000, 19_000, 77_000),
  machine('Raspberry Pi 3B, RAM drive', 8900, 17_000, 23_000, 100_000),
  machine('PINE64, SD card', 10_600, 26_000, 31_000, 74_000),
  machine('PINE64, RAM drive', 15_000, 33_000, 45_000, 130_000),
  machine('Raspberry Pi 4B, SD card', 11_000, 16_500, 32_000, 140_000, 212_000),
  machine('Raspberry Pi 4B, A2 SD card', 14_000, 18_000, 48_000, 180_000, 300_000),
  machine('Raspberry Pi 4B, RAM drive', 17_000, 23_000, 55_000, 195_000, 330_000),
  machine('i7 laptop, SSD', 113_000, 340_000, 430_000, 1_000_000)
]

/** Whose figures stand beside those of a machine, and of one that is held back to be like a small one. */
export const WHOLE_MACHINE = MACHINES[7]
export const SMALL_MACHINE = MACHINES[5]

export const CHANNELS = 22
/** Lines of the multi-value file. */
export const LOG_ROWS = 57_841
export const SOURCE = 'xaaabvb'
/** Of its first line, in microseconds. */
export const START_NS = 1_435_848_939_300_000n * 1000n

export const CONTRADICTIONS = [
  'The paper has 57,841 lines of 22 channels and 1,272,524 points: 57,841 × 22 is 1,272,502, and 1,272,524 takes 57,842 lines. Here it ' +
  'is 57,841 lines and 1,272,502 points.',
  'The multi-value figures of both boards with a Cortex A-53 and an SD card (Raspberry Pi 3B: 77,000, PINE64: 74,000) are "hardly ' +
  'repeatable, somewhere between 70,000 and 80,000".',
  'Of the i7 laptop with multi-value lines the table has no figure: its footnote says about 1,000,000, of 1.2 to 1.7 seconds, which are ' +
  '750,000 to 1,060,000.',
  'The text says 20,000 points a second of a Raspberry Pi 3B where its table says 19,000 (optimized, SD card).',
  'Only nine of the 22 channels are named; the others, and the log itself, are not published.'
]

/** @param {string} label @param {number[]} figures  by column @returns {Machine} */
function machine (label, ...figures) {
  return { label, pointsPerSecond: Object.fromEntries(figures.map((figure, i) => [COLUMNS[i].format, figure])) }
}

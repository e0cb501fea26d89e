/**
 * The words of Warp 10's text, its "GTS input format": `TIME/LAT:LON/ELEVATION CLASS{LABELS} VALUE`, a line for each value, times in
 * microseconds and elevations in millimetres.
 *
 * The class is the field's name, the label `id` the source, the other labels are the tags. The fields `latitude` and `longitude` (degrees)
 * and with them `elevation` (metres) are no values of their own: they are where the point was measured.
 *
 * Formats, by the names that SenX gives them in "Ingesting 300k datapoints per second": naive, row by row; ordered, field by field;
 * optimized, where `=` stands for the class and labels of the line before; and of several values in a line, of the class `allchannels`,
 * multi-value, `[ 1 2 ]`, and uncompressed, `[! 1 2 ]`. In these a row that lacks values says the places of the others: `[ 0/1 2/3 ]`.
 */

export const FORMATS = /** @type {const} */ (['naive', 'ordered', 'optimized', 'multi-value', 'uncompressed'])

/** @typedef {FORMATS[number]} Warp10Format */

/** The class of lines with several values. */
export const ALL_CHANNELS = 'allchannels'

/** The label with the source. */
export const SOURCE_LABEL = 'id'

/** What precedes the names of the values of the lines that follow; to Warp 10 it is a comment. */
export const NAMES = '#fields '

export const POSITION = Object.freeze({ latitude: 'latitude', longitude: 'longitude', elevation: 'elevation' })

/** In the units of its text. */
export const MILLIMETRES = 1000

/** A name or text, without anything that ends one. @param {string} text */
export function escaped (text) {
  return encodeURIComponent(text.toWellFormed()).replaceAll('\'', '%27')
}

/** A tag's name as a label: that of the source is taken. @param {string} tag */
export function labelOf (tag) {
  return /^id(~tag)*$/.test(tag) ? `${tag}~tag` : tag
}

/** @param {string} label */
export function tagOf (label) {
  return /^id(~tag)+$/.test(label) ? label.slice(0, -'~tag'.length) : label
}

/** In the style sheet, as `--series-0` and so on; two more are of what is no sink. */
const COLOURS = 10

/**
 * A colour of its own for each sink, the same wherever it is shown, and mostly the same when others come and go: it follows from the id.
 * @param {string[]} ids
 * @returns {Map<string, number>}
 */
export function coloursOf (ids) {
  /** @type {Map<string, number>} */
  const colours = new Map()
  const taken = new Set()
  for (const id of ids.toSorted()) {
    let colour = hash(id) % COLOURS
    while (taken.has(colour) && taken.size < COLOURS) colour = (colour + 1) % COLOURS
    taken.add(colour)
    colours.set(id, colour)
  }
  return colours
}

/** @param {string} id */
function hash (id) {
  let sum = 0
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) >>> 0
  return sum
}

/** The value of a variable of the style sheet, for a canvas. @param {string} name */
export function styled (name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim() }

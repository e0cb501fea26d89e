/** The width of characters in parts of the font's height, about: nobody has laid out the page yet. @type {[RegExp, number][]} */
const WIDTHS = [[/[ijlt.,:;'|!()[\]f\s\u202f]/, 0.34], [/[MWmw@%—…⁰-₟\u2e80-\u{10ffff}]/u, 0.92], [/[\d×−]/, 0.64], [/\p{Lu}/u, 0.7]]
const USUAL_WIDTH = 0.58

/** About, and rather too much. @param {string} text @param {number} size  of the font, in pixels */
export function textWidth (text, size) {
  let width = 0
  for (const character of text) width += WIDTHS.find(([kind]) => kind.test(character))?.[1] ?? USUAL_WIDTH
  return width * size
}

/**
 * Lines that fit; the last one ends in … if not all does.
 * @param {string} text
 * @param {number} width
 * @param {number} size  of the font
 * @param {number} most  lines
 */
export function wrap (text, width, size, most) {
  const fits = (/** @type {string} */ line) => textWidth(line, size) <= width
  /** @type {string[]} */
  const lines = []
  let rest = text.trim().replace(/\s+/g, ' ')
  while (rest) {
    if (fits(rest)) return [...lines, rest]
    if (lines.length === most - 1) return [...lines, `${rest.slice(0, fitting(rest, line => fits(`${line}…`)))}…`]
    const end = fitting(rest, fits)
    const space = rest.lastIndexOf(' ', end)
    const cut = space > 0 ? space : end
    lines.push(rest.slice(0, cut))
    rest = rest.slice(cut).trim()
  }
  return lines
}

/** How many characters of it fit, at least one. @param {string} text @param {(text: string) => boolean} fits */
function fitting (text, fits) {
  let end = 1
  while (end < text.length && fits(text.slice(0, end + 1))) end++
  return /[\ud800-\udbff]/.test(text[end - 1]) ? end + 1 : end
}

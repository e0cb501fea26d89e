import { drawn } from './dom.js'

/**
 * Boxes and the wires between them.
 *
 * @typedef {import('./levels.js').Level} Level
 * @typedef {{level: Level, words: string}} Wire
 * @typedef {object} Box
 * @property {string} title
 * @property {string[]} lines
 * @property {Level} level
 * @property {string} [href]
 * @property {Wire} wire  out of a source, into all others
 * @property {boolean} [isDirect]  it has nothing to do with the column before
 *
 * @typedef {{height: number, parts: Element[]}} Drawing
 */

const [GAP, LINE, PAD, BETWEEN] = [10, 18, 10, 110]
/** Of the wire that joins boxes below each other, with its labels. */
const LEFT = 84

/** Columns side by side. @param {Box[][]} columns @param {number} width @returns {Drawing} */
export function beside (columns, width) {
  const boxWidth = (width - BETWEEN * (columns.length - 1)) / columns.length
  const heights = columns.map(boxes => boxes.reduce((sum, box) => sum + heightOf(box) + GAP, -GAP))
  const height = Math.max(...heights, 40) + 4
  const placed = columns.map((column, c) => {
    let top = (height - heights[c]) / 2
    return column.map(box => {
      const y = top
      top += heightOf(box) + GAP
      return { box, x: c * (boxWidth + BETWEEN), y, middle: y + heightOf(box) / 2 }
    })
  })
  const joins = placed.slice(1).flatMap((column, c) => {
    return column.filter(({ box }) => !box.isDirect).flatMap(to => placed[c].map(from => ({ from, to, c })))
  })
  return {
    height,
    parts: [
      ...joins.map(({ from, to, c }) => wire(from.middle, to.x - BETWEEN, to.middle, to.x, wireOf(from.box, to.box, c === 0))),
      ...placed[0].map(({ box, x, middle }) => label(box.wire.words, x + boxWidth + 8, middle - 5, 'start')),
      ...placed.slice(1).flatMap((column, c) => c === 0 && columns.length > 2 ? [] : column)
        .map(({ box, x, middle }) => label(box.wire.words, x - 8, middle - 5, 'end')),
      ...placed.flat().flatMap(({ box, x, y }) => drawBox(box, x, y, boxWidth))
    ]
  }
}

/** Boxes below each other, on one wire at the left. @param {Box[][]} columns @param {number} width @returns {Drawing} */
export function below (columns, width) {
  const boxes = columns.flat()
  let top = 2
  const placed = boxes.map(box => {
    const y = top
    top += heightOf(box) + GAP
    return { box, y, middle: y + heightOf(box) / 2 }
  })
  return {
    height: top,
    parts: [
      ...placed.slice(1).map(({ middle }, i) => drawn('path', { class: 'wire idle', d: `M 8 ${placed[i].middle} V ${middle}` })),
      ...placed.map(({ box, middle }) => drawn('path', { class: `wire ${box.wire.level}`, d: `M 8 ${middle} H ${LEFT}` })),
      ...placed.map(({ box, middle }) => label(box.wire.words, LEFT - 6, middle - 5, 'end')),
      ...placed.flatMap(({ box, y }) => drawBox(box, LEFT, y, width - LEFT - 2))
    ]
  }
}

/** @param {Box} from @param {Box} to @param {boolean} isFirst  it begins at a source, which says whether anything comes */
function wireOf (from, to, isFirst) {
  return to.wire.level === 'problem' || !isFirst ? to.wire.level : from.wire.level
}

/** @param {number} fromY @param {number} fromX @param {number} toY @param {number} toX @param {Level} level */
function wire (fromY, fromX, toY, toX, level) {
  const middle = (fromX + toX) / 2
  return drawn('path', { class: `wire ${level}`, d: `M ${fromX} ${fromY} C ${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}` })
}

/** @param {Box} box */
function heightOf ({ lines }) { return 2 * PAD + LINE * (1 + lines.length) - 4 }

/** @param {Box} box @param {number} x @param {number} y @param {number} width @returns {Element[]} */
function drawBox (box, x, y, width) {
  const { title, lines, level, href } = box
  const letters = Math.floor((width - 3 * PAD - 12) / 7)
  const [textX, textY] = [x + PAD + 18, y + PAD + 13]
  const parts = [
    drawn('rect', { class: `box ${level}`, x: x + 1, y, width: width - 2, height: heightOf(box), rx: 8 }),
    drawn('circle', { class: level, cx: x + PAD + 6, cy: y + PAD + 8, r: 5.5 }),
    drawn('text', { class: 'strong', x: textX, y: textY }, cut(title, letters)),
    ...lines.map((line, i) => drawn('text', { class: 'small', x: textX, y: textY + LINE * (i + 1) }, cut(line, letters)))
  ]
  return href ? [drawn('a', { href, tabindex: '-1' }, ...parts)] : parts
}

/** @param {string} words @param {number} x @param {number} y @param {'start'|'end'} anchor */
function label (words, x, y, anchor) { return drawn('text', { class: 'small halo', x, y, 'text-anchor': anchor }, words) }

/** @param {string} words @param {number} letters */
function cut (words, letters) { return words.length > letters ? `${words.slice(0, Math.max(1, letters - 1))}…` : words }

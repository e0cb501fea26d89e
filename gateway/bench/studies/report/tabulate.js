import { figure, isNumber } from './numbers.js'

/**
 * @typedef {import('../study.js').Block} Block
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').BarsBlock} BarsBlock
 * @typedef {import('../study.js').BoxesBlock} BoxesBlock
 * @typedef {import('../study.js').LinesBlock} LinesBlock
 */

/** Lines of no more points are written down, longer ones in short. */
const MAX_POINTS = 24

/** The figures of a chart, for those who want to read or copy them, or cannot see it. @param {Block} block @returns {TableBlock} */
export function tabulate (block) {
  if (block.kind === 'bars') return ofBars(block)
  if (block.kind === 'boxes') return ofBoxes(block)
  return block.kind === 'lines' ? ofLines(block) : block
}

/** @param {BarsBlock} block @returns {TableBlock} */
function ofBars ({ caption, unit, series, groups, notes }) {
  return { kind: 'table', caption, notes, columns: series.map(title => ({ title, unit })), rows: groups }
}

/** @param {BoxesBlock} block @returns {TableBlock} */
function ofBoxes ({ caption, unit, series, groups, notes }) {
  const isPublished = groups.some(({ published }) => published?.some(isNumber))
  const columns = ['min', 'lower quartile', 'median', 'upper quartile', 'max', 'mean'].map(title => ({ title, unit }))
  const rows = groups.flatMap(({ label, boxes, published }) => series.map((name, i) => {
    const box = boxes[i]
    const parts = box ? [box.min, box.lower, box.median, box.upper, box.max, box.mean, box.count] : Array.from({ length: 7 }, () => null)
    return {
      label: [label, name].filter(Boolean).join(' · '),
      figures: [...parts, ...isPublished ? [published?.[i] ?? null] : []].map(value => ({ value }))
    }
  }))
  const more = [{ title: 'count' }, ...isPublished ? [{ title: 'paper', unit }] : []]
  return { kind: 'table', caption, notes, columns: [...columns, ...more], rows }
}

/** @param {LinesBlock} block @returns {TableBlock} */
function ofLines (block) {
  const places = [...new Set(block.lines.flatMap(({ x }) => x))].sort((a, b) => a - b)
  return places.length <= MAX_POINTS ? pointByPoint(block, places) : inShort(block)
}

/** The paper's line stands beside ours of the same label. @param {LinesBlock} block @param {number[]} places @returns {TableBlock} */
function pointByPoint ({ caption, unit, xTitle, lines, notes }, places) {
  const labels = [...new Set(lines.map(({ label }) => label))]
  const at = (/** @type {LinesBlock['lines'][number]|undefined} */ line, /** @type {number} */ x) => {
    const i = line ? line.x.indexOf(x) : -1
    return line && i >= 0 ? line.y[i] : null
  }
  return {
    kind: 'table',
    caption,
    notes,
    heading: xTitle,
    columns: labels.map(title => ({ title, unit })),
    rows: places.map(x => ({
      label: figure(x),
      figures: labels.map(label => {
        const alike = lines.filter(line => line.label === label)
        return { value: at(alike.find(line => !line.isPublished), x), published: at(alike.find(line => line.isPublished), x) }
      })
    }))
  }
}

/** @param {LinesBlock} block @returns {TableBlock} */
function inShort ({ caption, unit, xTitle, lines, notes }) {
  return {
    kind: 'table',
    caption,
    notes,
    columns: [
      { title: 'points' }, { title: 'first', unit: xTitle }, { title: 'last', unit: xTitle },
      { title: 'min', unit }, { title: 'mean', unit }, { title: 'max', unit }
    ],
    rows: lines.map(({ label, x, y, isPublished }) => {
      const values = y.filter(isNumber)
      const sum = values.reduce((total, value) => total + value, 0)
      const spread = values.length > 0 ? [extreme(values, Math.min), sum / values.length, extreme(values, Math.max)] : [null, null, null]
      return {
        label: isPublished ? `${label}, paper` : label,
        figures: [values.length, x[0] ?? null, x.at(-1) ?? null, ...spread].map(value => ({ value }))
      }
    })
  }
}

/** Of any number of values: more than a call takes. @param {number[]} values @param {(a: number, b: number) => number} choose */
function extreme (values, choose) {
  return values.reduce((found, value) => choose(found, value))
}

import { ratio } from './numbers.js'

/**
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('../study.js').Block} Block
 * @typedef {import('../study.js').Figure} Figure
 * @typedef {import('../study.js').TableBlock} TableBlock
 * @typedef {import('../study.js').BarsBlock} BarsBlock
 * @typedef {import('../study.js').BoxesBlock} BoxesBlock
 * @typedef {import('../study.js').LinesBlock} LinesBlock
 *
 * @typedef {{name: string, sections: Section[]}} Named
 * @typedef {{name: string, block: any}} NamedBlock  all of one kind; of a report that does not have it, an empty one
 */

const ABSENT = 'not in this report'

/**
 * The sections of several reports of a study as one's, with the figures of each beside the other's.
 * @param {Named[]} reports
 * @returns {Section[]}
 */
export function merged (reports) {
  const titles = union(reports.map(({ sections }) => sections.map(({ title }) => title)))
  return titles.map(title => {
    const found = reports.map(({ name, sections }) => ({ name, section: sections.find(section => section.title === title) }))
    const keys = union(found.map(({ section }) => (section?.blocks ?? []).map(keyOf)))
    return {
      title,
      text: union(found.map(({ section }) => section?.text ?? [])),
      blocks: keys.map(key => mergedBlock(
        found.map(({ name, section }) => ({ name, block: section?.blocks.find(block => keyOf(block) === key) }))
      ))
    }
  })
}

/** @param {Block} block */
function keyOf ({ kind, caption }) {
  return `${kind} ${caption}`
}

/** @param {{name: string, block: Block|undefined}[]} found @returns {Block} */
function mergedBlock (found) {
  const first = /** @type {any} */ (found.find(({ block }) => block)?.block)
  const kind = /** @type {Block['kind']} */ (first.kind)
  const blocks = found.map(({ name, block }) => ({ name, block: block ?? { ...first, rows: [], groups: [], lines: [], notes: [] } }))
  const all = { ...first, notes: union(blocks.map(({ block }) => block.notes ?? [])) }
  return { ...all, ...{ table: mergedTable, bars: mergedBars, boxes: mergedBoxes, lines: mergedLines }[kind](blocks) }
}

/** A row for each report, and one with their ratio. @param {NamedBlock[]} blocks */
function mergedTable (blocks) {
  const columns = byKey(blocks.map(({ block }) => block.columns), (/** @type {any} */ { title }) => title)
  const labels = union(blocks.map(({ block }) => numbered(block.rows).map(({ key }) => key)))
  const tables = blocks.map(({ name, block }) => {
    const rows = new Map(numbered(block.rows).map(({ key, row }) => [key, row]))
    const places = columns.map(({ title }) => block.columns.findIndex((/** @type {any} */ column) => column.title === title))
    return { name, rowOf: (/** @type {string} */ key) => rows.get(key), places }
  })
  const rows = labels.flatMap(key => {
    const label = key.slice(0, key.lastIndexOf('\n'))
    const figures = tables.map(({ rowOf, places }) => places.map(place => rowOf(key)?.figures[place] ?? { value: null, reason: ABSENT }))
    const own = tables.map(({ name }, i) => ({ label: `${label} · ${name}`, figures: figures[i] }))
    return tables.length === 2 ? [...own, { label: `${tables[1].name} ÷ ${tables[0].name}`, figures: quotients(figures) }] : own
  })
  return { columns, rows }
}

/** @param {Figure[][]} figures  of two rows */
function quotients ([ours, others]) {
  return ours.map(({ value }, i) => {
    const other = others[i].value
    return { value: ratio(other, value) }
  })
}

/** The paper's bar stands once, after the last of ours. @param {NamedBlock[]} blocks */
function mergedBars (blocks) {
  return grouped(blocks, found => {
    const figures = found.map(group => group?.figures[0] ?? { value: null, reason: ABSENT })
    const published = figures.find(figure => isThere(figure.published))?.published
    return { figures: figures.map((figure, j) => ({ ...figure, published: j === figures.length - 1 ? published : undefined })) }
  })
}

/** @param {NamedBlock[]} blocks */
function mergedBoxes (blocks) {
  return grouped(blocks, found => {
    const published = found.map(group => group?.published?.[0]).find(isThere) ?? null
    return { boxes: found.map(group => group?.boxes[0] ?? null), published: found.map((_, j) => j === found.length - 1 ? published : null) }
  })
}

/**
 * Each series once for each report.
 * @param {NamedBlock[]} blocks
 * @param {(found: any[]) => Record<string, any[]>} merge  what each report has of one group, cut down to one series
 */
function grouped (blocks, merge) {
  const series = union(blocks.map(({ block }) => block.series))
  const labels = union(blocks.map(({ block }) => block.groups.map((/** @type {any} */ { label }) => label)))
  const groups = labels.map(label => {
    const parts = series.map(name => merge(blocks.map(({ block }) => {
      const group = block.groups.find((/** @type {any} */ each) => each.label === label)
      return group && only(group, block.series.indexOf(name))
    })))
    return { label, ...Object.fromEntries(Object.keys(parts[0]).map(key => [key, parts.flatMap(part => part[key])])) }
  })
  return { series: series.flatMap(one => blocks.map(({ name }) => [one, name].filter(Boolean).join(' · '))), groups }
}

/** Of each of its lists one place. @param {object} group @param {number} i */
function only (group, i) {
  return Object.fromEntries(Object.entries(group).filter(([, list]) => Array.isArray(list)).map(([key, list]) => [key, [list[i]]]))
}

/** The paper's lines stand once. @param {NamedBlock[]} blocks */
function mergedLines (blocks) {
  const ours = blocks.flatMap(({ name, block }) => /** @type {LinesBlock} */ (block).lines.filter(({ isPublished }) => !isPublished)
    .map(line => ({ ...line, label: `${line.label} · ${name}` })))
  const published = blocks.map(({ block }) => /** @type {LinesBlock} */ (block).lines.filter(({ isPublished }) => isPublished))
  return { lines: [...ours, ...byKey(published, ({ label }) => label)] }
}

/** Rows of one label are told apart by their order. @param {TableBlock['rows']} rows */
function numbered (rows) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  return rows.map(row => {
    const count = counts.get(row.label) ?? 0
    counts.set(row.label, count + 1)
    return { key: `${row.label}\n${count}`, row }
  })
}

/** @param {string[][]} lists @returns {string[]} */
function union (lists) {
  return byKey(lists, text => text)
}

/** All, the first of each key. @template T @param {T[][]} lists @param {(each: T) => string} key @returns {T[]} */
function byKey (lists, key) {
  /** @type {Map<string, T>} */
  const found = new Map()
  for (const each of lists.flat()) if (!found.has(key(each))) found.set(key(each), each)
  return [...found.values()]
}

/** @param {unknown} value */
function isThere (value) {
  return value !== null && value !== undefined
}

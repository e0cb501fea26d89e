import { ratio } from './numbers.js'

/**
 * @typedef {import('../study.js').Section} Section
 * @typedef {import('../study.js').Block} Block
 * @typedef {import('../study.js').Figure} Figure
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
  const tables = blocks.map(({ name, block }) => ({ name, columns: numbered(block.columns, headOf), rows: numbered(block.rows, labelOf) }))
  const columns = union(tables.map(table => [...table.columns.keys()]))
  const places = tables.map(table => columns.map(key => [...table.columns.keys()].indexOf(key)))
  const rows = union(tables.map(table => [...table.rows.keys()])).flatMap(key => {
    const found = tables.map(table => table.rows.get(key))
    const label = labelOf(found.find(isThere))
    const figures = found.map((row, i) => places[i].map(place => row?.figures[place] ?? { value: null, reason: ABSENT }))
    const own = tables.map(({ name }, i) => ({ label: `${label} · ${name}`, figures: figures[i], isContinued: i > 0 }))
    if (tables.length !== 2) return own
    return [...own, { label: `${tables[1].name} ÷ ${tables[0].name}`, figures: quotients(figures), isContinued: true }]
  })
  return { columns: columns.map(key => tables.map(table => table.columns.get(key)).find(isThere)), rows }
}

/** @param {any} column */
function headOf ({ title, unit }) {
  return `${title}\n${unit}`
}

/** @param {any} row @returns {string} */
function labelOf ({ label }) {
  return label
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
  const names = series.flatMap(one => blocks.map(({ name }) => [one, name].filter(Boolean).join(' · ')))
  return { reports: blocks.length, series: names, groups }
}

/** Of each of its lists one place. @param {object} group @param {number} i */
function only (group, i) {
  return Object.fromEntries(Object.entries(group).filter(([, list]) => Array.isArray(list)).map(([key, list]) => [key, [list[i]]]))
}

/** The paper's lines stand once, in the colour of ours. @param {NamedBlock[]} blocks */
function mergedLines (blocks) {
  const all = blocks.map(({ block }) => /** @type {LinesBlock} */ (block).lines)
  const labels = union(all.map(lines => lines.map(({ label }) => label)))
  const lines = labels.flatMap((label, i) => {
    const alike = all.map(own => own.filter(line => line.label === label))
    const published = alike.flat().find(({ isPublished }) => isPublished)
    const ours = alike.map((own, j) => ({ ...own.find(({ isPublished }) => !isPublished), label: `${label} · ${blocks[j].name}` }))
    const theirs = published ? [{ ...published, series: i * blocks.length }] : []
    if (ours.every(({ x }) => !x)) return theirs
    return [...ours.map((line, j) => ({ x: [], y: [], ...line, series: i * blocks.length + j })), ...theirs]
  })
  return { reports: blocks.length, lines }
}

/**
 * By their names; those of the same name are told apart by their order.
 * @param {any[]} list
 * @param {(each: any) => string} nameOf
 */
function numbered (list, nameOf) {
  /** @type {Map<string, any>} */
  const found = new Map()
  for (const each of list) {
    let key = nameOf(each)
    while (found.has(key)) key += '\n'
    found.set(key, each)
  }
  return found
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

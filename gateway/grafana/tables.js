/**
 * The tables of a sink, as its reader finds them.
 *
 * @typedef {object} Table
 * @property {string} name
 * @property {string} layout
 * @property {boolean} isShared  by several sources
 * @property {Record<string, any>} options  of the sink
 * @property {import('../databases/reader.js').TableColumn[]} columns
 * @property {string[]} by  columns whose values have a series each
 * @property {Field[]} fields
 * @typedef {{name: string, unit: string}} Field
 * @typedef {import('../copy/flow-file.js').Config} Config
 */

const ALWAYS = { from: 0n, to: 2n ** 63n - 1n }

/**
 * @param {import('../copy/places.js').OpenPlace} opened
 * @param {string[]} sources
 * @param {object} wish
 * @param {Config[]} wish.nodes  of the flow: their tables of tags or channels know units
 * @param {string[]} wish.by
 * @param {(kind: string) => boolean} wish.isNumeric
 * @returns {Promise<Table[]>}
 */
export async function tablesOf (opened, sources, { nodes, by, isNumeric }) {
  const { options } = opened.place
  const isShared = !options.table.includes('{source}')
  const layout = options.layout === 'upsert' ? 'wide' : options.layout
  const tables = []
  for (const source of isShared ? [''] : sources) {
    const reader = /** @type {import('../databases/reader.js').Reader} */ (await opened.reader(source))
    const columns = await reader.columns?.() ?? []
    const names = layout === 'wide'
      ? columns.filter(({ name, kind }) => isNumeric(kind) && !by.includes(name)).map(({ name }) => name)
      : await reader.sensors?.(ALWAYS) ?? []
    const unitOf = unitsOf(nodes, source)
    const fields = names.map(name => ({ name, unit: unitOf(name) }))
    const labels = by.filter(each => columns.some(({ name }) => name === each))
    tables.push({ name: opened.tableOf(source), layout, isShared, options, columns, by: labels, fields })
  }
  return tables
}

/**
 * The unit of a field, as the node of its source has it, or else any.
 * @param {Config[]} nodes
 * @param {string} source
 * @returns {(field: string) => string}
 */
function unitsOf (nodes, source) {
  const own = nodes.filter(({ name }) => name === source)
  const tags = [...own, ...nodes].flatMap(({ tags: rows, channels }) => [rows, channels].filter(Array.isArray).flat())
  return field => tags.find(({ name, unit }) => name === field && unit)?.unit ?? ''
}

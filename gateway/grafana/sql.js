/**
 * The queries of panels over a table with SQL: means of what falls into an interval, in the order of time, a series for each field and
 * label. What `$…` stands for, each data source fills in.
 *
 * @typedef {import('../databases/sql/read-dialect.js').ReadDialect} ReadDialect
 * @typedef {import('./tables.js').Table} Table
 *
 * @typedef {object} Grammar  of a data source
 * @property {Pick<ReadDialect, 'quote'|'number'|'sensor'|'firstOf'>} dialect
 * @property {(text: string) => string} literal
 * @property {(table: Table) => string} nameOf  a table, quoted
 * @property {string} clock  the column that buckets are made of, quoted
 * @property {(clock: string) => string} bucket  where an interval begins, under a name
 * @property {string} bucketName
 * @property {string} within  the rows of the time that is shown
 * @property {Documents} documents
 *
 * @typedef {object} Documents  the layout of that name, taken apart
 * @property {string} columns  the time of a sample as `at`, then `sensor`, then `value`: a number or NULL
 * @property {string} joined  what follows the table's name
 */

const VALUES = ['', '_int64', '_string', '_bytes'].map(ending => `value${ending}`)

/**
 * @param {Grammar} grammar
 * @param {Table} table
 * @param {string[]} fields  of a panel
 * @returns {string}
 */
export function statementOf (grammar, table, fields) {
  const { dialect, literal, nameOf, clock, documents, within } = grammar
  const { quote } = dialect
  const { layout, isShared } = table
  const labels = labelsOf(table).map(quote)
  const chosen = [within, ...isShared ? [`${quote('source')} IN (\${source:sqlstring})`] : []].join(' AND ')
  if (layout === 'wide') {
    const means = fields.map(name => `avg(${dialect.number(quote(name), kindOf(table, name))}) AS ${quote(name)}`)
    return grouped(grammar, { clock, labels, means, from: nameOf(table), where: chosen })
  }
  const names = fields.map(literal).join(', ')
  const means = ['avg(value) AS mean']
  if (layout === 'document') {
    const inner = [documents.columns, ...labels].join(', ')
    const from = `(SELECT ${inner} FROM ${nameOf(table)}${documents.joined} WHERE ${chosen}) AS samples`
    return grouped(grammar, { clock: 'at', labels: [...labels, 'sensor AS metric'], means, from, where: `sensor IN (${names})` })
  }
  const sensor = dialect.sensor(quote('sensor'), kindOf(table, 'sensor'))
  return grouped(grammar, {
    clock,
    labels: [...labels, `${sensor} AS metric`],
    means: [`avg(${valueOf(dialect, table)}) AS mean`],
    from: nameOf(table),
    where: `${chosen} AND ${sensor} IN (${names})`
  })
}

/** What tells the series of a field apart. @param {Table} table */
export function labelsOf ({ isShared, by }) {
  return [...isShared ? ['source'] : [], ...by]
}

/** @param {Grammar} grammar @param {{clock: string, labels: string[], means: string[], from: string, where: string}} parts */
function grouped ({ bucket, bucketName }, { clock, labels, means, from, where }) {
  const groups = [bucketName, ...labels.map(label => label.split(' AS ').at(-1))].join(', ')
  const columns = [bucket(clock), ...labels, ...means].join(', ')
  return [`SELECT ${columns}`, `FROM ${from}`, `WHERE ${where}`, `GROUP BY ${groups}`, `ORDER BY ${bucketName}`].join('\n')
}

/** The value of a narrow row, of whichever column has it. @param {Grammar['dialect']} dialect @param {Table} table */
function valueOf ({ quote, number, firstOf }, table) {
  const there = VALUES.filter(name => table.columns.some(column => column.name === name))
  const numbers = there.flatMap(name => number(quote(name), kindOf(table, name)) ?? [])
  if (numbers.length < 2) return numbers[0] ?? 'NULL'
  return firstOf?.(numbers) ?? `coalesce(${numbers.join(', ')})`
}

/** @param {Table} table @param {string} name */
function kindOf ({ columns }, name) {
  return columns.find(column => column.name === name)?.kind ?? ''
}

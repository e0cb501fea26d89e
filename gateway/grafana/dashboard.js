/**
 * A dashboard in Grafana's model: a row for each table, a panel for all fields of a unit.
 *
 * @typedef {import('./tables.js').Table} Table
 * @typedef {import('./tables.js').Field} Field
 * @typedef {import('./plugins.js').Plugin} Plugin
 */

/** More lines in one panel are not told apart. */
const MAX_FIELDS = 8
const COLUMNS = 24
const PANEL = { w: 12, h: 8 }
const ROW = { w: COLUMNS, h: 1 }

/**
 * @param {{title: string, plugin: Plugin, tables: Table[], sources: string[]}} content
 * @returns {object}
 */
export function dashboardOf ({ title, plugin, tables, sources }) {
  const datasource = { type: plugin.id, uid: '${datasource}' }
  let id = 0
  let top = 0
  const panels = tables.flatMap(/** @returns {object[]} */ (table, index) => {
    const isOpen = index === 0
    const row = { id: ++id, type: 'row', title: table.name, collapsed: !isOpen, gridPos: { x: 0, y: top, ...ROW } }
    const inside = groupsOf(table.fields).map(({ unit, fields }, i) => ({
      id: ++id,
      ...panelOf({ unit, fields, datasource, targets: plugin.targets(table, fields.map(({ name }) => name)) }),
      gridPos: { x: i % 2 * PANEL.w, y: top + ROW.h + Math.floor(i / 2) * PANEL.h, ...PANEL }
    }))
    top += ROW.h
    if (!isOpen) return [{ ...row, panels: inside }] // asks for nothing until it is opened
    top += Math.ceil(inside.length / 2) * PANEL.h
    return [{ ...row, panels: [] }, ...inside]
  })
  const isShared = tables.some(table => table.isShared)
  return {
    title,
    tags: ['sluice'],
    description: 'Made by sluice grafana of the tables that there were: means of what falls into an interval.',
    editable: true,
    schemaVersion: 39,
    refresh: '30s',
    time: { from: 'now-1h', to: 'now' },
    templating: {
      list: [
        { name: 'datasource', label: plugin.name, type: 'datasource', query: plugin.id, current: {} },
        ...isShared ? [sourceVariable(sources)] : []
      ]
    },
    __requires: [
      { type: 'grafana', id: 'grafana', name: 'Grafana', version: '10.3.0' },
      { type: 'datasource', id: plugin.id, name: plugin.name, version: '1.0.0' },
      { type: 'panel', id: 'timeseries', name: 'Time series', version: '' }
    ],
    panels
  }
}

/**
 * Fields of the same unit together; those without one each alone, as their scales may differ.
 * @param {Field[]} fields
 * @returns {{unit: string, fields: Field[]}[]}
 */
function groupsOf (fields) {
  const byUnit = Map.groupBy(fields, ({ name, unit }) => unit === '' ? `field ${name}` : `unit ${unit}`)
  return [...byUnit.values()].flatMap(alike => {
    const groups = Array.from({ length: Math.ceil(alike.length / MAX_FIELDS) }, (_, i) => alike.slice(i * MAX_FIELDS, (i + 1) * MAX_FIELDS))
    return groups.map(group => ({ unit: group[0].unit, fields: group }))
  })
}

/** @param {{unit: string, fields: Field[], datasource: object, targets: object[]}} panel */
function panelOf ({ unit, fields, datasource, targets }) {
  return {
    type: 'timeseries',
    title: fields.map(({ name }) => name).join(', '),
    datasource,
    fieldConfig: { defaults: { unit: unit === '' ? 'short' : `suffix: ${unit}`, custom: { spanNulls: true } }, overrides: [] },
    options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi' } },
    targets: targets.map((target, i) => ({ refId: String.fromCharCode(65 + i), datasource, ...target }))
  }
}

/** @param {string[]} sources */
function sourceVariable (sources) {
  return {
    name: 'source',
    label: 'Source',
    type: 'custom',
    query: sources.map(name => name.replaceAll('\\', '\\\\').replaceAll(',', '\\,')).join(','),
    options: sources.map(name => ({ text: name, value: name, selected: false })),
    includeAll: true,
    multi: true,
    current: { text: 'All', value: '$__all' }
  }
}

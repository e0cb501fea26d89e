import { prepareCheck } from './check-dbc.js'
import { beginningOf, choose, chosenNode, configOf, connectDropped, offerToMake, onlyOne, referenceProblem } from './config-nodes.js'
import { choiceKey, formOf } from './form.js'
import { listReports } from './list-reports.js'
import { buttonOf } from './node-button.js'
import { offer } from './offers.js'
import { applies, clash, credentialsOf, isNumber, isTable, isTextList, readOption, readOptions, tableItems } from './options.js'
import { speakAs } from './sentences.js'
import { Table } from './table.js'
import { prepareTest } from './test-connection.js'
import { tryRegisters } from './try-registers.js'
import { TopicsTrial } from './try-topics.js'

/**
 * @file Builds a node's form and checks from its schema. Every generated node page loads it and calls `sluice.register`.
 *
 * The schema there has no texts: titles and descriptions come from the node's message catalogue, under the node's type.
 *
 * @typedef {import('./options.js').Schema} Schema
 * @typedef {import('./options.js').Property} Property
 * @typedef {Record<string, any>} EditorNode  as Node-RED has it, its options among it
 */

window.sluice = { register }

const stylesheet = String(new URL('editor.css', import.meta.url))
document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: stylesheet }))

/**
 * The nodes whose forms are open, each with the prefix of its inputs' ids, the texts of its form, its tables by option, and the options
 * that have been shown.
 * @type {Map<EditorNode, {prefix: string, text: (key: string, values?: object) => string, tables: Map<string, Table>, shown: Set<string>}>}
 */
const openForms = new Map()

const ENVIRONMENT_VARIABLE = /^\$\{[a-zA-Z_][a-zA-Z0-9_]*\}$/

/**
 * @param {string} type
 * @param {{schema: Schema, hasTest?: boolean, hasTry?: boolean, hasReports?: boolean, hasButton?: boolean, category?: string,
 *   outputs?: number}} definition  `hasTest`: its form can try the connection; `hasTry`: and the registers of its table `tags`;
 *   `hasReports`: it lists reports; `hasButton`: the node has a button; the rest is as Node-RED's registerType has it
 */
function register (type, { schema, hasTest = false, hasTry = false, hasReports = false, hasButton = false, ...look }) {
  const prefix = look.category === 'config' ? 'node-config-input' : 'node-input'
  const template = /** @type {Element} */ (document.querySelector(`script[data-template-name="${type}"]`))
  template.textContent = formOf(type, schema, prefix, { hasTest, hasReports })

  /** @type {ThisType<EditorNode>} */
  const definition = {
    ...look,
    ...hasButton && { button: buttonOf(type) },
    defaults: defaults(schema),
    credentials: credentialsOf(schema),
    paletteLabel () { return this._(`${type}.label`) },
    label () { return this.name || this._(`${type}.label`) },
    outputLabels (/** @type {number} */ index) { return (look.outputs ?? 1) > 1 ? this._(`${type}.outputs.${index}`) : '' },
    labelStyle () { return this.name ? 'node_label_italic' : '' },
    onadd () { connectDropped(this, schema, name => applies(schema.properties[name], plainOptions(this, schema))) },
    oneditprepare () {
      /** @param {string} key @param {object} [values] */
      const text = (key, values) => RED.nodes.getType(type)._(`${type}.form.${key}`, values)
      openForms.set(this, { prefix, text, tables: new Map(), shown: new Set() })
      fillForm(this, schema, text)
      if (look.category === 'config') for (const [name, value] of Object.entries(beginningOf(this))) $(inputSelector(this, name)).val(value)
      fillTables(this, schema, text, hasTry)
      const form = $(inputSelector(this)).closest('form')
      form.on('input change', () => refresh(this, schema))
      form.find('.sluice-row:has(.sluice-check)').each((_, row) => {
        const name = String(row.dataset.option)
        prepareCheck($(row), () => readOption(schema.properties[name], plainValues(this, schema)[name]).value, text)
      })
      if (hasReports) listReports(form.find('.sluice-reports'), this.id, text)
      if (hasTest) prepareTest(type, form, () => ({ id: this.id, options: valuesOf(this, schema) }))
      refresh(this, schema)
    },
    oneditsave () {
      for (const field of emptyDefaults(this, schema)) if (field.val() === '') field.val(field.attr('data-default'))
      Object.assign(this, typedValues(this, schema))
      openForms.delete(this)
    },
    oneditcancel () { openForms.delete(this) },
    oneditresize () { $(inputSelector(this)).closest('form').addClass('sluice-sized') }
  }
  RED.nodes.registerType(type, definition)
  speakAs((key, values) => RED.nodes.getType(type)._(`${type}.form.sentences.${key}`, values))
  translate(RED.nodes.getType(type), `${type}.options`, schema)
  if (look.category !== 'config') nameCategory(look.category, RED.nodes.getType(type))
}

/**
 * Where a gateway's settings put the categories in order, Node-RED makes them before it has the catalogues that say what they are called.
 * @param {string|undefined} category @param {EditorNodeType} definition
 */
function nameCategory (category = '', definition) {
  const id = category.replaceAll(' ', '_')
  const name = definition._(`palette.label.${id}`)
  if (name !== category) $(`#red-ui-palette-header-${id} > span`).text(name)
}

/** Puts the catalogue's texts into the schema. @param {EditorNodeType} definition @param {string} path @param {Schema} schema */
function translate (definition, path, { properties }) {
  for (const [name, property] of Object.entries(properties)) {
    property.title = definition._(`${path}.${name}.title`)
    property.description = definition._(`${path}.${name}.description`)
    if (property['x-unit']) property['x-unit'] = definition._(`${path}.${name}.unit`)
    const labelled = property.enum ?? Object.keys(property['x-labels'] ?? {})
    property['x-labels'] = Object.fromEntries(labelled.map(value => [value, definition._(`${path}.${name}.${choiceKey(value)}`)]))
    const items = tableItems(property)
    if (items) translate(definition, `${path}.${name}.items`, items)
  }
}

/** @param {Schema} schema */
function defaults (schema) {
  const stored = Object.entries(schema.properties).filter(([, property]) => !property['x-secret'])
  return Object.fromEntries(stored.map(([name, property]) => {
    const value = isTextList(property) ? /** @type {string[]} */ (property.default ?? []).join('\n') : property.default ?? ''
    const type = property['x-node']
    // Node-RED shows the text a validator of two parameters returns.
    return [name, {
      value,
      ...type && { type },
      /** @this {EditorNode} @param {any} given @param {unknown} _options */
      validate (given, _options) { return problemOf(this, schema, name, given) ?? true }
    }]
  }))
}

/** @param {EditorNode} node  whose form is open */
function inputSelector (node, name = 'name') {
  return `#${openForms.get(node)?.prefix}-${name}`
}

/**
 * What Node-RED does not fill in: defaults an imported node does not have, and lists.
 * @param {EditorNode} node @param {Schema} schema @param {(key: string) => string} text
 */
function fillForm (node, schema, text) {
  const { properties } = schema
  for (const [name, property] of Object.entries(properties)) {
    const field = $(inputSelector(node, name))
    if (Array.isArray(node[name])) field.val(node[name].join('\n'))
    else if (node[name] === undefined && property.type === 'boolean') field.prop('checked', property.default)
    else if (node[name] === undefined && property.enum) field.val(property.default)
    if (property['x-offers']) offer(field, property['x-offers'], { server: () => serverOf(node, schema), text })
  }
  for (const field of emptyDefaults(node, { properties })) if (field.val() === field.attr('data-default')) field.val('')
}

/**
 * The fields of texts whose default is shown as the empty field, which says in words what that means.
 * @param {EditorNode} node @param {Pick<Schema, 'properties'>} schema
 */
function emptyDefaults (node, { properties }) {
  return Object.entries(properties)
    .filter(([, { type, default: value, 'x-labels': labels = {} }]) => type === 'string' && value && '' in labels)
    .map(([name, property]) => $(inputSelector(node, name)).attr('data-default', String(property.default)))
}

/**
 * @param {EditorNode} node
 * @param {Schema} schema
 * @param {(key: string, values?: object) => string} text
 * @param {boolean} hasTry
 */
function fillTables (node, schema, text, hasTry) {
  for (const [name, property] of Object.entries(schema.properties).filter(([, each]) => isTable(each))) {
    const element = $(inputSelector(node, `${name}-table`))
    const panel = $('<div>').insertAfter(element)
    /** @type {import('./table.js').Action} */
    const action = { text: text('try'), run: row => tryRegisters(panel[0], row, () => placeOf(node, schema), text) }
    const kind = property['x-trial']
    openForms.get(node)?.tables.set(name, new Table(element[0], property, {
      entries: Array.isArray(node[name]) ? node[name] : /** @type {object[]} */ (property.default ?? []),
      fileName: [node.name, name].filter(Boolean).join('-'),
      text,
      changed: () => element.trigger('change'),
      action: hasTry && name === 'tags' ? action : undefined,
      others: () => othersOf(node, schema, name)
    }))
    if (!kind) continue
    const trial = new TopicsTrial(panel[0], { kind, read: () => trialOf(node, schema, name), text })
    $(inputSelector(node)).closest('form').on('input change', () => trial.changed())
  }
}

/** What the trial of mappings needs to know. @param {EditorNode} node @param {Schema} schema @param {string} table  their option */
function trialOf (node, schema, table) {
  const { [table]: mappings = [], foreignTopics, topics = foreignTopics, timeUnit } = valuesOf(node, schema)
  return { mappings, topics, timeUnit, server: serverOf(node, schema) }
}

/** The broker or server that the form names. @param {EditorNode} node @param {Schema} schema */
function serverOf (node, schema) {
  const options = plainOptions(node, schema)
  const [name] = Object.entries(schema.properties).find(([, property]) => property['x-node'] && applies(property, options)) ?? []
  return name === undefined ? null : configOf(options[name])
}

/** Where the trial of registers reads. @param {EditorNode} node @param {Schema} schema */
function placeOf (node, schema) {
  const { device, addressing } = plainValues(node, schema)
  return { device: configOf(device), addressing }
}

/**
 * Shows the rows that matter under the options chosen, and what is wrong in them; a table shows itself what is wrong inside it.
 * @param {EditorNode} node
 * @param {Schema} schema
 */
function refresh (node, schema) {
  const tables = openForms.get(node)?.tables
  const values = plainValues(node, schema)
  const options = withReferences(schema, readOptions(plainSchema(schema), values).options)
  const rows = $(inputSelector(node)).closest('form').find('.sluice-row')
  rows.each((_, element) => {
    const name = String(element.dataset.option)
    const property = schema.properties[name]
    const table = tables?.get(name)
    table?.refresh()
    const problem = table ? table.problem : problemUnder(options, schema, name, values[name])
    element.hidden = !applies(property, options)
    const line = /** @type {Element} */ (element.querySelector('.sluice-problem'))
    const warning = problem || table || element.hidden ? undefined : readOption(property, values[name]).warning
    line.textContent = problem ?? warning ?? ''
    line.classList.toggle('sluice-warning', Boolean(warning))
    if (problem) element.closest('details')?.setAttribute('open', '')
    if (property['x-node'] && !element.hidden && schema.required?.includes(name)) connect(node, name, property)
  })
}

/**
 * A reference without which the node does nothing: the only config node there is gets chosen when the form shows the choice first; where
 * there is none, one can be made.
 * @param {EditorNode} node @param {string} name @param {Property} property
 */
function connect (node, name, property) {
  const form = openForms.get(node)
  const select = $(inputSelector(node, name))
  if (!form || !select.is('select')) return
  const type = String(property['x-node'])
  const only = onlyOne(type)
  const isFirst = !form.shown.has(name)
  form.shown.add(name)
  if (isFirst && only && !chosenNode(select.val())) choose(select, only)
  offerToMake(select.closest('.sluice-row'), type, form.text)
}

/** @param {EditorNode} node @param {Schema} schema @param {string} name @param {any} given @returns {string|undefined} a sentence */
function problemOf (node, schema, name, given) {
  return problemUnder(othersOf(node, schema, name), schema, name, given)
}

/** @param {Record<string, any>} options @param {Schema} schema @param {string} name @param {any} given */
function problemUnder (options, schema, name, given) {
  const property = schema.properties[name]
  const required = schema.required?.includes(name) ?? false
  if (ENVIRONMENT_VARIABLE.test(given) || !applies(property, options)) return
  if (property['x-node']) return referenceProblem(property.title, given, required)
  const { value, problem } = readOption(property, given, required)
  return problem ?? clash(property, value, options)
}

/**
 * The options on which what is wrong with one may depend: a table, also on other tables.
 * @param {EditorNode} node @param {Schema} schema @param {string} name  of the one
 */
function othersOf (node, schema, name) {
  const tables = Object.entries(schema.properties).filter(([other, property]) => other !== name && isTable(property))
  const given = isTable(schema.properties[name]) ? valuesOf(node, { ...schema, properties: Object.fromEntries(tables) }) : {}
  const entries = tables.map(([other, property]) => [other, given[other] ?? property.default])
  return { ...Object.fromEntries(entries), ...withReferences(schema, plainOptions(node, schema)) }
}

/** With the config nodes in the place of their ids. @param {Schema} schema @param {Record<string, any>} options */
function withReferences ({ properties }, options) {
  const named = Object.keys(properties).filter(name => properties[name]['x-node'])
  return { ...options, ...Object.fromEntries(named.map(name => [name, configOf(options[name])?.options])) }
}

/** The options on which others may depend, which a table is not. @param {EditorNode} node @param {Schema} schema */
function plainOptions (node, schema) {
  return readOptions(plainSchema(schema), plainValues(node, schema)).options
}

/** @param {Schema} schema @returns {Schema} */
function plainSchema (schema) {
  const plain = Object.entries(schema.properties).filter(([, property]) => !isTable(property))
  return { ...schema, properties: Object.fromEntries(plain) }
}

/** @param {EditorNode} node @param {Schema} schema */
function plainValues (node, schema) {
  return valuesOf(node, plainSchema(schema))
}

/**
 * The values as they stand in the open form, or as the node has them.
 * @param {EditorNode} node
 * @param {Schema} schema
 * @returns {Record<string, any>}
 */
function valuesOf (node, { properties }) {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => {
    const form = openForms.get(node)
    if (!form) return [name, node[name]]
    if (isTable(property)) return [name, form.tables.get(name)?.entries]
    const field = $(inputSelector(node, name))
    return [name, property.type === 'boolean' ? field.prop('checked') : chosenNode(field.val())]
  }))
}

/**
 * Numbers as numbers and tables as lists of objects, where they are right; what Node-RED itself reads from the form is left to it.
 * @param {EditorNode} node
 * @param {Schema} schema
 */
function typedValues (node, schema) {
  const values = valuesOf(node, schema)
  const typed = Object.entries(schema.properties)
    .filter(([name, property]) => isTable(property) || (isNumber(property) && values[name] !== ''))
  return Object.fromEntries(typed.map(([name, property]) => {
    const { value, problem } = readOption(property, values[name])
    return [name, problem ? values[name] : value]
  }))
}

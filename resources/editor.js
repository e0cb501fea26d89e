/* global RED, $ */
import { prepareCheck } from './check-dbc.js'
import { choiceKey, formOf } from './form.js'
import { applies, credentialsOf, isNumber, isTable, isTextList, readOption, readOptions } from './options.js'
import { Table } from './table.js'
import { prepareTest } from './test-connection.js'
import { tryRegisters } from './try-registers.js'

/**
 * @file Makes a node's form and checks from its schema. Every generated node page loads it and calls `sluice.register`.
 *
 * The schema there has no texts: titles and descriptions come from the node's message catalogue, under the node's type.
 */

window.sluice = { register }

document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: new URL('editor.css', import.meta.url) }))

/** The nodes whose forms are open, each with the prefix of its inputs' ids and its tables by option. */
const openForms = new Map()

/** What Node-RED's select has as value when no config node is chosen. */
const NO_CONFIG_NODE = '_ADD_'

const ENVIRONMENT_VARIABLE = /^\$\{[a-zA-Z_][a-zA-Z0-9_]*\}$/

/**
 * @param {string} type
 * @param {{schema: import('./options.js').Schema, hasTest?: boolean, hasTry?: boolean} & object} definition  `hasTest`: its form can try
 *   the connection;
 *   `hasTry`: and the registers of its table `tags`; the rest is as Node-RED's registerType has it
 */
function register (type, { schema, hasTest = false, hasTry = false, ...look }) {
  const prefix = look.category === 'config' ? 'node-config-input' : 'node-input'
  document.querySelector(`script[data-template-name="${type}"]`).textContent = formOf(type, schema, prefix, hasTest)

  RED.nodes.registerType(type, {
    ...look,
    defaults: defaults(schema),
    credentials: credentialsOf(schema),
    paletteLabel () { return this._(`${type}.label`) },
    label () { return this.name || this._(`${type}.label`) },
    outputLabels (index) { return look.outputs > 1 ? this._(`${type}.outputs.${index}`) : '' },
    labelStyle () { return this.name ? 'node_label_italic' : '' },
    oneditprepare () {
      const text = (key, values) => RED.nodes.getType(type)._(`${type}.form.${key}`, values)
      openForms.set(this, { prefix, tables: new Map() })
      fillForm(this, schema)
      fillTables(this, schema, text, hasTry)
      const form = $(inputSelector(this)).closest('form')
      form.on('input change', () => refresh(this, schema))
      form.find('.sluice-row:has(.sluice-check)').each((_, row) => {
        const name = row.dataset.option
        prepareCheck($(row), () => readOption(schema.properties[name], plainValues(this, schema)[name]).value, text)
      })
      if (hasTest) prepareTest(type, form, () => ({ id: this.id, options: valuesOf(this, schema) }))
      refresh(this, schema)
    },
    oneditsave () {
      Object.assign(this, typedValues(this, schema))
      openForms.delete(this)
    },
    oneditcancel () { openForms.delete(this) },
    oneditresize () { $(inputSelector(this)).closest('form').addClass('sluice-sized') }
  })
  translate(RED.nodes.getType(type), `${type}.options`, schema)
}

/** Puts the catalogue's texts into the schema. */
function translate (definition, path, { properties }) {
  for (const [name, property] of Object.entries(properties)) {
    property.title = definition._(`${path}.${name}.title`)
    property.description = definition._(`${path}.${name}.description`)
    const labelled = property.enum ?? Object.keys(property['x-labels'] ?? {})
    property['x-labels'] = Object.fromEntries(labelled.map(value => [value, definition._(`${path}.${name}.${choiceKey(value)}`)]))
    if (isTable(property)) translate(definition, `${path}.${name}.items`, property.items)
  }
}

function defaults (schema) {
  const stored = Object.entries(schema.properties).filter(([, property]) => !property['x-secret'])
  return Object.fromEntries(stored.map(([name, property]) => {
    const value = isTextList(property) ? (property.default ?? []).join('\n') : property.default ?? ''
    const required = schema.required?.includes(name) ?? false
    if (property['x-node']) return [name, { value, type: property['x-node'], ...reference(schema, name, required) }]
    // Node-RED shows the text a validator of two parameters returns.
    return [name, { value, validate (given, _options) { return problemOf(this, schema, name, given) ?? true } }]
  }))
}

/** Node-RED sees to it that a config node is chosen, but not that it matters only under other options. */
function reference (schema, name, required) {
  const property = schema.properties[name]
  if (!property['x-when']) return { required }
  return {
    validate (given, _options) {
      if (ENVIRONMENT_VARIABLE.test(given) || !applies(property, plainOptions(this, schema))) return true
      const chosen = RED.nodes.node(given)
      return chosen ? chosen.valid ?? true : !required || `${property.title} is missing.`
    }
  }
}

function inputSelector (node, name = 'name') {
  return `#${openForms.get(node).prefix}-${name}`
}

/** What Node-RED does not fill in: defaults an imported node does not have, and lists. */
function fillForm (node, { properties }) {
  for (const [name, property] of Object.entries(properties)) {
    const field = $(inputSelector(node, name))
    if (Array.isArray(node[name])) field.val(node[name].join('\n'))
    else if (node[name] === undefined && property.type === 'boolean') field.prop('checked', property.default)
    else if (node[name] === undefined && property.enum) field.val(property.default)
  }
}

function fillTables (node, schema, text, hasTry) {
  const { tables } = openForms.get(node)
  for (const [name, property] of Object.entries(schema.properties).filter(([, each]) => isTable(each))) {
    const element = $(inputSelector(node, `${name}-table`))
    const panel = $('<div>').insertAfter(element)
    const action = { text: text('try'), run: row => tryRegisters(panel[0], row, () => plainValues(node, schema), text) }
    tables.set(name, new Table(element[0], property, {
      entries: Array.isArray(node[name]) ? node[name] : property.default ?? [],
      fileName: [node.name, name].filter(Boolean).join('-'),
      text,
      changed: () => element.trigger('change'),
      action: hasTry && name === 'tags' ? action : undefined
    }))
  }
}

/** Shows the rows that matter under the options chosen, and what is wrong in them; what is wrong inside a table, that shows itself. */
function refresh (node, schema) {
  const { tables } = openForms.get(node)
  const values = plainValues(node, schema)
  const { options } = readOptions(plainSchema(schema), values)
  const rows = $(inputSelector(node)).closest('form').find('.sluice-row')
  rows.each((_, element) => {
    const name = element.dataset.option
    const problem = tables.has(name) ? tables.get(name).problem : problemUnder(options, schema, name, values[name])
    element.hidden = !applies(schema.properties[name], options)
    element.querySelector('.sluice-problem').textContent = problem ?? ''
    if (problem) element.closest('details')?.setAttribute('open', '')
  })
}

/** @returns {string|undefined} a sentence */
function problemOf (node, schema, name, given) {
  return problemUnder(plainOptions(node, schema), schema, name, given)
}

function problemUnder (options, schema, name, given) {
  const property = schema.properties[name]
  if (ENVIRONMENT_VARIABLE.test(given) || !applies(property, options)) return
  return readOption(property, given, schema.required?.includes(name)).problem
}

/** The options on which others may depend: a table is none, and long. */
function plainOptions (node, schema) {
  return readOptions(plainSchema(schema), plainValues(node, schema)).options
}

function plainSchema (schema) {
  return { ...schema, properties: Object.fromEntries(Object.entries(schema.properties).filter(([, property]) => !isTable(property))) }
}

function plainValues (node, schema) {
  return valuesOf(node, plainSchema(schema))
}

/** The values as they stand in the open form, or as the node has them. */
function valuesOf (node, { properties }) {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => {
    if (!openForms.has(node)) return [name, node[name]]
    if (isTable(property)) return [name, openForms.get(node).tables.get(name).entries]
    const field = $(inputSelector(node, name))
    return [name, property.type === 'boolean' ? field.prop('checked') : chosenNode(field.val())]
  }))
}

/** An empty text where no config node is chosen. */
function chosenNode (value) {
  return value === NO_CONFIG_NODE ? '' : value
}

/** Numbers as numbers and tables as lists of objects, where they are right; what Node-RED itself reads from the form is left to it. */
function typedValues (node, schema) {
  const values = valuesOf(node, schema)
  const typed = Object.entries(schema.properties).filter(([name, property]) => isTable(property) || (isNumber(property) && values[name] !== ''))
  return Object.fromEntries(typed.map(([name, property]) => {
    const { value, problem } = readOption(property, values[name])
    return [name, problem ? values[name] : value]
  }))
}

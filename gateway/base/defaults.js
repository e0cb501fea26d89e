/**
 * The default of each option of a schema, under the options given.
 * @template {object} T
 * @param {{properties: Record<string, {default?: unknown}>}} schema
 * @param {T} options  those left out or undefined take their default
 * @returns {Record<string, any>}
 */
export function withDefaults (schema, options) {
  const given = new Map(Object.entries(options))
  return Object.fromEntries(Object.entries(schema.properties).map(([name, property]) => [name, given.get(name) ?? property.default]))
}

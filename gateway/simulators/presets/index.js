import { channels } from './channels.js'
import { haenisch } from './haenisch.js'
import { machineTool } from './machine-tool.js'
import { scits } from './scits.js'
import { warp10 } from './warp10.js'
import { weissbach } from './weissbach.js'

/** @type {Record<string, import('./preset.js').Preset>} */
export const presets = { channels, 'machine-tool': machineTool, warp10, scits, weissbach, haenisch }

/** The options of all presets, each shown where a preset has it. */
export function presetProperties () {
  const all = Object.assign({}, ...Object.values(presets).map(({ properties }) => properties))
  return Object.fromEntries(Object.entries(all).map(([name, property]) => [name, { ...property, 'x-when': { preset: presetsWith(name) } }]))
}

/** @param {string} property @returns {string|string[]} */
function presetsWith (property) {
  const names = Object.keys(presets).filter(name => Object.hasOwn(presets[name].properties, property))
  return names.length === 1 ? names[0] : names
}
